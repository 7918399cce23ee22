package auditlog

import (
	"fmt"
	"time"

	"pressroom/internal/platform/db"
)

// leap is how far ids are moved at least, where the clock tells too little.
const leap = 1_000_000

// Ahead moves the ids of events to come to the milliseconds since 1970, or a million ahead where they are beyond: a
// database that was restored, copied or set back would else use ids again that whoever takes events along has read
// already. Events do not come a thousand a second for long, so that the next time is beyond what was used since. It
// runs by a function that executes a statement in the transaction that finds out that the database went back.
func Ahead(exec func(query string, args ...any) error, postgres bool, now time.Time) error {
	if postgres {
		return moved(exec(`SELECT ` + NextAhead(fmt.Sprint(db.Micros(now)))))
	}
	err := exec(`INSERT INTO sqlite_sequence (name, seq) SELECT 'events', 0 WHERE NOT EXISTS (SELECT 1
		FROM sqlite_sequence WHERE name = 'events')`)
	if err != nil {
		return moved(err)
	}
	return moved(exec(`UPDATE sqlite_sequence SET seq = MAX(seq + ?, ?) WHERE name = 'events'`, leap, now.UnixMilli()))
}

func moved(err error) error {
	if err != nil {
		return fmt.Errorf("moving the ids of events ahead: %w", err)
	}
	return nil
}

// NextAhead is an expression of PostgreSQL's that does the same, by the microseconds of an expression, and is the id
// of the next event.
func NextAhead(micros string) string {
	return fmt.Sprintf(
		`setval(pg_get_serial_sequence('events', 'id'), GREATEST((SELECT COALESCE(MAX(id), 0) FROM events) + %d, (%s) / 1000))`, leap, micros)
}
