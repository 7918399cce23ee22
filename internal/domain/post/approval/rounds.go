package approval

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// Round is a version of a post that was sent to a client for approval.
type Round struct {
	Number   int64
	OpenedAt time.Time
	Decision post.Approval // approved or rejected; waiting before the decision
	Client   string        // name of the deciding client, as entered; untrusted
	Comment  string        // untrusted
	Decided  time.Time
	HasLink  bool // whether the version has a working link; set only for the latest version
	Revoked  bool // whether the links were revoked; set only for the latest version

	Schedules     bool   // whether the post is scheduled when it is approved
	ScheduleError string // error code if scheduling on approval failed; otherwise empty
}

const maxRounds = 10

// Rounds returns the last 10 approval rounds of a team's post, latest first. It omits undecided rounds, except for the
// latest round.
func (s *Service) Rounds(ctx context.Context, team int64, id string) ([]Round, error) {
	rounds, err := db.All(ctx, s.DB, func(rows *sql.Rows, r *Round) error {
		var decision string
		var opened, decided, sent, scheduler int64
		err := rows.Scan(&r.Number, &opened, &decision, &r.Client, &r.Comment, &decided, &sent, &scheduler, &r.ScheduleError)
		r.Decision, r.OpenedAt, r.Decided = post.Approval(decision), db.Time(opened), db.Time(decided)
		r.HasLink, r.Revoked = sent == linkCreated, sent == linksRevoked
		r.Schedules = scheduler > 0
		if decision == "" {
			r.Decision = post.Waiting
		}
		return err
	}, `SELECT r.round, r.opened_at, r.decision, r.client_name, r.comment, r.decided_at, p.approval_sent,
		r.schedule_as, r.schedule_error
		FROM post_approvals r JOIN posts p ON p.id = r.post_id
		WHERE p.id = ? AND p.team_id = ? AND (r.decided_at > 0 OR r.round = p.approval_round) ORDER BY r.round DESC
		LIMIT ?`, id, team, maxRounds)
	if err != nil {
		return nil, fmt.Errorf("reading approval rounds: %w", err)
	}
	return rounds, nil
}
