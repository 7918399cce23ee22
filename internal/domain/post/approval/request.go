package approval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// MaxPosts is the maximum number of posts per link.
const MaxPosts = 30

// NewRequest describes an approval request to create.
type NewRequest struct {
	Posts    []string // IDs, in the order of the page
	Schedule bool     // whether posts with a time are scheduled when they are approved
	Email    string   // the client's address; if empty, no email is sent
	Message  string   // shown to the client above the posts; may be empty
	Client   string   // the client's name in the team's lists; may be empty

	Time *time.Time // new time of the drafts; the zero time clears their time, and nil keeps it
}

// SentRequest is the result of sending a request.
type SentRequest struct {
	ID       string // ID of the request
	Link     string
	EmailErr error // error from sending the email; nil if it was sent or not requested
}

// Request requests approval of one post and returns the link. See RequestPosts.
func (s *Service) Request(ctx context.Context, person int64, postID string) (string, error) {
	sent, err := s.RequestPosts(ctx, person, NewRequest{Posts: []string{postID}})
	return sent.Link, err
}

// RequestPosts requests a client's approval of posts. It returns a link to the page where the client decides on the
// current versions. The link works for 30 days. A scheduled post stays scheduled but is not published before it is
// approved. A post that already awaits approval gets another link.
//
// RequestPosts returns not_found if the person may not write, or if in.Schedule is set and the person may not publish.
// It returns wrong_state if a post is approved, submitted or the template of a series. If it returns an error, it has
// not changed any post.
func (s *Service) RequestPosts(ctx context.Context, person int64, in NewRequest) (SentRequest, error) {
	if err := s.checkNewRequest(&in); err != nil {
		return SentRequest{}, err
	}
	call, err := s.callAs(ctx, person, in)
	if err != nil {
		return SentRequest{}, err
	}
	r := Request{ID: uuid.Must(uuid.NewV7()).String(), PersonID: call.PersonID, Email: in.Email, Schedules: in.Schedule,
		Message: in.Message, Client: in.Client}
	err = s.DB.InTx(ctx, "post.ask_approval", func(ctx context.Context, tx *db.Tx) error {
		r.CreatedAt, r.ExpiresAt = tx.Now(), tx.Now().Add(linkLifetime)
		if err := insertRequest(ctx, tx, call, r); err != nil {
			return err
		}
		for _, id := range slices.Sorted(slices.Values(in.Posts)) { // Lock rows in the same order everywhere to avoid deadlocks.
			p, err := s.Posts.Lock(ctx, tx, call.TeamID, id)
			if err != nil {
				return err
			}
			if err := setTime(ctx, tx, call, &p, in.Time); err != nil {
				return err
			}
			position := slices.Index(in.Posts, id)
			if err := s.add(ctx, tx, call, r, &p, position); err != nil {
				return err
			}
		}
		return recordMail(ctx, tx, call, r)
	})
	if err != nil {
		return SentRequest{}, err
	}
	return SentRequest{ID: r.ID, Link: s.Link(r.ID), EmailErr: s.mail(ctx, call.TeamID, r.ID)}, nil
}

// Link returns the URL of a request's approval page.
func (s *Service) Link(request string) string { return s.PublicURL + Path + s.token(request) }

