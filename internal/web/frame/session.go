package frame

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"pressroom/internal/db"
	"pressroom/internal/fault"
	"pressroom/internal/team"
)

const (
	idle     = 24 * time.Hour      // a session that is not used ends
	lifetime = 14 * 24 * time.Hour // and every session does
	touched  = 10 * time.Minute    // how late it may be noted that a session is used
)

// What a session holds.
const (
	personKey = "person" // int64, who is signed in
	teamKey   = "team"   // int64, the team that the person looks at
	saidKey   = "said"   // string, what the next page tells
)

// sessions keeps who is signed in.
type sessions struct {
	manager *scs.SessionManager
	store   *store
}

func newSessions(o Options, broken func(http.ResponseWriter, *http.Request, error)) *sessions {
	s := &sessions{manager: scs.New(), store: &store{o.DB}}
	m := s.manager
	m.Store, m.Lifetime, m.ErrorFunc = s.store, lifetime, broken
	m.Cookie.Name, m.Cookie.HttpOnly, m.Cookie.SameSite, m.Cookie.Path = "pressroom", true, http.SameSiteLaxMode, "/"
	if strings.HasPrefix(o.PublicURL, "https:") {
		// With this prefix browsers take the cookie from nobody but this very host (RFC 6265bis, section 4.1.3).
		m.Cookie.Name, m.Cookie.Secure = "__Host-pressroom", true
	}
	return s
}

// SweepSessions forgets sessions that have ended, a thousand at a time, and tells how many.
func (f *Frame) SweepSessions(ctx context.Context) (int64, error) { return f.sessions.store.sweep(ctx) }

type visitorKey struct{}

// Visitor is who asks for a page.
type Visitor struct {
	team.Account
	Team team.OwnTeam // the one that the person looks at
}

// VisitorOf is nil for whoever is not signed in.
func VisitorOf(ctx context.Context) *Visitor {
	v, _ := ctx.Value(visitorKey{}).(*Visitor)
	return v
}

// recognise looks up who a session is of, each time anew: it is nobody's once the person is on hold or in no team.
func (f *Frame) recognise(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		person := f.sessions.manager.GetInt64(ctx, personKey)
		if person == 0 {
			next.ServeHTTP(w, r)
			return
		}
		account, err := f.Teams.Account(ctx, person)
		if err != nil && !fault.Is(err, fault.NotFound) {
			f.Broken(w, r, err)
			return
		}
		if err == nil {
			r = r.WithContext(context.WithValue(ctx, visitorKey{}, &Visitor{account, LookedAt(account, f.sessions.manager.GetInt64(ctx, teamKey))}))
		}
		next.ServeHTTP(w, r)
	})
}

// LookedAt is the team of an id, or the first one where the person is not in it any more.
func LookedAt(a team.Account, id int64) team.OwnTeam {
	for _, t := range a.Teams {
		if t.ID == id {
			return t
		}
	}
	return a.Teams[0]
}

// store keeps sessions by the hash of what the browser holds, so that a stolen database signs nobody in.
type store struct{ db *db.DB }

// The store's methods without a context are never called, as there are those with one.

func (s *store) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s *store) Commit(token string, data []byte, ends time.Time) error {
	return s.CommitCtx(context.Background(), token, data, ends)
}

func (s *store) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// FindCtx gives what a session holds, and notes now and then that it is used.
func (s *store) FindCtx(ctx context.Context, token string) ([]byte, bool, error) {
	hash := sha256.Sum256([]byte(token))
	now := s.db.Now()
	var data []byte
	var created, ends int64
	err := s.db.QueryRow(ctx, `SELECT data, created_at, expires_at FROM sessions WHERE token_hash = ? AND expires_at > ?`, hash[:], db.Micros(now)).Scan(&data, &created, &ends)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading a session: %w", err)
	}
	later := end(now, db.Time(created))
	if later.Sub(db.Time(ends)) < touched {
		return data, true, nil
	}
	// Only what is there is changed: a sign-out at this moment stays one.
	return data, true, s.write(ctx, "web.use_session", `UPDATE sessions SET expires_at = ? WHERE token_hash = ?`, db.Micros(later), hash[:])
}

// end is when a session that is used now ends.
func end(now, created time.Time) time.Time {
	if last := created.Add(lifetime); last.Before(now.Add(idle)) {
		return last
	}
	return now.Add(idle)
}

// CommitCtx keeps what a session holds. When it ends follows from our clock, not from the time that is given.
func (s *store) CommitCtx(ctx context.Context, token string, data []byte, _ time.Time) error {
	hash := sha256.Sum256([]byte(token))
	now := s.db.Now()
	return s.write(ctx, "web.keep_session", `INSERT INTO sessions (token_hash, data, created_at, expires_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (token_hash) DO UPDATE SET data = excluded.data`, hash[:], data, db.Micros(now), db.Micros(end(now, now)))
}

// DeleteCtx ends a session.
func (s *store) DeleteCtx(ctx context.Context, token string) error {
	hash := sha256.Sum256([]byte(token))
	return s.write(ctx, "web.end_session", `DELETE FROM sessions WHERE token_hash = ?`, hash[:])
}

func (s *store) write(ctx context.Context, name, statement string, args ...any) error {
	return s.db.Write(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, statement, args...); err != nil {
			return fmt.Errorf("writing a session: %w", err)
		}
		return nil
	})
}

func (s *store) sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.Write(ctx, "web.sweep_sessions", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM sessions WHERE token_hash IN (SELECT token_hash FROM sessions WHERE expires_at <= ? ORDER BY expires_at LIMIT 1000)`, db.Micros(tx.Now()))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping sessions: %w", err)
	}
	return n, nil
}

// SignIn makes the visitor a person. The token is another one than before: one that somebody planted in this browser
// must not become signed in.
func (f *Frame) SignIn(ctx context.Context, person int64) error {
	if err := f.sessions.manager.RenewToken(ctx); err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	f.sessions.manager.Put(ctx, personKey, person)
	return nil
}

// SignOut ends the session.
func (f *Frame) SignOut(ctx context.Context) error {
	if err := f.sessions.manager.Destroy(ctx); err != nil {
		return fmt.Errorf("signing out: %w", err)
	}
	return nil
}

// LookAt has the person look at a team from now on.
func (f *Frame) LookAt(ctx context.Context, team int64) { f.sessions.manager.Put(ctx, teamKey, team) }
