package db

import "context"

// Recorded is an event as it was recorded.
type Recorded struct {
	ID, Team, Person, Key int64
	Kind, Subject         string
	Detail                []byte // JSON
}

// Listen has somebody hear of every event, in the transaction that records it: what the listener writes is there
// exactly when the effect is. It is called before the database is used.
func (d *DB) Listen(hear func(context.Context, *Tx, Recorded) error) { d.hear = hear }

// Tell tells the listener, where there is one, of an event.
func (tx *Tx) Tell(ctx context.Context, e Recorded) error {
	if tx.db.hear == nil {
		return nil
	}
	return tx.db.hear(ctx, tx, e)
}
