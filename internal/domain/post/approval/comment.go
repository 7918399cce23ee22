package approval

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// Limits on comments.
const (
	commentsPerHour = 30  // per link
	commentsPerPost = 200 // including the team's answers
)

// Comment is a client's comment on a post.
type Comment struct {
	Post string // post ID; may be empty if the link has only one post
	Name string // as the client entered it
	Text string
}

// Comment adds a client's comment to a post that an approval link shows.
func (s *Service) Comment(ctx context.Context, token string, c Comment) error {
	l, err := s.read(ctx, token)
	if err != nil {
		return err
	}
	if err := sanitizeName(&c.Name); err != nil {
		return err
	}
	linked, err := l.find(c.Post)
	if err != nil {
		return err
	}
	proposal, err := s.proposal(ctx, linked)
	if err != nil {
		return err
	}
	return s.comment(ctx, auditlog.Actor{}, newComment{team: proposal.TeamID, post: proposal.ID, link: l.key(),
		request: l.request, client: c.Name, text: c.Text})
}

// CommentAs adds a comment by a signed-in person. A comment by a member with write permission is an answer, which marks
// the clients' comments on the post as answered.
func (s *Service) CommentAs(ctx context.Context, call operation.Call, postID, text string) error {
	r := newComment{team: call.TeamID, post: postID, person: call.PersonID, text: text}
	switch {
	case !call.InApp():
		return apierr.ItemNotFound()
	case call.Role == access.Client:
		r.client = call.PersonName
	default:
		if err := call.Require(access.Write); err != nil {
			return err
		}
	}
	return s.comment(ctx, auditlog.NewActor(call), r)
}

// newComment is a comment to be stored. client is empty if the comment is an answer by the team.
type newComment struct {
	team                              int64
	post, link, request, client, text string
	person                            int64
}

func (s *Service) comment(ctx context.Context, actor auditlog.Actor, r newComment) error {
	if r.text = strings.TrimSpace(plaintext.Lines(r.text)); r.text == "" {
		return apierr.Invalid(apierr.MissingArgument, "comment", "Enter a comment.")
	}
	if err := checkLength(r.text); err != nil {
		return err
	}
	return s.DB.InTx(ctx, "post.comment", func(ctx context.Context, tx *db.Tx) error {
		p, err := s.Posts.Lock(ctx, tx, r.team, r.post)
		if err != nil {
			return err
		}
		if p.Approval == post.NotNeeded {
			return apierr.BadState(string(p.Approval), "The post has not been sent to a client.")
		}
		if r.request != "" { // This locks the request, so that concurrent comments are counted correctly.
			if err := rememberClient(ctx, tx, r.request, r.client); err != nil {
				return err
			}
		}
		if err := checkCommentLimits(ctx, tx, r); err != nil {
			return err
		}
		return insertComment(ctx, tx, actor, r)
	})
}

// checkCommentLimits returns an error if the post or link has too many comments.
func checkCommentLimits(ctx context.Context, tx *db.Tx, r newComment) error {
	var postComments, linkComments int64
	err := tx.QueryRow(ctx, `SELECT (SELECT COUNT(*) FROM approval_comments WHERE post_id = ?),
		(SELECT COUNT(*) FROM approval_comments WHERE link = ? AND link <> '' AND created_at > ?)`, r.post, r.link,
		db.Micros(tx.Now().Add(-time.Hour))).Scan(&postComments, &linkComments)
	switch {
	case err != nil:
		return fmt.Errorf("counting comments: %w", err)
	case postComments >= commentsPerPost:
		return apierr.BadStatef("full", "A post may have at most %d comments.", commentsPerPost)
	case linkComments >= commentsPerHour:
		return apierr.New(apierr.RateLimited, "Too many comments were sent with this link. Try again later.").
			With("scope", "approval_comments").WithRetryAfter(time.Hour)
	}
	return nil
}

