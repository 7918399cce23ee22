package auditlog

import (
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// minAdvance is the minimum number by which AdvanceIDs increases the sequence of event IDs.
const minAdvance = 1_000_000

// AdvanceIDs advances the sequence of event IDs to the current Unix time in milliseconds, and by at least minAdvance. A
// database that was restored or copied would otherwise reuse IDs that log consumers have already read. On average,
// fewer than a thousand events per second are recorded, so the IDs stay behind the time in milliseconds. Each call
// therefore advances past all IDs used before. exec runs a statement in the transaction that detected the restore.
func AdvanceIDs(exec func(query string, args ...any) error, postgres bool, now time.Time) error {
	var err error
	if postgres {
		err = exec(`SELECT ` + NextIDExpr(fmt.Sprint(db.Micros(now))))
	} else {
		err = exec(`INSERT INTO sqlite_sequence (name, seq) SELECT 'events', 0
			WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'events')`)
		if err == nil {
			err = exec(`UPDATE sqlite_sequence SET seq = MAX(seq + ?, ?) WHERE name = 'events'`,
				minAdvance, now.UnixMilli())
		}
	}
	if err != nil {
		return fmt.Errorf("advancing the event ids: %w", err)
	}
	return nil
}

// NextIDExpr returns a PostgreSQL expression that has the effect of AdvanceIDs and whose value is the ID of the next
// event. micros is an SQL expression for the current Unix time in microseconds.
func NextIDExpr(micros string) string {
	return fmt.Sprintf(`setval(pg_get_serial_sequence('events', 'id'),
		GREATEST((SELECT COALESCE(MAX(id), 0) FROM events) + %d, (%s) / 1000))`, minAdvance, micros)
}
