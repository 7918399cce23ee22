package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Result is the outcome of sending a post to one account.
type Result struct {
	State            TargetState
	PublishedAt      time.Time
	Permalink        string
	ErrorCode        string
	NetworkText      string
	NetworkID        string // the network's ID of the published post, or of a failed post that the network hides
	RecordedByPerson bool   // whether a person recorded the result, so that another event already describes it
	Part             int    // of the thread; 0 is the post itself, comment.Part the first comment
}

// MarkSending records that a post is being sent to an account.
func MarkSending(ctx context.Context, tx *db.Tx, post string, account int64) error {
	_, err := tx.Exec(ctx, `UPDATE post_targets SET state = ? WHERE post_id = ? AND account_id = ?`,
		string(TargetSending), post, account)
	if err != nil {
		return fmt.Errorf("recording that a post is being sent: %w", err)
	}
	return nil
}

// RecordResult stores the result for an account and updates the status of the post. If another part of the post
// follows, RecordResult returns its number and true.
func (s *Service) RecordResult(
	ctx context.Context, tx *db.Tx, team int64, id string, account int64, r Result,
) (int, bool, error) {
	p, err := s.Lock(ctx, tx, team, id)
	if err != nil {
		return 0, false, err
	}
	next, more := 0, false
	for i, t := range p.Targets {
		if t.AccountID != account {
			continue
		}
		// Another inconclusive check of an unconfirmed post is not worth an event.
		skipEvent := r.RecordedByPerson || t.stateOf(r.Part) == TargetUnconfirmed && r.State == TargetUnconfirmed
		t, more = t.withResult(r, p.PartCount())
		skipEvent = skipEvent || more
		if next = r.Part + 1; !more && r.Part != comment.Part {
			next, more = comment.Part, s.needsComment(p, t)
		}
		if more && next == comment.Part {
			t.Comment.State = string(TargetSending)
		}
		p.Targets[i] = t
		if err := updateTarget(ctx, tx, id, t); err != nil {
			return 0, false, err
		}
		if skipEvent {
			continue
		}
		if err := auditlog.Record(ctx, tx, team, auditlog.Actor{}, r.event(), id,
			map[string]any{"account": account, "error_code": r.ErrorCode}); err != nil {
			return 0, false, err
		}
	}
	p.Status = aggregateStatus(p.Targets)
	p.PublishedAt = firstPublicationTime(p.Targets)
	return next, more, Update(ctx, tx, &p)
}

// event returns the name of the result in the audit log.
func (r Result) event() string {
	if r.Part == comment.Part {
		return "post.first_comment_" + string(r.State)
	}
	return "post.account_" + string(r.State)
}

// needsComment reports whether a published target still needs the post's first comment.
func (s *Service) needsComment(p Record, t Target) bool {
	rules, known := s.accounts.Rules(t.Platform)
	return known && rules.ForOptions(t.Platform, p.effectiveOptions()).HasFirstComment() &&
		p.FirstComment != "" && t.State == TargetPublished && t.Comment.State == ""
}

func firstPublicationTime(targets []Target) time.Time {
	var first time.Time
	for _, t := range targets {
		if (t.State == TargetPublished || t.IsIncomplete()) && (first.IsZero() || t.PublishedAt.Before(first)) {
			first = t.PublishedAt
		}
	}
	return first
}

// LoadForDelivery returns a post, one of its targets and the team's content language. The target is zero if the post no
// longer has the account.
func (s *Service) LoadForDelivery(ctx context.Context, team int64, id string,
	account int64) (Record, Target, string, error) {
	p, err := s.read(ctx, s.db, team, id, "")
	if err != nil {
		return p, Target{}, "", err
	}
	var language string
	err = s.db.QueryRow(ctx, `SELECT content_language FROM teams WHERE id = ?`, team).Scan(&language)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return p, Target{}, "", fmt.Errorf("reading the team of a post: %w", err)
	}
	for _, t := range p.Targets {
		if t.AccountID == account {
			return p, t, language, nil
		}
	}
	return p, Target{}, language, nil
}
