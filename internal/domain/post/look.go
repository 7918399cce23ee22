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

// Load reads a team's post as it is stored, with what its accounts show of their own. It is not_found for a post that the
// team does not have.
func (s *Service) Load(ctx context.Context, team int64, id string) (Post, error) {
	return s.read(ctx, s.db, team, id, "")
}

// FindTeam is the team, of some, whose post it is; not_found where it is none of theirs.
func (s *Service) FindTeam(ctx context.Context, id string, teams []int64) (int64, error) {
	home, err := db.Home(ctx, s.db, `posts WHERE id = ?`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.Missing()
	}
	return home, err
}

// RetryState tells why an account of a post may not be sent again now, by a reason of Skip; empty where it may. Where it may
// be later by itself, it tells when.
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
	Decision Approval // approved or rejected; Waiting while nobody has decided it
	Client   string   // who decided, by the name given: a stranger's text
	Comment  string   // the client's: a stranger's text
	Decided  time.Time
	Sent     bool // a link to it was made and not revoked; known of the latest version only
	Revoked  bool // the links to it were revoked; known of the latest version only
}

const maxRounds = 10

// Rounds are the versions of a team's post that its client was shown, the latest first: the last 10. Versions that were
// changed before anybody decided them are left out, but the latest.
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
	}, `SELECT r.round, r.opened_at, r.decision, r.client_name, r.comment, r.decided_at, p.approval_sent FROM post_approvals r JOIN posts p ON p.id = r.post_id
		WHERE p.id = ? AND p.team_id = ? AND (r.decided_at > 0 OR r.round = p.approval_round) ORDER BY r.round DESC LIMIT ?`, id, team, maxRounds)
	if err != nil {
		return nil, fmt.Errorf("reading what a client said: %w", err)
	}
	return rounds, nil
}
