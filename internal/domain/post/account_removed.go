package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
)

// maxUpcoming bounds the upcoming posts of an account that are counted.
const maxUpcoming = 1000

const upcomingQuery = `SELECT p.id, p.is_template FROM posts p JOIN post_targets t ON t.post_id = p.id
	AND t.account_id = ? WHERE p.team_id = ? AND p.status = 'scheduled' AND p.id > ? ORDER BY p.id LIMIT ?`

// Upcoming counts what is scheduled for an account.
type Upcoming struct {
	Posts  int // scheduled posts, without templates
	Series int // running series
}

// Any reports whether there is anything.
func (a Upcoming) Any() bool { return a.Posts+a.Series > 0 }

// Most reports whether there may be more than was counted.
func (a Upcoming) Most() bool { return a.Posts+a.Series >= maxUpcoming }

func (a Upcoming) plus(w upcomingPost) Upcoming {
	if w.template {
		return Upcoming{a.Posts, a.Series + 1}
	}
	return Upcoming{a.Posts + 1, a.Series}
}

// CountUpcoming counts what is scheduled for a team's account, up to maxUpcoming.
func (s *Service) CountUpcoming(ctx context.Context, team, account int64) (Upcoming, error) {
	var out Upcoming
	list, err := s.listUpcoming(ctx, team, account, "", maxUpcoming)
	for _, one := range list {
		out = out.plus(one)
	}
	return out, err
}

// upcomingPost is a scheduled post or the template of a running series.
type upcomingPost struct {
	id       string
	template bool
}

func (s *Service) listUpcoming(ctx context.Context, team, account int64, after string,
	limit int) ([]upcomingPost, error) {
	list, err := db.All(ctx, s.db, func(rows *sql.Rows, w *upcomingPost) error {
		var template int64
		err := rows.Scan(&w.id, &template)
		w.template = template != 0
		return err
	}, upcomingQuery, account, team, after, limit)
	if err != nil {
		return nil, fmt.Errorf("listing posts scheduled for account %d: %w", account, err)
	}
	return list, nil
}

// RemoveAccount removes an account from every scheduled post and running series, and returns how many. A post
// without accounts becomes a draft, and a series without accounts is paused, which turns its occurrences into
// drafts. A client's approval is requested again, as for every change.
func (s *Service) RemoveAccount(ctx context.Context, call operation.Call, account int64) (Upcoming, error) {
	var done Upcoming
	if err := call.Require(access.Publish); err != nil {
		return done, err
	}
	for after := ""; ; {
		list, err := s.listUpcoming(ctx, call.TeamID, account, after, 100)
		if err != nil || len(list) == 0 {
			return done, err
		}
		for _, one := range list {
			err := s.db.InTx(ctx, "post.take_out", func(ctx context.Context, tx *db.Tx) error {
				return s.removeAccount(ctx, tx, call, one.id, account)
			})
			if err != nil {
				return done, err
			}
			done = done.plus(one)
		}
		after = list[len(list)-1].id
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
		if err := s.updateSeriesOf(ctx, tx, &p); err != nil {
			return err
		}
		p.Status = Draft
	}
	return recordChange(ctx, tx, call, &p, []string{"account_ids"})
}

// Failure is why a post failed at an account.
type Failure struct {
	PostID    string
	ErrorCode string
}

// lastFailureQuery reads only an account's newest posts; older failures no longer matter.
const lastFailureQuery = `SELECT post_id, error_code FROM (SELECT post_id, state, error_code FROM post_targets
	WHERE account_id = (SELECT id FROM social_accounts WHERE team_id = ? AND id = ?) ORDER BY post_id DESC
	LIMIT 20) AS newest WHERE state = 'failed' ORDER BY post_id DESC LIMIT 1`

// LastFailure returns the newest failure among the last posts of a team's account, or the zero Failure.
func (s *Service) LastFailure(ctx context.Context, team, account int64) (Failure, error) {
	var f Failure
	err := s.db.QueryRow(ctx, lastFailureQuery, team, account).Scan(&f.PostID, &f.ErrorCode)
	if errors.Is(err, sql.ErrNoRows) {
		return Failure{}, nil
	}
	if err != nil {
		return f, fmt.Errorf("reading the last failure at account %d: %w", account, err)
	}
	return f, nil
}
