package network

import (
	"net/http"
	"time"
)

// App is what an operator sets of a network to which accounts are connected in a browser. Each network's options begin
// with it; what is not set has today's value.
type App struct { //nolint:recvcheck // Own is for changing it in place, Complete makes another
	HTTP         *http.Client     `json:"-"` // its Timeout bounds each call, 20 seconds where it has none
	Now          func() time.Time `json:"-"` // time.Now by default
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"-"`
	// asked for at the consent; what publishing and figures need by default
	Scopes []string `json:"scopes"`
	Rules  *Rules   `json:"rules"` // what a post is checked by; those of Today by default
	// Settled is how long after a publication without an answer the network lists it, if it ever does. No network
	// promises a time; a minute by default, where not said otherwise.
	Settled Span `json:"settled"`
	// Timeout bounds each call, that of HTTP by default. A file has more, and so has the call that shows a post.
	Timeout Span `json:"timeout"`
}

// Own is the app itself, for whoever has options that begin with one.
func (a *App) Own() *App { return a }

// FetchWithin is for how long a network may fetch the media of the call that shows a post: so much less than Settled
// that a post whose media came late is not shown beside the one that was sent anew. It is zero where what is not found
// never counts as none.
func (a *App) FetchWithin() time.Duration { return time.Duration(a.Settled) / 2 }

// Complete sets what is not set.
func (a App) Complete(platform string, scopes ...string) App {
	if a.Now == nil {
		a.Now = time.Now
	}
	if len(a.Scopes) == 0 {
		a.Scopes = scopes
	}
	if a.Timeout > 0 {
		var bounded http.Client
		if a.HTTP != nil {
			bounded = *a.HTTP
		}
		bounded.Timeout = time.Duration(a.Timeout)
		a.HTTP = &bounded
	}
	if a.Settled == 0 {
		a.Settled = Span(time.Minute)
	}
	if a.Rules == nil {
		rules, _ := Today(platform)
		a.Rules = &rules
	}
	return a
}

// Token is what a token endpoint gives out (RFC 6749, section 5.1), with the names by which networks tell how long a
// refresh token lives.
type Token struct {
	Access       string `json:"access_token"`
	Refresh      string `json:"refresh_token"`
	Scope        string `json:"scope"`
	Expires      int64  `json:"expires_in"`         // seconds, as are the others
	RefreshFor   int64  `json:"refresh_expires_in"` // TikTok
	RefreshUntil int64  `json:"refresh_token_expires_in"`
}

// longestLife bounds what a network says of a token's life, so that no time overflows.
const longestLife = 10 * 365 * 24 * time.Hour

// Grant is g with the token in place of its old one. A refresh token that is not named anew stays as it is.
func (t Token) Grant(g Grant, now time.Time) Grant {
	g.Access, g.Expires = t.Access, ends(t.Expires, now)
	if t.Refresh != "" {
		g.Refresh, g.RefreshExpires = t.Refresh, ends(max(t.RefreshFor, t.RefreshUntil), now)
	}
	return g
}

// ends is when a life of so many seconds is over; zero where it is not told.
func ends(seconds int64, now time.Time) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return now.UTC().Add(time.Duration(min(seconds, int64(longestLife/time.Second))) * time.Second)
}
