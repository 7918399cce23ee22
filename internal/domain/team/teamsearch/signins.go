package teamsearch

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// SignIn is a browser where a person is signed in.
type SignIn struct {
	Browser string // name that the browser reports, such as Firefox on Windows; empty if unknown
	Since   time.Time
	Used    time.Time // accurate to a few minutes
}

// maxSignIns is the maximum number of browsers that SignIns returns.
const maxSignIns = 20

// SignIns returns the browsers where a person is signed in, most recently used first. It also returns when the person
// last signed in, or the zero time if that is unknown.
func SignIns(ctx context.Context, d *db.DB, person int64) ([]SignIn, time.Time, error) {
	signIns, err := db.All(ctx, d, func(rows *sql.Rows, s *SignIn) error {
		var startedAt, usedAt int64
		err := rows.Scan(&s.Browser, &startedAt, &usedAt)
		s.Since, s.Used = db.Time(startedAt), db.Time(usedAt)
		return err
	}, `SELECT browser, created_at, used_at FROM sessions WHERE person_id = ? AND expires_at > ?
		ORDER BY used_at DESC, id LIMIT ?`, person, db.Micros(d.Now()), maxSignIns)
	var lastAt int64
	if err == nil {
		err = d.QueryRow(ctx, `SELECT COALESCE(MAX(at), 0) FROM (SELECT created_at AS at FROM sessions WHERE person_id = ?
			UNION ALL SELECT used_at FROM known_browsers WHERE person_id = ?) AS signed_in`, person, person).Scan(&lastAt)
	}
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("reading the sessions of a person: %w", err)
	}
	return signIns, db.Time(lastAt), nil
}

// Activity holds the number of a person's teams and the time when the person last signed in.
type Activity struct {
	Teams    int64
	SignedIn time.Time // zero if unknown
}

// Activities returns the activities of people, by ID.
func Activities(ctx context.Context, d *db.DB, ids []int64) (map[int64]Activity, error) {
	out := map[int64]Activity{}
	if len(ids) == 0 {
		return out, nil
	}
	type row struct {
		Activity

		id int64
	}
	found, err := db.All(ctx, d, func(rows *sql.Rows, r *row) error {
		var signedInAt, browserUsedAt int64
		err := rows.Scan(&r.id, &r.Teams, &signedInAt, &browserUsedAt)
		r.SignedIn = db.Time(max(signedInAt, browserUsedAt))
		return err
	}, `SELECT p.id, (SELECT COUNT(*) FROM memberships m WHERE m.person_id = p.id),
		COALESCE((SELECT MAX(s.created_at) FROM sessions s WHERE s.person_id = p.id), 0),
		COALESCE((SELECT MAX(b.used_at) FROM known_browsers b WHERE b.person_id = p.id), 0)
		FROM people p WHERE p.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(ids[0], ids[1:])...)
	if err != nil {
		return nil, fmt.Errorf("reading the teams and sign-ins of people: %w", err)
	}
	for _, r := range found {
		out[r.id] = r.Activity
	}
	return out, nil
}
