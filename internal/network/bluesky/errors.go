package bluesky

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/retryafter"
)

const (
	maxMessage = 500            // characters kept of the network's own text
	maxWait    = 24 * time.Hour // the longest rate limit window
)

// classByName maps the names of XRPC errors to classes. The HTTP status is not enough: servers respond to an expired
// token with 400.
var classByName = map[string]network.ErrorClass{
	"ExpiredToken":            network.RefreshRequired,
	"InvalidToken":            network.ReconnectRequired,
	"AuthMissing":             network.ReconnectRequired,
	"AuthenticationRequired":  network.ReconnectRequired,
	"AuthFactorTokenRequired": network.ReconnectRequired,
	"AccountNotFound":         network.ReconnectRequired,
	"AccountTakedown":         network.ReconnectRequired,
	"AccountDeactivated":      network.ReconnectRequired,
	"RepoNotFound":            network.ReconnectRequired,
	"RepoTakendown":           network.ReconnectRequired,
	"RepoSuspended":           network.ReconnectRequired,
	"RepoDeactivated":         network.ReconnectRequired,
	"RateLimitExceeded":       network.RateLimited,
	"InvalidSwap":             network.OutcomeUnknown, // another record has the post's key
	"BlobNotFound":            network.RejectedMedia,
	"BlobTooLarge":            network.RejectedMedia,
	"InvalidMimeType":         network.RejectedMedia,
	"InvalidSize":             network.RejectedMedia,
}

var errorName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// rejection returns the error for a response with a status other than 200.
func rejection(response network.Response, now time.Time) *network.Error {
	var body struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(response.Body, &body) // a response that is not XRPC has no name
	if !errorName.MatchString(body.Error) {
		body.Error = ""
	}
	class := classify(response, body.Error)
	// A proxy in front of the server may limit the request size. The proxy's response has no error name.
	if response.Call.Body != nil && (class == network.Rejected || response.Status == http.StatusRequestEntityTooLarge) {
		class = network.RejectedMedia
	}
	netErr := response.Rejection(class, body.Error, body.Message)
	if netErr.Class == network.RateLimited {
		netErr.RetryAt = retryTime(response.Header, now)
	}
	return netErr
}

func classify(response network.Response, name string) network.ErrorClass {
	status := response.Status
	if status == http.StatusTooManyRequests {
		return network.RateLimited
	}
	// A response without a name comes from a proxy, not from the server.
	if status < 400 || status >= 500 || status == http.StatusRequestTimeout || name == "" {
		return network.Transient
	}
	class, known := classByName[name]
	switch {
	case known && class == network.RateLimited:
		return class
	case response.Call.Purpose == network.PurposeAuthorize:
		return network.ReconnectRequired // only a new sign-in returns new tokens
	case known:
		return class
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return network.ReconnectRequired
	}
	return network.Rejected
}

// retryTime returns when the server accepts requests again, from Ratelimit-Reset (Unix seconds) or Retry-After. The
// time is at most a day from now, and zero if the server does not report one. Source:
// https://docs.bsky.app/docs/advanced-guides/rate-limits.
func retryTime(header http.Header, now time.Time) time.Time {
	var at time.Time
	if reset, err := strconv.ParseInt(header.Get("Ratelimit-Reset"), 10, 64); err == nil && reset > 0 {
		at = time.Unix(reset, 0).UTC()
	} else if wait := retryafter.Parse(header.Get("Retry-After"), now); wait > 0 {
		at = now.Add(wait).UTC()
	}
	if latest := now.Add(maxWait).UTC(); at.After(latest) {
		return latest
	}
	return at
}
