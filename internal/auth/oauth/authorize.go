package oauth

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

// AuthorizationRequest is a valid authorization request.
type AuthorizationRequest struct {
	Client       Client
	Redirect     string // one of the client's redirect URIs
	Capabilities []access.Capability

	state, challenge string
	resource         string // URLs that the tokens are valid for, separated by spaces
}

// RedirectHost returns the host of the redirect URI for display. For a custom scheme, it returns the scheme.
func (a AuthorizationRequest) RedirectHost() string { return displayHost(a.Redirect) }

var (
	errUnknownClient = apierr.New(apierr.NotFound,
		"Unknown or removed application. Start again from the app you came from.").With("argument", "client_id")
	errIncompleteRequest = apierr.New(apierr.ValidationFailed,
		"This link is incomplete. Start again from the app you came from.")
	errUnregisteredRedirect = apierr.New(apierr.ValidationFailed,
		"The app that sent you here uses a redirect URI that it has not registered. Access was not granted.")
)

// RedirectError is the error for an invalid request with a valid redirect URI.
type RedirectError struct {
	AuthorizationRequest

	ResponseURL string // redirect URI with the error as parameters
	Err         *Error
}

// Local reports whether the redirect URI is an http loopback address. Only in that case is an immediate redirect safe.
// Otherwise, the server would be an open redirector (RFC 9700, section 4.11.2).
func (e *RedirectError) Local() bool {
	u, err := url.Parse(e.Redirect)
	return err == nil && u.Scheme == "http"
}

func (e *RedirectError) Error() string { return e.Err.Error() }

// Client returns the client with the given ID, or not_found. If the ID is the URL of a metadata document that is not
// cached, Client fetches the document. Fetches are rate limited by caller, which is the caller's IP address.
func (s *Service) Client(ctx context.Context, caller, id string) (Client, error) {
	var c Client
	var err error
	if isDocumentURL(id) {
		c, err = s.clientFromDocument(ctx, caller, id)
	} else {
		c, err = s.readClient(ctx, id)
	}
	if apierr.Is(err, apierr.NotFound) {
		err = errUnknownClient
	}
	return c, err
}

// IsMetadataURL reports whether a client ID is the URL of a metadata document. Client may fetch that document.
func (s *Service) IsMetadataURL(id string) bool { return isDocumentURL(id) }

// ParseRequest parses an authorization request. If the client or the redirect URI is invalid, the caller must show the
// error to the person. If another parameter is invalid, the error is a *RedirectError. Its ResponseURL reports the
// error to the client.
func (s *Service) ParseRequest(ctx context.Context, caller string, request url.Values) (AuthorizationRequest, error) {
	if len(request["client_id"]) != 1 || len(request["redirect_uri"]) != 1 {
		return AuthorizationRequest{}, errIncompleteRequest
	}
	c, err := s.Client(ctx, caller, request.Get("client_id"))
	if err != nil {
		return AuthorizationRequest{}, err
	}
	a := AuthorizationRequest{
		Client: c, Redirect: request.Get("redirect_uri"), state: request.Get("state"),
		challenge: request.Get("code_challenge"),
	}
	if !isRegistered(c.RedirectURIs, a.Redirect) {
		return AuthorizationRequest{}, errUnregisteredRedirect
	}
	if err := s.parseParams(&a, request); err != nil {
		return AuthorizationRequest{}, &RedirectError{
			a, s.redirectURL(a, url.Values{"error": {err.Code}, "error_description": {err.Text}}), err,
		}
	}
	return a, nil
}

// parseParams parses the parameters other than client_id and redirect_uri.
func (s *Service) parseParams(a *AuthorizationRequest, request url.Values) *Error {
	for name, values := range request {
		if len(values) > 1 && name != "resource" {
			return newError(InvalidRequest, "A parameter was sent more than once.")
		}
	}
	resource, rejection := s.resourcesOf(request)
	if rejection != nil {
		return rejection
	}
	a.resource = cmp.Or(resource, s.ToolsResource())
	if responseType := request.Get("response_type"); responseType != "code" {
		return newError(UnsupportedResponseType, "The response_type must be code.")
	}
	if mode := request.Get("response_mode"); mode != "" && mode != "query" {
		return newError(InvalidRequest, "The response_mode must be query.")
	}
	if !isChallenge(a.challenge) || request.Get("code_challenge_method") != "S256" {
		return newError(InvalidRequest, "PKCE is required: send a code_challenge with code_challenge_method S256.")
	}
	var err error
	if a.Capabilities, err = parseScope(request.Get("scope")); err != nil {
		return newError(InvalidScope, "The scope is unknown.")
	}
	return nil
}

// isChallenge reports whether text is a base64url-encoded SHA-256 hash.
func isChallenge(text string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(sum) == 32
}

// redirectURL returns the redirect URI with the given response parameters, the issuer (RFC 9207) and the state.
func (s *Service) redirectURL(a AuthorizationRequest, params url.Values) string {
	params.Set("iss", s.Issuer())
	if a.state != "" {
		params.Set("state", a.state)
	}
	return withQuery(a.Redirect, params)
}

// Consent describes what a person allows a client to do in a team.
type Consent struct {
	Team, Person int64
	Capabilities []access.Capability

	OneFactor bool // the session has no second factor
}

// Allow stores a consent and returns the redirect URI with the authorization code. It returns not_found if the client
// was removed in the meantime.
func (s *Service) Allow(ctx context.Context, a AuthorizationRequest, consent Consent) (string, error) {
	if len(consent.Capabilities) == 0 || slices.ContainsFunc(consent.Capabilities, func(c access.Capability) bool {
		return !slices.Contains(a.Capabilities, c)
	}) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "level", "Choose one of the access levels that the app requested.")
	}
	code := apikey.New(apikey.Code)
	hash := apikey.Hash(code)
	err := s.db.InTx(ctx, "oauth.allow", func(ctx context.Context, tx *db.Tx) error {
		now, expiresAt := tx.Now(), tx.Now().Add(codeLifetime)
		_, err := tx.Exec(ctx,
			`INSERT INTO oauth_grants (client_id, team_id, person_id, capabilities, resource, redirect, challenge,
		code_hash, code_ends_at, created_at, ends_at, one_factor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			a.Client.ID, consent.Team, consent.Person, scopeString(consent.Capabilities), a.resource, a.Redirect, a.challenge, hash[:],
			db.Micros(expiresAt), db.Micros(now), db.Micros(expiresAt), boolToInt(consent.OneFactor))
		if err != nil {
			return fmt.Errorf("storing a grant: %w", err)
		}
		updated, err := tx.Exec(ctx, `UPDATE oauth_clients SET used_at = ?, network = '' WHERE client_id = ?`,
			db.Micros(now), a.Client.ID)
		if err != nil {
			return fmt.Errorf("recording that a client is used: %w", err)
		}
		if updated == 0 { // removed while the page was open
			return errUnknownClient
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return s.redirectURL(a, url.Values{"code": {code}}), nil
}

// boolToInt converts a bool to 0 or 1, the values that the database stores.
func boolToInt(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// Deny returns the redirect URI for a denied request.
func (s *Service) Deny(a AuthorizationRequest) string {
	return s.redirectURL(a, url.Values{"error": {AccessDenied}, "error_description": {"The person denied access."}})
}
