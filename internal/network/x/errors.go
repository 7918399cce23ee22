package x

import (
	"encoding/json"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
)

const oneDay = 24 * time.Hour // when to repeat what is capped by the day or the month, which the network does not say

// problem is a refusal in one of the forms that the API has: a problem document (RFC 9457), an older code with a
// message, or an error of a token endpoint (RFC 6749, section 5.2).
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

// refusal is the error of an answer other than 200 and 201.
func (n *Network) refusal(answer network.Answer) *network.Error {
	var said problem
	_ = json.Unmarshal(answer.Body, &said) // an answer that is not the API's is that of something on the way to it
	if said.text() == "" && len(said.Errors) > 0 {
		said = said.Errors[0]
	}
	class := said.class(answer.Status)
	if answer.Call.Purpose == network.Signing {
		class = said.signing(answer.Status)
	}
	failed := answer.Refusal(class, said.name(), said.text())
	switch failed.Class { //nolint:exhaustive // the others name no time
	case network.Rate:
		failed.After = answer.ResetAt("x-rate-limit-reset", n.opts.Now())
	case network.Quota:
		failed.After = n.opts.Now().Add(oneDay).UTC()
	}
	return failed
}

// name is the network's short word for it, such as "invalid-request".
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

// class tells what can be done about a refused call.
func (p problem) class(status int) network.Class {
	switch status {
	case http.StatusUnauthorized:
		return network.AuthRefresh
	case http.StatusPaymentRequired: // the app has no credit left; not confirmed
		return network.Quota
	case http.StatusForbidden:
		return p.forbidden()
	case http.StatusTooManyRequests:
		if p.name() == "usage-capped" {
			return network.Quota
		}
		return network.Rate
	case http.StatusRequestTimeout, http.StatusConflict:
		return network.Transient
	}
	if status >= 400 && status < 500 {
		return network.Rejected
	}
	return network.Transient
}

func (p problem) forbidden() network.Class {
	switch {
	case strings.Contains(strings.ToLower(p.text()), "duplicate content"):
		return network.Duplicate
	case p.name() == "client-forbidden", p.name() == "unsupported-authentication":
		return network.Unapproved
	}
	return network.AuthDead // suspended, locked, or of fewer scopes than publishing needs
}

// signing is class for a token endpoint.
func (p problem) signing(status int) network.Class {
	switch p.OAuth {
	case "invalid_grant", "invalid_request": // the second is what a dead refresh token is answered with
		return network.AuthDead
	case "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope":
		return network.Unapproved
	}
	if status == http.StatusTooManyRequests {
		return network.Rate
	}
	return network.Transient
}
