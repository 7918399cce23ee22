package approval

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// RequestedPost is a post of an approval request.
type RequestedPost struct {
	ID            string
	Excerpt       string
	Status        post.Status
	Approval      post.Approval
	At            time.Time // scheduled or planned time; zero if there is none
	Changed       bool      // whether the post has changed, so that the link no longer shows it
	Revoked       bool      // whether the post's links were revoked
	ScheduleError string    // error code if scheduling on approval failed; otherwise empty
	NewerRequest  string    // ID of the latest request if the post was sent again later; otherwise empty
}

// Waits reports whether the client can still decide on the post with this link.
func (a RequestedPost) Waits() bool { return a.Approval == post.Waiting && !a.Changed && !a.Revoked }

// Sendable reports whether the post can be sent to the client again.
func (a RequestedPost) Sendable() bool {
	return a.Approval != post.Approved && (a.Status == post.Draft || a.Status == post.Scheduled ||
		a.Status == post.Failed && a.Approval == post.Waiting)
}

// Live reports whether the link is neither revoked nor expired.
func (r Request) Live(now time.Time) bool { return r.RevokedAt.IsZero() && now.Before(r.ExpiresAt) }

// Replaced reports whether every post was sent again later, with another link.
func (r Request) Replaced() bool {
	return len(r.Posts) > 0 && !slices.ContainsFunc(r.Posts, func(p RequestedPost) bool { return p.NewerRequest == "" })
}

// Count returns the number of posts in an approval state.
func (r Request) Count(state post.Approval) int {
	n := 0
	for _, p := range r.Posts {
		if p.Approval == state {
			n++
		}
	}
	return n
}

const requestColumns = `SELECT r.id, r.person_id, COALESCE(x.name, ''), r.email, r.schedules, r.mailed_at, r.created_at,
	r.expires_at, r.revoked_at, r.message, r.client_name, r.opened_at
	FROM approval_requests r LEFT JOIN people x ON x.id = r.person_id WHERE r.team_id = ?`

func scanRequest(rows *sql.Rows, r *Request) error {
	var schedules, mailed, created, expires, revoked, opened int64
	err := rows.Scan(&r.ID, &r.PersonID, &r.By, &r.Email, &schedules, &mailed, &created, &expires, &revoked, &r.Message, &r.Client,
		&opened)
	r.Schedules, r.MailedAt, r.CreatedAt = schedules != 0, db.Time(mailed), db.Time(created)
	r.ExpiresAt, r.RevokedAt, r.OpenedAt = db.Time(expires), db.Time(revoked), db.Time(opened)
	return err
}

// RequestByID returns a team's request. It returns not_found if the team has no such request.
func (s *Service) RequestByID(ctx context.Context, team int64, id string) (Request, error) {
	found, err := db.All(ctx, s.DB, scanRequest, requestColumns+` AND r.id = ?`, team, id)
	if err != nil {
		return Request{}, fmt.Errorf("reading a request for approval: %w", err)
	}
	if len(found) == 0 {
		return Request{}, apierr.ItemNotFound()
	}
	err = s.addPosts(ctx, team, found)
	if err == nil && len(found[0].Posts) == 0 {
		err = apierr.ItemNotFound()
	}
	return found[0], err
}

// Filter selects requests.
type Filter struct {
	Open    bool   // only requests that are not revoked and are the latest request for a post without approval
	Decided bool   // only requests that are not open and are the latest request for a post with a decision
	Before  string // only requests created before the request with this ID
	Limit   int
}

// openCondition is the condition of Filter.Open.
const openCondition = `(r.revoked_at = 0 AND EXISTS (SELECT 1 FROM approval_request_posts a JOIN posts p ON p.id = a.post_id
	WHERE a.request_id = r.id AND p.approval IN ('waiting', 'rejected') AND p.status IN ('draft', 'scheduled', 'failed')
	AND NOT EXISTS (SELECT 1 FROM approval_request_posts o WHERE o.post_id = a.post_id AND o.request_id > a.request_id)))`

// decidedCondition is the condition of Filter.Decided.
const decidedCondition = `NOT ` + openCondition + ` AND EXISTS (SELECT 1 FROM approval_request_posts d
	JOIN post_approvals v ON v.post_id = d.post_id AND v.round = d.round WHERE d.request_id = r.id AND v.decided_at > 0
	AND NOT EXISTS (SELECT 1 FROM approval_request_posts o WHERE o.post_id = d.post_id AND o.request_id > d.request_id))`

