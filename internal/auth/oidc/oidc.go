// Package oidc signs people in through the operator's directory with OpenID Connect. It uses the authorization code
// flow with PKCE (RFC 7636), a state and a nonce. It identifies a person by issuer and subject, which never change. At
// the first sign-in, the verified email address selects the account.
package oidc

import (
	"cmp"
	"context"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
)

const (
	requestTimeout = 10 * time.Second // timeout of each request to the directory
	discoveryPause = 3 * time.Second  // pause after a failed discovery
	signInTimeout  = 15 * time.Minute // maximum time for a person to sign in at the directory
	clockSkew      = time.Minute      // maximum time that the directory's clock may be behind
)

// ReturnPath is the path, below the public URL, that the directory redirects people to.
const ReturnPath = "/sign-in/directory/return"

// Options configures a Directory.
type Options struct {
	Issuer       string // https URL of the directory, used for discovery; empty if there is no directory
	ClientID     string
	ClientSecret string
	Exclusive    bool           // the directory is the only way to sign in
	Scopes       []string       // scopes to request in addition to openid, email and profile
	GroupsClaim  string         // claim with the person's groups; DefaultGroupsClaim if empty
	GroupRoles   []GroupRole    // teams whose members the directory manages
	PublicURL    string         // the service's URL, without a trailing slash
	Roots        *x509.CertPool // root certificates for requests to the directory; nil for the system's certificates
	Now          func() time.Time
	Log          *slog.Logger
}

// Directory redirects people to the operator's directory and verifies its responses.
type Directory struct {
	Options

	client    *http.Client
	discovery singleflight.Group
	mu        sync.Mutex     // guards the fields below
	provider  *oidc.Provider // from the discovery document; nil until it is fetched
	failedAt  time.Time      // when discovery last failed
}

// New returns a Directory, or nil if none is configured. It does not contact the directory until the first sign-in, so
// pressroom can start while the directory is down.
func New(o Options) (*Directory, error) {
	if o.Issuer == "" {
		if o.Exclusive || len(o.GroupRoles) > 0 {
			return nil, errors.New("--oidc-only and --oidc-group-roles need a directory: set PRESSROOM_OIDC_ISSUER (--oidc-issuer)")
		}
		return nil, nil //nolint:nilnil // no directory is not an error
	}
	u, err := url.Parse(o.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" {
		// With http, an attacker on the network could sign in as anyone.
		return nil,
			errors.New("PRESSROOM_OIDC_ISSUER (--oidc-issuer) must be an https URL such as " +
				"https://login.example.com; for a certificate from your own authority, set SSL_CERT_FILE")
	}
	if o.ClientID == "" {
		return nil, errors.New("the directory needs a client ID: set PRESSROOM_OIDC_CLIENT_ID (--oidc-client-id)")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented type
	transport.TLSClientConfig = &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12}
	o.GroupsClaim = cmp.Or(o.GroupsClaim, DefaultGroupsClaim)
	return &Directory{Options: o, client: &http.Client{Timeout: requestTimeout, Transport: transport}}, nil
}

// Attempt is a sign-in in progress. It is stored in the browser's session.
type Attempt struct {
	State          string    `json:"state"`
	Nonce          string    `json:"nonce"`
	Verifier       string    `json:"verifier"`
	Next           string    `json:"next"` // path to redirect the person to afterwards
	BegunAt        time.Time `json:"begun"`
	Reauthenticate bool      `json:"again,omitempty"` // the directory must authenticate the person again
}

// Person is a person whom the directory has authenticated.
type Person struct {
	Issuer, Subject string // together, permanently identify the person (OpenID Connect Core 1.0, section 5.7)
	Email           string // verified by the directory
	Name            string // empty if the directory does not send a name
	// AuthenticatedAt is when the person authenticated at the directory (auth_time). It is zero if the directory does
	// not send the time.
	AuthenticatedAt time.Time
	// Roles maps each team in Options.GroupRoles to the person's role in it, or to "" if the person is in none of the
	// team's groups.
	Roles map[int64]access.Role
}

