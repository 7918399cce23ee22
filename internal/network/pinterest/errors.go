package pinterest

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// apiError is an error of the API.
type apiError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// rejection returns the error for a response with a status other than 200 and 201.
func (n *Network) rejection(response network.Response) *network.Error {
	var body apiError
	_ = json.Unmarshal(response.Body, &body) // a response in a different format comes from a proxy
	class := body.class(response.Status)
	if response.Call.Purpose == network.PurposeAuthorize {
		class = body.tokenClass(response.Status)
	}
	code := ""
	if body.Code != 0 {
		code = strconv.Itoa(body.Code)
	}
	netErr := response.Rejection(class, code, body.Message)
	// the image's URL was unreachable; no pin was created
	if netErr.Class == network.Rejected && body.contains("unable to reach") {
		netErr.Class = network.Transient
	}
	if netErr.Class == network.RateLimited {
		netErr.RetryAt = retryTime(response, n.opts.Now())
	}
	return netErr
}

func (e apiError) contains(words string) bool {
	return strings.Contains(strings.ToLower(e.Message), words)
}

// class returns the class of a failed call's error.
func (e apiError) class(status int) network.ErrorClass {
	// Code 29 also means that a resource belongs to another account, so the message is compared instead. The status is
	// undocumented.
	if e.contains("trial access") && status >= 400 && status < 500 {
		return network.AppNotApproved
	}
	switch status {
	case http.StatusUnauthorized:
		return network.RefreshRequired
	case http.StatusForbidden:
		return network.ReconnectRequired // the board no longer belongs to the account, or a scope is missing
	case http.StatusTooManyRequests:
		return network.RateLimited
	case http.StatusRequestTimeout, http.StatusConflict:
		return network.Transient
	}
	if status >= 400 && status < 500 {
		return network.Rejected
	}
	return network.Transient
}

// tokenClass returns the class of a token endpoint's error. Errors for wrong app credentials and for an expired token
// differ only in the message. The messages are unconfirmed.
func (e apiError) tokenClass(status int) network.ErrorClass {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		if e.contains("client") {
			return network.AppNotApproved
		}
		return network.ReconnectRequired
	case http.StatusTooManyRequests:
		return network.RateLimited
	}
	return network.Transient
}

// retryTime returns when to retry, or zero if unknown. It accepts seconds and a Unix time in Pinterest's header,
// because the format is unconfirmed.
func retryTime(response network.Response, now time.Time) time.Time {
	const header = "x-ratelimit-reset"
	if at := response.RetryAfter(now); !at.IsZero() {
		return at
	}
	if at := response.ResetAt(header, now); !at.IsZero() {
		return at
	}
	seconds, err := strconv.Atoi(response.Header.Get(header))
	if err != nil || seconds <= 0 || seconds > int(24*time.Hour/time.Second) {
		return time.Time{}
	}
	return now.Add(time.Duration(seconds) * time.Second).UTC()
}
