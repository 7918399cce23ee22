package youtube

import (
	"encoding/json"
	"net/http"
	"time"

	"pressroom/internal/network"
)

// refused is an error in the form of Google's APIs.
type refused struct {
	Message string `json:"message"`
	Status  string `json:"status"`
	Errors  []struct {
		Reason string `json:"reason"`
	} `json:"errors"`
}

// byReason holds the reasons that the documentation of videos.insert, of playlistItems.list and of Google's common
// errors names. It goes before byStatus.
var byReason = map[string]network.Class{
	"quotaExceeded": network.Quota, "dailyLimitExceeded": network.Quota, uploadLimit: network.Quota,
	"rateLimitExceeded": network.Rate, "userRateLimitExceeded": network.Rate,

	"authError": network.AuthRefresh,
	noChannel:   network.AuthDead, "channelClosed": network.AuthDead, "channelSuspended": network.AuthDead,
	"authenticatedUserAccountSuspended": network.AuthDead, "authenticatedUserAccountClosed": network.AuthDead,
	"insufficientPermissions": network.AuthDead, // a scope that the person did not allow

	"accessNotConfigured": network.Unapproved,

	"mediaBodyRequired": network.RejectedMedia, "badContent": network.RejectedMedia,
	"unsupportedMediaType": network.RejectedMedia,
	"uploadTooLarge":       network.RejectedMedia,

	"backendError": network.Transient, "internalError": network.Transient,
}

// byStatus holds what says enough without a reason.
var byStatus = map[int]network.Class{
	http.StatusUnauthorized: network.AuthRefresh, http.StatusTooManyRequests: network.Rate,
	http.StatusRequestTimeout:        network.Transient,
	http.StatusRequestEntityTooLarge: network.RejectedMedia,
}

const (
	uploadLimit  = "uploadLimitExceeded" // of a channel, for a day
	uploadWindow = 24 * time.Hour
)

// refusal is the error of an answer that is not what was asked for.
func (n *Network) refusal(answer network.Answer) *network.Error {
	var body struct {
		Error *refused `json:"error"`
	}
	_ = json.Unmarshal(answer.Body, &body) // an answer that is not Google's is that of something on the way to it
	said, known := refused{}, body.Error != nil
	if known {
		said = *body.Error
	}
	failed := answer.Refusal(said.class(answer.Status, known), said.code(), said.Message)
	failed.After = n.notBefore(failed, answer)
	return failed
}

// class is by the first reason that is known; a refusal of which nothing is known is one of the content, where it is
// the network's own.
func (r refused) class(status int, known bool) network.Class {
	for _, one := range r.Errors {
		if class, ok := byReason[one.Reason]; ok {
			return class
		}
	}
	if class, ok := byStatus[status]; ok {
		return class
	}
	if known && status >= http.StatusBadRequest && status < http.StatusInternalServerError {
		return network.Rejected
	}
	return network.Transient
}

// code is the first reason, else the status by name.
func (r refused) code() string {
	if len(r.Errors) > 0 && r.Errors[0].Reason != "" {
		return r.Errors[0].Reason
	}
	return r.Status
}

// notBefore is when to repeat. When a quota begins anew the network does not say.
func (n *Network) notBefore(failed *network.Error, answer network.Answer) time.Time {
	now := n.opts.Now()
	switch {
	case failed.Class == network.Quota && failed.Code == uploadLimit:
		return now.Add(uploadWindow).UTC()
	case failed.Class == network.Quota:
		return nextQuota(now)
	case failed.Class == network.Rate:
		return answer.RetryAfter(now)
	}
	return time.Time{}
}

// nextQuota is the next midnight of the zone that the network counts its days in.
func nextQuota(now time.Time) time.Time {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		zone = time.FixedZone("PST", -8*60*60) // without zones: in summer an hour later than needed
	}
	year, month, day := now.In(zone).Date()
	return time.Date(year, month, day+1, 0, 0, 0, 0, zone).UTC()
}