var (
	errNoResponse   = apierr.New(apierr.ProviderUnavailable, "The directory is not responding. Try again in a moment.")
	errOtherBrowser = apierr.BadState("ended",
		"This sign-in was started in another browser or took too long. Start again.")
	errRejected     = apierr.New(apierr.Unauthorized, "The directory denied the sign-in.")
	errSilentSignIn = apierr.New(apierr.Unauthorized,
		"Your directory did not ask you to sign in again. Sign out there, or ask its administrator to honor max_age "+
			"and to send auth_time. Then try again.")
	errNoEmail = apierr.New(apierr.Unauthorized,
		"The directory has not verified your email address. Contact its administrator.")
)

// Begin returns the URL of the directory's sign-in page, and the Attempt to store until the person returns. If
// reauthenticate is true, the directory must authenticate the person even if the person is still signed in there
// (OpenID Connect Core 1.0, section 3.1.2.1).
func (d *Directory) Begin(ctx context.Context, next string, reauthenticate bool) (string, Attempt, error) {
	c, _, err := d.settings(ctx)
	if err != nil {
		return "", Attempt{}, err
	}
	a := Attempt{
		State: oauth2.GenerateVerifier(), Nonce: oauth2.GenerateVerifier(), Verifier: oauth2.GenerateVerifier(),
		Next: next, BegunAt: d.Now(), Reauthenticate: reauthenticate,
	}
	options := []oauth2.AuthCodeOption{oidc.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)}
	if reauthenticate {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return c.AuthCodeURL(a.State, options...), a, nil
}

// Finish verifies the query parameters of the directory's redirect and returns the person who signed in.
func (d *Directory) Finish(ctx context.Context, a Attempt, params url.Values) (Person, error) {
	age := d.Now().Sub(a.BegunAt)
	if a.State == "" || age < 0 || age > signInTimeout || subtle.ConstantTimeCompare([]byte(a.State),
		[]byte(params.Get("state"))) == 0 {
		return Person{}, errOtherBrowser
	}
	if params.Get("code") == "" {
		d.Log.WarnContext(ctx, "the directory denied a sign-in", "error", params.Get("error"))
		return Person{}, errRejected
	}
	c, provider, err := d.settings(ctx)
	if err != nil {
		return Person{}, err
	}
	token, err := c.Exchange(d.withClient(ctx), params.Get("code"), oauth2.VerifierOption(a.Verifier))
	if err != nil {
		return Person{}, d.signInError(ctx, err)
	}
	person, err := d.readPerson(ctx, provider, token, a.Nonce)
	if err == nil && a.Reauthenticate && person.AuthenticatedAt.Before(a.BegunAt.Add(-clockSkew)) {
		d.Log.WarnContext(ctx, "the directory did not reauthenticate the person", "auth_time", person.AuthenticatedAt,
			"asked_at", a.BegunAt)
		return Person{}, errSilentSignIn
	}
	return person, err
}

// signInError returns errRejected if the directory denied the sign-in, and errNoResponse if it did not respond.
func (d *Directory) signInError(ctx context.Context, err error) error {
	d.Log.WarnContext(ctx, "the directory did not return a token", "error", errorText(err))
	if retrieveErr, ok := errors.AsType[*oauth2.RetrieveError](err); ok && retrieveErr.Response != nil &&
		retrieveErr.Response.StatusCode < http.StatusInternalServerError {
		return errRejected
	}
	return errNoResponse
}

// errorText returns the text of an error. The text does not contain the directory's response, which may be secret.
func errorText(err error) string {
	if failure, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return fmt.Sprintf("%s (status %d)", failure.ErrorCode, failure.Response.StatusCode)
	}
	return err.Error()
}

// lenientBool is a boolean. Some directories encode it as a string.
type lenientBool bool

// UnmarshalJSON accepts true and "true".
func (f *lenientBool) UnmarshalJSON(raw []byte) error {
	*f = string(raw) == "true" || string(raw) == `"true"`
	return nil
}

// epoch is a Unix time. Some directories encode it as a string.
type epoch float64

// UnmarshalJSON parses numbers such as 1700000000 and strings such as "1700000000". Anything else becomes 0, an unknown
// time, which no step-up accepts.
func (e *epoch) UnmarshalJSON(raw []byte) error {
	seconds, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if *e = 0; err == nil && !math.IsNaN(seconds) && !math.IsInf(seconds, 0) {
		*e = epoch(seconds)
	}
	return nil
}

