package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passwords"
	"pressroom.example/pressroom/internal/auth/throttle"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team/knownbrowser"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/loadshed"
)

// Rate limits for attempts.
var (
	// knownBrowserPolicy applies to one account from one client or browser. It also applies to codes.
	knownBrowserPolicy = throttle.Policy{FreeAttempts: 5, InitialDelay: time.Minute, MaxDelay: time.Hour}
	// unknownBrowserPolicy applies to one account from all unknown browsers together. It delays the account's owner
	// only if many clients guess passwords, and only in an unknown browser.
	unknownBrowserPolicy = throttle.Policy{FreeAttempts: 10, InitialDelay: time.Minute, MaxDelay: time.Hour}
	// clientPolicy applies to one client across all accounts. It is high enough for an office behind one address.
	clientPolicy = throttle.Policy{FreeAttempts: 30, InitialDelay: time.Minute, MaxDelay: time.Hour, Leak: 6 * time.Minute}
	// sitePolicy applies to one IPv6 /48 across all accounts. It is ten times as high as clientPolicy.
	sitePolicy = throttle.Policy{FreeAttempts: 300, InitialDelay: time.Minute, MaxDelay: time.Hour, Leak: 36 * time.Second}
	// invitationPolicy applies to failed attempts with one invitation.
	invitationPolicy = throttle.Policy{FreeAttempts: 10, InitialDelay: 10 * time.Second, MaxDelay: 10 * time.Minute}
)

// SignIns checks sign-ins and the links of invitations and recoveries, and limits the rate of guesses. It counts some
// failures in memory, so a process must use only one SignIns.
type SignIns struct {
	db    *db.DB
	teams *Service

	byEmailAndClient *throttle.Local  // by email address and client
	byClient         *throttle.Local  // by client
	bySite           *throttle.Local  // by IPv6 /48
	byUnknownBrowser *throttle.Shared // by email address
	// by known browser, by signed-in person, and by person who enters a code
	byKnownBrowser   *throttle.Shared
	byClientForLinks *throttle.Local // by client: links and passkeys, and attempts to join
	byInvitation     *throttle.Local // by invitation

	hashQueue *passwords.Queue
}

// NewSignIns returns the sign-in checks of a service.
func NewSignIns(s *Service) *SignIns {
	return &SignIns{
		db: s.db, teams: s,
		byEmailAndClient: throttle.NewLocal(s.db.Now, knownBrowserPolicy), byClient: throttle.NewLocal(s.db.Now, clientPolicy),
		byUnknownBrowser: throttle.NewShared(s.db, unknownBrowserPolicy),
		byKnownBrowser:   throttle.NewShared(s.db, knownBrowserPolicy), byClientForLinks: throttle.NewLocal(s.db.Now, clientPolicy),
		bySite: throttle.NewLocal(s.db.Now, sitePolicy), byInvitation: throttle.NewLocal(s.db.Now, invitationPolicy),
		hashQueue: passwords.NewQueue(5 * time.Second),
	}
}

// Messages of rate_limited errors.
const (
	tooManyPasswords         = "Too many wrong passwords." //nolint:gosec // not a secret
	tooManyPasswordsForEmail = "Too many wrong passwords for this email address. Sign in from a browser you have " +
		"used before " +
		"or with a passkey, ask the operator for a recovery link, or wait."
	tooManyCodes    = "Too many wrong codes."
	tooManyAttempts = "Too many wrong attempts."
)

// Attempt is the input of a sign-in.
type Attempt struct {
	Email, Password string
	From            string // IP address or another identifier of the client
	Browser         string // value of the known-browser cookie; see Service.RecordSignIn
}

// errSignIn does not reveal whether there is a person with the email address.
var errSignIn = apierr.New(apierr.Unauthorized, "Incorrect email or password.")

// ErrNoTeam is returned for people who entered the right password but belong to no team.
var ErrNoTeam = apierr.New(apierr.Unauthorized,
	"You no longer belong to a team. Your account still exists: ask an owner or admin of a team for an invitation, "+
		"and sign in with your password at its link.")

