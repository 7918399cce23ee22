package profile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// slowService rotates the refresh token immediately but delays its response.
type slowService struct {
	t         *testing.T
	takes     time.Duration
	exchanges int
}

func (s *slowService) RoundTrip(r *http.Request) (*http.Response, error) {
	if want := fmt.Sprint("refresh", s.exchanges); r.FormValue("refresh_token") != want {
		s.t.Errorf("%s was exchanged, want %s", r.FormValue("refresh_token"), want)
	}
	s.exchanges++
	select {
	case <-time.After(s.takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	body := fmt.Sprintf(`{"access_token":"access%d","refresh_token":"refresh%d","token_type":"Bearer","expires_in":3600}`,
		s.exchanges, s.exchanges)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// expired returns a service and the source of a profile whose access token has expired.
func expired(t *testing.T) (*slowService, Store, *Source) {
	t.Helper()
	service := &slowService{t: t, takes: 10 * time.Second}
	s := Open(t.TempDir())
	p := Profile{Name: Default, URL: "https://press.example", OAuth: &OAuth{TokenURL: "https://press.example/t", RefreshToken: "refresh0"}}
	store(t, s, p)
	return service, s, NewSource(s, p, &http.Client{Transport: service}, time.Now)
}

// A canceled command does not lose the new tokens, because the earlier ones are spent.
func TestRefreshOutlivesCommand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service, s, source := expired(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _ = source.Credential(ctx) // the command has ended
		if got := must.Get(s.Get(Default))(t); got.OAuth.RefreshToken != "refresh1" {
			t.Errorf("stored %s", got.OAuth.RefreshToken)
		}
		got, err := NewSource(s, must.Get(s.Get(Default))(t), source.http, time.Now).Credential(t.Context())
		if err != nil || got != "access1" || service.exchanges != 1 {
			t.Errorf("%s after %d exchanges (%v)", got, service.exchanges, err)
		}
	})
}

// A service that does not respond delays a command by at most exchangeTimeout.
func TestRefreshDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service, _, source := expired(t)
		service.takes = time.Hour
		start := time.Now()
		if _, err := source.Credential(t.Context()); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != exchangeTimeout {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

// Waiting for the lock of another process or request ends with the command, or after a minute.
func TestLockEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, s, source := expired(t)
		other := must.Get(os.OpenFile(filepath.Join(s.folder, ".default.lock"), os.O_RDWR, 0))(t)
		if !must.Get(tryLock(other))(t) {
			t.Fatal("the lock of a profile that was stored is not free")
		}
		start := time.Now()
		errs := make(chan error, 2)
		for range 2 {
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				_, err := source.Credential(ctx)
				errs <- err
			}()
		}
		for range 2 {
			if err := <-errs; !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
				t.Errorf("after %s: %v", time.Since(start), err)
			}
		}
		start = time.Now()
		if _, err := source.Credential(t.Context()); !errors.Is(err, errLocked) || time.Since(start) != lockTimeout {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
		must.NoError(t, other.Close())
		if got := must.Get(source.Credential(t.Context()))(t); got != "access1" {
			t.Errorf("after the lock has ended: %s", got)
		}
	})
}
