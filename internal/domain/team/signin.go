package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/passwords"
	"pressroom/internal/auth/throttle"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/loadshed"
)

// How fast attempts may follow each other.
var (
	// ownPace is for one account from one client or browser, and for codes that can be guessed.
	ownPace = throttle.Pace{Free: 5, First: time.Minute, Most: time.Hour}
	// strangersPace is for one account from all browsers that are not known for it. It delays people only if many
	// clients guess.
	strangersPace = throttle.Pace{Free: 10, First: time.Minute, Most: time.Hour}
	// clientPace is for one client over all accounts, and high enough for an office behind one address.
	clientPace = throttle.Pace{Free: 30, First: time.Minute, Most: time.Hour, Leak: 6 * time.Minute}
	// sitePace is for one IPv6 /48 across all accounts: ten times that of a client.
	sitePace = throttle.Pace{Free: 300, First: time.Minute, Most: time.Hour, Leak: 36 * time.Second}
	// joinPace is for failed attempts with one invitation.
	joinPace = throttle.Pace{Free: 10, First: 10 * time.Second, Most: 10 * time.Minute}
)

// SignIns checks sign-ins and the links of invitations and recoveries, and slows down guessing. It counts some failures
// only in this process, so a program must have only one.
type SignIns struct {
	db    *db.DB
	teams *Service

	pairs     *throttle.Local  // by email address and client
	clients   *throttle.Local  // by client
	sites     *throttle.Local  // by IPv6 site
	strangers *throttle.Shared // by email address
	// by known browser of an account, by signed-in person, by person who enters a code
	own   *throttle.Shared
	links *throttle.Local // by client: links and passkeys, and attempts to join
	joins *throttle.Local // by invitation

	hashing *passwords.Queue
}

// NewSignIns returns the sign-in checks of a service.
func NewSignIns(s *Service) *SignIns {
	return &SignIns{
		db: s.db, teams: s,
		pairs: throttle.NewLocal(s.db.Now, ownPace), clients: throttle.NewLocal(s.db.Now, clientPace),
		strangers: throttle.NewShared(s.db, strangersPace),
		own:       throttle.NewShared(s.db, ownPace), links: throttle.NewLocal(s.db.Now, clientPace),
		sites: throttle.NewLocal(s.db.Now, sitePace), joins: throttle.NewLocal(s.db.Now, joinPace),
		hashing: passwords.NewQueue(hashWait),
	}
}

// Messages after too many guesses.
const (
	wrongPasswords   = "Too many wrong passwords." //nolint:gosec // it is not a secret
	wrongByStrangers = "Too many wrong passwords for this email address. Sign in from a browser you have " +
		"used before " +
		"or with a passkey, ask the operator for a recovery link, or wait."
	wrongCodes = "Too many wrong codes."
	wrongTries = "Too many wrong attempts."
)

// Attempt is the input of a sign-in.
type Attempt struct {
	Email, Password string
	From            string // the client's address or another identifier of the client
	Browser         string // the browser's tokens from earlier sign-ins; see Service.NoteSignIn
}

// errSignIn does not report whether there is such a person.
var errSignIn = apierr.New(apierr.Unauthorized, "Incorrect email or password.")

// ErrNoTeam is returned only to people who have authenticated but have no team.
var ErrNoTeam = apierr.New(apierr.Unauthorized,
	"You no longer belong to a team. Your account still exists: ask an owner or admin of a team for an invitation, "+
		"and sign in with your password at its link.")

// SignIn returns the person with an email address and password. Suspended people and people without a password are
// refused like a wrong password: unauthorized. People without a team get ErrNoTeam, but only with the right password.
//
// After some wrong passwords it returns rate_limited, even for the right one. Guesses from elsewhere do not delay a
// browser in which the person signed in before; only its own wrong passwords do.
func (s *SignIns) SignIn(ctx context.Context, a Attempt) (Person, error) {
	a.Email = foldEmail(a.Email)
	p, err := s.lookUp(ctx, a.Email)
	if err != nil {
		return Person{}, err
	}
	if err := s.checkGuess(ctx, a, p, errSignIn); err != nil {
		return Person{}, err
	}
	if !p.inTeam { // not before the password is known to be right
		return Person{}, ErrNoTeam
	}
	return p.Person, nil
}

// checkGuess compares the password of an attempt with a person's and delays guesses. It returns the error for a wrong
// one.
func (s *SignIns) checkGuess(ctx context.Context, a Attempt, p known, refusal error) error {
	client, from := throttle.NewKey("client %s", a.From), askingClient(a.From)
	tries := []throttle.Try{
		{Counter: s.pairs, Key: throttle.NewKey("email %s client %s", a.Email, a.From), Forgets: true, Refusal: wrongPasswords},
		{Counter: s.clients, Key: client, Refusal: wrongPasswords},
	}
	if site := loadshed.SitePrefix(a.From); site != a.From {
		tries = append(tries,
			throttle.Try{Counter: s.sites, Key: throttle.NewKey("site %s", site), Refusal: wrongPasswords})
	}
	tries = append(tries,
		throttle.Try{Counter: s.strangers, Key: throttle.NewKey("email %s", a.Email), Refusal: wrongByStrangers})
	known, err := knownTokens(ctx, s.db, a.Browser, s.db.Now())
	if err != nil {
		return err
	}
	token := known[p.ID]
	if token != "" {
		own := throttle.Try{Counter: s.own, Key: throttle.NewKey("browser %s", token), Forgets: true, Refusal: wrongPasswords}
		tries, from = []throttle.Try{own}, askingPerson(p.ID)
	}
	err = throttle.Guess(ctx, tries, func() error { return s.compare(ctx, from, p, a.Password, refusal) })
	if token != "" && errors.Is(err, refusal) {
		s.clients.Charge(client) // allowed, but counted
	}
	return err
}