// SignIn returns the person with an email address and password. It returns the same unauthorized error for an unknown
// address, a wrong password, a suspended person, and a person without a password. It returns ErrNoTeam for a person
// without a team if the password is right.
//
// After several wrong passwords, SignIn returns rate_limited even for the right password. A browser where the person
// has signed in before is not delayed by wrong passwords from elsewhere.
func (s *SignIns) SignIn(ctx context.Context, a Attempt) (Person, error) {
	a.Email = names.NormalizeEmail(a.Email)
	p, err := s.findAccount(ctx, a.Email)
	if err != nil {
		return Person{}, err
	}
	if err := s.checkPassword(ctx, a, p, errSignIn); err != nil {
		return Person{}, err
	}
	if !p.inTeam { // Check this only after the password, so that other people cannot find it out.
		return Person{}, ErrNoTeam
	}
	return p.Person, nil
}

// checkPassword checks the password of an attempt and limits the rate of guesses. It returns wrongErr for a wrong
// password.
func (s *SignIns) checkPassword(ctx context.Context, a Attempt, account signInAccount, wrongErr error) error {
	client, caller := throttle.NewKey("client %s", a.From), passwords.ClientCaller(a.From)
	limits := []throttle.Limit{
		{Counter: s.byEmailAndClient, Key: throttle.NewKey("email %s client %s", a.Email, a.From), ResetOnSuccess: true,
			Rejection: tooManyPasswords},
		{Counter: s.byClient, Key: client, Rejection: tooManyPasswords},
	}
	if site := loadshed.SitePrefix(a.From); site != a.From {
		limits = append(limits,
			throttle.Limit{Counter: s.bySite, Key: throttle.NewKey("site %s", site), Rejection: tooManyPasswords})
	}
	limits = append(limits,
		throttle.Limit{Counter: s.byUnknownBrowser, Key: throttle.NewKey("email %s", a.Email), Rejection: tooManyPasswordsForEmail})
	tokens, err := knownbrowser.Tokens(ctx, s.db, a.Browser, s.db.Now())
	if err != nil {
		return err
	}
	token := tokens[account.ID]
	if token != "" {
		browserLimit := throttle.Limit{Counter: s.byKnownBrowser, Key: throttle.NewKey("browser %s", token), ResetOnSuccess: true,
			Rejection: tooManyPasswords}
		limits, caller = []throttle.Limit{browserLimit}, passwords.PersonCaller(account.ID)
	}
	err = throttle.Attempt(ctx, limits, func() error { return s.comparePassword(ctx, caller, account, a.Password, wrongErr) })
	if token != "" && errors.Is(err, wrongErr) {
		s.byClient.Charge(client) // Count the failure without rejecting the attempt.
	}
	return err
}

// GuessCode checks a code that a person enters in addition to a password. A check that returns not_found or
// unauthorized counts as a wrong code. After five wrong codes, GuessCode returns rate_limited on all nodes, for a delay
// that doubles up to an hour.
//
// Each known browser of the person has a separate counter. All other browsers share one counter. An attacker who knows
// the password and guesses codes therefore does not delay the person in a known browser.
func (s *SignIns) GuessCode(ctx context.Context, person int64, browser string, check func() error) error {
	tokens, err := knownbrowser.Tokens(ctx, s.db, browser, s.db.Now())
	if err != nil {
		return err
	}
	key := throttle.NewKey("code of %d", person)
	if token := tokens[person]; token != "" {
		key = throttle.NewKey("code of %d browser %s", person, token)
	}
	return throttle.Attempt(ctx, []throttle.Limit{
		{Counter: s.byKnownBrowser, Key: key, ResetOnSuccess: true, Rejection: tooManyCodes}}, check)
}

// CheckSecret checks a secret that cannot be guessed, such as a link or a passkey. A check that returns not_found or
// unauthorized counts as a failure. Clients with too many failures get rate_limited, but a valid secret is always
// accepted.
func (s *SignIns) CheckSecret(client string, check func() error) error {
	err := check()
	if !throttle.IsWrong(err) {
		return err
	}
	if _, wait := s.byClientForLinks.Count(throttle.NewKey("client %s", client)); wait > 0 {
		return throttle.NewTooManyError(tooManyAttempts, wait)
	}
	return err
}

