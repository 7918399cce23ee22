package shell

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
)

// Session is a browser in which a person is signed in.
type Session struct {
	ID      string
	Browser string    // readable name, in the visitor's language
	Since   time.Time // time of sign-in
	Used    time.Time // time of the last use, accurate to about 10 minutes
	Here    bool      // whether it is the session of the request
	Phone   bool      // whether the device is a phone or tablet
}

// Sessions returns up to 100 of the visitor's sessions: first the session of the request, then the others, most
// recently used first.
func (s *Shell) Sessions(r *http.Request) ([]Session, error) {
	ctx, l := r.Context(), s.Language(r)
	currentHash := sha256.Sum256([]byte(s.sessions.manager.Token(ctx)))
	out, err := db.All(ctx, s.DB, func(rows *sql.Rows, s *Session) error {
		var hash []byte
		var since, used int64
		err := rows.Scan(&hash, &s.ID, &s.Browser, &since, &used)
		s.Phone = slices.ContainsFunc([]string{"iPhone", "iPad", "Android"}, func(system string) bool {
			return strings.Contains(s.Browser, system)
		})
		s.Browser, s.Since, s.Used, s.Here = browserName(l, s.Browser), db.Time(since), db.Time(used),
			string(hash) == string(currentHash[:])
		return err
	}, `SELECT token_hash, id, browser, created_at, used_at FROM sessions WHERE person_id = ? AND expires_at > ?
		ORDER BY used_at DESC, id LIMIT 100`,
		VisitorOf(ctx).ID, db.Micros(s.DB.Now()))
	if err != nil {
		return nil, fmt.Errorf("reading sessions: %w", err)
	}
	slices.SortStableFunc(out, func(a, b Session) int {
		switch {
		case a.Here == b.Here:
			return 0
		case a.Here:
			return -1
		}
		return 1
	})
	return out, nil
}

// EndSession ends one of the visitor's sessions. It returns not_found for another person's session.
func (s *Shell) EndSession(ctx context.Context, id string) error {
	return s.DB.InTx(ctx, "web.end_one_session", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM sessions WHERE person_id = ? AND id = ?`, VisitorOf(ctx).ID, id)
		if err != nil {
			return fmt.Errorf("ending a session: %w", err)
		}
		if n == 0 {
			return apierr.ItemNotFound()
		}
		return nil
	})
}

// DeleteSessions deletes a person's stored sessions. Teams must already have ended them by starting a new epoch.
func (s *Shell) DeleteSessions(ctx context.Context, person int64) error {
	return s.sessions.store.write(ctx, "web.end_sessions", `DELETE FROM sessions WHERE person_id = ?`, person)
}

// browsers and systems map parts of a User-Agent to names. Most User-Agents contain several of the parts. The first
// match counts.
var (
	browsers = [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox", "Firefox"},
		{"FxiOS", "Firefox"}, {"CriOS", "Chrome"}, {"Chrome", "Chrome"}, {"Safari", "Safari"}, {"curl", "curl"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Macintosh", "macOS"},
		{"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	}
)

// browserName returns a readable name for a User-Agent, such as "Firefox on Windows".
func browserName(l *locale.Language, agent string) string {
	find := func(parts [][2]string) string {
		for _, p := range parts {
			if strings.Contains(agent, p[0]) {
				return p[1]
			}
		}
		return ""
	}
	browser, system := find(browsers), find(systems)
	switch {
	case browser == "" && system == "":
		return l.T("Unknown browser")
	case browser == "":
		return l.T("Browser on %s", system)
	case system == "":
		return browser
	}
	return l.T("%s on %s|browser", browser, system)
}

// BrowserName returns a readable name for a User-Agent, such as "Firefox on Windows".
func BrowserName(l *locale.Language, agent string) string { return browserName(l, agent) }