// GuessCode runs the check of a code that a person enters in addition to a password. After five wrong codes it returns
// rate_limited, on all nodes, for a delay that doubles up to an hour. A check that returns not_found or unauthorized
// counts as wrong.
//
// Each known browser of the person has its own counter, and all others share one. So an attacker who has the password
// and guesses codes does not delay the person in a known browser.
func (s *SignIns) GuessCode(ctx context.Context, person int64, browser string, check func() error) error {
	known, err := knownTokens(ctx, s.db, browser, s.db.Now())
	if err != nil {
		return err
	}
	key := throttle.NewKey("code of %d", person)
	if token := known[person]; token != "" {
		key = throttle.NewKey("code of %d browser %s", person, token)
	}
	return throttle.Guess(ctx, []throttle.Try{{Counter: s.own, Key: key, Forgets: true, Refusal: wrongCodes}}, check)
}

// CheckSecret checks a secret that cannot be guessed, such as a link or a passkey. Clients with too many failures
// (not_found or unauthorized) get rate_limited. A valid secret is never refused.
func (s *SignIns) CheckSecret(from string, check func() error) error {
	err := check()
	if !throttle.IsWrong(err) {
		return err
	}
	if _, wait := s.links.Count(throttle.NewKey("client %s", from)); wait > 0 {
		return throttle.TooMany(wrongTries, wait)
	}
	return err
}

// known is the account with an email address and its password hash; its ID is 0 if there is none.
type known struct {
	Person

	hash   string
	inTeam bool
}

// lookUp returns the account with an email address that may sign in.
func (s *SignIns) lookUp(ctx context.Context, email string) (known, error) {
	p := known{hash: passwords.DummyHash}
	if !isLine(email) { // no account has it, and PostgreSQL rejects invalid text
		return p, nil
	}
	var teams int64
	err := s.db.QueryRow(ctx,
		`SELECT id, name, email, epoch, password_hash, (SELECT COUNT(*) FROM memberships m WHERE m.person_id = p.id)
		FROM people p
		WHERE email = ? AND held_at = 0 AND password_hash <> ''`, email).Scan(&p.ID, &p.Name, &p.Email, &p.Epoch,
		&p.hash, &teams)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return known{}, fmt.Errorf("looking up who signs in: %w", err)
	}
	p.inTeam = teams > 0
	return p, nil
}

// compare hashes a password and returns an error if it is not the person's.
func (s *SignIns) compare(ctx context.Context, from passwords.Caller, p known, password string, refusal error) error {
	return s.hashing.Do(ctx, from, func() error {
		if !passwords.Matches(p.hash, password) || p.ID == 0 {
			return refusal
		}
		return nil
	})
}

// hash returns the stored hash of a password.
func (s *SignIns) hash(ctx context.Context, from passwords.Caller, password string) (string, error) {
	hash := ""
	err := s.hashing.Do(ctx, from, func() error {
		var err error
		hash, err = passwords.Hash(password)
		return err
	})
	return hash, err
}

// Account is a person and the teams that the person is in.
type Account struct {
	Person

	HasPassword bool      // and can sign in by it
	Timezone    string    // IANA, or "" for each team's
	Language    string    // of the person's pages: BCP 47, or "" for that of the browser
	Teams       []OwnTeam // by name; never empty
}

// OwnTeam is a team as one of its members sees it.
type OwnTeam struct {
	ID       int64
	Name     string
	Timezone string
	Role     access.Role
	Closed   bool

	SecondFactor bool // its members need one
}

// Account returns a person who may be signed in. It returns not_found for a suspended person or one without a team.
func (s *Service) Account(ctx context.Context, person int64) (Account, error) {
	var a Account
	teams, err := db.All(ctx, s.db, func(rows *sql.Rows, t *OwnTeam) error {
		var closed, operator, password, proved, factor int64
		err := rows.Scan(&a.ID, &a.Name, &a.Email, &a.Epoch, &operator, &proved, &password, &a.Timezone, &a.Language, &t.ID,
			&t.Name, &t.Timezone, &t.Role, &closed, &factor)
		t.Closed, a.Operator, a.HasPassword, a.EmailConfirmed = closed > 0, operator > 0, password > 0, proved > 0
		t.SecondFactor = factor > 0
		return err
	}, `SELECT p.id, p.name, p.email, p.epoch, p.operator, p.email_proved_at, CASE WHEN p.password_hash <> '' THEN 1
		ELSE 0 END, p.timezone, p.language, t.id, t.name, t.timezone, m.role, t.closed_at, t.second_factor FROM people p
		JOIN memberships m ON m.person_id = p.id JOIN teams t ON t.id = m.team_id WHERE p.id = ? AND p.held_at = 0
		ORDER BY t.name, t.id`, person)
	if err != nil {
		return Account{}, fmt.Errorf("looking up who is signed in: %w", err)
	}
	if len(teams) == 0 {
		return Account{}, apierr.Missing()
	}
	a.Teams = teams
	return a, nil
}
