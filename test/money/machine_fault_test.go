package money

import (
	"context"
	"errors"

	"pgregory.net/rapid"

	"pressroom/internal/platform/db"
	"pressroom/test/money/standin"
)

// fault is an error injected into a call.
type fault struct {
	at   string // the point inside of the transaction; nowhere where empty
	kind string
	gone bool // the caller has hung up before it begins
}

const atPrice = "stand_in.price"

var workPoint = map[string]string{standin.Search: "stand_in.started", standin.Tracking: "stand_in.at_once", standin.Note: "stand_in.note"}

// anyFault draws a fault, mostly none.
func (m *machine) anyFault(t *rapid.T) fault {
	kinds := []string{"error", "panic", "cancel", "doom"}
	if m.db.Postgres() {
		kinds = append(kinds, "conflict", "conflicts", "blocked")
	}
	switch n := rapid.IntRange(0, 99).Draw(t, "fault"); {
	case n < 60:
		return fault{}
	case n < 64:
		return fault{gone: true}
	case n < 74:
		return fault{at: atPrice, kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	default:
		return fault{at: "work", kind: rapid.SampledFrom(kinds).Draw(t, "kind")}
	}
}

var errInjected = errors.New("as the test wanted it")

// into makes the context of a call that the fault befalls.
func (f *fault) into(o order) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	if f.gone {
		cancel()
	}
	if f.at == "work" {
		f.at = workPoint[o.tool]
	}
	tries := 0
	return standin.WithInjector(ctx, func(ctx context.Context, tx *db.Tx, at string) error {
		if at != f.at {
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

// failing returns how a call ends when a fault occurs at a point, or "" if it succeeds.
func (m *machine) failing(f fault, o order, at string) string {
	if f.at == "" || f.kind == "conflict" {
		return ""
	}
	here := f.at == at
	switch f.kind {
	case "doom": // the error appears at the commit
		here = at != atPrice
	case "cancel":
		if !m.db.Postgres() { // SQLite completes what it has begun, except for the queue's part
			here = o.tool == standin.Search && at != atPrice
		}
	}
	switch {
	case !here:
		return ""
	case f.kind == "blocked" && o.idem != "":
		return "409 idempotency_key_in_progress"
	}
	return "500 internal_error"
}
