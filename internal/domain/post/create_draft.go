package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/google/uuid"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

// CreateDraft stores a person's composition as a new draft. Unlike create_post it accepts a draft without accounts,
// and one with a day but no time. A form, identified by any text, creates one draft: sent again it returns that draft
// and true, or wrong_state with the state resubmitted if its content is another.
func (s *Service) CreateDraft(ctx context.Context, actor *access.Actor, form string, c Composition) (Record, bool, error) {
	call := operation.Call{Actor: actor, Now: s.db.Now()}
	if err := call.Require(access.Write); err != nil {
		return Record{}, false, err
	}
	if err := c.Validate(); err != nil {
		return Record{}, false, err
	}
	var p Record
	again := false
	err := s.db.InTx(ctx, "post.draft", func(ctx context.Context, tx *db.Tx) error {
		id, err := s.draftOf(ctx, tx, call.TeamID, form)
		if err != nil {
			return err
		}
		wanted, err := s.compose(ctx, tx, call, c, nil)
		if err != nil {
			return err
		}
		if again = id != ""; again {
			p, err = s.read(ctx, tx, call.TeamID, id, "")
			if err == nil && !p.holds(wanted) {
				err = apierr.BadState("resubmitted", "This form was already saved with different content. Save it again "+
					"to create another draft.")
			}
			return err
		}
		p = wanted
		return s.insertDraft(ctx, tx, call, form, &p)
	})
	return p, again, err
}

// draftOf returns the id of the draft that a form has created, or "". Until the transaction ends, nobody else creates
// one in the team.
func (s *Service) draftOf(ctx context.Context, tx *db.Tx, team int64, form string) (string, error) {
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
		if err := checkFutureTime(call, p.ScheduledAt); err != nil {
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
	for _, t := range p.Targets {
		if t.Caption == nil && t.Media == nil {
			continue
		}
		if err := setOverride(ctx, tx, p.ID, t); err != nil {
			return err
		}
	}
	return auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), "post.created", p.ID, nil)
}

// holds reports whether a post has the content of another.
func (p Record) holds(wanted Record) bool {
	sameTime := p.ScheduledAt.Equal(wanted.ScheduledAt) && p.PlannedDay == wanted.PlannedDay
	if p.Caption != wanted.Caption || !reflect.DeepEqual(p.Options, wanted.Options) || p.Status == Draft && !sameTime ||
		!sameMedia(p.Media, wanted.Media) || len(p.Targets) != len(wanted.Targets) {
		return false
	}
	for i, t := range p.Targets {
		if t.AccountID != wanted.Targets[i].AccountID || !t.sameOverride(wanted.Targets[i]) {
			return false
		}
	}
	return true
}

// recentPosts is in how many of a team's latest posts LastAccounts looks for one.
const recentPosts = 100

// LastAccounts returns the connected accounts of the latest post that a person made in the app, or none.
func (s *Service) LastAccounts(ctx context.Context, team, person int64) ([]int64, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, id *int64) error { return rows.Scan(id) },
		`SELECT t.account_id FROM post_targets t JOIN social_accounts a ON a.id = t.account_id
		WHERE a.disconnected_at = 0 AND a.connection_state <> 'lost' AND t.post_id = (SELECT p.id FROM
		(SELECT id, person_id, key_id FROM posts WHERE team_id = ? ORDER BY id DESC LIMIT ?) p
		WHERE p.person_id = ? AND p.key_id = 0 AND EXISTS (SELECT 1 FROM post_targets o WHERE o.post_id = p.id)
		ORDER BY p.id DESC LIMIT 1) ORDER BY t.account_id`, team, recentPosts, person)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts of a person's last post: %w", err)
	}
	return out, nil
}
