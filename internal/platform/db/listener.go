package db

import "context"

// Event is a recorded event.
type Event struct {
	ID, Team, Person, Key int64
	Kind, Subject         string
	Detail                []byte // JSON
}

// OnEvent sets a function that is called for every event, in the transaction that records it. Call OnEvent before the
// database is used.
func (d *DB) OnEvent(listener func(context.Context, *Tx, Event) error) { d.onEvent = listener }

// Notify calls the function set by OnEvent for an event.
func (tx *Tx) Notify(ctx context.Context, e Event) error {
	if tx.db.onEvent == nil {
		return nil
	}
	return tx.db.onEvent(ctx, tx, e)
}