func (d *Directory) readPerson(
	ctx context.Context, provider *oidc.Provider, token *oauth2.Token, nonce string,
) (Person, error) {
	raw, _ := token.Extra("id_token").(string) // if there is no ID token, verification fails
	idToken, err := provider.Verifier(&oidc.Config{ClientID: d.ClientID, Now: d.Now}).Verify(d.withClient(ctx), raw)
	if err != nil {
		d.Log.WarnContext(ctx, "the directory's token is invalid", "error", err)
		return Person{}, errRejected
	}
	if subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(nonce)) == 0 {
		return Person{}, errOtherBrowser
	}
	var claims struct {
		Email    string      `json:"email"`
		Verified lenientBool `json:"email_verified"`
		Name     string      `json:"name"`
		AuthTime epoch       `json:"auth_time"`
	}
	if err := idToken.Claims(&claims); err != nil {
		return Person{}, fmt.Errorf("decoding the directory's token: %w", err)
	}
	if idToken.Subject == "" {
		d.Log.WarnContext(ctx, "the directory's token has no subject")
		return Person{}, errRejected
	}
	if claims.Email == "" || !claims.Verified {
		return Person{}, errNoEmail
	}
	var claimsByName map[string]json.RawMessage
	if err := idToken.Claims(&claimsByName); err != nil {
		return Person{}, fmt.Errorf("decoding the directory's token: %w", err)
	}
	roles, err := d.roles(claimsByName)
	if err != nil {
		d.Log.WarnContext(ctx, "a sign-in was rejected: the directory's token has no readable list of groups. Let the directory send "+
			"the names of the person's groups, or set PRESSROOM_OIDC_GROUPS_CLAIM (--oidc-groups-claim)",
			"claim", d.GroupsClaim, "subject", idToken.Subject, "error", err)
		return Person{}, err
	}
	return Person{
		idToken.Issuer, idToken.Subject, claims.Email, claims.Name, authenticatedAt(float64(claims.AuthTime), d.Now()), roles,
	}, nil
}

// authenticatedAt converts auth_time to a time. It returns now for a future time, because that time would otherwise
// count as recent for too long.
func authenticatedAt(seconds float64, now time.Time) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	if at := time.Unix(int64(seconds), 0); at.Before(now) {
		return at
	}
	return now
}

// settings returns the OAuth configuration and the provider. Until discovery has succeeded, one sign-in at a time runs
// it. Other sign-ins wait until the discovery or their own request ends.
func (d *Directory) settings(ctx context.Context) (*oauth2.Config, *oidc.Provider, error) {
	discovery := d.discovery.DoChan("", func() (any, error) {
		return d.discover(context.WithoutCancel(ctx)) // the provider keeps the context for later requests
	})
	select {
	case <-ctx.Done():
		return nil, nil, errNoResponse
	case result := <-discovery:
		provider, ok := result.Val.(*oidc.Provider)
		if result.Err != nil || !ok {
			return nil, nil, errNoResponse
		}
		return &oauth2.Config{
			ClientID: d.ClientID, ClientSecret: d.ClientSecret, Endpoint: provider.Endpoint(),
			RedirectURL: d.PublicURL + ReturnPath,
			Scopes:      append([]string{oidc.ScopeOpenID, "email", "profile"}, d.Scopes...),
		}, provider, nil
	}
}

// discover returns the provider. If necessary, it fetches the discovery document, but not within discoveryPause of a
// failure. Only one goroutine calls it at a time.
func (d *Directory) discover(ctx context.Context) (*oidc.Provider, error) {
	d.mu.Lock()
	provider, failedAt := d.provider, d.failedAt
	d.mu.Unlock()
	if provider != nil {
		return provider, nil
	}
	if d.Now().Sub(failedAt) < discoveryPause {
		return nil, errNoResponse
	}
	provider, err := oidc.NewProvider(d.withClient(ctx), d.Issuer)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.Log.ErrorContext(ctx, "the directory is not responding", "issuer", d.Issuer, "error", err)
		d.failedAt = d.Now()
		return nil, errNoResponse
	}
	d.provider = provider
	return provider, nil
}

// withClient returns a context that makes the OAuth and OpenID Connect libraries use an HTTP client with a timeout.
func (d *Directory) withClient(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, d.client)
}
