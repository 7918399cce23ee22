package db

import "context"

// Recorded is a recorded event.
type Recorded struct {
	ID, Team, Person, Key int64
	Kind, Subject         string
	Detail                []byte // JSON
}

// Listen sets a function that is called for every event, in the transaction that records it. It must be called before
// the database is used.
func (d *DB) Listen(hear func(context.Context, *Tx, Recorded) error) { d.hear = hear }

// Notify calls the function set by Listen for an event.
func (tx *Tx) Notify(ctx context.Context, e Recorded) error {
	if tx.db.hear == nil {
		return nil
	}
	return tx.db.hear(ctx, tx, e)
}
