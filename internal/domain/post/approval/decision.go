package approval

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// Decision is a client's decision on one version of a post.
type Decision struct {
	Post    string // post ID; may be empty if the link has only one post
	Round   int64  // approval round that the client saw
	Approve bool
	Name    string // as the client entered it
	Comment string // required to request changes
}

// Decide records a client's decision. An approval is final: a second decision returns wrong_state with the approval
// state. A client who requested changes can still approve the version while the post is a draft or scheduled. A
// decision on an earlier version returns wrong_state with the state "changed".
//
// If the team requested it, an approved draft with a time is scheduled. If scheduling fails, the post stays a draft and
// the reason is recorded.
func (s *Service) Decide(ctx context.Context, token string, d Decision) error {
	l, err := s.read(ctx, token)
	if err != nil {
		return err
	}
	if d, err = d.sanitize(); err != nil {
		return err
	}
	linked, err := l.find(d.Post)
	if err != nil {
		return err
	}
	d.Post = linked.post
	proposal, err := s.proposal(ctx, linked)
	if err != nil {
		return err
	}
	return s.decide(ctx, auditlog.Actor{}, proposal.TeamID, l.request, d)
}

// DecideAs records the decision of a signed-in client of the team. It returns the same errors as Decide, and not_found
// for API keys and for people who are not clients of the team.
func (s *Service) DecideAs(ctx context.Context, call operation.Call, postID string, d Decision) error {
	if !call.InApp() || call.Role != access.Client {
		return apierr.ItemNotFound()
	}
	d.Name, d.Post = call.PersonName, postID
	d, err := d.sanitize()
	if err != nil {
		return err
	}
	return s.decide(ctx, auditlog.NewActor(call), call.TeamID, "", d)
}

// decide records a decision. request is the ID of the approval request whose page was used, or empty.
func (s *Service) decide(ctx context.Context, actor auditlog.Actor, team int64, request string, d Decision) error {
	var scheduler approvalScheduler
	var err error
	if d.Approve {
		if scheduler, err = s.findScheduler(ctx, d.Post, d.Round); err != nil {
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
			return apierr.BadState(string(p.Approval), "The post is not waiting for approval.")
		case p.Approval != post.Waiting && (!d.Approve || !CanApproveAfterRejection(p)):
			return apierr.BadState(string(p.Approval), "The client has already decided on this version.")
		case p.Round != d.Round:
			return apierr.BadState("changed",
				"The post has changed, so your decision was not saved. Review the new version.")
		}
		if err := rememberClient(ctx, tx, request, d.Name); err != nil {
			return err
		}
		if p.Approval == post.Rejected {
			if err := keepRejection(ctx, tx, p); err != nil {
				return err
			}
		}
		return s.storeDecision(ctx, tx, actor, scheduler, &p, d)
	})
}

// CanApproveAfterRejection reports whether the client requested changes to a post and can still approve it instead.
func CanApproveAfterRejection(p post.Record) bool {
	return p.Approval == post.Rejected && (p.Status == post.Draft || p.Status == post.Scheduled)
}

// keepRejection turns the comment of a decision that is being replaced into a comment on the post. The team does not
// need to answer it.
func keepRejection(ctx context.Context, tx *db.Tx, p post.Record) error {
	_, err := tx.Exec(ctx, `INSERT INTO approval_comments (team_id, post_id, client_name, comment, created_at, answered_at)
		SELECT ?, post_id, client_name, comment, decided_at, ? FROM post_approvals
		WHERE post_id = ? AND round = ? AND comment <> ''`, p.TeamID, db.Micros(tx.Now()), p.ID, p.Round)
	if err != nil {
		return fmt.Errorf("keeping a client's comment: %w", err)
	}
	return nil
}

// rememberClient records that the page of a request was just used, and stores the client's name unless the request
// already has one.
func rememberClient(ctx context.Context, tx *db.Tx, request, name string) error {
	if request == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `UPDATE approval_requests SET client_name = CASE WHEN client_name = '' THEN ? ELSE client_name END,
		opened_at = ? WHERE id = ?`, name, db.Micros(tx.Now()), request)
	if err != nil {
		return fmt.Errorf("storing a client's name: %w", err)
	}
	return nil
}

func (s *Service) storeDecision(ctx context.Context, tx *db.Tx, actor auditlog.Actor, scheduler approvalScheduler, p *post.Record,
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
	if d.Approve { // Schedule before recording the event, because its notification describes the final state.
		if err := s.schedule(ctx, tx, scheduler, p); err != nil {
			return err
		}
	}
	return auditlog.Record(ctx, tx, p.TeamID, actor, "post."+string(p.Approval), p.ID, map[string]any{"round": p.Round})
}

// sanitize validates the name and comment, and removes invisible characters and characters that change the text
// direction. It converts CRLF to LF, because browsers count a line end as one character.
func (d Decision) sanitize() (Decision, error) {
	d.Comment = plaintext.Lines(d.Comment)
	if err := sanitizeName(&d.Name); err != nil {
		return d, err
	}
	if !d.Approve && strings.TrimSpace(d.Comment) == "" {
		return d, apierr.Invalid(apierr.MissingArgument, "comment", "Say what should change.")
	}
	return d, checkLength(d.Comment)
}

// sanitizeName sanitizes a client's name in place. It returns an error if the name is empty or too long.
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
