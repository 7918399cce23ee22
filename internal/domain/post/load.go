package post

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

// Load returns a team's post with its overrides. It returns not_found if the team has no such post.
func (s *Service) Load(ctx context.Context, team int64, id string) (Record, error) {
	return s.read(ctx, s.db, team, id, "")
}

// FindTeam returns the team that the post belongs to. It returns not_found unless the team is in teams.
func (s *Service) FindTeam(ctx context.Context, id string, teams []int64) (int64, error) {
	home, err := db.OwningTeam(ctx, s.db, `posts WHERE id = ?`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	return home, err
}

// CanRetryComment reports whether the first comment of a target can be retried now.
func (s *Service) CanRetryComment(t Target) bool {
	_, ok := s.limits.canRetryComment(t, s.db.Now())
	return t.State == TargetPublished && ok
}

// RetryState returns the reason why a target cannot be retried now, as in PublicationRetrySkipped, or "" if it can be
// retried. If the target can be retried later, RetryState also returns the time. replaced is set if another post of the
// family holds the account.
func (s *Service) RetryState(t Target, replaced bool) (string, time.Time) {
	reason, _ := s.limits.canRetry(t, replaced, s.db.Now())
	if reason == "retried_moments_ago" {
		return reason, t.RetriedAt.Add(s.limits.MinRetryInterval)
	}
	return reason, time.Time{}
}
