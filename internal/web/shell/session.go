package shell

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/alexedwards/scs/v2"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
)

const (
	idle     = 24 * time.Hour      // a session that is not used ends
	lifetime = 14 * 24 * time.Hour // and every session does
	touched  = 10 * time.Minute    // how late it may be noted that a session is used
	pending  = 20 * time.Minute    // how long a sign-in may take that goes over several pages
)

// What a session holds.
const (
	personKey = "person" // int64, who is signed in
	sinceKey  = "since"  // int64, since when, in microseconds
	epochKey  = "epoch"  // int64, the person's when signing in
	methodKey = "method" // string, the Method by which the person signed in
	rightsKey = "rights" // string, a digest of the person's rights
	teamKey   = "team"   // int64, the team that the person looks at
	saidKey   = "said"   // string, what the next page tells
	keptKey   = "kept "  // before the names under which Keep keeps things
)

// sessions keeps who is signed in.
type sessions struct {
	manager *scs.SessionManager
	store   *store
}

func newSessions(o Options, broken func(http.ResponseWriter, *http.Request, error)) *sessions {
	s := &sessions{manager: scs.New(), store: &store{db: o.DB, most: maxPending, every: pendingChecked}}
	m := s.manager
	m.Store, m.Lifetime, m.ErrorFunc = s.store, lifetime, broken
	m.Cookie.Name, m.Cookie.HttpOnly, m.Cookie.SameSite, m.Cookie.Path = "pressroom", true, http.SameSiteLaxMode, "/"
	if strings.HasPrefix(o.PublicURL, "https:") {
		m.Cookie.Name, m.Cookie.Secure = hostPrefix+m.Cookie.Name, true
	}
	return s
}

// hostPrefix has browsers take a cookie from nobody but this very host (RFC 6265bis, section 4.1.3).
const hostPrefix = "__Host-"

// SweepSessions forgets sessions that have ended, a thousand at a time, and tells how many.
func (f *Frame) SweepSessions(ctx context.Context) (int64, error) { return f.sessions.store.sweep(ctx) }

type visitKey struct{}

// visit is what the store of sessions knows of one request.
type visit struct {
	browser string      // what it calls itself
	known   string      // what it holds from earlier sign-ins
	found   string      // the token of a session that is there
	header  http.Header // of the answer
}

// maxBrowser is how much is kept of what a browser calls itself, in bytes.
const maxBrowser = 300

// noting has requests carry what the store of sessions and the record of events need of them.
func (f *Frame) noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		browser := strings.ToValidUTF8(strings.ReplaceAll(r.UserAgent(), "\x00", ""), "")
		v := &visit{
			browser: strings.ToValidUTF8(browser[:min(len(browser), maxBrowser)], ""), known: f.KnownBrowser(r),
			header: w.Header(),
		}
		ctx := auditlog.WithBrowser(r.Context(), browserName(v.browser))
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, visitKey{}, v)))
	})
}

// visitOf is never nil.
func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{header: http.Header{}}
}

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

// recognize looks up who a session is of, each time anew: it is nobody's once the person is on hold or in no team, and
// ends once all of the person's sessions have.
func (f *Frame) recognize(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		account, err := f.signedIn(r)
		switch {
		case err != nil && !apierr.Is(err, apierr.NotFound):
			f.Broken(w, r, err)
			return
		case err == nil:
			r = r.WithContext(context.WithValue(r.Context(), visitorKey{},
				&Visitor{account, LookedAt(account, f.sessions.manager.GetInt64(r.Context(), teamKey))}))
		}
		next.ServeHTTP(w, r)
	})
}

