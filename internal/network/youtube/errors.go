package youtube

import (
	"encoding/json"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// apiError is an error of Google's APIs.
type apiError struct {
	Message string `json:"message"`
	Status  string `json:"status"`
	Errors  []struct {
		Reason string `json:"reason"`
	} `json:"errors"`
}

// classByReason maps error reasons to classes: the documented reasons of videos.insert and playlistItems.list, and
// common reasons of Google's APIs. Reasons take precedence over classByStatus. Source:
// https://developers.google.com/youtube/v3/docs/errors.
var classByReason = map[string]network.ErrorClass{
	"quotaExceeded": network.QuotaExceeded, "dailyLimitExceeded": network.QuotaExceeded,
	codeUploadLimit:     network.QuotaExceeded,
	"rateLimitExceeded": network.RateLimited, "userRateLimitExceeded": network.RateLimited,

	"authError":   network.RefreshRequired,
	codeNoChannel: network.ReconnectRequired, "channelClosed": network.ReconnectRequired,
	"channelSuspended":                  network.ReconnectRequired,
	"authenticatedUserAccountSuspended": network.ReconnectRequired,
	"authenticatedUserAccountClosed":    network.ReconnectRequired,
	"insufficientPermissions":           network.ReconnectRequired, // a scope that the person did not grant

	"accessNotConfigured": network.AppNotApproved,

	"mediaBodyRequired": network.RejectedMedia, "badContent": network.RejectedMedia,
	"unsupportedMediaType": network.RejectedMedia,
	"uploadTooLarge":       network.RejectedMedia,

	"backendError": network.Transient, "internalError": network.Transient,
}

// classByStatus maps HTTP statuses to classes, for errors without a known reason.
var classByStatus = map[int]network.ErrorClass{
	http.StatusUnauthorized: network.RefreshRequired, http.StatusTooManyRequests: network.RateLimited,
	http.StatusRequestTimeout:        network.Transient,
	http.StatusRequestEntityTooLarge: network.RejectedMedia,
}

const (
	codeUploadLimit = "uploadLimitExceeded" // a channel's daily limit
	uploadWindow    = 24 * time.Hour
)

// rejection returns the error for a failed call.
func (n *Network) rejection(response network.Response) *network.Error {
	var body struct {
		Error *apiError `json:"error"`
	}
	_ = json.Unmarshal(response.Body, &body) // a response in a different format comes from a proxy
	cause, isAPIError := apiError{}, body.Error != nil
	if isAPIError {
		cause = *body.Error
	}
	netErr := response.Rejection(cause.class(response.Status, isAPIError), cause.code(), cause.Message)
	netErr.RetryAt = n.retryTime(netErr, response)
	return netErr
}

// class returns the class for the first known reason, else for the status. Other errors of the API are Rejected.
func (e apiError) class(status int, isAPIError bool) network.ErrorClass {
	for _, detail := range e.Errors {
		if class, ok := classByReason[detail.Reason]; ok {
			return class
		}
	}
	if class, ok := classByStatus[status]; ok {
		return class
	}
	if isAPIError && status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return network.Rejected
	}
	return network.Transient
}

// code returns the first reason, else the name of the status.
func (e apiError) code() string {
	if len(e.Errors) > 0 && e.Errors[0].Reason != "" {
		return e.Errors[0].Reason
	}
	return e.Status
}

// retryTime returns when to retry, or zero if unknown. YouTube does not report when a quota resets.
func (n *Network) retryTime(netErr *network.Error, response network.Response) time.Time {
	now := n.opts.Now()
	switch {
	case netErr.Class == network.QuotaExceeded && netErr.Code == codeUploadLimit:
		return now.Add(uploadWindow).UTC()
	case netErr.Class == network.QuotaExceeded:
		return nextQuotaReset(now)
	case netErr.Class == network.RateLimited:
		return response.RetryAfter(now)
	}
	return time.Time{}
}

// nextQuotaReset returns the next midnight in the network's time zone.
func nextQuotaReset(now time.Time) time.Time {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		zone = time.FixedZone("PST", -8*60*60) // used without a time zone database; an hour late in summer
	}
	year, month, day := now.In(zone).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, zone).UTC()
}
