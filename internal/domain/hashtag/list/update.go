package list

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Change holds the new values for fields of a list. nil leaves a field unchanged. An empty Color or Icon removes the
// color or icon.
type Change struct {
	Name, Color, Icon *string
}

// apply validates the change and applies it to a list.
func (c Change) apply(l *List) error {
	for _, part := range []struct {
		newValue *string
		parse    func(string) (string, error)
		dst      *string
	}{{c.Name, parseName, &l.Name}, {c.Color, parseColor, &l.Color}, {c.Icon, parseIcon, &l.Icon}} {
		if part.newValue == nil {
			continue
		}
		value, err := part.parse(*part.newValue)
		if err != nil {
			return err
		}
		*part.dst = value
	}
	return nil
}

// Change changes the name, color or icon of a team's list.
func (s *Service) Change(ctx context.Context, team int64, actor auditlog.Actor, id int64, change Change) (List, error) {
	var out List
	err := s.db.InTx(ctx, "hashtags.change_list", func(ctx context.Context, tx *db.Tx) error {
		l, err := s.lock(ctx, tx, team, id)
		if err != nil {
			return err
		}
		if err := change.apply(&l); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE hashtag_lists SET name = ?, color = ?, icon = ? WHERE team_id = ? AND id = ?`,
			l.Name, l.Color, l.Icon, team, id); err != nil {
			return fmt.Errorf("changing a hashtag list: %w", err)
		}
		out = l
		return auditlog.Record(ctx, tx, team, actor, "hashtag_list.changed", formatID(id), nil)
	})
	return out, err
}

// Remove removes a hashtag from a team's list. It returns not_found if the list does not contain the hashtag.
func (s *Service) Remove(ctx context.Context, team int64, actor auditlog.Actor, id int64, hashtag string) error {
	return s.db.InTx(ctx, "hashtags.remove", func(ctx context.Context, tx *db.Tx) error {
		l, err := s.lock(ctx, tx, team, id)
		if err != nil {
			return err
		}
		deletedCount, err := tx.Exec(ctx, `DELETE FROM hashtag_list_items WHERE list_id = ? AND hashtag = ?`, l.ID, hashtag)
		if err != nil {
			return fmt.Errorf("removing a hashtag from a list: %w", err)
		}
		if deletedCount == 0 {
			return apierr.ItemNotFound()
		}
		l.Size -= deletedCount
		if err := l.saveSize(ctx, tx); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, actor, "hashtag_list.removed_from", formatID(id), nil)
	})
}

// Delete deletes a team's list with its hashtags.
func (s *Service) Delete(ctx context.Context, team int64, actor auditlog.Actor, id int64) error {
	return s.db.InTx(ctx, "hashtags.delete_list", func(ctx context.Context, tx *db.Tx) error {
		if _, err := s.lock(ctx, tx, team, id); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM hashtag_lists WHERE team_id = ? AND id = ?`, team, id); err != nil {
			return fmt.Errorf("deleting a hashtag list: %w", err)
		}
		return auditlog.Record(ctx, tx, team, actor, "hashtag_list.deleted", formatID(id), nil)
	})
}
