package approval

import (
	"context"
	"fmt"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/post"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/plaintext"
)

// Decision is a client's decision on one version of a post.
type Decision struct {
	Round   int64 // of the version that the client saw
	Approve bool
	Name    string // as the client entered it
	Comment string // optional
}

// Decide records a client's decision. Each version is decided once: a second decision is wrong_state with the
// post's state, and a decision on an earlier version is wrong_state with the state changed.
func (s *Service) Decide(ctx context.Context, token string, d Decision) error {
	l, err := s.parse(token)
	if err != nil {
		return err
	}
	if d, err = d.sanitize(); err != nil {
		return err
	}
	shown, err := s.proposal(ctx, l)
	if err != nil {
		return err
	}
	return s.decide(ctx, auditlog.Actor{}, shown.TeamID, l.post, d)
}

// DecideAs records the decision of a signed-in client of the team. It returns the errors of Decide, and not_found for
// people who are not clients of the team, and for keys.
func (s *Service) DecideAs(ctx context.Context, call operation.Call, postID string, d Decision) error {
	if !call.InApp() || call.Role != access.Client {
		return apierr.Missing()
	}
	d.Name = call.PersonName
	d, err := d.sanitize()
	if err != nil {
		return err
	}
	return s.decide(ctx, auditlog.By(call), call.TeamID, postID, d)
}

func (s *Service) decide(ctx context.Context, by auditlog.Actor, team int64, postID string, d Decision) error {
	return s.DB.InTx(ctx, "post.decide", func(ctx context.Context, tx *db.Tx) error {
		p, err := s.Posts.Lock(ctx, tx, team, postID)
		if err != nil {
			return err
		}
		switch {
		case p.Approval == post.NotNeeded:
			return apierr.BadState(string(p.Approval), "The post does not await approval.")
		case p.Approval != post.Waiting:
			return apierr.BadState(string(p.Approval), "This version has already been decided.")
		case p.Round != d.Round:
			return apierr.BadState("changed",
				"The post has changed, so your decision was not saved. Review the new version.")
		}
		return storeDecision(ctx, tx, by, &p, d)
	})
}

func storeDecision(ctx context.Context, tx *db.Tx, by auditlog.Actor, p *post.Record, d Decision) error {
	p.Approval = post.Rejected
	if d.Approve {
		p.Approval = post.Approved
	}
	_, err := tx.Exec(ctx, `UPDATE post_approvals SET decision = ?, client_name = ?, comment = ?, decided_at = ?
		WHERE post_id = ? AND round = ?`,
		string(p.Approval), d.Name, d.Comment, db.Micros(tx.Now()), p.ID, p.Round)
	if err != nil {
		return fmt.Errorf("storing a client's decision: %w", err)
	}
	if err := post.Update(ctx, tx, p); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, p.TeamID, by, "post."+string(p.Approval), p.ID, map[string]any{"round": p.Round})
}

// sanitize returns the decision without characters that reorder or hide text around it. Browsers end lines with
// two characters and count one.
func (d Decision) sanitize() (Decision, error) {
	d.Name, d.Comment = plaintext.Line(d.Name), plaintext.Lines(d.Comment)
	switch {
	case d.Name == "":
		return d, apierr.Invalid(apierr.MissingArgument, "name", "Enter your name.")
	case utf8.RuneCountInString(d.Name) > maxClientName:
		return d, apierr.Invalid(apierr.TooLong, "name", fmt.Sprintf("A name may have at most %d characters.",
			maxClientName))
	case utf8.RuneCountInString(d.Comment) > MaxComment:
		return d, apierr.Invalid(apierr.TooLong, "comment", fmt.Sprintf("A comment may have at most %d characters.",
			MaxComment))
	}
	return d, nil
}
