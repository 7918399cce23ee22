package bluesky

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"pressroom/internal/network"
)

const (
	maxMessage = 500 // characters kept of the network's own text
	maxWait    = 24 * time.Hour
)

// named are the refusals that say by their name what can be done. The server's habit of answering a dead
// token with 400 makes the status a poor guide.
var named = map[string]network.Class{
	"ExpiredToken":            network.AuthRefresh,
	"InvalidToken":            network.AuthDead,
	"AuthMissing":             network.AuthDead,
	"AuthenticationRequired":  network.AuthDead,
	"AuthFactorTokenRequired": network.AuthDead,
	"AccountNotFound":         network.AuthDead,
	"AccountTakedown":         network.AuthDead,
	"AccountDeactivated":      network.AuthDead,
	"RepoNotFound":            network.AuthDead,
	"RepoTakendown":           network.AuthDead,
	"RepoSuspended":           network.AuthDead,
	"RepoDeactivated":         network.AuthDead,
	"RateLimitExceeded":       network.Rate,
	"InvalidSwap":             network.Uncertain, // another record stands under our key
	"BlobNotFound":            network.RejectedMedia,
	"BlobTooLarge":            network.RejectedMedia,
	"InvalidMimeType":         network.RejectedMedia,
	"InvalidSize":             network.RejectedMedia,
}

var errorName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,63}$`)

// refusal is the error of an answer other than 200.
func refusal(answer network.Answer, now time.Time) *network.Error {
	var said struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(answer.Body, &said) // an answer that is not XRPC has no name, which class takes into account
	if !errorName.MatchString(said.Error) {
		said.Error = ""
	}
	class := classOf(answer, said.Error)
	// A size is refused also without a name: what stands before a server often has a limit of its own.
	if answer.Call.Body != nil && (class == network.Rejected || answer.Status == http.StatusRequestEntityTooLarge) {
		class = network.RejectedMedia
	}
	refused := answer.Refusal(class, said.Error, said.Message)
	if refused.Class == network.Rate {
		refused.After = notBefore(answer.Header, now)
	}
	return refused
}

func classOf(answer network.Answer, name string) network.Class {
	status := answer.Status
	if status == http.StatusTooManyRequests {
		return network.Rate
	}
	// Without a name the answer is not the server's own but that of something on the way to it.
	if status < 400 || status >= 500 || status == http.StatusRequestTimeout || name == "" {
		return network.Transient
	}
	class, known := named[name]
	switch {
	case known && class == network.Rate:
		return class
	case answer.Call.Purpose == network.Signing:
		return network.AuthDead // whatever is wrong, only a new sign-in brings a new pair
	case known:
		return class
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		return network.AuthDead
	}
	return network.Rejected
}

// notBefore reads when the server will answer again: ratelimit-reset in Unix seconds, or Retry-After. Zero
// where it does not say; at most a day ahead, the server's longest window.
func notBefore(header http.Header, now time.Time) time.Time {
	var at time.Time
	if reset, err := strconv.ParseInt(header.Get("Ratelimit-Reset"), 10, 64); err == nil && reset > 0 {
		at = time.Unix(reset, 0).UTC()
	} else if seconds, err := strconv.ParseUint(header.Get("Retry-After"), 10, 31); err == nil {
		at = now.Add(time.Duration(seconds) * time.Second).UTC()
	} else if date, err := http.ParseTime(header.Get("Retry-After")); err == nil {
		at = date.UTC()
	}
	if latest := now.Add(maxWait).UTC(); at.After(latest) {
		return latest
	}
	return at
}
