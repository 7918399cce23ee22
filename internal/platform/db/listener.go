package db

import "context"

// Event is an event of the audit log.
type Event struct {
	ID, Team, Person, Key int64
	Kind, Subject         string
	Detail                []byte // JSON
}

// OnEvent sets a function that is called for every event, in the transaction that records the event. Call OnEvent
// before the database is used.
func (d *DB) OnEvent(listener func(context.Context, *Tx, Event) error) { d.onEvent = listener }

// Notify calls the function that was set with OnEvent, if any.
func (tx *Tx) Notify(ctx context.Context, e Event) error {
	if tx.db.onEvent == nil {
		return nil
	}
	return tx.db.onEvent(ctx, tx, e)
}