// Requests returns a team's approval requests, latest first.
func (s *Service) Requests(ctx context.Context, team int64, f Filter) ([]Request, error) {
	query, args := requestColumns, []any{team}
	switch {
	case f.Open:
		query += ` AND ` + openCondition
	case f.Decided:
		query += ` AND ` + decidedCondition
	}
	if f.Before != "" {
		query, args = query+` AND r.id < ?`, append(args, f.Before)
	}
	found, err := db.All(ctx, s.DB, scanRequest, query+` ORDER BY r.id DESC LIMIT ?`,
		append(args, f.Limit)...)
	if err != nil {
		return nil, fmt.Errorf("listing requests for approval: %w", err)
	}
	return found, s.addPosts(ctx, team, found)
}

// addPosts sets the posts of requests.
func (s *Service) addPosts(ctx context.Context, team int64, requests []Request) error {
	if len(requests) == 0 {
		return nil
	}
	byID, ids := map[string]*Request{}, make([]string, len(requests))
	for i := range requests {
		ids[i], byID[requests[i].ID] = requests[i].ID, &requests[i]
	}
	type row struct {
		RequestedPost
		request             string
		round, currentRound int64
	}
	found, err := db.All(ctx, s.DB, func(rows *sql.Rows, r *row) error {
		var at, links, generation int64
		err := rows.Scan(&r.request, &r.ID, &r.Excerpt, &r.Status, &r.Approval, &at, &r.round, &r.currentRound,
			&links, &generation, &r.ScheduleError, &r.NewerRequest)
		r.At, r.Revoked = db.Time(at), links != generation
		return err
	}, `SELECT a.request_id, p.id, p.excerpt, p.status, p.approval, p.scheduled_at, a.round, p.approval_round, a.links,
		p.approval_links, COALESCE(v.schedule_error, ''),
		COALESCE((SELECT MAX(o.request_id) FROM approval_request_posts o
			WHERE o.post_id = a.post_id AND o.request_id > a.request_id), '')
		FROM approval_request_posts a JOIN posts p ON p.id = a.post_id
		LEFT JOIN post_approvals v ON v.post_id = p.id AND v.round = p.approval_round
		WHERE p.team_id = ? AND a.request_id IN (`+db.Placeholders(len(ids))+`) ORDER BY a.request_id, a.position`,
		db.Args(team, ids)...)
	if err != nil {
		return fmt.Errorf("reading the posts of requests for approval: %w", err)
	}
	for _, r := range found {
		if r.round != r.currentRound {
			p := post.Record{ID: r.ID, TeamID: team, Round: r.currentRound}
			if r.Changed, err = s.changedSince(ctx, p, r.round); err != nil {
				return err
			}
		}
		if r.Status != post.Draft || r.Approval != post.Approved {
			r.ScheduleError = "" // The post was scheduled later, or it is no longer approved.
		}
		byID[r.request].Posts = append(byID[r.request].Posts, r.RequestedPost)
	}
	return nil
}

// Unanswered is a post with comments by clients that the team has not answered.
type Unanswered struct {
	PostID, Excerpt string
	Comments        []ThreadEntry // oldest first
}

// ListUnanswered returns a team's posts with unanswered comments. It reads at most limit comments, oldest first.
func (s *Service) ListUnanswered(ctx context.Context, team int64, limit int) ([]Unanswered, error) {
	type row struct {
		ThreadEntry
		post, excerpt string
	}
	found, err := db.All(ctx, s.DB, func(rows *sql.Rows, r *row) error {
		var at int64
		err := rows.Scan(&r.post, &r.excerpt, &at, &r.Name, &r.Text)
		r.At = db.Time(at)
		return err
	}, `SELECT c.post_id, p.excerpt, c.created_at, c.client_name, c.comment
		FROM approval_comments c JOIN posts p ON p.id = c.post_id
		WHERE c.team_id = ? AND c.answered_at = 0 AND c.client_name <> '' ORDER BY c.id LIMIT ?`, team, limit)
	if err != nil {
		return nil, fmt.Errorf("listing unanswered comments: %w", err)
	}
	var out []Unanswered
	for _, r := range found {
		i := slices.IndexFunc(out, func(u Unanswered) bool { return u.PostID == r.post })
		if i < 0 {
			i, out = len(out), append(out, Unanswered{PostID: r.post, Excerpt: r.excerpt})
		}
		out[i].Comments = append(out[i].Comments, r.ThreadEntry)
	}
	return out, nil
}

