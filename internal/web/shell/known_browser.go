package shell

import (
	"context"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/knownbrowser"
	"pressroom.example/pressroom/internal/locale"
)

// knownCookie is the name, without hostPrefix, of the cookie that identifies the people who have signed in with this
// browser before. The cookie grants no access and is kept when a person signs out. In a known browser, wrong passwords
// from other browsers do not delay a person's sign-in.
const knownCookie = "pressroom-known"

func (s *Shell) knownCookieName() string {
	if strings.HasPrefix(s.PublicURL, "https:") {
		return hostPrefix + knownCookie
	}
	return knownCookie
}

// KnownBrowser returns the value of the known-browser cookie of a request, or "".
func (s *Shell) KnownBrowser(r *http.Request) string {
	c, err := r.Cookie(s.knownCookieName())
	if err != nil {
		return ""
	}
	return c.Value
}

// recordSignIn records a sign-in and sets the cookie that identifies the browser as known for the person.
func (s *Shell) recordSignIn(ctx context.Context, person int64, method Method) error {
	v := visitOf(ctx)
	cookieValue, err := s.Teams.RecordSignIn(ctx,
		team.SignInEvent{Person: person, Method: string(method), Browser: v.knownBrowser,
			BrowserName: browserName(locale.English, v.browser)})
	if err != nil {
		return err
	}
	v.knownBrowser = cookieValue
	c := http.Cookie{ //nolint:gosec // Secure if the service uses HTTPS
		Name: s.knownCookieName(), Value: cookieValue, Path: "/", MaxAge: int(knownbrowser.Lifetime / time.Second),
		HttpOnly: true,
		Secure:   strings.HasPrefix(s.PublicURL, "https:"), SameSite: http.SameSiteLaxMode,
	}
	v.header.Add("Set-Cookie", c.String())
	return nil
}
