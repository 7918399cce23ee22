package network

import (
	"net/http"
	"time"
)

// App is an operator's configuration of a network whose accounts are connected in a browser. Each network's options
// embed it. Fields that are not set have defaults.
type App struct { //nolint:recvcheck // Base returns its receiver to be changed; WithDefaults returns a copy
	HTTP         *http.Client     `json:"-"` // its Timeout limits ordinary calls; 20 seconds by default
	Now          func() time.Time `json:"-"` // time.Now by default
	ClientID     string           `json:"client_id"`
	ClientSecret string           `json:"-"`
	// permissions requested on the consent page; by default the permissions for publishing and analytics
	Scopes []string `json:"scopes"`
	Rules  *Rules   `json:"rules"` // limits that the network's Check applies; DefaultRules by default
	// ListingDelay is how long a published post may be missing from the network's lists. It is a minute by default,
	// because no network documents this time. Operators set it as "settled".
	ListingDelay Duration `json:"settled"`
	// Timeout is the time limit of an ordinary call; the Timeout of HTTP by default. The call that publishes a post may
	// take twice as long, and file transfers three times as long. Calls with a body get extra time for its size.
	Timeout Duration `json:"timeout"`
}

// OAuthApp is a second app of a network, for accounts that the first app cannot connect.
type OAuthApp struct {
	ClientID     string   `json:"client_id"`
	ClientSecret string   `json:"-"`
	Scopes       []string `json:"scopes"` // permissions requested on the consent page; the network's package has defaults
}

// Base returns the App that a network's options embed.
func (a *App) Base() *App { return a }

// MediaFetchWindow returns how long media links remain valid if they are sent with the call that publishes a post. It
// is half of ListingDelay, so that the links expire before pressroom may retry the call. Otherwise, a network that
// fetches the media late could publish the post a second time.
func (a *App) MediaFetchWindow() time.Duration { return time.Duration(a.ListingDelay) / 2 }

// WithDefaults returns a copy in which fields that are not set have the platform's defaults.
func (a App) WithDefaults(platform string, scopes ...string) App {
	if a.Now == nil {
		a.Now = time.Now
	}
	if len(a.Scopes) == 0 {
		a.Scopes = scopes
	}
	if a.Timeout > 0 {
		var httpClient http.Client
		if a.HTTP != nil {
			httpClient = *a.HTTP
		}
		httpClient.Timeout = time.Duration(a.Timeout)
		a.HTTP = &httpClient
	}
	if a.ListingDelay == 0 {
		a.ListingDelay = Duration(time.Minute)
	}
	if a.Rules == nil {
		rules, _ := DefaultRules(platform)
		a.Rules = &rules
	}
	return a
}

// Token is a response from a token endpoint (RFC 6749, section 5.1). It includes the fields in which some networks
// return a refresh token's lifetime.
type Token struct {
	AccessToken           string `json:"access_token"`
	RefreshToken          string `json:"refresh_token"`
	Scope                 string `json:"scope"`
	ExpiresIn             int64  `json:"expires_in"`               // seconds
	RefreshExpiresIn      int64  `json:"refresh_expires_in"`       // seconds, in TikTok's responses
	RefreshTokenExpiresIn int64  `json:"refresh_token_expires_in"` // seconds, in the responses of LinkedIn and Pinterest
}

// maxTokenLifetime limits the lifetime in a network's response, so that adding it to a time cannot overflow.
const maxTokenLifetime = 10 * 365 * 24 * time.Hour

// Grant returns g with the new token. If the response has no refresh token, g keeps its own.
func (t Token) Grant(g Grant, now time.Time) Grant {
	g.AccessToken, g.Expires = t.AccessToken, expiry(t.ExpiresIn, now)
	if t.RefreshToken != "" {
		g.RefreshToken, g.RefreshExpires = t.RefreshToken, expiry(max(t.RefreshExpiresIn, t.RefreshTokenExpiresIn), now)
	}
	return g
}

// expiry converts a lifetime in seconds to a time. It returns zero if the network does not report a lifetime.
func expiry(seconds int64, now time.Time) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return now.UTC().Add(time.Duration(min(seconds, int64(maxTokenLifetime/time.Second))) * time.Second)
}