// signedIn is not_found for nobody.
func (f *Frame) signedIn(r *http.Request) (team.Account, error) {
	ctx, m := r.Context(), f.sessions.manager
	person := m.GetInt64(ctx, personKey)
	if person == 0 {
		return team.Account{}, apierr.Missing()
	}
	account, err := f.Teams.Account(ctx, person)
	if err != nil {
		return account, err
	}
	if account.Epoch != m.GetInt64(ctx, epochKey) {
		if err := m.Destroy(ctx); err != nil {
			return account, fmt.Errorf("ending a session: %w", err)
		}
		return account, apierr.Missing()
	}
	// Pictures and scripts that are asked for beside a page would lose the token on their way.
	if asks := r.Header.Get("Sec-Fetch-Dest"); asks != "" && asks != "document" {
		return account, nil
	}
	return account, f.followRights(ctx, account)
}

// followRights gives the browser another token once the person's rights are others than they were.
func (f *Frame) followRights(ctx context.Context, a team.Account) error {
	m, rights := f.sessions.manager, rightsOf(a)
	if m.GetString(ctx, rightsKey) == rights {
		return nil
	}
	if err := m.RenewToken(ctx); err != nil {
		return fmt.Errorf("renewing a session: %w", err)
	}
	m.Put(ctx, rightsKey, rights)
	return nil
}

// rightsOf is a digest of what a person may do.
func rightsOf(a team.Account) string {
	rights := make([]string, len(a.Teams))
	for i, t := range a.Teams {
		rights[i] = fmt.Sprintf("%d %s", t.ID, t.Role)
	}
	slices.Sort(rights)
	sum := sha256.Sum256(fmt.Appendf(nil, "%t %q", a.Operator, rights))
	return hex.EncodeToString(sum[:8])
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
type store struct {
	db *db.DB

	most, every int64 // how many sign-ins may be under way, and after how many new ones that is checked
	begun       atomic.Int64
}

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
	var person, created, used int64
	err := s.db.QueryRow(ctx,
		`SELECT data, person_id, created_at, used_at FROM sessions WHERE token_hash = ? AND expires_at > ?`, hash[:],
		db.Micros(now)).Scan(&data, &person, &created, &used)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading a session: %w", err)
	}
	visitOf(ctx).found = token
	if person == 0 || now.Sub(db.Time(used)) < touched {
		return data, true, nil
	}
	// Only what is there is changed: a sign-out at this moment stays one.
	return data, true, s.write(ctx, "web.use_session",
		`UPDATE sessions SET used_at = ?, expires_at = ? WHERE token_hash = ?`, db.Micros(now),
		db.Micros(end(now, db.Time(created))), hash[:])
}

// end is when a session that is used now ends.
func end(now, created time.Time) time.Time {
	if last := created.Add(lifetime); last.Before(now.Add(idle)) {
		return last
	}
	return now.Add(idle)
}

