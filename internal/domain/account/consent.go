package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	attemptLifetime = 10 * time.Minute // time to return from the network
	choiceLifetime  = 10 * time.Minute // time to choose an account
	exchangeTimeout = time.Minute      // timeout for exchanging the code at the network
	maxCodeLength   = 8192             // bytes
	maxChoices      = 500              // accounts that a person can choose from
)

// The steps of an attempt to connect.
const (
	stepConsent  = "consent"  // the person is on the network's consent page
	stepExchange = "exchange" // the person is back from the network, and the code is exchanged
	stepChoice   = "choice"   // the person chooses one of several accounts
)

// attempt is the state of an authorization at a network's consent page. It is stored encrypted.
type attempt struct {
	Token      string      `json:"token"`              // token of the link
	Verifier   string      `json:"verifier,omitempty"` // PKCE code verifier
	Kind       string      `json:"kind,omitempty"`     // sign-in method
	Candidates []candidate `json:"candidates,omitempty"`
	HasMore    bool        `json:"more,omitempty"`   // the person may have more accounts
	Incomplete bool        `json:"unread,omitempty"` // a temporary error hid some accounts
}

// candidate is a stored network.Candidate.
type candidate struct {
	Grant       network.Grant `json:"grant"`
	DisplayName string        `json:"display_name"`
}

// attemptContext returns the encryption context of an attempt. It binds the ciphertext to its row and step.
func attemptContext(state []byte, step string) string {
	return "connect_attempt:" + step + ":" + hex.EncodeToString(state)
}

func (c *Connector) redirectURL(platform string) string {
	return c.PublicURL + ConnectPath + "callback/" + platform
}

