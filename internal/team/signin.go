package team

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"pressroom/internal/access"
	"pressroom/internal/db"
	"pressroom/internal/fault"
)

const (
	wrongPerWindow = 5           // wrong passwords of one e-mail address, and from one client
	begunPerWindow = 30          // sign-ins over several pages that one client may begin
	wrongWindow    = time.Minute // from the first of them on
	wrongKept      = 65_536      // addresses and clients counted at once
	turnWithin     = 5 * time.Second
)

// SignIns checks who signs in, and what else strangers may guess at: the links of invitations and of recoveries. It counts
// what was wrong in this process alone, so a program has one of it.
type SignIns struct {
	db    *db.DB
	teams *Service
	wrong *wrongs
	begun *wrongs
	turns chan struct{} // each hash takes 19 MiB and a core
}

// NewSignIns makes the check for the people of a service.
func NewSignIns(s *Service) *SignIns {
	return &SignIns{db: s.db, teams: s, wrong: newWrongs(wrongPerWindow), begun: newWrongs(begunPerWindow), turns: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
}

// Attempt is what somebody signs in with.
type Attempt struct {
	Email, Password string
	From            string // the client's address, or whatever tells clients apart
}

// errSignIn does not tell whether there is such a person.
var errSignIn = fault.New(fault.Unauthorized, "E-mail or password is wrong.")

// ErrNoTeam is what somebody in no team is told who has shown who it is, and nobody else.
var ErrNoTeam = fault.New(fault.Unauthorized, "You are in no team any more: your team was deleted, or you are not a member of it now. Your account is still there. Ask an owner or admin of a team for an invitation: its link lets you in with the password that you have.")

// nobodysHash is hashed against where there is no password to compare with, so that both take the same time.
const nobodysHash = "$argon2id$v=19$m=19456,t=2,p=1$c29tZWJvZHksIHBlcmhhcA$c29tZXRoaW5nIHRoYXQgbm9ib2R5IGhhc2hlcyB0byA"

// SignIn finds the person whose e-mail address and password these are. People on hold and without a password are refused
// as a wrong password is: unauthorized. Somebody in no team is ErrNoTeam, by the right password alone. After five wrong
// ones a minute, of an address or from a client, it is rate_limited, also for the right one.
func (s *SignIns) SignIn(ctx context.Context, a Attempt) (Person, error) {
	a.Email = foldEmail(a.Email)
	var p known
	err := s.guard("passwords", []string{"email " + a.Email, "client " + a.From}, func() error {
		var err error
		p, err = s.check(ctx, a)
		return err
	})
	if err == nil && !p.inTeam { // not before the password is known to be right
		return Person{}, ErrNoTeam
	}
	return p.Person, err
}

// Guarded makes a check of what a client could guess. After five wrong ones a minute from a client, whatever they were
// about, it is rate_limited. Wrong is what is not_found or unauthorized.
func (s *SignIns) Guarded(from string, check func() error) error {
	return s.guard("tries", []string{"client " + from}, check)
}

// Begin notes that a client begins a sign-in of which something is kept until it ends; rate_limited where they are too many.
func (s *SignIns) Begin(from string) error {
	if wait := s.begun.count(s.db.Now(), [][sha256.Size]byte{sha256.Sum256([]byte(from))}); wait > 0 {
		return fault.New(fault.RateLimited, fmt.Sprintf("Too many tries. Try again in %d seconds.", seconds(wait))).With("scope", "sign_in").After(wait)
	}
	return nil
}

// guard counts a check for each of those whom it may be a guess of, and says how they are called.
func (s *SignIns) guard(called string, of []string, check func() error) error {
	who := make([][sha256.Size]byte, len(of))
	for i, text := range of {
		who[i] = sha256.Sum256([]byte(text))
	}
	// Counted before it is known to be wrong: else many at once would all be let through.
	if wait := s.wrong.count(s.db.Now(), who); wait > 0 {
		return fault.New(fault.RateLimited, fmt.Sprintf("Too many wrong %s. Try again in %d seconds.", called, seconds(wait))).With("scope", "sign_in").After(wait)
	}
	err := check()
	if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Unauthorized) {
		s.wrong.forgive(who)
	}
	return err
}

func seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }

func (s *SignIns) check(ctx context.Context, a Attempt) (known, error) {
	p, err := s.lookUp(ctx, a.Email)
	if err != nil {
		return known{}, err
	}
	matches, err := s.compare(ctx, p.hash, a.Password)
	if err != nil {
		return known{}, err
	}
	if !matches || p.ID == 0 {
		return known{}, errSignIn
	}
	return p, nil
}

// known is who has an e-mail address, with the hash to compare a password with; nobody has the id 0.
type known struct {
	Person

	hash   string
	inTeam bool
}