// CommitCtx keeps what a session holds. When it ends follows from our clock, not from the time that is given. One that
// was there when the request came is changed only where it still is.
func (s *store) CommitCtx(ctx context.Context, token string, data []byte, _ time.Time) error {
	hash := sha256.Sum256([]byte(token))
	v := visitOf(ctx)
	if v.found == token {
		return s.write(ctx, "web.keep_session", `UPDATE sessions SET data = ? WHERE token_hash = ?`, data, hash[:])
	}
	_, held, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return fmt.Errorf("reading a session: %w", err)
	}
	now := s.db.Now()
	person, _ := held[personKey].(int64)
	created, ends := now, now.Add(pending)
	if since, ok := held[sinceKey].(int64); ok && person != 0 {
		created = db.Time(since) // another token for the same sign-in
		ends = end(now, created)
	}
	v.found = token
	err = s.write(ctx, "web.begin_session",
		`INSERT INTO sessions (token_hash, id, person_id, browser, data, created_at, used_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		hash[:], rand.Text(), person, v.browser, data, db.Micros(created), db.Micros(now), db.Micros(ends))
	if err != nil || person != 0 || s.begun.Add(1)%s.every != 0 {
		return err
	}
	return s.trimPending(ctx, now)
}

// DeleteCtx ends a session.
func (s *store) DeleteCtx(ctx context.Context, token string) error {
	hash := sha256.Sum256([]byte(token))
	return s.write(ctx, "web.end_session", `DELETE FROM sessions WHERE token_hash = ?`, hash[:])
}

func (s *store) write(ctx context.Context, name, statement string, args ...any) error {
	return s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, statement, args...); err != nil {
			return fmt.Errorf("writing a session: %w", err)
		}
		return nil
	})
}

func (s *store) sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "web.sweep_sessions", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx,
			`DELETE FROM sessions WHERE token_hash IN (SELECT token_hash FROM sessions WHERE expires_at <= ?
		ORDER BY expires_at LIMIT 1000)`, db.Micros(tx.Now()))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping sessions: %w", err)
	}
	return n, nil
}

// Method is how somebody signs in.
type Method string

// The methods. A passkey counts as two factors: the device verifies its user. What a directory asks for is the
// directory's own policy.
const (
	Password  Method = "password"
	Code      Method = "code" // a password and a code of an authenticator app, or a recovery code
	Passkey   Method = "passkey"
	Directory Method = "directory"
	Link      Method = "link" // an invitation or a recovery link, with a new password
)

// strong reports whether a method proves two factors.
func (m Method) strong() bool { return m == Code || m == Passkey || m == Directory }

// Proof is an authentication of a person.
type Proof struct {
	By Method
	At time.Time // when the person authenticated; zero if unknown, which no step-up accepts
}

// Proved is an authentication of this moment.
func (f *Frame) Proved(by Method) Proof { return Proof{by, f.DB.Now()} }

// SignIn makes the visitor a person. The token is another one than before: one that somebody planted in this browser
// must not become signed in. A person who signs in again keeps a session with two factors, whichever of them is shown;
// nothing that is kept for one person is left to another.
func (f *Frame) SignIn(ctx context.Context, person team.Person, proof Proof) error {
	account, err := f.Teams.Account(ctx, person.ID)
	if err != nil {
		return err
	}
	m := f.sessions.manager
	if v := VisitorOf(ctx); v != nil && v.ID == person.ID && f.Strong(ctx) && !proof.By.strong() {
		proof.By = f.method(ctx)
	}
	if before := m.GetInt64(ctx, personKey); before != 0 && before != person.ID {
		if err := m.Clear(ctx); err != nil {
			return fmt.Errorf("signing in: %w", err)
		}
	}
	if err := m.RenewToken(ctx); err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	if err := f.noteSignIn(ctx, person.ID, proof.By); err != nil {
		return err
	}
	m.Put(ctx, personKey, person.ID)
	m.Put(ctx, sinceKey, db.Micros(f.DB.Now()))
	m.Put(ctx, provedKey, db.Micros(proof.At))
	m.Put(ctx, methodKey, string(proof.By))
	m.Put(ctx, epochKey, person.Epoch)
	m.Put(ctx, rightsKey, rightsOf(account))
	return nil
}

func (f *Frame) method(ctx context.Context) Method {
	return Method(f.sessions.manager.GetString(ctx, methodKey))
}

// Strong reports whether the visitor's session began with two factors.
func (f *Frame) Strong(ctx context.Context) bool { return f.method(ctx).strong() }

// Keep keeps something in the session until Take takes it, or the session ends.
func (f *Frame) Keep(ctx context.Context, name string, value []byte) {
	f.sessions.manager.Put(ctx, keptKey+name, value)
}

// Take gives what was kept, once; nil where there is nothing.
func (f *Frame) Take(ctx context.Context, name string) []byte {
	return f.sessions.manager.PopBytes(ctx, keptKey+name)
}

// Renew gives the browser another token for the same session.
func (f *Frame) Renew(ctx context.Context) error {
	if err := f.sessions.manager.RenewToken(ctx); err != nil {
		return fmt.Errorf("renewing a session: %w", err)
	}
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