// Resend requests approval of the current versions of a request's posts with the same link. It extends the link's
// lifetime and sends the email again if the request has an address. Approved and submitted posts do not change.
func (s *Service) Resend(ctx context.Context, person, team int64, id string) (SentRequest, error) {
	r, call, err := s.requestFor(ctx, person, team, id)
	if err != nil {
		return SentRequest{}, err
	}
	if !r.RevokedAt.IsZero() {
		return SentRequest{}, apierr.BadState("revoked", "The link was revoked. Create another one.")
	}
	err = s.DB.InTx(ctx, "post.resend_approval", func(ctx context.Context, tx *db.Tx) error {
		if err := s.resendPosts(ctx, tx, call, r); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `UPDATE approval_requests SET expires_at = ? WHERE id = ?`,
			db.Micros(tx.Now().Add(linkLifetime)), r.ID)
		if err != nil {
			return fmt.Errorf("renewing an approval link: %w", err)
		}
		return recordMail(ctx, tx, call, r)
	})
	if err != nil {
		return SentRequest{}, err
	}
	return SentRequest{ID: id, Link: s.Link(id), EmailErr: s.mail(ctx, team, id)}, nil
}

// resendPosts requests approval again for the posts of a request that the link no longer shows or that were rejected.
// It returns wrong_state if the client no longer has to decide on any post.
func (s *Service) resendPosts(ctx context.Context, tx *db.Tx, call operation.Call, r Request) error {
	anyWaiting := false
	for _, requested := range slices.SortedFunc(slices.Values(r.Posts), func(a, b RequestedPost) int { return cmp.Compare(a.ID, b.ID) }) {
		p, err := s.Posts.Lock(ctx, tx, call.TeamID, requested.ID)
		if err != nil {
			return err
		}
		if CheckRequest(p) != nil {
			continue
		}
		anyWaiting = true
		if requested.Waits() && p.Approval == post.Waiting {
			continue
		}
		if err := s.add(ctx, tx, call, r, &p, 0); err != nil {
			return err
		}
	}
	if !anyWaiting {
		return apierr.BadState("decided", "The client has approved all posts of this link, or they were published.")
	}
	return nil
}

// requestFor returns a request and a person's call. It returns not_found if the person may not change the request.
func (s *Service) requestFor(ctx context.Context, person, team int64, id string) (Request, operation.Call, error) {
	r, err := s.RequestByID(ctx, team, id)
	if err != nil {
		return r, operation.Call{}, err
	}
	in := NewRequest{}
	for _, p := range r.Posts {
		in.Posts = append(in.Posts, p.ID)
	}
	call, err := s.callAs(ctx, person, in)
	return r, call, err
}

// Revoke revokes the link of a request. Other links to the same posts keep working.
func (s *Service) Revoke(ctx context.Context, person, team int64, id string) error {
	r, call, err := s.requestFor(ctx, person, team, id)
	if err != nil {
		return err
	}
	ids := make([]string, len(r.Posts))
	for i, p := range r.Posts {
		ids[i] = p.ID
	}
	slices.Sort(ids)
	return s.DB.InTx(ctx, "post.revoke_request", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE approval_requests SET revoked_at = ? WHERE id = ? AND revoked_at = 0`,
			db.Micros(tx.Now()), id)
		if err != nil {
			return fmt.Errorf("revoking an approval link: %w", err)
		}
		if n == 0 {
			return apierr.BadState("revoked", "The link has already been revoked.")
		}
		for _, postID := range ids {
			if err := s.revokeUnlessLinked(ctx, tx, call, postID); err != nil {
				return err
			}
		}
		return nil
	})
}

// revokeUnlessLinked revokes the links of a post unless another working link shows its current version.
func (s *Service) revokeUnlessLinked(ctx context.Context, tx *db.Tx, call operation.Call, postID string) error {
	if _, err := s.Posts.Lock(ctx, tx, call.TeamID, postID); err != nil {
		return err
	}
	var others int64
	err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM approval_request_posts a
		JOIN approval_requests r ON r.id = a.request_id JOIN posts p ON p.id = a.post_id
		WHERE a.post_id = ? AND a.round = p.approval_round AND a.links = p.approval_links AND r.revoked_at = 0
		AND r.expires_at > ?`, postID, db.Micros(tx.Now())).Scan(&others)
	if err != nil {
		return fmt.Errorf("looking for other approval links: %w", err)
	}
	if others > 0 {
		return nil
	}
	return revoke(ctx, tx, call, call.TeamID, postID)
}
