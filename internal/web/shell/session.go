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

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	idleTimeout     = 24 * time.Hour      // a session ends after this time without use
	sessionLifetime = 14 * 24 * time.Hour // a session ends after this time even if it is used
	touchInterval   = 10 * time.Minute    // minimum interval between updates of a session's last use
	signInTimeout   = 20 * time.Minute    // an anonymous session, such as for a sign-in, ends after this time
)

// Keys of session values.
const (
	personKey   = "person" // int64
	sinceKey    = "since"  // int64, time of sign-in in microseconds
	epochKey    = "epoch"  // int64, the person's session epoch at sign-in
	methodKey   = "method" // string, a Method
	rightsKey   = "rights" // string, digest of the person's rights
	teamKey     = "team"   // int64, ID of the selected team
	flashKey    = "flash"  // string, confirmation for the next page
	valuePrefix = "value " // prefix of the keys of values stored with Put
)

// sessions holds the session manager and its store.
type sessions struct {
	manager *scs.SessionManager
	store   *store
}

func newSessions(o Options, onError func(http.ResponseWriter, *http.Request, error)) *sessions {
	s := &sessions{manager: scs.New(), store: &store{db: o.DB, maxAnonymousSessions: maxAnonymousSessions, trimInterval: trimInterval}}
	m := s.manager
	m.Store, m.Lifetime, m.ErrorFunc = s.store, sessionLifetime, onError
	m.Cookie.Name, m.Cookie.HttpOnly, m.Cookie.SameSite, m.Cookie.Path = "pressroom", true, http.SameSiteLaxMode, "/"
	if strings.HasPrefix(o.PublicURL, "https:") {
		m.Cookie.Name, m.Cookie.Secure = hostPrefix+m.Cookie.Name, true
	}
	return s
}

// hostPrefix is a cookie name prefix that binds a cookie to this host (RFC 6265bis, section 4.1.3).
const hostPrefix = "__Host-"

// SweepSessions deletes up to 1,000 expired sessions and returns their number.
func (s *Shell) SweepSessions(ctx context.Context) (int64, error) { return s.sessions.store.sweep(ctx) }

type visitKey struct{}

// visit holds the request data that the session store needs.
type visit struct {
	browser      string      // User-Agent
	knownBrowser string      // value of the known-browser cookie
	token        string      // token of the session; empty until the session is stored
	header       http.Header // header of the response
}

// maxUserAgent is the maximum number of bytes to store of a User-Agent.
const maxUserAgent = 300

// recordVisit wraps a handler. It adds the data that the session store and the audit log need to the request's context.
func (s *Shell) recordVisit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		browser := strings.ToValidUTF8(strings.ReplaceAll(r.UserAgent(), "\x00", ""), "")
		v := &visit{
			browser: strings.ToValidUTF8(browser[:min(len(browser), maxUserAgent)], ""), knownBrowser: s.KnownBrowser(r),
			header: w.Header(),
		}
		ctx := auditlog.WithBrowser(r.Context(), browserName(locale.English, v.browser))
		next.ServeHTTP(w, r.WithContext(context.WithValue(ctx, visitKey{}, v)))
	})
}

// visitOf returns the visit of a request. It never returns nil.
func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{header: http.Header{}}
}

// sessionAccount returns the account of the session's person, or a not_found error. It ends the session if the person's
// epoch has changed since sign-in.
func (s *Shell) sessionAccount(r *http.Request) (team.Account, error) {
	ctx, m := r.Context(), s.sessions.manager
	person := m.GetInt64(ctx, personKey)
	if person == 0 {
		return team.Account{}, apierr.ItemNotFound()
	}
	account, err := s.Teams.Account(ctx, person)
	if err != nil {
		return account, err
	}
	if account.Epoch != m.GetInt64(ctx, epochKey) {
		if err := m.Destroy(ctx); err != nil {
			return account, fmt.Errorf("ending a session: %w", err)
		}
		return account, apierr.ItemNotFound()
	}
	// Do not renew the token in a subresource request: the new cookie could be lost.
	if dest := r.Header.Get("Sec-Fetch-Dest"); dest != "" && dest != "document" {
		return account, nil
	}
	return account, s.renewIfRightsChanged(ctx, account)
}