// Begin starts an authorization and returns the URL of the network's consent page. It replaces an earlier attempt by
// the same person with the same link. kind is the Kind of one of the offer's sign-in methods.
func (c *Connector) Begin(ctx context.Context, person int64, token, kind string) (string, error) {
	l, offer, err := c.openOffer(ctx, person, token)
	if err != nil {
		return "", err
	}
	if offer.IsPlanFull {
		return "", errPlanFull
	}
	a, err := c.authorizer(l.network())
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(offer.Methods, func(m SignInMethod) bool { return m.Kind == kind }) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "kind", "Choose one of the ways to sign in.")
	}
	auth := network.Authorization{Kind: kind, State: rand.Text() + rand.Text(), Verifier: rand.Text() + rand.Text(),
		Redirect: c.redirectURL(l.network())}
	state, linkHash := sha256.Sum256([]byte(auth.State)), sha256.Sum256([]byte(token))
	sealed, err := c.sealAttempt(state[:], stepConsent, attempt{Token: token, Verifier: auth.Verifier, Kind: kind})
	if err != nil {
		return "", err
	}
	err = c.Accounts.db.InTx(ctx, "social.begin_connecting", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO connect_attempts (state_hash, link_hash, person_id, platform, step,
			sealed, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (person_id, link_hash) DO UPDATE SET state_hash = excluded.state_hash, step = excluded.step,
			sealed = excluded.sealed, expires_at = excluded.expires_at`,
			state[:], linkHash[:], person, l.network(), stepConsent, sealed, db.Micros(tx.Now().Add(attemptLifetime)))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("storing an attempt to connect: %w", err)
	}
	return a.Authorize(auth), nil
}

func (c *Connector) authorizer(platform string) (network.Authorizer, error) {
	n, err := c.Accounts.Network(platform)
	if a, ok := n.(network.Authorizer); err == nil && ok {
		return a, nil
	}
	return nil, apierr.ItemNotFound()
}

func (c *Connector) sealAttempt(state []byte, step string, a attempt) ([]byte, error) {
	plain, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("encoding an attempt to connect: %w", err)
	}
	return c.Accounts.seal.Seal(plain, attemptContext(state, step))
}

func (c *Connector) openAttempt(sealed, state []byte, step string) (attempt, error) {
	var a attempt
	plaintext, err := c.Accounts.seal.Open(sealed, attemptContext(state, step))
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(plaintext, &a); err != nil {
		return a, fmt.Errorf("reading an attempt to connect: %w", err)
	}
	return a, nil
}

// Callback holds the query parameters of the redirect from a network's consent page.
type Callback struct {
	Platform string
	State    string
	Code     string
	Error    string // set instead of Code (RFC 6749, section 4.1.2.1)
}

// Outcome is the result of Connector.HandleCallback.
type Outcome struct {
	Account Account // connected account; its ID is 0 if none is connected yet
	Choice  int64   // ID of a choice between several accounts, or 0
	Retry   string  // token of the link to start again; may be empty
}

var errInvalidAttempt = apierr.BadState("ended",
	"This sign-in is unknown, has expired or was already used. Open the link again.")

// HandleCallback completes an authorization that the same person began. It connects the account, or stores several
// accounts for the person to choose from. A state can be used only once.
func (c *Connector) HandleCallback(ctx context.Context, person int64, r Callback) (Outcome, error) {
	a, err := c.authorizer(r.Platform)
	if err != nil {
		return Outcome{}, err
	}
	state := sha256.Sum256([]byte(r.State))
	storedAttempt, err := c.consumeState(ctx, person, r.Platform, state[:])
	if err != nil {
		return Outcome{}, err
	}
	out := Outcome{Retry: storedAttempt.Token}
	if r.Error != "" || r.Code == "" || len(r.Code) > maxCodeLength {
		return out, consentError(r.Error)
	}
	exchangeCtx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	candidates, err := a.Exchange(exchangeCtx, network.Authorization{Kind: storedAttempt.Kind, State: r.State,
		Verifier: storedAttempt.Verifier,
		Redirect: c.redirectURL(r.Platform)}, r.Code)
	if err != nil && !isPartial(err) {
		return out, newUserError(err, "The network did not accept this sign-in. Try again.")
	}
	out.Account, out.Choice, err = c.connectCandidates(ctx, person, state[:], storedAttempt.Token, candidates, err)
	return out, err
}

// isPartial reports whether an error of Exchange means that the person may have more accounts than it returned.
func isPartial(err error) bool {
	return errors.Is(err, network.ErrMoreAccounts) || errors.Is(err, network.ErrUnreadAccounts)
}

// newAbsentError returns the error for an account that Exchange did not return. partialErr is the error from Exchange.
// If it is nil, Exchange returned all of the person's accounts, and newAbsentError returns notFoundErr.
func newAbsentError(partialErr, notFoundErr error) error {
	switch {
	case errors.Is(partialErr, network.ErrUnreadAccounts):
		return errAccountsNotLoaded
	case partialErr != nil:
		return errTooManyAccounts
	}
	return notFoundErr
}

// consumeState marks a state as used and returns its attempt.
func (c *Connector) consumeState(ctx context.Context, person int64, platform string, state []byte) (attempt, error) {
	var sealed []byte
	err := c.Accounts.db.InTx(ctx, "social.take_attempt", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, `UPDATE connect_attempts SET step = ? WHERE state_hash = ? AND person_id = ?
			AND platform = ? AND step = ? AND expires_at > ? RETURNING sealed`,
			stepExchange, state, person, platform, stepConsent, db.Micros(tx.Now())).Scan(&sealed)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return attempt{}, errInvalidAttempt
	}
	if err != nil {
		return attempt{}, fmt.Errorf("reading an attempt to connect: %w", err)
	}
	return c.openAttempt(sealed, state, stepConsent)
}

// scopeErrors lists the error codes of RFC 6749 and LinkedIn for scopes that the operator's app may not request.
var scopeErrors = []string{"invalid_scope", "unauthorized_scope_error"}

// consentError returns the error for a callback without a code. The error does not quote the network.
func consentError(code string) error {
	if code == "access_denied" || strings.HasPrefix(code, "user_cancelled") {
		return apierr.BadState("denied", "You did not allow access on the network, so nothing was connected.")
	}
	if slices.Contains(scopeErrors, code) {
		return apierr.BadState("failed", "The network has not approved the permissions that this service requests, "+
			"so nothing was connected. Contact the operator.").Wrap(&network.Error{Class: network.AppNotApproved,
			Code: code})
	}
	return apierr.BadState("failed", "The network did not complete the sign-in, so nothing was connected. Try again.")
}

// connectCandidates connects a single account, or stores several accounts for the person to choose from. partialErr is
// not nil if the person may have more accounts.
func (c *Connector) connectCandidates(ctx context.Context, person int64, state []byte, token string,
	candidates []network.Candidate, partialErr error) (Account, int64, error) {
	l, err := c.parseToken(token)
	if err != nil {
		return Account{}, 0, err
	}
	if l.accountID != 0 {
		if candidates, err = c.filterReconnect(ctx, l, candidates, partialErr); err != nil {
			return Account{}, 0, err
		}
		partialErr = nil
	}
	var a Account
	var choice int64
	err = c.Accounts.db.InTx(ctx, "social.connect", func(ctx context.Context, tx *db.Tx) error {
		switch {
		case len(candidates) == 0:
			return newAbsentError(partialErr, errNoAccount)
		case len(candidates) == 1 && partialErr == nil:
			a, err = c.connectCandidate(ctx, tx, person, token, candidates[0])
			return err
		}
		choice, err = c.storeChoice(ctx, tx, state, token, candidates, partialErr)
		return err
	})
	return a, choice, err
}

// filterReconnect returns only the account to reconnect. If it is not among the candidates, the error is
// errOtherAccount or, if the network's list may be incomplete, errTooManyAccounts or errAccountsNotLoaded.
func (c *Connector) filterReconnect(ctx context.Context, l link,
	candidates []network.Candidate, partialErr error) ([]network.Candidate, error) {
	target, err := readAccount(ctx, c.Accounts.db, l.teamID, l.accountID)
	if err != nil {
		return nil, err
	}
	for _, cand := range candidates {
		if cand.Grant.Account == target.NetworkID {
			return []network.Candidate{cand}, nil
		}
	}
	return nil, newAbsentError(partialErr, errOtherAccount)
}

// storeChoice stores at most maxChoices accounts for the person to choose from, and returns the ID of the choice.
func (c *Connector) storeChoice(ctx context.Context, tx *db.Tx, state []byte, token string,
	candidates []network.Candidate, partialErr error) (int64, error) {
	incomplete := errors.Is(partialErr, network.ErrUnreadAccounts)
	a := attempt{Token: token, HasMore: partialErr != nil && !incomplete || len(candidates) > maxChoices, Incomplete: incomplete}
	for _, cand := range candidates[:min(len(candidates), maxChoices)] {
		a.Candidates = append(a.Candidates, candidate(cand))
	}
	sealed, err := c.sealAttempt(state, stepChoice, a)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRow(ctx, `UPDATE connect_attempts SET step = ?, sealed = ?, expires_at = ? WHERE state_hash = ?
		AND step = ? RETURNING id`,
		stepChoice, sealed, db.Micros(tx.Now().Add(choiceLifetime)), state, stepExchange).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, errInvalidAttempt // The person has started another attempt.
	}
	if err != nil {
		return 0, fmt.Errorf("storing accounts to choose from: %w", err)
	}
	return id, nil
}

// Choice is a choice between several accounts.
type Choice struct {
	Offer

	Accounts   []ChoiceAccount
	HasMore    bool // whether the person may have more accounts than can be listed
	Incomplete bool // whether accounts are missing because the network had a temporary error
}

// ChoiceAccount is one of the accounts to choose from. Its index is an argument of Choose.
type ChoiceAccount struct {
	Username, DisplayName string
	Connected             bool // whether the account is already connected to the team
}

// Choice returns the accounts that a person may choose from. It returns not_found for an unknown or expired choice.
func (c *Connector) Choice(ctx context.Context, person, id int64) (Choice, error) {
	a, err := c.readChoice(ctx, c.Accounts.db, person, id)
	if err != nil {
		return Choice{}, err
	}
	l, err := c.parseToken(a.Token)
	if err != nil {
		return Choice{}, err
	}
	out := Choice{HasMore: a.HasMore, Incomplete: a.Incomplete}
	if out.Offer, err = c.readOffer(ctx, c.Accounts.db, person, a.Token, l); err != nil {
		return Choice{}, err
	}
	connectedIDs, err := c.connectedIDs(ctx, l)
	for _, cand := range a.Candidates {
		out.Accounts = append(out.Accounts, ChoiceAccount{sanitizeName(cand.Grant.Username), sanitizeName(cand.DisplayName),
			slices.Contains(connectedIDs, cand.Grant.Account)})
	}
	return out, err
}

// connectedIDs returns the network IDs of the team's connected accounts on the link's network.
func (c *Connector) connectedIDs(ctx context.Context, l link) ([]string, error) {
	ids, err := db.All(ctx, c.Accounts.db, func(rows *sql.Rows, id *string) error { return rows.Scan(id) },
		`SELECT network_id FROM social_accounts WHERE team_id = ? AND platform = ? AND connection_state <> ?
			AND disconnected_at = 0`, l.teamID, l.network(), string(Lost))
	if err != nil {
		return nil, fmt.Errorf("listing the connected accounts of a team: %w", err)
	}
	return ids, nil
}

func (c *Connector) readChoice(ctx context.Context, q db.Querier, person, id int64) (attempt, error) {
	var sealed, state []byte
	err := q.QueryRow(ctx, `SELECT sealed, state_hash FROM connect_attempts WHERE id = ? AND person_id = ?
		AND step = ? AND expires_at > ?`,
		id, person, stepChoice, db.Micros(c.Accounts.db.Now())).Scan(&sealed, &state)
	if errors.Is(err, sql.ErrNoRows) {
		return attempt{}, apierr.ItemNotFound()
	}
	if err != nil {
		return attempt{}, fmt.Errorf("reading accounts to choose from: %w", err)
	}
	return c.openAttempt(sealed, state, stepChoice)
}

// Choose connects the account at an index of Choice.Accounts.
func (c *Connector) Choose(ctx context.Context, person, id int64, index int) (Account, error) {
	var out Account
	err := c.Accounts.db.InTx(ctx, "social.connect", func(ctx context.Context, tx *db.Tx) error {
		a, err := c.readChoice(ctx, tx, person, id)
		if err != nil {
			return err
		}
		if index < 0 || index >= len(a.Candidates) {
			return apierr.Invalid(apierr.OutOfRange, "", "Choose one of the accounts.")
		}
		if out, err = c.connectCandidate(ctx, tx, person, a.Token, network.Candidate(a.Candidates[index])); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `DELETE FROM connect_attempts WHERE id = ?`, id)
		return err
	})
	return out, err
}

// FindConnected returns a connected account and the name of its team. It returns not_found unless the person may
// connect accounts for the team.
func (c *Connector) FindConnected(ctx context.Context, person, id int64) (Account, string, error) {
	var a Account
	var state, team string
	err := c.Accounts.db.QueryRow(ctx, `SELECT a.id, a.team_id, a.platform, a.username, a.display_name,
		a.connection_state, t.name FROM social_accounts a JOIN teams t ON t.id = a.team_id
		JOIN memberships m ON m.team_id = t.id AND m.person_id = ? AND m.role IN ('owner', 'admin') WHERE a.id = ?
		AND a.disconnected_at = 0 AND t.closed_at = 0`, person, id).
		Scan(&a.ID, &a.TeamID, &a.Platform, &a.Username, &a.DisplayName, &state, &team)
	if errors.Is(err, sql.ErrNoRows) {
		return a, "", apierr.ItemNotFound()
	}
	if err != nil {
		return a, "", fmt.Errorf("reading a connected account: %w", err)
	}
	a.Connection = Connection(state)
	return a, team, nil
}
