package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/posttime"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// CreateDraft stores a person's composition as a new draft. Unlike create_post, it accepts a draft without accounts,
// and a draft with a planned day but no time.
//
// form is an arbitrary ID of the submitted form. A second call with the same form returns the existing draft and true.
// If the content differs, the second call returns wrong_state with the state "resubmitted".
func (s *Service) CreateDraft(ctx context.Context, actor *access.Actor, form string, c Composition) (Record, bool, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Record{}, false, err
	}
	if err := c.Validate(); err != nil {
		return Record{}, false, err
	}
	var p Record
	exists := false
	err := s.db.InTx(ctx, "post.draft", func(ctx context.Context, tx *db.Tx) error {
		id, err := s.findFormDraft(ctx, tx, call.TeamID, form)
		if err != nil {
			return err
		}
		desired, err := s.compose(ctx, tx, call, c, nil)
		if err != nil {
			return err
		}
		if exists = id != ""; exists {
			p, err = s.read(ctx, tx, call.TeamID, id, "")
			if err == nil && !p.sameContent(desired) {
				err = apierr.BadState("resubmitted", "This form was already saved with different content. Save it again "+
					"to create another draft.")
			}
			return err
		}
		p = desired
		return s.insertDraft(ctx, tx, call, form, &p)
	})
	return p, exists, err
}

// findFormDraft returns the ID of the draft that a form has created, or "". It locks the team, so that two transactions
// cannot both create a draft for the same form.
func (s *Service) findFormDraft(ctx context.Context, tx *db.Tx, team int64, form string) (string, error) {
	if form == "" {
		return "", nil
	}
	var locked int64
	if err := tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ?`+s.db.ForUpdate(), team).Scan(&locked); err != nil {
		return "", fmt.Errorf("locking the team: %w", err)
	}
	var id string
	err := tx.QueryRow(ctx, `SELECT id FROM posts WHERE team_id = ? AND form = ? AND form <> ''`, team, form).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("finding the draft of a form: %w", err)
	}
	return id, nil
}

func (s *Service) insertDraft(ctx context.Context, tx *db.Tx, call operation.Call, form string, p *Record) error {
	if err := p.checkCovers(); err != nil {
		return err
	}
	if !p.ScheduledAt.IsZero() {
		if err := posttime.CheckFuture(call, p.ScheduledAt); err != nil {
			return err
		}
	}
	p.ID, p.CreatedAt, p.UpdatedAt = uuid.Must(uuid.NewV7()).String(), tx.Now(), tx.Now()
	if err := insert(ctx, tx, *p, call.PersonID, 0); err != nil {
		return err
	}
	if err := Update(ctx, tx, p); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE posts SET form = ? WHERE id = ?`, form, p.ID); err != nil {
		return fmt.Errorf("recording the form of a draft: %w", err)
	}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.created", p.ID, nil)
}

// sameContent reports whether a post has the desired content. It ignores the time unless the post is a draft.
func (p Record) sameContent(desired Record) bool {
	sameTime := p.ScheduledAt.Equal(desired.ScheduledAt) && p.PlannedDay == desired.PlannedDay
	if p.Caption != desired.Caption || p.Title != desired.Title || p.FirstComment != desired.FirstComment ||
		!p.Options.Equal(desired.Options) || p.Status == Draft && !sameTime ||
		!attachment.Same(p.Media, desired.Media) || !thread.Same(p.Thread, desired.Thread) || len(p.Targets) != len(desired.Targets) {
		return false
	}
	for i, t := range p.Targets {
		if t.AccountID != desired.Targets[i].AccountID || !t.sameOverride(desired.Targets[i]) {
			return false
		}
	}
	return true
}
