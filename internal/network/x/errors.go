package x

import (
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const quotaWait = 24 * time.Hour // wait after a daily or monthly cap, because X does not report when it resets

// problem is an error in any of the API's formats: a problem document (RFC 9457), a code with a message, or
// an error of the token endpoint (RFC 6749, section 5.2). Source:
// https://docs.x.com/x-api/fundamentals/response-codes-and-errors.
type problem struct {
	Type    string    `json:"type"`
	Title   string    `json:"title"`
	Detail  string    `json:"detail"`
	Code    int       `json:"code"`
	Message string    `json:"message"`
	Errors  []problem `json:"errors"`

	OAuth       string `json:"error"`
	Description string `json:"error_description"`
}

// rejection returns the error for a response with a status other than 200 and 201.
func (n *Network) rejection(response network.Response) *network.Error {
	var body problem
	_ = json.Unmarshal(response.Body, &body) // a response in a different format comes from a proxy
	if body.text() == "" && len(body.Errors) > 0 {
		body = body.Errors[0]
	}
	class := body.class(response.Status)
	if response.Call.Purpose == network.PurposeAuthorize {
		class = body.tokenClass(response.Status)
	}
	netErr := response.Rejection(class, body.name(), body.text())
	switch netErr.Class { //nolint:exhaustive // others have no time
	case network.RateLimited:
		netErr.RetryAt = response.ResetAt("x-rate-limit-reset", n.opts.Now())
	case network.QuotaExceeded:
		netErr.RetryAt = n.opts.Now().Add(quotaWait).UTC()
	}
	return netErr
}

// name returns the network's short code, such as "invalid-request".
func (p problem) name() string {
	switch {
	case p.OAuth != "":
		return p.OAuth
	case strings.Contains(p.Type, "/"):
		return path.Base(p.Type)
	case p.Code != 0:
		return strconv.Itoa(p.Code)
	}
	return ""
}

func (p problem) text() string {
	for _, text := range []string{p.Detail, p.Description, p.Message, p.Title} {
		if text != "" {
			return text
		}
	}
	return ""
}

// class returns the class of a failed call's error.
func (p problem) class(status int) network.ErrorClass {
	switch status {
	case http.StatusUnauthorized:
		return network.RefreshRequired
	case http.StatusPaymentRequired: // the app's credit is used up, and the operator has to buy more
		return network.AppNotApproved
	case http.StatusForbidden:
		return p.forbiddenClass()
	case http.StatusTooManyRequests:
		if p.name() == "usage-capped" {
			return network.QuotaExceeded
		}
		return network.RateLimited
	case http.StatusRequestTimeout, http.StatusConflict:
		return network.Transient
	}
	if status >= 400 && status < 500 {
		return network.Rejected
	}
	return network.Transient
}

func (p problem) forbiddenClass() network.ErrorClass {
	switch {
	case strings.Contains(strings.ToLower(p.text()), "duplicate content"):
		return network.Duplicate
	case strings.Contains(strings.ToLower(p.text()), "deleted or not visible"): // the post that is replied to or quoted
		return network.Rejected
	case p.name() == "client-forbidden", p.name() == "unsupported-authentication":
		return network.AppNotApproved
	}
	return network.ReconnectRequired // suspended, locked, or without a scope that publishing needs
}

// tokenClass returns the class of a token endpoint's error.
func (p problem) tokenClass(status int) network.ErrorClass {
	switch p.OAuth {
	case "invalid_grant", "invalid_request": // X returns invalid_request for an expired refresh token
		return network.ReconnectRequired
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return network.AppNotApproved
	}
	if status == http.StatusTooManyRequests {
		return network.RateLimited
	}
	return network.Transient
}
