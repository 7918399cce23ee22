package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

const (
	// expiryMargin is how long before its expiry an access token is renewed. It is longer than a call takes with all
	// its retries.
	expiryMargin = 5 * time.Minute
	// exchangeTimeout is the time limit for a token request.
	exchangeTimeout = 30 * time.Second
)

// ErrSignedOut is the error for a sign-in that has ended.
var ErrSignedOut = errors.New("the sign-in has ended")

// Source returns the current credential of a profile.
type Source struct {
	store Store
	http  *http.Client
	now   func() time.Time

	sem     chan struct{} // semaphore: full while a goroutine uses profile
	profile Profile
}

// NewSource returns a source that uses the credential of the stored profile p.
func NewSource(s Store, p Profile, h *http.Client, now func() time.Time) *Source {
	return &Source{store: s, http: h, now: now, sem: make(chan struct{}, 1), profile: p}
}

// Credential returns the API key, or an access token that is valid for at least five minutes.
func (s *Source) Credential(ctx context.Context) (string, error) {
	select {
	case s.sem <- struct{}{}:
		defer func() { <-s.sem }()
	case <-ctx.Done():
		return "", fmt.Errorf("waiting for an access token: %w", context.Cause(ctx))
	}
	if s.profile.OAuth == nil {
		return s.profile.Key, nil
	}
	if !s.isFresh(s.profile) {
		if err := s.refresh(ctx); err != nil {
			return "", err
		}
	}
	return s.profile.OAuth.AccessToken, nil
}

func (s *Source) isFresh(p Profile) bool { return s.now().Add(expiryMargin).Before(p.OAuth.Expires) }

// refresh renews the tokens. A refresh token works only once. Therefore, only one process at a time renews it, and the
// new refresh token is stored before the new access token is used.
func (s *Source) refresh(ctx context.Context) error {
	var current Profile
	err := s.store.Update(ctx, s.profile.Name, func(stored *Profile) (*Profile, error) {
		renewed, err := s.renew(stored)
		if err == nil {
			current = *renewed
		}
		return renewed, err
	})
	if err == nil {
		s.profile = current
	}
	return err
}

// renew exchanges the stored profile's refresh token for new tokens, unless another process has already done so.
func (s *Source) renew(stored *Profile) (*Profile, error) {
	switch {
	case stored == nil:
		return nil, signedOutError(s.profile.Name)
	case stored.OAuth == nil || stored.URL != s.profile.URL:
		return nil, fmt.Errorf("another command has changed the profile %s: repeat this command", stored.Name)
	case s.isFresh(*stored):
		return stored, nil
	}
	ctx, cancel := exchangeContext(s.http)
	defer cancel()
	token, err := stored.OAuth.config().TokenSource(ctx, &oauth2.Token{RefreshToken: stored.OAuth.RefreshToken}).Token()
	if err != nil {
		if err = tokenError(err); errors.Is(err, ErrSignedOut) {
			err = signedOutError(stored.Name)
		}
		return nil, err
	}
	renewed := *stored
	renewed.OAuth = stored.OAuth.withToken(token)
	return &renewed, nil
}

func signedOutError(name string) error {
	return fmt.Errorf("%w: run pressroom login --profile %s", ErrSignedOut, name)
}

// exchangeContext returns the context for a token request. The request continues even if the command is canceled,
// because the old tokens no longer work once the service has issued new tokens, and only the response contains the new
// ones.
func exchangeContext(h *http.Client) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithValue(context.Background(), oauth2.HTTPClient, h), exchangeTimeout)
}

// withToken returns a copy of the state with new tokens.
func (o OAuth) withToken(t *oauth2.Token) *OAuth {
	o.AccessToken, o.RefreshToken, o.Expires = t.AccessToken, t.RefreshToken, t.Expiry
	return &o
}

func (o OAuth) config() *oauth2.Config {
	return &oauth2.Config{ClientID: o.ClientID,
		Endpoint: oauth2.Endpoint{TokenURL: o.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
}

// tokenError returns an error for a failed token request. The error does not contain the response, which may be secret.
func tokenError(err error) error {
	if retrieveErr, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		if retrieveErr.ErrorCode == "invalid_grant" || retrieveErr.ErrorCode == "invalid_target" {
			return ErrSignedOut
		}
		return fmt.Errorf("the service did not issue a token: %s (status %d)", cmp.Or(retrieveErr.ErrorCode, "no reason"),
			retrieveErr.Response.StatusCode)
	}
	if _, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("the service cannot be reached: %w", err)
	}
	return errors.New("the service's response does not contain a token: check the URL")
}

// Revoke ends a sign-in on the service.
func Revoke(ctx context.Context, h *http.Client, o OAuth) error {
	form := url.Values{"client_id": {o.ClientID}, "token": {o.RefreshToken}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, o.RevocationURL, strings.NewReader(form.Encode()))
	if err != nil {
		return fmt.Errorf("creating a request: %w", err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := h.Do(r)
	if err != nil {
		return fmt.Errorf("the service cannot be reached: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the service returned status %d", response.StatusCode)
	}
	return nil
}
