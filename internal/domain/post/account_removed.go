package post

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// maxUpcoming is the maximum number of upcoming posts of an account that are counted.
const maxUpcoming = 1000

const upcomingQuery = `SELECT p.id, p.is_template FROM posts p JOIN post_targets t ON t.post_id = p.id
	AND t.account_id = ? WHERE p.team_id = ? AND p.status = 'scheduled' AND p.id > ? ORDER BY p.id LIMIT ?`

// Upcoming counts the scheduled posts and running series of an account.
type Upcoming struct {
	Posts  int // scheduled posts, excluding templates
	Series int // running series
}

// Any reports whether any post or series was counted.
func (u Upcoming) Any() bool { return u.Posts+u.Series > 0 }

// IsCapped reports whether the count reached its maximum, so that there may be more.
func (u Upcoming) IsCapped() bool { return u.Posts+u.Series >= maxUpcoming }

func (u Upcoming) add(p upcomingPost) Upcoming {
	if p.template {
		return Upcoming{u.Posts, u.Series + 1}
	}
	return Upcoming{u.Posts + 1, u.Series}
}

// CountUpcoming counts the scheduled posts and running series of a team's account, up to maxUpcoming.
func (s *Service) CountUpcoming(ctx context.Context, team, account int64) (Upcoming, error) {
	var out Upcoming
	list, err := s.listUpcoming(ctx, team, account, "", maxUpcoming)
	for _, upcoming := range list {
		out = out.add(upcoming)
	}
	return out, err
}

// upcomingPost is a scheduled post or the template of a running series.
type upcomingPost struct {
	id       string
	template bool
}

func (s *Service) listUpcoming(ctx context.Context, team, account int64, afterID string,
	limit int) ([]upcomingPost, error) {
	list, err := db.All(ctx, s.db, func(rows *sql.Rows, p *upcomingPost) error {
		var template int64
		err := rows.Scan(&p.id, &template)
		p.template = template != 0
		return err
	}, upcomingQuery, account, team, afterID, limit)
	if err != nil {
		return nil, fmt.Errorf("listing posts scheduled for account %d: %w", account, err)
	}
	return list, nil
}

// RemoveAccount removes an account from all scheduled posts and running series, and returns how many it changed. A post
// with no account left becomes a draft. A series with no account left is paused, which turns its occurrences into
// drafts. A changed post that was sent to a client needs approval again.
func (s *Service) RemoveAccount(ctx context.Context, call operation.Call, account int64) (Upcoming, error) {
	var removed Upcoming
	if err := call.Require(access.Publish); err != nil {
		return removed, err
	}
	for lastID := ""; ; {
		list, err := s.listUpcoming(ctx, call.TeamID, account, lastID, 100)
		if err != nil || len(list) == 0 {
			return removed, err
		}
		for _, upcoming := range list {
			err := s.db.InTx(ctx, "post.remove_account", func(ctx context.Context, tx *db.Tx) error {
				return s.removeAccount(ctx, tx, call, upcoming.id, account)
			})
			if err != nil {
				return removed, err
			}
			removed = removed.add(upcoming)
		}
		lastID = list[len(list)-1].id
	}
}

func (s *Service) removeAccount(ctx context.Context, tx *db.Tx, call operation.Call, id string, account int64) error {
	p, err := s.Lock(ctx, tx, call.TeamID, id)
	if err != nil || p.Status != Scheduled {
		return err
	}
	p.Targets = slices.DeleteFunc(p.Targets, func(t Target) bool { return t.AccountID == account })
	if _, err := tx.Exec(ctx, `DELETE FROM post_targets WHERE post_id = ? AND account_id = ?`, id,
		account); err != nil {
		return fmt.Errorf("removing an account from a post: %w", err)
	}
	if len(p.Targets) == 0 {
		if err := s.updateSeries(ctx, tx, &p); err != nil {
			return err
		}
		p.Status = Draft
	}
	return RecordChange(ctx, tx, call, &p, []string{"account_ids"})
}