func insertComment(ctx context.Context, tx *db.Tx, actor auditlog.Actor, r newComment) error {
	var id int64
	err := tx.QueryRow(ctx, `INSERT INTO approval_comments (team_id, post_id, link, person_id, client_name, comment,
		created_at) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`, r.team, r.post, r.link, r.person, r.client, r.text,
		db.Micros(tx.Now())).Scan(&id)
	if err != nil {
		return fmt.Errorf("storing a comment: %w", err)
	}
	kind := "post.commented"
	if r.client == "" {
		kind = "post.comment_answered"
		if err := markAnswered(ctx, tx, r.post); err != nil {
			return err
		}
	}
	return auditlog.Record(ctx, tx, r.team, actor, kind, r.post, map[string]any{"comment": id})
}

func markAnswered(ctx context.Context, tx *db.Tx, postID string) error {
	_, err := tx.Exec(ctx, `UPDATE approval_comments SET answered_at = ? WHERE post_id = ? AND answered_at = 0`,
		db.Micros(tx.Now()), postID)
	if err != nil {
		return fmt.Errorf("marking comments as answered: %w", err)
	}
	return nil
}

// DismissComments marks the clients' comments on a post as answered without adding an answer.
func (s *Service) DismissComments(ctx context.Context, call operation.Call, postID string) error {
	if err := call.Require(access.Write); err != nil {
		return err
	}
	return s.DB.InTx(ctx, "post.set_aside_comments", func(ctx context.Context, tx *db.Tx) error {
		if _, err := s.Posts.Lock(ctx, tx, call.TeamID, postID); err != nil {
			return err
		}
		if err := markAnswered(ctx, tx, postID); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "post.comments_set_aside", postID, nil)
	})
}

// ThreadEntry is a decision or comment on a post.
type ThreadEntry struct {
	At       time.Time
	Name     string        // name of the client, as entered (untrusted), or of the team member
	Team     bool          // whether this is an answer by the team
	Decision post.Approval // empty for a comment
	Text     string        // untrusted; may be empty for a decision
}

// Threads returns the decisions and comments on a team's posts by post ID, oldest first.
func (s *Service) Threads(ctx context.Context, team int64, posts []string) (map[string][]ThreadEntry, error) {
	out := map[string][]ThreadEntry{}
	if len(posts) == 0 {
		return out, nil
	}
	type row struct {
		ThreadEntry
		post string
	}
	scan := func(rows *sql.Rows, r *row) error {
		var at, byTeam int64
		var decision string
		err := rows.Scan(&r.post, &at, &r.Name, &byTeam, &decision, &r.Text)
		r.At, r.Team, r.Decision = db.Time(at), byTeam != 0, post.Approval(decision)
		return err
	}
	condition := ` IN (` + db.Placeholders(len(posts)) + `)`
	decisions, err := db.All(ctx, s.DB, scan, `SELECT r.post_id, r.decided_at, r.client_name, 0, r.decision, r.comment
		FROM post_approvals r JOIN posts p ON p.id = r.post_id
		WHERE p.team_id = ? AND r.decided_at > 0 AND r.post_id`+condition, db.Args(team, posts)...)
	if err != nil {
		return nil, fmt.Errorf("reading decisions on posts: %w", err)
	}
	comments, err := db.All(ctx, s.DB, scan, `SELECT c.post_id, c.created_at, COALESCE(NULLIF(c.client_name, ''), x.name, ''),
		CASE WHEN c.client_name = '' THEN 1 ELSE 0 END, '', c.comment
		FROM approval_comments c LEFT JOIN people x ON x.id = c.person_id
		WHERE c.team_id = ? AND c.post_id`+condition+` ORDER BY c.id`, db.Args(team, posts)...)
	if err != nil {
		return nil, fmt.Errorf("reading comments on posts: %w", err)
	}
	for _, r := range slices.Concat(decisions, comments) {
		out[r.post] = append(out[r.post], r.ThreadEntry)
	}
	for _, thread := range out {
		slices.SortStableFunc(thread, func(a, b ThreadEntry) int { return a.At.Compare(b.At) })
	}
	return out, nil
}
