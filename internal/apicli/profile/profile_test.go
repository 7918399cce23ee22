package profile

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

func store(t *testing.T, s Store, p Profile) {
	t.Helper()
	must.NoError(t, s.Update(t.Context(), p.Name, func(*Profile) (*Profile, error) { return &p, nil }))
}

// Processes that run at the same time exchange a refresh token once, and all use the new access token.
func TestConcurrentRefresh(t *testing.T) {
	t.Parallel()
	var exchanges atomic.Int64
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := exchanges.Add(1)
		if r.FormValue("refresh_token") != "refresh0" || r.FormValue("client_id") != "client" {
			t.Errorf("exchange %d: %v", n, r.Form)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"access_token": fmt.Sprint("access", n), "refresh_token": fmt.Sprint("refresh", n), "token_type": "Bearer", "expires_in": 3600,
		})
	}))
	t.Cleanup(service.Close)
	s := Open(filepath.Join(t.TempDir(), "profiles"))
	p := Profile{Name: "default", URL: service.URL, OAuth: &OAuth{
		ClientID: "client", TokenURL: service.URL, AccessToken: "access0", RefreshToken: "refresh0",
		Expires: time.Now().Add(4 * time.Minute),
	}}
	store(t, s, p)
	var all sync.WaitGroup
	for range 8 { // one source each, like separate processes
		all.Go(func() {
			got, err := NewSource(s, p, service.Client(), time.Now).Credential(t.Context())
			if err != nil || got != "access1" {
				t.Errorf("%s (%v)", got, err)
			}
		})
	}
	all.Wait()
	if n := exchanges.Load(); n != 1 {
		t.Errorf("%d exchanges", n)
	}
	if got := must.Get(s.Get("default"))(t); got.OAuth.RefreshToken != "refresh1" {
		t.Errorf("stored: %+v", got.OAuth)
	}
	files := must.Get(os.ReadDir(filepath.Dir(must.Get(s.path("default"))(t))))(t)
	if len(files) != 2 { // the profile and its lock
		t.Errorf("files: %v", files)
	}
}

// A rejected refresh token means that the sign-in has ended. Other failures do not.
func TestRefreshErrors(t *testing.T) {
	t.Parallel()
	for answer, ended := range map[string]bool{`{"error":"invalid_grant"}`: true, `{"error":"temporarily_unavailable"}`: false} {
		service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = w.Write([]byte(answer))
		}))
		t.Cleanup(service.Close)
		s := Open(t.TempDir())
		p := Profile{Name: "default", OAuth: &OAuth{TokenURL: service.URL, RefreshToken: "refresh"}}
		store(t, s, p)
		_, err := NewSource(s, p, service.Client(), time.Now).Credential(t.Context())
		if err == nil || errors.Is(err, ErrSignedOut) != ended {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// Login accepts only the service's own addresses.
func TestDiscover(t *testing.T) {
	t.Parallel()
	var about metadata
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{
			"issuer": about.Issuer, "authorization_endpoint": about.AuthorizationEndpoint, "token_endpoint": about.TokenEndpoint,
			"registration_endpoint": about.RegistrationEndpoint, "revocation_endpoint": about.RevocationEndpoint,
		})
	}))
	t.Cleanup(service.Close)
	own := metadata{service.URL, service.URL + "/a", service.URL + "/t", service.URL + "/r", service.URL + "/v"}
	for name, change := range map[string]func(*metadata){
		"":               func(*metadata) {},
		"another issuer": func(m *metadata) { m.Issuer = "https://press.example" },
		"another host":   func(m *metadata) { m.TokenEndpoint = service.URL + ".elsewhere.example/t" },
		"none":           func(m *metadata) { m.RevocationEndpoint = "" },
	} {
		about = own
		change(&about)
		if _, err := (Login{URL: service.URL, HTTP: service.Client()}).discover(t.Context()); (err == nil) != (name == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
