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
	Post    string // empty for the only post of a link
	Round   int64  // of the version that the client saw
	Approve bool
	Name    string // as the client entered it
	Comment string // optional
}

// Decide records a client's decision. Each version is decided once: a second decision is wrong_state with the
// post's state, and a decision on an earlier version is wrong_state with the state changed. An approved draft with a
// time is scheduled if the team asked for that; if that is not possible, it stays a draft and the reason is recorded.
func (s *Service) Decide(ctx context.Context, token string, d Decision) error {
	l, err := s.read(ctx, token)
	if err != nil {
		return err
	}
	if d, err = d.sanitize(); err != nil {
		return err
	}
	seen, err := l.find(d.Post)
	if err != nil {
		return err
	}
	d.Post = seen.post
	shown, err := s.proposal(ctx, seen)
	if err != nil {
		return err
	}
	return s.decide(ctx, auditlog.Actor{}, shown.TeamID, l.request, d)
}

// DecideAs records the decision of a signed-in client of the team. It returns the errors of Decide, and not_found for
// people who are not clients of the team, and for keys.
func (s *Service) DecideAs(ctx context.Context, call operation.Call, postID string, d Decision) error {
	if !call.InApp() || call.Role != access.Client {
		return apierr.Missing()
	}
	d.Name, d.Post = call.PersonName, postID
	d, err := d.sanitize()
	if err != nil {
		return err
	}
	return s.decide(ctx, auditlog.NewActor(call), call.TeamID, "", d)
}

// decide records a decision that was made on a request's page, or elsewhere if the request is empty.
func (s *Service) decide(ctx context.Context, by auditlog.Actor, team int64, request string, d Decision) error {
	var as scheduler
	var err error
	if d.Approve {
		if as, err = s.schedulerOf(ctx, d.Post, d.Round); err != nil {
			return err
		}
	}
	return s.DB.InTx(ctx, "post.decide", func(ctx context.Context, tx *db.Tx) error {
		p, err := s.Posts.Lock(ctx, tx, team, d.Post)
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
		if err := rememberClient(ctx, tx, request, d.Name); err != nil {
			return err
		}
		return s.storeDecision(ctx, tx, by, as, &p, d)
	})
}

// rememberClient stores the name that was entered on the page of a request, to offer it again.
func rememberClient(ctx context.Context, tx *db.Tx, request, name string) error {
	if request == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE approval_requests SET client_name = ? WHERE id = ?`, name, request)
	if err != nil {
		return fmt.Errorf("storing a client's name: %w", err)
	}
	return nil
}

func (s *Service) storeDecision(ctx context.Context, tx *db.Tx, by auditlog.Actor, as scheduler, p *post.Record,
	d Decision) error {
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
	if d.Approve { // before the event, whose notification describes the state of the post
		if err := s.schedule(ctx, tx, as, p); err != nil {
			return err
		}
	}
	return auditlog.Record(ctx, tx, p.TeamID, by, "post."+string(p.Approval), p.ID, map[string]any{"round": p.Round})
}

// sanitize returns the decision without characters that reorder or hide text around it. Browsers end lines with
// two characters and count one.
func (d Decision) sanitize() (Decision, error) {
	d.Comment = plaintext.Lines(d.Comment)
	if err := sanitizeName(&d.Name); err != nil {
		return d, err
	}
	return d, checkLength(d.Comment)
}

// sanitizeName sanitizes a client's name and returns why it is not accepted.
func sanitizeName(name *string) error {
	*name = plaintext.Line(*name)
	switch {
	case *name == "":
		return apierr.Invalid(apierr.MissingArgument, "name", "Enter your name.")
	case utf8.RuneCountInString(*name) > maxClientName:
		return apierr.Invalidf(apierr.TooLong, "name", "A name may have at most %d characters.", maxClientName)
	}
	return nil
}

func checkLength(comment string) error {
	if utf8.RuneCountInString(comment) > MaxComment {
		return apierr.Invalidf(apierr.TooLong, "comment", "A comment may have at most %d characters.", MaxComment)
	}
	return nil
}
