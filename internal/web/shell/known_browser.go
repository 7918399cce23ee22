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

// knownCookie identifies the people who have signed in with a browser before. It grants no access and outlives sign-outs.
// In a known browser, wrong passwords from other browsers do not delay a person's sign-in; see team.Service.NoteSignIn.
const knownCookie = "pressroom-known"

func (f *Frame) knownCookieName() string {
	if strings.HasPrefix(f.PublicURL, "https:") {
		return hostPrefix + knownCookie
	}
	return knownCookie
}

// KnownBrowser returns the value of the known-browser cookie, or "".
func (f *Frame) KnownBrowser(r *http.Request) string {
	c, err := r.Cookie(f.knownCookieName())
	if err != nil {
		return ""
	}
	return c.Value
}

// noteSignIn records a sign-in and marks the browser as known for the person.
func (f *Frame) noteSignIn(ctx context.Context, person int64, by Method) error {
	v := visitOf(ctx)
	held, err := f.Teams.NoteSignIn(ctx,
		team.SignedIn{Person: person, Method: string(by), Browser: v.known, BrowserName: browserName(locale.English, v.browser)})
	if err != nil {
		return err
	}
	v.known = held
	c := http.Cookie{ //nolint:gosec // Secure if the service uses HTTPS
		Name: f.knownCookieName(), Value: held, Path: "/", MaxAge: int(knownbrowser.Life / time.Second), HttpOnly: true,
		Secure: strings.HasPrefix(f.PublicURL, "https:"), SameSite: http.SameSiteLaxMode,
	}
	v.header.Add("Set-Cookie", c.String())
	return nil
}