// lookUp finds who may sign in by an e-mail address, once in a team.
func (s *SignIns) lookUp(ctx context.Context, email string) (known, error) {
	p := known{hash: nobodysHash}
	if !isLine(email) { // nobody has it, and PostgreSQL takes no text that is none
		return p, nil
	}
	var teams int64
	err := s.db.QueryRow(ctx, `SELECT id, name, email, epoch, password_hash, (SELECT COUNT(*) FROM memberships m WHERE m.person_id = p.id) FROM people p
		WHERE email = ? AND held_at = 0 AND password_hash <> ''`, email).Scan(&p.ID, &p.Name, &p.Email, &p.Epoch, &p.hash, &teams)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return known{}, fmt.Errorf("looking up who signs in: %w", err)
	}
	p.inTeam = teams > 0
	return p, nil
}

// compare hashes a password when it is its turn.
func (s *SignIns) compare(ctx context.Context, hash, password string) (bool, error) {
	matches := false
	err := s.inTurn(ctx, func() error {
		matches = PasswordMatches(hash, password)
		return nil
	})
	return matches, err
}

// hash makes what is stored of a password when it is its turn.
func (s *SignIns) hash(ctx context.Context, password string) (string, error) {
	hash := ""
	err := s.inTurn(ctx, func() error {
		var err error
		hash, err = HashPassword(password)
		return err
	})
	return hash, err
}

func (s *SignIns) inTurn(ctx context.Context, work func() error) error {
	ctx, cancel := context.WithTimeout(ctx, turnWithin)
	defer cancel()
	select {
	case s.turns <- struct{}{}:
	case <-ctx.Done():
		return fault.New(fault.RateLimited, "Too many people sign in at this moment. Try again in a second.").With("scope", "sign_in").After(time.Second)
	}
	defer func() { <-s.turns }()
	return work()
}

// wrongs counts wrong passwords and the like, of hashes of who it was.
type wrongs struct {
	most int // of one in a window
	mu   sync.Mutex
	of   map[[sha256.Size]byte]*tally
}

func newWrongs(most int) *wrongs { return &wrongs{most: most, of: map[[sha256.Size]byte]*tally{}} }

// tally is one window of somebody's wrong passwords.
type tally struct {
	n    int
	ends time.Time
}

// count notes an attempt of each, or tells how long to wait and notes nothing.
func (w *wrongs) count(now time.Time, who [][sha256.Size]byte) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var wait time.Duration
	for _, h := range who {
		if t := w.of[h]; t != nil && t.n >= w.most {
			wait = max(wait, t.ends.Sub(now))
		}
	}
	if wait > 0 {
		return wait
	}
	for _, h := range who {
		w.window(now, h).n++
	}
	return 0
}

// window is the present window of somebody, a new one where there is none.
func (w *wrongs) window(now time.Time, who [sha256.Size]byte) *tally {
	if t := w.of[who]; t != nil && now.Before(t.ends) {
		return t
	}
	if len(w.of) >= wrongKept {
		w.makeRoom(now)
	}
	t := &tally{ends: now.Add(wrongWindow)}
	w.of[who] = t
	return t
}

// makeRoom forgets what is over, else anybody: emptying it all would be a way around the limit.
func (w *wrongs) makeRoom(now time.Time) {
	for who, t := range w.of {
		if !now.Before(t.ends) {
			delete(w.of, who)
		}
	}
	for who := range w.of {
		if len(w.of) < wrongKept {
			return
		}
		delete(w.of, who)
	}
}

// forgive takes an attempt back that was not wrong.
func (w *wrongs) forgive(who [][sha256.Size]byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, h := range who {
		if t := w.of[h]; t != nil && t.n > 0 {
			t.n--
		}
	}
}

// Account is a person and the teams that the person is in.
type Account struct {
	Person

	HasPassword bool      // and can sign in by it
	Teams       []OwnTeam // by name; never empty
}

// OwnTeam is a team as one of its members sees it.
type OwnTeam struct {
	ID       int64
	Name     string
	Timezone string
	Role     access.Role
	Closed   bool
}

// Account finds a person who may be signed in: not_found for whoever is on hold or in no team.
func (s *Service) Account(ctx context.Context, person int64) (Account, error) {
	var a Account
	teams, err := db.All(ctx, s.db, func(rows *sql.Rows, t *OwnTeam) error {
		var closed, operator, password int64
		err := rows.Scan(&a.ID, &a.Name, &a.Email, &a.Epoch, &operator, &password, &t.ID, &t.Name, &t.Timezone, &t.Role, &closed)
		t.Closed, a.Operator, a.HasPassword = closed > 0, operator > 0, password > 0
		return err
	}, `SELECT p.id, p.name, p.email, p.epoch, p.operator, CASE WHEN p.password_hash <> '' THEN 1 ELSE 0 END, t.id, t.name, t.timezone, m.role, t.closed_at FROM people p
		JOIN memberships m ON m.person_id = p.id JOIN teams t ON t.id = m.team_id WHERE p.id = ? AND p.held_at = 0 ORDER BY t.name, t.id`, person)
	if err != nil {
		return Account{}, fmt.Errorf("looking up who is signed in: %w", err)
	}
	if len(teams) == 0 {
		return Account{}, fault.Missing()
	}
	a.Teams = teams
	return a, nil
}
