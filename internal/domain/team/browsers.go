package team

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/auth/throttle"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	// BrowserLife is how long a browser stays known after the last sign-in, and the lifetime of its cookie.
	BrowserLife = 400 * 24 * time.Hour

	maxBrowsersOfPerson = 20 // known browsers per person; the least recently used is removed first
	maxTokensOfBrowser  = 8  // people for whom a browser is known
	tokenLength         = 26 // length of rand.Text
)

// splitTokens returns the tokens in a browser's cookie. A browser has one token for each person who signed in with it.
func splitTokens(browser string) []string {
	var out []string
	for token := range strings.SplitSeq(browser, ".") {
		if len(token) == tokenLength && len(out) < maxTokensOfBrowser {
			out = append(out, token)
		}
	}
	return out
}

// knownTokens returns a browser's valid tokens by person ID.
func knownTokens(ctx context.Context, q db.Querier, browser string, now time.Time) (map[int64]string, error) {
	tokens, args := map[string]string{}, []any{db.Micros(now.Add(-BrowserLife))}
	for _, token := range splitTokens(browser) {
		hash := apikey.Hash(token)
		tokens[string(hash[:])] = token
		args = append(args, hash[:])
	}
	known := map[int64]string{}
	if len(tokens) == 0 {
		return known, nil
	}
	_, err := db.All(ctx, q, func(rows *sql.Rows, person *int64) error {
		var hash []byte
		err := rows.Scan(person, &hash)
		known[*person] = tokens[string(hash)]
		return err
	}, `SELECT k.person_id, k.token_hash FROM known_browsers k JOIN people p ON p.id = k.person_id AND p.epoch = k.epoch
		WHERE k.used_at > ? AND k.token_hash IN (`+db.Placeholders(len(args)-1)+`)`, args...)
	if err != nil {
		return nil, fmt.Errorf("looking up a browser: %w", err)
	}
	return known, nil
}

// SignedIn is a sign-in that succeeded.
type SignedIn struct {
	Person      int64
	Method      string // such as passkey
	Browser     string // the browser's tokens from earlier sign-ins
	BrowserName string // name to display, such as Firefox on Linux
}

// NoteSignIn records a sign-in and remembers the browser. It returns the browser's new tokens.
//
// A browser gets a separate token for each person. Otherwise an attacker could plant a token in a browser before the
// person signs in with it.
func (s *Service) NoteSignIn(ctx context.Context, in SignedIn) (string, error) {
	newToken, tokens := rand.Text(), ""
	err := s.db.InTx(ctx, "team.sign_in", func(ctx context.Context, tx *db.Tx) error {
		tokens = strings.Join(splitTokens(in.Browser), ".")
		known, err := knownTokens(ctx, tx, in.Browser, tx.Now())
		if err != nil {
			return err
		}
		token, detail := known[in.Person], map[string]any{"method": in.Method}
		if token == "" {
			tokens = strings.Join(append(lastTokens(splitTokens(in.Browser), maxTokensOfBrowser-1), newToken), ".")
			first, err := s.addBrowser(ctx, tx, in.Person, newToken, in.BrowserName)
			if err != nil {
				return err
			}
			detail["new_browser"] = !first
		} else if err := touchBrowser(ctx, tx, token, in.BrowserName); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: in.Person}, "person.signed_in", formatID(in.Person),
			detail)
	})
	return tokens, err
}

func lastTokens(tokens []string, limit int) []string {
	return slices.Clone(tokens[max(0, len(tokens)-limit):])
}

func touchBrowser(ctx context.Context, tx *db.Tx, token, name string) error {
	hash := apikey.Hash(token)
	if _, err := tx.Exec(ctx, `UPDATE known_browsers SET used_at = ?, browser = ? WHERE token_hash = ?`,
		db.Micros(tx.Now()), name, hash[:]); err != nil {
		return fmt.Errorf("recording that a browser is used: %w", err)
	}
	return nil
}

// addBrowser remembers a browser for a person and removes the least recently used browsers if there are too many. It
// reports whether this is the person's first browser.
func (s *Service) addBrowser(ctx context.Context, tx *db.Tx, person int64, token, name string) (bool, error) {
	var epoch, since int64
	if err := tx.QueryRow(ctx, `SELECT epoch, browsers_since FROM people WHERE id = ?`+s.db.ForUpdate(),
		person).Scan(&epoch, &since); err != nil {
		return false, fmt.Errorf("locking a person who signs in: %w", err)
	}
	if since == 0 {
		if _, err := tx.Exec(ctx, `UPDATE people SET browsers_since = ? WHERE id = ?`, db.Micros(tx.Now()),
			person); err != nil {
			return false, fmt.Errorf("recording that browsers are remembered: %w", err)
		}
	}
	hash := apikey.Hash(token)
	_, err := tx.Exec(ctx,
		`INSERT INTO known_browsers (token_hash, person_id, epoch, browser, created_at, used_at)
		VALUES (?, ?, ?, ?, ?, ?)`,
		hash[:], person, epoch, name, db.Micros(tx.Now()), db.Micros(tx.Now()))
	if err != nil {
		return false, fmt.Errorf("remembering a browser: %w", err)
	}
	_, err = tx.Exec(ctx, `DELETE FROM known_browsers WHERE person_id = ? AND (epoch <> ? OR token_hash NOT IN
		(SELECT token_hash FROM known_browsers WHERE person_id = ? AND epoch = ?
		ORDER BY used_at DESC, created_at DESC, token_hash LIMIT ?))`,
		person, epoch, person, epoch, maxBrowsersOfPerson)
	if err != nil {
		return false, fmt.Errorf("forgetting browsers: %w", err)
	}
	return since == 0, nil
}

// KeepBrowser keeps a person's current browser known after a change that ended all sessions of the person.
func (s *Service) KeepBrowser(ctx context.Context, person int64, browser string) error {
	return s.db.InTx(ctx, "team.keep_browser", func(ctx context.Context, tx *db.Tx) error {
		for _, token := range splitTokens(browser) {
			hash := apikey.Hash(token)
			_, err := tx.Exec(ctx,
				`UPDATE known_browsers SET epoch = (SELECT epoch FROM people WHERE id = ?)
		WHERE token_hash = ? AND person_id = ?`, person, hash[:], person)
			if err != nil {
				return fmt.Errorf("storing a browser: %w", err)
			}
		}
		return nil
	})
}

// SweepSignIns deletes expired browsers and wrong attempts older than a day, at most 1,000 of each. It returns the number
// of deleted rows.
func (s *Service) SweepSignIns(ctx context.Context) (int64, error) {
	var deleted int64
	err := s.db.InTx(ctx, "team.sweep_sign_ins", func(ctx context.Context, tx *db.Tx) error {
		deleted = 0
		for _, expired := range []struct {
			statement string
			before    time.Time
		}{
			{`DELETE FROM known_browsers WHERE token_hash IN (SELECT token_hash FROM known_browsers
		WHERE used_at <= ? ORDER BY used_at LIMIT 1000)`, tx.Now().Add(-BrowserLife)},
			{`DELETE FROM sign_in_tries WHERE key_hash IN (SELECT key_hash FROM sign_in_tries WHERE at <= ?
		ORDER BY at LIMIT 1000)`, tx.Now().Add(-throttle.ForgetAfter)},
		} {
			n, err := tx.Exec(ctx, expired.statement, db.Micros(expired.before))
			if err != nil {
				return fmt.Errorf("deleting expired sign-in data: %w", err)
			}
			deleted += n
		}
		return nil
	})
	return deleted, err
}