// signInAccount is the account for a sign-in. Its ID is 0 if there is no account with the email address.
type signInAccount struct {
	Person

	hash   string
	inTeam bool
}

// findAccount returns the account with an email address if it is not suspended and has a password. Otherwise, the ID of
// the result is 0 and its hash matches no password.
func (s *SignIns) findAccount(ctx context.Context, email string) (signInAccount, error) {
	p := signInAccount{hash: passwords.DummyHash}
	if !names.IsValid(email) { // No account has such an address, and PostgreSQL rejects invalid text.
		return p, nil
	}
	var teams int64
	err := s.db.QueryRow(ctx,
		`SELECT id, name, email, epoch, password_hash, (SELECT COUNT(*) FROM memberships m WHERE m.person_id = p.id)
		FROM people p
		WHERE email = ? AND held_at = 0 AND password_hash <> ''`, email).Scan(&p.ID, &p.Name, &p.Email, &p.Epoch,
		&p.hash, &teams)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return signInAccount{}, fmt.Errorf("looking up an account to sign in: %w", err)
	}
	p.inTeam = teams > 0
	return p, nil
}

// comparePassword hashes a password and returns wrongErr if it is not the account's password.
func (s *SignIns) comparePassword(ctx context.Context, caller passwords.Caller, account signInAccount, password string,
	wrongErr error) error {
	return s.hashQueue.Do(ctx, caller, func() error {
		if !passwords.Matches(account.hash, password) || account.ID == 0 {
			return wrongErr
		}
		return nil
	})
}

// hashPassword returns the hash to store for a password.
func (s *SignIns) hashPassword(ctx context.Context, caller passwords.Caller, password string) (string, error) {
	hash := ""
	err := s.hashQueue.Do(ctx, caller, func() error {
		var err error
		hash, err = passwords.Hash(password)
		return err
	})
	return hash, err
}

// Account is a person with the teams that the person belongs to.
type Account struct {
	Person

	HasPassword bool      // whether the person can sign in with a password
	Timezone    string    // IANA; empty for each team's time zone
	Language    string    // BCP 47 language of pages; empty for the browser's language
	Teams       []OwnTeam // sorted by name; never empty
}

// OwnTeam is a team that a person belongs to, with the person's role.
type OwnTeam struct {
	ID       int64
	Name     string
	Timezone string
	Role     access.Role
	Closed   bool

	SecondFactor bool // whether members need a second factor
}

// Account returns a person's account. It returns not_found for a suspended person and for a person without a team.
func (s *Service) Account(ctx context.Context, person int64) (Account, error) {
	var a Account
	teams, err := db.All(ctx, s.db, func(rows *sql.Rows, t *OwnTeam) error {
		var closedAt, isOperator, hasPassword, confirmedAt, needsFactor int64
		err := rows.Scan(&a.ID, &a.Name, &a.Email, &a.Epoch, &isOperator, &confirmedAt, &hasPassword, &a.Timezone, &a.Language, &t.ID,
			&t.Name, &t.Timezone, &t.Role, &closedAt, &needsFactor)
		t.Closed, a.Operator, a.HasPassword, a.EmailConfirmed = closedAt > 0, isOperator > 0, hasPassword > 0, confirmedAt > 0
		t.SecondFactor = needsFactor > 0
		return err
	}, `SELECT p.id, p.name, p.email, p.epoch, p.operator, p.email_proved_at, CASE WHEN p.password_hash <> '' THEN 1
		ELSE 0 END, p.timezone, p.language, t.id, t.name, t.timezone, m.role, t.closed_at, t.second_factor FROM people p
		JOIN memberships m ON m.person_id = p.id JOIN teams t ON t.id = m.team_id WHERE p.id = ? AND p.held_at = 0
		ORDER BY t.name, t.id`, person)
	if err != nil {
		return Account{}, fmt.Errorf("reading an account: %w", err)
	}
	if len(teams) == 0 {
		return Account{}, apierr.ItemNotFound()
	}
	a.Teams = teams
	return a, nil
}
