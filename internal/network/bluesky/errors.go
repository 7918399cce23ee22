package bluesky

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
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
func (c call) refusal(response *http.Response, body []byte, now time.Time) *network.Error {
	var said struct {
		Error   string `json:"error"`
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &said) // an answer that is not XRPC has no name, which class takes into account
	if !errorName.MatchString(said.Error) {
		said.Error = ""
	}
	class := c.class(response.StatusCode, said.Error)
	// A size is refused also without a name: what stands before a server often has a limit of its own.
	if c.kind == uploading && (class == network.Rejected || response.StatusCode == http.StatusRequestEntityTooLarge) {
		class = network.RejectedMedia
	}
	refused := &network.Error{
		Class:   class,
		Status:  response.StatusCode,
		Code:    said.Error,
		Message: clip(said.Message, maxMessage),
		Err:     fmt.Errorf("%s: HTTP %d", c.method, response.StatusCode),
	}
	if refused.Class == network.Rate {
		refused.After = notBefore(response.Header, now)
	}
	return refused
}

func (c call) class(status int, name string) network.Class {
	if status == http.StatusTooManyRequests {
		return network.Rate
	}
	// Without a name the answer is not the server's own but that of something on the way to it.
	if status < 400 || status >= 500 || status == http.StatusRequestTimeout || name == "" {
		if c.kind == committing {
			return network.Uncertain
		}
		return network.Transient
	}
	class, known := named[name]
	switch {
	case known && class == network.Rate:
		return class
	case c.kind == renewing:
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

// clip makes a text fit to be kept: valid, and at most so many characters.
func clip(text string, most int) string {
	runes := []rune(strings.ToValidUTF8(text, "\uFFFD"))
	return string(runes[:min(len(runes), most)])
}
