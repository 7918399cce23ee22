package linkedin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const duplicatePost = "DUPLICATE_POST"

// apiError is an error of the REST API.
//
// Source: https://learn.microsoft.com/linkedin/shared/api-guide/concepts/error-handling
type apiError struct {
	Status      int    `json:"status"`
	Code        string `json:"code"`
	ServiceCode int    `json:"serviceErrorCode"`
	Message     string `json:"message"`
	Details     struct {
		Inputs []struct {
			Code        string `json:"code"`
			Description string `json:"description"`
		} `json:"inputErrors"`
	} `json:"errorDetails"`
}

// responseError returns the error for an unsuccessful response to a call with grant g.
func (n *Network) responseError(response network.Response, g network.Grant) *network.Error {
	var body apiError
	_ = json.Unmarshal(response.Body, &body) // a proxy's response has a different format
	class := body.class(response.Status, g.RefreshToken != "")
	if class == network.Rejected && response.Call.Purpose == network.PurposeTransfer {
		class = network.RejectedMedia
	}
	netErr := response.Rejection(class, body.code(), body.Message)
	if class == network.RateLimited {
		netErr.RetryAt = n.retryTime(response)
	}
	return netErr
}

// class returns the class of the error, mostly based on the status. renewable means that the grant can be refreshed.
func (e apiError) class(status int, renewable bool) network.ErrorClass {
	switch {
	case status == http.StatusUnauthorized && renewable: // if the token was revoked, the refresh fails
		return network.RefreshRequired
	case status == http.StatusUnauthorized:
		return network.ReconnectRequired
	case status == http.StatusForbidden && strings.Contains(e.Message, "Unpermitted"): // fields in the request
		return network.AppNotApproved
	case status == http.StatusForbidden: // a missing scope or a lost role
		return network.ReconnectRequired
	case status == http.StatusUpgradeRequired: // the operator has to configure a current API version
		return network.AppNotApproved
	case status == http.StatusTooManyRequests:
		return network.RateLimited
	case e.code() == duplicatePost:
		return network.Duplicate
	case e.isPermanent(status):
		return network.Rejected
	}
	return network.Transient
}

// isPermanent reports whether LinkedIn, rather than a proxy, rejects the request permanently.
func (e apiError) isPermanent(status int) bool {
	isTemporary := status == http.StatusConflict || status == http.StatusRequestTimeout
	return status >= 400 && status < 500 && !isTemporary && e.Status != 0
}

// code returns the most specific of the error codes.
func (e apiError) code() string {
	code := e.Code
	if len(e.Details.Inputs) > 0 {
		code = cmp.Or(e.Details.Inputs[0].Code, code)
	}
	if code == "" && e.ServiceCode != 0 {
		code = strconv.Itoa(e.ServiceCode)
	}
	return code
}

// retryTime returns when to retry after a rate limit: the time in the response, else midnight UTC, when daily limits
// reset.
func (n *Network) retryTime(response network.Response) time.Time {
	const day = 24 * time.Hour
	now := n.opts.Now().UTC()
	if at := response.RetryAfter(now); !at.IsZero() {
		return at
	}
	return now.Truncate(day).Add(day)
}
