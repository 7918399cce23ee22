package money

import (
	"context"
	"errors"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/test/money/standin"
)

// fault is an error injected into a call.
type fault struct {
	point        string // the point in the transaction; "" means no fault
	kind         string
	disconnected bool // the caller disconnects before the call starts
}

const pricePoint = "stand_in.price"

var workPoints = map[string]string{standin.Search: "stand_in.started", standin.Tracking: "stand_in.at_once", standin.Note: "stand_in.note"}

// anyFault draws a fault; most calls have no fault.
func (m *machine) anyFault(t *rapid.T) fault {
	kinds := []string{"error", "panic", "cancel", "doom"}
	if m.db.Postgres() {
		kinds = append(kinds, "conflict", "conflicts", "blocked")
	}
	switch n := rapid.IntRange(0, 99).Draw(t, "fault"); {
	case n < 60:
		return fault{}
	case n < 64:
		return fault{disconnected: true}
	case n < 74:
		return fault{point: pricePoint, kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	default:
		return fault{point: "work", kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	}
}

var errInjected = errors.New("injected error")

// inject returns the context that injects the fault into a call.
func (f *fault) inject(o apiCall) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	if f.disconnected {
		cancel()
	}
	if f.point == "work" {
		f.point = workPoints[o.tool]
	}
	tries := 0
	return standin.WithInjector(ctx, func(ctx context.Context, tx *db.Tx, at string) error {
		if at != f.point {
			return nil
		}
		tries++
		switch f.kind {
		case "panic":
			panic(errInjected)
		case "cancel":
			cancel()
		case "doom":
			_, err := tx.Exec(ctx, `INSERT INTO stand_in_doom (team_id) VALUES (-1)`)
			return err
		case "conflict", "conflicts":
			if f.kind == "conflict" && tries > 2 {
				return nil
			}
			_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '40001'; END $$`)
			return err
		case "blocked":
			_, err := tx.Exec(ctx, `DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '55P03'; END $$`)
			return err
		default:
			return errInjected
		}
		return nil
	}), cancel
}

// rejectionOf returns the rejection that a fault causes at a point, or "" if the call passes that point.
func (m *machine) rejectionOf(f fault, o apiCall, at string) string {
	if f.point == "" || f.kind == "conflict" {
		return ""
	}
	fails := f.point == at
	switch f.kind {
	case "doom": // the error appears at the commit
		fails = at != pricePoint
	case "cancel":
		if !m.db.Postgres() { // SQLite ignores the canceled context, except in the queue's statement
			fails = o.tool == standin.Search && at != pricePoint
		}
	}
	switch {
	case !fails:
		return ""
	case f.kind == "blocked" && o.key != "":
		return "409 idempotency_key_in_progress"
	}
	return "500 internal_error"
}