// checkNewRequest removes duplicate posts, sanitizes the message and validates a request.
func (s *Service) checkNewRequest(in *NewRequest) error {
	var ids []string
	for _, id := range in.Posts {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	in.Posts, in.Message = ids, strings.TrimSpace(plaintext.Lines(in.Message))
	in.Client = strings.TrimSpace(plaintext.Line(in.Client))
	switch {
	case utf8.RuneCountInString(in.Client) > maxClientName:
		return apierr.Invalidf(apierr.TooLong, "client", "A name may have at most %d characters.", maxClientName)
	case utf8.RuneCountInString(in.Message) > MaxComment:
		return apierr.Invalidf(apierr.TooLong, "message", "A message may have at most %d characters.", MaxComment)
	case len(ids) == 0:
		return apierr.Invalid(apierr.MissingArgument, "post", "Select at least one post.")
	case len(ids) > MaxPosts:
		return apierr.Invalidf(apierr.TooLong, "post", "A link may have at most %d posts.", MaxPosts)
	}
	return s.checkEmail(&in.Email)
}

// callAs returns a person's call. It returns not_found unless the person may request approval of all posts, which must
// belong to one team.
func (s *Service) callAs(ctx context.Context, person int64, in NewRequest) (operation.Call, error) {
	needs := access.Write
	if in.Schedule {
		needs = access.Publish
	}
	var call operation.Call
	for i, id := range in.Posts {
		next, err := s.Posts.CallAs(ctx, person, id, needs)
		if err == nil && i > 0 && next.TeamID != call.TeamID {
			err = apierr.ItemNotFound()
		}
		if err != nil {
			return call, err
		}
		call = next
	}
	return call, nil
}

func insertRequest(ctx context.Context, tx *db.Tx, call operation.Call, r Request) error {
	_, err := tx.Exec(ctx, `INSERT INTO approval_requests (id, team_id, person_id, schedules, email, message, client_name,
		created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?,
			?)`, r.ID, call.TeamID, r.PersonID, db.BoolToInt(r.Schedules), r.Email,
		r.Message, r.Client, db.Micros(r.CreatedAt), db.Micros(r.ExpiresAt))
	if err != nil {
		return fmt.Errorf("storing a request for approval: %w", err)
	}
	return nil
}

// add requests approval of the current version of a locked post and adds it to a request.
func (s *Service) add(ctx context.Context, tx *db.Tx, call operation.Call, r Request, p *post.Record, position int) error {
	if err := CheckRequest(*p); err != nil {
		return err
	}
	if p.Approval != post.Waiting || p.Round == 0 {
		if err := post.OpenRound(ctx, tx, p); err != nil {
			return err
		}
	}
	if err := post.Update(ctx, tx, p); err != nil {
		return err
	}
	generation, err := recordLink(ctx, tx, *p)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO approval_request_posts (request_id, post_id, position, round, links)
		VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (request_id, post_id) DO UPDATE SET round = excluded.round, links = excluded.links`,
		r.ID, p.ID, position, p.Round, generation)
	if err != nil {
		return fmt.Errorf("adding a post to a request for approval: %w", err)
	}
	if err := scheduleOnApproval(ctx, tx, *p, r.PersonID, r.Schedules); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.approval_asked", p.ID,
		map[string]any{"round": p.Round})
}

// setTime changes the time of a locked draft that is sent to a client. It keeps the stored time if only the seconds
// differ, because form fields have no seconds.
func setTime(ctx context.Context, tx *db.Tx, call operation.Call, p *post.Record, at *time.Time) error {
	if at == nil || p.Status != post.Draft || at.Equal(p.ScheduledAt.Truncate(time.Minute)) {
		return nil
	}
	if err := CheckRequest(*p); err != nil {
		return err
	}
	if !at.IsZero() {
		if err := posttime.CheckFuture(call, *at); err != nil {
			return err
		}
	}
	p.ScheduledAt, p.PlannedDay = *at, ""
	return post.RecordChange(ctx, tx, call, p, []string{"scheduled_at"})
}

// CheckRequest returns an error if approval of the post cannot be requested.
func CheckRequest(p post.Record) error {
	switch {
	case p.IsTemplate: // The occurrences share the approval of the template.
		return apierr.BadState("recurring_template",
			"Approval must be requested before a series starts. End the series first.")
	case p.Status != post.Draft && p.Status != post.Scheduled && (p.Approval != post.Waiting || !p.MissedApproval()):
		return apierr.BadState(string(p.Status), "The post has already been submitted.")
	case p.Approval == post.Approved:
		return apierr.BadState(string(p.Approval), "The client has already approved the post.")
	}
	return nil
}

// Values of posts.approval_sent. The value is 0 if the latest version has no link.
const (
	linkCreated  = 1
	linksRevoked = 2
)

// recordLink records that the current version has a link. It returns the generation of the post's links; see
// linkedPost.
func recordLink(ctx context.Context, tx *db.Tx, p post.Record) (int64, error) {
	var generation int64
	err := tx.QueryRow(ctx, `UPDATE posts SET approval_sent = ? WHERE id = ? AND team_id = ? RETURNING approval_links`,
		linkCreated, p.ID, p.TeamID).Scan(&generation)
	if err != nil {
		return 0, fmt.Errorf("recording an approval link: %w", err)
	}
	return generation, nil
}

// loadLink reads the request and posts of a link.
func (s *Service) loadLink(ctx context.Context, l *link) error {
	var expires, revoked int64
	err := s.DB.QueryRow(ctx, `SELECT person_id, expires_at, revoked_at, message FROM approval_requests
		WHERE id = ?`, l.request).Scan(&l.personID, &expires, &revoked, &l.message)
	if errors.Is(err, sql.ErrNoRows) {
		return apierr.ItemNotFound()
	}
	if err != nil {
		return fmt.Errorf("reading an approval link: %w", err)
	}
	if l.expiresAt = db.Time(expires); revoked > 0 {
		return errRevoked
	}
	l.posts, err = db.All(ctx, s.DB, func(rows *sql.Rows, linked *linkedPost) error {
		return rows.Scan(&linked.post, &linked.round, &linked.generation)
	}, `SELECT post_id, round, links FROM approval_request_posts WHERE request_id = ? ORDER BY position`, l.request)
	if err != nil {
		return fmt.Errorf("reading the posts of an approval link: %w", err)
	}
	if len(l.posts) == 0 {
		return apierr.ItemNotFound()
	}
	return nil
}

// PostLink is an approval link that shows the current version of a post.
type PostLink struct {
	URL  string // empty if no link works
	Sent time.Time
}

// LinkOf returns the latest link that shows the current version of a team's post, or "" if none works.
func (s *Service) LinkOf(ctx context.Context, team int64, postID string) (string, error) {
	links, err := s.LinksOf(ctx, team, []string{postID})
	return links[postID].URL, err
}

// LinksOf returns, for each of a team's posts, the latest link that shows its current version. It omits posts without a
// working link.
func (s *Service) LinksOf(ctx context.Context, team int64, posts []string) (map[string]PostLink, error) {
	links := map[string]PostLink{}
	if len(posts) == 0 {
		return links, nil
	}
	type row struct {
		post, request string
		sent          int64
	}
	found, err := db.All(ctx, s.DB, func(rows *sql.Rows, r *row) error { return rows.Scan(&r.post, &r.request, &r.sent) },
		`SELECT p.id, r.id, r.created_at FROM approval_requests r JOIN approval_request_posts a ON a.request_id = r.id
		JOIN posts p ON p.id = a.post_id WHERE r.team_id = ? AND p.id IN (`+db.Placeholders(len(posts))+`)
		AND r.revoked_at = 0 AND r.expires_at > ? AND a.round = p.approval_round AND a.links = p.approval_links
		AND p.approval_sent = ? ORDER BY r.id`,
		append(db.Args(team, posts), db.Micros(s.DB.Now()), linkCreated)...)
	if err != nil {
		return nil, fmt.Errorf("reading the approval links of posts: %w", err)
	}
	for _, r := range found {
		links[r.post] = PostLink{URL: s.Link(r.request), Sent: db.Time(r.sent)}
	}
	return links, nil
}

// RevokeLinks revokes all approval links of a post and keeps the decisions. It returns not_found if the person may not
// write in the post's team, and wrong_state for a post without links.
func (s *Service) RevokeLinks(ctx context.Context, person int64, postID string) error {
	_, err := s.Posts.UpdateAs(ctx, person, postID, access.Write, "post.revoke_links",
		func(ctx context.Context, tx *db.Tx, call operation.Call, p *post.Record) error {
			if p.Approval == post.NotNeeded {
				return apierr.BadState(string(p.Approval),
					"The post has never been sent to a client, so it has no links.")
			}
			return revoke(ctx, tx, call, p.TeamID, p.ID)
		})
	return err
}

func revoke(ctx context.Context, tx *db.Tx, call operation.Call, team int64, postID string) error {
	var generation int64
	err := tx.QueryRow(ctx, `UPDATE posts SET approval_links = approval_links + 1,
		approval_sent = CASE approval_sent WHEN 0 THEN 0 ELSE ? END WHERE id = ? AND team_id = ?
		RETURNING approval_links`, linksRevoked, postID, team).Scan(&generation)
	if err != nil {
		return fmt.Errorf("revoking approval links: %w", err)
	}
	return auditlog.Record(ctx, tx, team, auditlog.NewActor(call), "post.approval_links_revoked", postID,
		map[string]any{"revocations": generation})
}

// Request is an approval request with the state of its link and posts.
type Request struct {
	ID        string
	PersonID  int64     // person who created the request; approved posts are scheduled on their behalf
	By        string    // name of that person; empty if the person's account was deleted
	Email     string    // address that the link is sent to; may be empty
	Schedules bool      // whether posts are scheduled when they are approved
	Message   string    // shown to the client above the posts; may be empty
	Client    string    // the client's name: from the team, or else as first entered on the link's page
	OpenedAt  time.Time // when somebody outside the team last used the link; zero for never
	MailedAt  time.Time
	CreatedAt time.Time
	ExpiresAt time.Time
	RevokedAt time.Time
	Posts     []RequestedPost
}
