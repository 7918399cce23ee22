package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/platform/db"
)

// Load returns a team's post with its overrides. It returns not_found if the team has no such post.
func (s *Service) Load(ctx context.Context, team int64, id string) (Record, error) {
	return s.read(ctx, s.db, team, id, "")
}

// FindTeam returns which of the teams has the post, or not_found.
func (s *Service) FindTeam(ctx context.Context, id string, teams []int64) (int64, error) {
	home, err := db.TeamOf(ctx, s.db, `posts WHERE id = ?`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.Missing()
	}
	return home, err
}

// RetryState returns why an account cannot be retried now, as a reason of Skip, or "". If waiting helps, it
// also returns when.
func (s *Service) RetryState(t Target) (string, time.Time) {
	reason, _ := s.limits.canRetry(t, s.db.Now())
	if reason == "retried_moments_ago" {
		return reason, t.RetriedAt.Add(s.limits.RetryBetween)
	}
	return reason, time.Time{}
}

// Round is one version of a post that its client was shown.
type Round struct {
	Number   int64
	OpenedAt time.Time
	Decision Approval // approved or rejected; waiting before the decision
	Client   string   // who decided, as entered: untrusted
	Comment  string   // untrusted
	Decided  time.Time
	Sent     bool // it has a working link; known only for the latest version
	Revoked  bool // its links were revoked; known only for the latest version
}

const maxRounds = 10

// Rounds returns the last 10 versions of a team's post that its client was shown, the latest first. Undecided
// versions are omitted, except the latest.
func (s *Service) Rounds(ctx context.Context, team int64, id string) ([]Round, error) {
	rounds, err := db.All(ctx, s.db, func(rows *sql.Rows, r *Round) error {
		var decision string
		var opened, decided, sent int64
		err := rows.Scan(&r.Number, &opened, &decision, &r.Client, &r.Comment, &decided, &sent)
		r.Decision, r.OpenedAt, r.Decided = Approval(decision), db.Time(opened), db.Time(decided)
		r.Sent, r.Revoked = sent == linkMade, sent == linksRevoked
		if decision == "" {
			r.Decision = Waiting
		}
		return err
	}, `SELECT r.round, r.opened_at, r.decision, r.client_name, r.comment, r.decided_at, p.approval_sent
		FROM post_approvals r JOIN posts p ON p.id = r.post_id
		WHERE p.id = ? AND p.team_id = ? AND (r.decided_at > 0 OR r.round = p.approval_round) ORDER BY r.round DESC
		LIMIT ?`, id, team, maxRounds)
	if err != nil {
		return nil, fmt.Errorf("reading approval rounds: %w", err)
	}
	return rounds, nil
}