// renewIfRightsChanged issues a new session token if the person's rights have changed.
func (s *Shell) renewIfRightsChanged(ctx context.Context, a team.Account) error {
	m, rights := s.sessions.manager, rightsDigest(a)
	if m.GetString(ctx, rightsKey) == rights {
		return nil
	}
	if err := m.RenewToken(ctx); err != nil {
		return fmt.Errorf("renewing a session: %w", err)
	}
	m.Put(ctx, rightsKey, rights)
	return nil
}

// rightsDigest returns a digest of a person's rights: the person's roles in teams, and whether the person is an
// operator.
func rightsDigest(a team.Account) string {
	rights := make([]string, len(a.Teams))
	for i, t := range a.Teams {
		rights[i] = fmt.Sprintf("%d %s", t.ID, t.Role)
	}
	slices.Sort(rights)
	sum := sha256.Sum256(fmt.Appendf(nil, "%t %q", a.Operator, rights))
	return hex.EncodeToString(sum[:8])
}

// TeamOrFirst returns the person's team with the given ID or, if the person is not in that team, the person's first
// team.
func TeamOrFirst(a team.Account, id int64) team.OwnTeam {
	for _, t := range a.Teams {
		if t.ID == id {
			return t
		}
	}
	return a.Teams[0]
}

// store stores sessions by the hash of their token, so that a stolen database does not contain valid tokens.
type store struct {
	db *db.DB

	maxAnonymousSessions, trimInterval int64 // maximum number of anonymous sessions, and the number of new ones between checks
	created                            atomic.Int64
}

// The session manager never calls the following three methods. It prefers their variants with a context.

func (s *store) Find(token string) ([]byte, bool, error) {
	return s.FindCtx(context.Background(), token)
}

func (s *store) Commit(token string, data []byte, ends time.Time) error {
	return s.CommitCtx(context.Background(), token, data, ends)
}

func (s *store) Delete(token string) error { return s.DeleteCtx(context.Background(), token) }

// FindCtx returns the data of a session and periodically records its use.
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
	visitOf(ctx).token = token
	if person == 0 || now.Sub(db.Time(used)) < touchInterval {
		return data, true, nil
	}
	// Update only an existing row: a concurrent sign-out must win.
	return data, true, s.write(ctx, "web.use_session",
		`UPDATE sessions SET used_at = ?, expires_at = ? WHERE token_hash = ?`, db.Micros(now),
		db.Micros(expiry(now, db.Time(created))), hash[:])
}

// expiry returns the expiry time of a session that is used now.
func expiry(now, created time.Time) time.Time {
	if last := created.Add(sessionLifetime); last.Before(now.Add(idleTimeout)) {
		return last
	}
	return now.Add(idleTimeout)
}

