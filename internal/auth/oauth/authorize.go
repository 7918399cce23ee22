package oauth

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/platform/db"
)

// Asked is what a program asks a person for.
type Asked struct {
	Client       Client
	Redirect     string // to where the person comes back: one of the program's
	Capabilities []access.Capability

	state, challenge string
}

// Place is where the person comes back to, for people: a host, or an app's own scheme.
func (a Asked) Place() string { return place(a.Redirect) }

var (
	errNoClient   = apierr.New(apierr.NotFound, "Unknown or removed application. Start again from the app you came from.").With("argument", "client_id")
	errNotWhole   = apierr.New(apierr.ValidationFailed, "This address does not say which program sent you here, or where you go on. Begin in that program again.")
	errNoRedirect = apierr.New(apierr.ValidationFailed, "The program that sent you here wants you to go on to an address that it has not named before. Nothing was allowed.")
)

// TurnedError is a request that is refused, although it is known to where the person comes back.
type TurnedError struct {
	Asked

	Back string // the program's address, with why
	Why  *Error
}

// Local tells whether the program listens on the person's own machine: to lead there at once does no harm, while anybody may
// register an address elsewhere to have us lead people there (RFC 9700, section 4.11.2).
func (t *TurnedError) Local() bool {
	u, err := url.Parse(t.Redirect)
	return err == nil && u.Scheme == "http"
}

func (t *TurnedError) Error() string { return t.Why.Error() }

// Client is a program by its id, for whoever is at an address: not_found where there is none. One that describes itself by a
// document may have to be fetched.
func (s *Service) Client(ctx context.Context, from, id string) (Client, error) {
	var c Client
	var err error
	if isDocument(id) {
		c, err = s.described(ctx, from, id)
	} else {
		c, err = s.clientOf(ctx, id)
	}
	if apierr.Is(err, apierr.NotFound) {
		err = errNoClient
	}
	return c, err
}

// Fetches tells whether a program's id makes us fetch something.
func (s *Service) Fetches(id string) bool { return isDocument(id) }

// Ask reads a program's request. Where it cannot be said who asks, or to where the person comes back, it is a fault for the
// person alone; whatever else is wrong is *TurnedError, and the program's to hear.
func (s *Service) Ask(ctx context.Context, from string, request url.Values) (Asked, error) {
	if len(request["client_id"]) != 1 || len(request["redirect_uri"]) != 1 {
		return Asked{}, errNotWhole
	}
	c, err := s.Client(ctx, from, request.Get("client_id"))
	if err != nil {
		return Asked{}, err
	}
	a := Asked{Client: c, Redirect: request.Get("redirect_uri"), state: request.Get("state"), challenge: request.Get("code_challenge")}
	if !matches(c.Redirects, a.Redirect) {
		return Asked{}, errNoRedirect
	}
	if err := s.read(&a, request); err != nil {
		return Asked{}, &TurnedError{a, s.back(a, url.Values{"error": {err.Code}, "error_description": {err.Text}}), err}
	}
	return a, nil
}

// read reads what is asked for, of a program that is known.
func (s *Service) read(a *Asked, request url.Values) *Error {
	for name, values := range request {
		if len(values) > 1 && name != "resource" {
			return refused(InvalidRequest, "A parameter is given twice.")
		}
	}
	for _, address := range request["resource"] {
		if !s.isResource(address) {
			return errResource
		}
	}
	if kind := request.Get("response_type"); kind != "code" {
		return refused(NotThisResponse, "The only response type is code.")
	}
	if mode := request.Get("response_mode"); mode != "" && mode != "query" {
		return refused(InvalidRequest, "The only response mode is query.")
	}
	if !isChallenge(a.challenge) || request.Get("code_challenge_method") != "S256" {
		return refused(InvalidRequest, "PKCE is asked for: a code_challenge by the method S256.")
	}
	var err error
	if a.Capabilities, err = asked(request.Get("scope")); err != nil {
		return refused(InvalidScope, "There is no such scope here.")
	}
	return nil
}

// isChallenge tells whether a text is the SHA-256 of a verifier in base64url.
func isChallenge(text string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(sum) == 32
}

// back is the program's address with an answer, whose it is (RFC 9207), and what it wanted to hear again.
func (s *Service) back(a Asked, answer url.Values) string {
	answer.Set("iss", s.Issuer())
	if a.state != "" {
		answer.Set("state", a.state)
	}
	return withQuery(a.Redirect, answer)
}

// Leave is what a person gives a program leave to.
type Leave struct {
	Team, Person int64
	Capabilities []access.Capability

	OneFactor bool // the person's session has no second factor
}

// Allow gives a program leave, and the address to which the person goes on: a code for the program is in it. It is not_found
// for a program that was removed meanwhile.
func (s *Service) Allow(ctx context.Context, a Asked, l Leave) (string, error) {
	if len(l.Capabilities) == 0 || slices.ContainsFunc(l.Capabilities, func(c access.Capability) bool { return !slices.Contains(a.Capabilities, c) }) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "level", "Choose something that the program has asked for.")
	}
	code := apikey.New(apikey.Code)
	hash := apikey.Hash(code)
	err := s.db.InTx(ctx, "oauth.allow", func(ctx context.Context, tx *db.Tx) error {
		now, ends := tx.Now(), tx.Now().Add(codeLives)
		_, err := tx.Exec(ctx, `INSERT INTO oauth_grants (client_id, team_id, person_id, capabilities, resource, redirect, challenge, code_hash, code_ends_at, created_at, ends_at, one_factor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			a.Client.ID, l.Team, l.Person, scopeOf(l.Capabilities), s.Resource(), a.Redirect, a.challenge, hash[:], db.Micros(ends), db.Micros(now), db.Micros(ends), oneIf(l.OneFactor))
		if err != nil {
			return fmt.Errorf("keeping what was granted: %w", err)
		}
		found, err := tx.Exec(ctx, `UPDATE oauth_clients SET used_at = ?, network = '' WHERE client_id = ?`, db.Micros(now), a.Client.ID)
		if err != nil {
			return fmt.Errorf("noting that a client is used: %w", err)
		}
		if found == 0 { // removed while the person looked at the page
			return errNoClient
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return s.back(a, url.Values{"code": {code}}), nil
}

// oneIf is a bool as the database holds it.
func oneIf(on bool) int64 {
	if on {
		return 1
	}
	return 0
}

// Refuse is the address to which a person goes on who gives no leave.
func (s *Service) Refuse(a Asked) string {
	return s.back(a, url.Values{"error": {AccessDenied}, "error_description": {"The person did not allow it."}})
}
