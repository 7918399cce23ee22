package teamsearch

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// SignIn is a browser in which a person is signed in.
type SignIn struct {
	Browser string // as it calls itself, such as Firefox on Windows; empty if it is unknown
	Since   time.Time
	Used    time.Time // to some minutes
}

// maxSignIns is the maximum number of browsers that SignIns returns.
const maxSignIns = 20

// SignIns returns the browsers in which a person is signed in, the most recently used first, and when the person last signed
// in. That time is zero if it is unknown.
func SignIns(ctx context.Context, d *db.DB, person int64) ([]SignIn, time.Time, error) {
	found, err := db.All(ctx, d, func(rows *sql.Rows, s *SignIn) error {
		var since, used int64
		err := rows.Scan(&s.Browser, &since, &used)
		s.Since, s.Used = db.Time(since), db.Time(used)
		return err
	}, `SELECT browser, created_at, used_at FROM sessions WHERE person_id = ? AND expires_at > ?
		ORDER BY used_at DESC, id LIMIT ?`, person, db.Micros(d.Now()), maxSignIns)
	var last int64
	if err == nil {
		err = d.QueryRow(ctx, `SELECT COALESCE(MAX(at), 0) FROM (SELECT created_at AS at FROM sessions WHERE person_id = ?
			UNION ALL SELECT used_at FROM known_browsers WHERE person_id = ?) AS signed_in`, person, person).Scan(&last)
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading the sessions of a person: %w", err)
	}
	return found, db.Time(last), nil
}