// CommitCtx stores the data of a session. It ignores the given expiry time and computes it from the database clock. If
// the session existed at the start of the request, CommitCtx updates it only if it still exists.
func (s *store) CommitCtx(ctx context.Context, token string, data []byte, _ time.Time) error {
	hash := sha256.Sum256([]byte(token))
	v := visitOf(ctx)
	if v.token == token {
		return s.write(ctx, "web.keep_session", `UPDATE sessions SET data = ? WHERE token_hash = ?`, data, hash[:])
	}
	_, values, err := scs.GobCodec{}.Decode(data)
	if err != nil {
		return fmt.Errorf("reading a session: %w", err)
	}
	now := s.db.Now()
	person, _ := values[personKey].(int64)
	created, expiresAt := now, now.Add(signInTimeout)
	if since, ok := values[sinceKey].(int64); ok && person != 0 {
		created = db.Time(since) // new token, same sign-in
		expiresAt = expiry(now, created)
	}
	v.token = token
	err = s.write(ctx, "web.begin_session",
		`INSERT INTO sessions (token_hash, id, person_id, browser, data, created_at, used_at, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		hash[:], rand.Text(), person, v.browser, data, db.Micros(created), db.Micros(now), db.Micros(expiresAt))
	if err != nil || person != 0 || s.created.Add(1)%s.trimInterval != 0 {
		return err
	}
	return s.trimAnonymous(ctx, now)
}

// DeleteCtx deletes a session.
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

// Method is a way to sign in.
type Method string

// The methods. A passkey counts as two factors, because the device verifies its user. The directory counts as two
// factors, because it enforces its own policy.
const (
	Password  Method = "password"
	Code      Method = "code" // a password plus a code from an authenticator app or a recovery code
	Passkey   Method = "passkey"
	Directory Method = "directory"
	Link      Method = "link" // an invitation or a recovery link, with a new password
)

// hasTwoFactors reports whether a method proves two factors.
func (m Method) hasTwoFactors() bool { return m == Code || m == Passkey || m == Directory }

// Proof records how and when a person authenticated.
type Proof struct {
	Method Method
	At     time.Time // zero if unknown, which step-up never accepts
}

// ProofNow returns a Proof for an authentication at the current time.
func (s *Shell) ProofNow(method Method) Proof { return Proof{method, s.DB.Now()} }

// SignIn signs the visitor in as a person. It issues a new session token to prevent session fixation. If the person has
// already used two factors in this session and now authenticates with one, the session still counts as having two. If
// another person was signed in, SignIn deletes all values of that person's session.
func (s *Shell) SignIn(ctx context.Context, person team.Person, proof Proof) error {
	account, err := s.Teams.Account(ctx, person.ID)
	if err != nil {
		return err
	}
	m := s.sessions.manager
	if v := VisitorOf(ctx); v != nil && v.ID == person.ID && s.HasTwoFactors(ctx) && !proof.Method.hasTwoFactors() {
		proof.Method = s.method(ctx)
	}
	if previousID := m.GetInt64(ctx, personKey); previousID != 0 && previousID != person.ID {
		if err := m.Clear(ctx); err != nil {
			return fmt.Errorf("signing in: %w", err)
		}
	}
	if err := m.RenewToken(ctx); err != nil {
		return fmt.Errorf("signing in: %w", err)
	}
	if err := s.recordSignIn(ctx, person.ID, proof.Method); err != nil {
		return err
	}
	m.Put(ctx, personKey, person.ID)
	m.Put(ctx, sinceKey, db.Micros(s.DB.Now()))
	m.Put(ctx, authenticatedKey, db.Micros(proof.At))
	m.Put(ctx, methodKey, string(proof.Method))
	m.Put(ctx, epochKey, person.Epoch)
	m.Put(ctx, rightsKey, rightsDigest(account))
	return nil
}

func (s *Shell) method(ctx context.Context) Method {
	return Method(s.sessions.manager.GetString(ctx, methodKey))
}

// HasTwoFactors reports whether the visitor has used two factors in this session.
func (s *Shell) HasTwoFactors(ctx context.Context) bool { return s.method(ctx).hasTwoFactors() }

// Put stores a named value in the session until Pop returns it or the session ends.
func (s *Shell) Put(ctx context.Context, name string, value []byte) {
	s.sessions.manager.Put(ctx, valuePrefix+name, value)
}

// Pop returns a value stored with Put and deletes it. It returns nil if there is none.
func (s *Shell) Pop(ctx context.Context, name string) []byte {
	return s.sessions.manager.PopBytes(ctx, valuePrefix+name)
}

// Renew issues a new token for the session.
func (s *Shell) Renew(ctx context.Context) error {
	if err := s.sessions.manager.RenewToken(ctx); err != nil {
		return fmt.Errorf("renewing a session: %w", err)
	}
	return nil
}

// SessionHash returns the SHA-256 hash of the session's token, which is the key of the stored session.
func (s *Shell) SessionHash(ctx context.Context) string {
	hash := sha256.Sum256([]byte(s.sessions.manager.Token(ctx)))
	return string(hash[:])
}

// SignOut ends the session.
func (s *Shell) SignOut(ctx context.Context) error {
	if err := s.sessions.manager.Destroy(ctx); err != nil {
		return fmt.Errorf("signing out: %w", err)
	}
	return nil
}

// SetTeam selects a team for the session.
func (s *Shell) SetTeam(ctx context.Context, team int64) { s.sessions.manager.Put(ctx, teamKey, team) }
