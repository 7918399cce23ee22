package profile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
)

// margin is the time before an access token expires in which it is replaced.
const margin = time.Minute

// ErrSignedOut is the error for a sign-in that has ended.
var ErrSignedOut = errors.New("the sign-in has ended")

// Source returns the current credential of a profile.
type Source struct {
	store Store
	http  *http.Client
	now   func() time.Time

	mu      sync.Mutex
	profile Profile
}

// NewSource returns the source of a stored profile.
func NewSource(s Store, p Profile, h *http.Client, now func() time.Time) *Source {
	return &Source{store: s, http: h, now: now, profile: p}
}

// Credential returns the API key, or an access token that is valid for at least a minute.
func (s *Source) Credential(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.profile.OAuth == nil {
		return s.profile.Key, nil
	}
	if s.isFresh() {
		return s.profile.OAuth.AccessToken, nil
	}
	if err := s.refresh(ctx); err != nil {
		return "", err
	}
	return s.profile.OAuth.AccessToken, nil
}

func (s *Source) isFresh() bool { return s.now().Add(margin).Before(s.profile.OAuth.Expires) }

// refresh exchanges the refresh token, unless another process has done so. A refresh token works once, so processes take
// turns, and the new one is stored before it is used.
func (s *Source) refresh(ctx context.Context) error {
	unlock, err := s.store.lock(s.profile.Name)
	if err != nil {
		return err
	}
	defer unlock()
	stored, err := s.store.Get(s.profile.Name)
	if err != nil {
		return err
	}
	if stored.OAuth == nil || stored.URL != s.profile.URL {
		return fmt.Errorf("the profile %s has changed meanwhile: repeat the command", stored.Name)
	}
	if s.profile = stored; s.isFresh() {
		return nil
	}
	config := stored.OAuth.config()
	got, err := config.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, s.http),
		&oauth2.Token{RefreshToken: stored.OAuth.RefreshToken}).Token()
	if err != nil {
		return tokenError(err)
	}
	renewed := *stored.OAuth
	renewed.AccessToken, renewed.RefreshToken, renewed.Expires = got.AccessToken, got.RefreshToken, got.Expiry
	stored.OAuth = &renewed
	if err := s.store.Put(stored); err != nil {
		return err
	}
	s.profile = stored
	return nil
}

func (o OAuth) config() *oauth2.Config {
	return &oauth2.Config{ClientID: o.ClientID,
		Endpoint: oauth2.Endpoint{TokenURL: o.TokenURL, AuthStyle: oauth2.AuthStyleInParams}}
}

// tokenError returns an error without the content of the response, which may be secret.
func tokenError(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok:
		return fmt.Errorf("the service cannot be reached: %w", err)
	case refused.ErrorCode == "invalid_grant" || refused.ErrorCode == "invalid_target":
		return ErrSignedOut
	}
	return fmt.Errorf("the service issued no token: %s (status %d)", refused.ErrorCode, refused.Response.StatusCode)
}

// Transport sets the credential of requests that carry the placeholder, and leaves others unchanged, such as uploads with
// their own secrets.
type Transport struct {
	Source      *Source
	Placeholder string
	Base        http.RoundTripper
}

// RoundTrip sends a request.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Header.Get("Authorization") == "Bearer "+t.Placeholder {
		credential, err := t.Source.Credential(r.Context())
		if err != nil {
			if r.Body != nil {
				_ = r.Body.Close()
			}
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	return t.Base.RoundTrip(r) //nolint:wrapcheck // a transport returns the errors of its base
}

// Revoke ends the sign-in of a profile at the service.
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
		return fmt.Errorf("the service returned the status %d", response.StatusCode)
	}
	return nil
}
