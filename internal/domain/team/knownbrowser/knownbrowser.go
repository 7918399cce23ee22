// Package knownbrowser remembers the browsers where people signed in. The cookie of a browser has a separate token for
// each person, which is created when the person signs in. If people shared a token, an attacker could plant a known one
// in a browser before somebody else signs in.
package knownbrowser

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	// Lifetime is how long a browser stays known after the last sign-in, and the lifetime of its cookie.
	Lifetime = 400 * 24 * time.Hour

	maxBrowsersPerPerson = 20 // known browsers per person; the least recently used is removed first
	maxTokensPerBrowser  = 8  // people for whom a browser is known
	tokenLength          = 26 // length of rand.Text
)

// splitTokens returns the tokens in a browser's cookie.
func splitTokens(cookie string) []string {
	var out []string
	for token := range strings.SplitSeq(cookie, ".") {
		if len(token) == tokenLength && len(out) < maxTokensPerBrowser {
			out = append(out, token)
		}
	}
	return out
}

// Tokens returns the valid tokens in a browser's cookie, by person ID.
func Tokens(ctx context.Context, q db.Querier, cookie string, now time.Time) (map[int64]string, error) {
	tokens, args := map[string]string{}, []any{db.Micros(now.Add(-Lifetime))}
	for _, token := range splitTokens(cookie) {
		hash := apikey.Hash(token)
		tokens[string(hash[:])] = token
		args = append(args, hash[:])
	}
	tokenByPerson := map[int64]string{}
	if len(tokens) == 0 {
		return tokenByPerson, nil
	}
	_, err := db.All(ctx, q, func(rows *sql.Rows, person *int64) error {
		var hash []byte
		err := rows.Scan(person, &hash)
		tokenByPerson[*person] = tokens[string(hash)]
		return err
	}, `SELECT k.person_id, k.token_hash FROM known_browsers k JOIN people p ON p.id = k.person_id AND p.epoch = k.epoch
		WHERE k.used_at > ? AND k.token_hash IN (`+db.Placeholders(len(args)-1)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("looking up a browser: %w", err)
	}
	return tokenByPerson, nil
}

// Status describes whether a browser was known when a person signed in.
type Status int

// The statuses of a browser.
const (
	StatusKnown Status = iota
	StatusNew          // not known, but the person has signed in with another browser before
	StatusFirst        // the first browser that is remembered for the person
)

// Remember remembers a browser for a person. cookie is the current value of the browser's cookie, and name is a name to
// display, such as Firefox on Linux. Remember returns the new value of the cookie, and whether the browser was known
// before.
func Remember(ctx context.Context, tx *db.Tx, person int64, cookie, name string) (string, Status, error) {
	tokenByPerson, err := Tokens(ctx, tx, cookie, tx.Now())
	if err != nil {
		return "", StatusKnown, err
	}
	tokens := splitTokens(cookie)
	if token := tokenByPerson[person]; token != "" {
		return strings.Join(tokens, "."), StatusKnown, recordUse(ctx, tx, token, name)
	}
	token := rand.Text()
	tokens = append(slices.Clone(tokens[max(0, len(tokens)-maxTokensPerBrowser+1):]), token)
	status, err := addBrowser(ctx, tx, person, token, name)
	return strings.Join(tokens, "."), status, err
}

// recordUse records that a known browser is used, and its current name.
func recordUse(ctx context.Context, tx *db.Tx, token, name string) error {
	hash := apikey.Hash(token)
	if _, err := tx.Exec(ctx, `UPDATE known_browsers SET used_at = ?, browser = ? WHERE token_hash = ?`,
		db.Micros(tx.Now()), name, hash[:]); err != nil {
		return fmt.Errorf("recording that a browser is used: %w", err)
	}
	return nil
}

// addBrowser adds a browser of a person and removes the least recently used browsers if there are too many.
func addBrowser(ctx context.Context, tx *db.Tx, person int64, token, name string) (Status, error) {
	var epoch, firstAt int64
	if err := tx.QueryRow(ctx, `SELECT epoch, browsers_since FROM people WHERE id = ?`+tx.ForUpdate(),
		person).Scan(&epoch, &firstAt); err != nil {
		return StatusKnown, fmt.Errorf("locking a person who signs in: %w", err)
	}
	status := StatusNew
	if firstAt == 0 {
		status = StatusFirst
		if _, err := tx.Exec(ctx, `UPDATE people SET browsers_since = ? WHERE id = ?`, db.Micros(tx.Now()),
			person); err != nil {
			return StatusKnown, fmt.Errorf("recording that browsers are remembered: %w", err)
		}
	}
	hash := apikey.Hash(token)
	_, err := tx.Exec(ctx,
		`INSERT INTO known_browsers (token_hash, person_id, epoch, browser, created_at, used_at)
		VALUES (?, ?, ?, ?, ?, ?)`,
		hash[:], person, epoch, name, db.Micros(tx.Now()), db.Micros(tx.Now()))
	if err != nil {
		return StatusKnown, fmt.Errorf("remembering a browser: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM known_browsers WHERE person_id = ? AND (epoch <> ? OR token_hash NOT IN
		(SELECT token_hash FROM known_browsers WHERE person_id = ? AND epoch = ?
		ORDER BY used_at DESC, created_at DESC, token_hash LIMIT ?))`,
		person, epoch, person, epoch, maxBrowsersPerPerson)
	if err != nil {
		return StatusKnown, fmt.Errorf("forgetting browsers: %w", err)
	}
	return status, nil
}

// Keep keeps the browser with a cookie known for a person after a change that ended all of the person's sessions.
func Keep(ctx context.Context, tx *db.Tx, person int64, cookie string) error {
	for _, token := range splitTokens(cookie) {
		hash := apikey.Hash(token)
		_, err := tx.Exec(ctx,
			`UPDATE known_browsers SET epoch = (SELECT epoch FROM people WHERE id = ?)
		WHERE token_hash = ? AND person_id = ?`, person, hash[:], person)
		if err != nil {
			return fmt.Errorf("storing a browser: %w", err)
		}
	}
	return nil
}

// Sweep deletes at most 1,000 browsers that are no longer known. It returns their number.
func Sweep(ctx context.Context, tx *db.Tx) (int64, error) {
	n, err := tx.Exec(ctx, `DELETE FROM known_browsers WHERE token_hash IN (SELECT token_hash FROM known_browsers
		WHERE used_at <= ? ORDER BY used_at LIMIT 1000)`, db.Micros(tx.Now().Add(-Lifetime)))
	if err != nil {
		return 0, fmt.Errorf("deleting expired browsers: %w", err)
	}
	return n, nil
}
