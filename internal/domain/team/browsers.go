package team

import (
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom/internal/auth/apikey"
	"pressroom/internal/auth/throttle"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

const (
	// BrowserLife is how long a browser stays known after the last sign-in. Its cookie expires then too.
	BrowserLife = 400 * 24 * time.Hour

	browsersOfPerson = 20 // per browser; the one unused for longest is removed first
	tokensOfBrowser  = 8  // people that one browser is known for at once
	tokenLen         = 26 // of rand.Text
)

// tokensIn returns the tokens that a browser has, one for each person who is known in it.
func tokensIn(browser string) []string {
	var out []string
	for token := range strings.SplitSeq(browser, ".") {
		if len(token) == tokenLen && len(out) < tokensOfBrowser {
			out = append(out, token)
		}
	}
	return out
}

// knownTokens returns a browser's valid tokens by the IDs of the people who are known in it.
func knownTokens(ctx context.Context, q db.Querier, browser string, now time.Time) (map[int64]string, error) {
	tokens, args := map[string]string{}, []any{db.Micros(now.Add(-BrowserLife))}
	for _, token := range tokensIn(browser) {
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
	Method      string // the method, such as passkey
	Browser     string // the browser's tokens from earlier sign-ins
	BrowserName string // name of the browser for people
}

// NoteSignIn records a sign-in and remembers the browser. It returns the browser's tokens from now on.
//
// A browser gets a separate token for each person, so a planted token does not reveal the real one.
func (s *Service) NoteSignIn(ctx context.Context, in SignedIn) (string, error) {
	made, kept := rand.Text(), ""
	err := s.db.InTx(ctx, "team.sign_in", func(ctx context.Context, tx *db.Tx) error {
		kept = strings.Join(tokensIn(in.Browser), ".")
		known, err := knownTokens(ctx, tx, in.Browser, tx.Now())
		if err != nil {
			return err
		}
		token, detail := known[in.Person], map[string]any{"method": in.Method}
		if token == "" {
			kept = strings.Join(append(lastOf(tokensIn(in.Browser), tokensOfBrowser-1), made), ".")
			first, err := s.addBrowser(ctx, tx, in.Person, made, in.BrowserName)
			if err != nil {
				return err
			}
			detail["new_browser"] = !first
		} else if err := touchBrowser(ctx, tx, token, in.BrowserName); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{PersonID: in.Person}, "person.signed_in", id(in.Person),
			detail)
	})
	return kept, err
}

func lastOf(tokens []string, limit int) []string {
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

// addBrowser remembers a browser for a person. It replaces the browser unused for longest if there are too many. It
// reports whether this is the person's first browser.
func (s *Service) addBrowser(ctx context.Context, tx *db.Tx, person int64, token, name string) (bool, error) {
	var epoch, since int64
	if err := tx.QueryRow(ctx, `SELECT epoch, browsers_since FROM people WHERE id = ?`+s.db.ForUpdate(),
		person).Scan(&epoch, &since); err != nil {
		return false, fmt.Errorf("reading who signs in: %w", err)
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
		person, epoch, person, epoch, browsersOfPerson)
	if err != nil {
		return false, fmt.Errorf("forgetting browsers: %w", err)
	}
	return since == 0, nil
}

// KeepBrowser keeps the current browser known after a change that ended all of the person's sessions and forgot all
// browsers.
func (s *Service) KeepBrowser(ctx context.Context, person int64, browser string) error {
	return s.db.InTx(ctx, "team.keep_browser", func(ctx context.Context, tx *db.Tx) error {
		for _, token := range tokensIn(browser) {
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

// SweepSignIns deletes browsers unused for long and wrong attempts older than a day, at most a thousand of each, and
// returns how many.
func (s *Service) SweepSignIns(ctx context.Context) (int64, error) {
	var swept int64
	err := s.db.InTx(ctx, "team.sweep_sign_ins", func(ctx context.Context, tx *db.Tx) error {
		swept = 0
		for _, old := range []struct {
			statement string
			before    time.Time
		}{
			{`DELETE FROM known_browsers WHERE token_hash IN (SELECT token_hash FROM known_browsers
		WHERE used_at <= ? ORDER BY used_at LIMIT 1000)`, tx.Now().Add(-BrowserLife)},
			{`DELETE FROM sign_in_tries WHERE key_hash IN (SELECT key_hash FROM sign_in_tries WHERE at <= ?
		ORDER BY at LIMIT 1000)`, tx.Now().Add(-throttle.ForgetAfter)},
		} {
			n, err := tx.Exec(ctx, old.statement, db.Micros(old.before))
			if err != nil {
				return fmt.Errorf("deleting expired sign-in data: %w", err)
			}
			swept += n
		}
		return nil
	})
	return swept, err
}
