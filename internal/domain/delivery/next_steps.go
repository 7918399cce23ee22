package delivery

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Step is the next step of a delivery.
type Step string

// The steps.
const (
	StepSend      Step = "handing" // the post is being sent
	StepPrepare   Step = "making"  // the network is preparing media
	StepRetry     Step = "again"   // the post is sent again after a temporary failure
	StepRest      Step = "resting" // the delivery waits while the network fails
	StepResolve   Step = "asking"  // the outcome is being looked up
	StepLookUp    Step = "looking" // the outcome is unknown and looked up from time to time
	StepPermalink Step = "linking" // published; the permalink is being looked up
	StepFinish    Step = "finish"  // published; the thumbnail or playlist is being set
)

// NextStep is the next step of an account of a post.
type NextStep struct {
	AccountID int64
	Step      Step
	At        time.Time // time of the step; zero if the step is due or running
	Until     time.Time // for StepLookUp, the approximate time of the last lookup
}

// NextSteps returns the next step of each unfinished delivery of a team's post.
func (s *Service) NextSteps(ctx context.Context, team int64, postID string) ([]NextStep, error) {
	now := s.db.Now()
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, n *NextStep) error {
		var d pendingDelivery
		err := rows.Scan(&n.AccountID, &d.phase, &d.tries, &d.drafted, &d.lease, &d.notBefore, &d.wake, &d.created,
			&d.lastCall)
		n.Step, n.At = d.step(), d.stepAt(now)
		if n.Step == StepLookUp {
			n.Until = db.Time(d.created).Add(unconfirmedLookupPeriod)
		}
		return err
	}, nextStepsQuery, postID, team)
	if err != nil {
		return nil, fmt.Errorf("reading the next steps of a post: %w", err)
	}
	return out, nil
}

const nextStepsQuery = `SELECT d.account_id, d.phase, d.tries, CASE WHEN d.draft = '' THEN 0
	ELSE 1 END, d.lease_until, d.not_before, d.wake_at, d.created_at,
	COALESCE((SELECT t.call FROM delivery_attempts t WHERE t.delivery_id = d.id ORDER BY t.id DESC LIMIT 1), '')
	FROM deliveries d WHERE d.post_id = ? AND d.team_id = ? AND d.phase <> 'ended' ORDER BY d.created_at, d.id`

// pendingDelivery is a delivery that has not ended.
type pendingDelivery struct {
	phase                           phase
	tries, drafted                  int
	lease, notBefore, wake, created int64
	lastCall                        string // the call of the last attempt, which may be callWait
}

func (d pendingDelivery) step() Step {
	switch d.phase {
	case phaseCommitting:
		return StepResolve
	case phaseUnconfirmed:
		return StepLookUp
	case phaseLinking:
		return StepPermalink
	case phaseFinishing:
		return StepFinish
	case phasePlanned, phasePrepared, phaseEnded:
	}
	switch {
	case d.lastCall == callWait:
		return StepRest
	case d.tries > 0:
		return StepRetry
	case d.phase == phasePlanned && d.drafted > 0:
		return StepPrepare
	}
	return StepSend
}

// stepAt returns the time of the step. It is zero if the step is due or running.
func (d pendingDelivery) stepAt(now time.Time) time.Time {
	at := d.notBefore
	if d.phase == phaseUnconfirmed || d.phase.isPublished() {
		at = max(at, d.wake)
	}
	if d.lease > db.Micros(now) || at <= db.Micros(now) {
		return time.Time{}
	}
	return db.Time(at)
}
