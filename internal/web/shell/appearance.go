package shell

import (
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
)

// The color schemes that a person can choose for a browser. By default, pages use the system's scheme.
const (
	light = "light"
	dark  = "dark"
)

const (
	appearanceCookie   = "pressroom-appearance"
	appearanceLifetime = 400 * 24 * time.Hour // the maximum that browsers accept (RFC 6265bis, section 5.5)
)

// appearances are the options for the color scheme.
var appearances = []Choice{{"", locale.Key("System")}, {light, locale.Key("Light")}, {dark, locale.Key("Dark")}}

// appearance returns the color scheme chosen in the browser that sent the request, or "" for the system's scheme.
func appearance(r *http.Request) string {
	if c, err := r.Cookie(appearanceCookie); err == nil && (c.Value == light || c.Value == dark) {
		return c.Value
	}
	return ""
}

// SetAppearance stores the submitted color scheme in a cookie and redirects to the home page. If scripts run, the
// current page stays open instead.
func (s *Shell) SetAppearance(w http.ResponseWriter, r *http.Request) {
	if !s.ReadForm(w, r) {
		return
	}
	scheme := r.PostForm.Get("scheme")
	if !IsOffered(appearances, scheme) {
		s.ShowError(w, r, apierr.Invalid(apierr.NotAllowedValue, "scheme", "Choose System, Light or Dark."))
		return
	}
	c := http.Cookie{ //nolint:gosec // Secure if the service uses HTTPS
		Name: appearanceCookie, Value: scheme, Path: "/", MaxAge: int(appearanceLifetime / time.Second), HttpOnly: true,
		Secure: strings.HasPrefix(s.PublicURL, "https:"), SameSite: http.SameSiteLaxMode,
	}
	if scheme == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, &c)
	Redirect(w, r, "/")
}

// Appearances returns the options for the color scheme.
func (page) Appearances() []Choice { return appearances }
