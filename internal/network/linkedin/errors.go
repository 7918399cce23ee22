package linkedin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
)

const duplicatePost = "DUPLICATE_POST"

// refused is an error in the form of the REST API.
type refused struct {
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

// refusal is the error of an answer without success, to a call in the name of g.
func (n *Network) refusal(answer network.Answer, g network.Grant) *network.Error {
	var said refused
	_ = json.Unmarshal(answer.Body, &said) // an answer that is not the network's is that of something on the way to it
	class := said.class(answer.Status, g.Refresh != "")
	if class == network.Rejected && answer.Call.Purpose == network.Fetching {
		class = network.RejectedMedia
	}
	failed := answer.Refusal(class, said.code(), said.Message)
	if class == network.Rate {
		failed.After = n.notBefore(answer)
	}
	return failed
}

// class reads the error by the status, which LinkedIn uses well.
func (r refused) class(status int, renewable bool) network.Class {
	switch {
	case status == http.StatusUnauthorized && renewable: // also a revoked token: that its consent is over is for the refresh to say
		return network.AuthRefresh
	case status == http.StatusUnauthorized:
		return network.AuthDead
	case status == http.StatusForbidden && strings.Contains(r.Message, "Unpermitted"): // members of a request that are not for this app
		return network.Unapproved
	case status == http.StatusForbidden: // a scope that was not given, or an office that is no longer held: not told apart for sure
		return network.AuthDead
	case status == http.StatusUpgradeRequired: // the API's version is no more, which the operator has to mend
		return network.Unapproved
	case status == http.StatusTooManyRequests:
		return network.Rate
	case r.code() == duplicatePost:
		return network.Duplicate
	case r.final(status):
		return network.Rejected
	}
	return network.Transient
}

// final tells whether the network itself finds fault with a request, for good.
func (r refused) final(status int) bool {
	passes := status == http.StatusConflict || status == http.StatusRequestTimeout
	return status >= 400 && status < 500 && !passes && r.Status != 0
}

// code is the most telling of the codes.
func (r refused) code() string {
	code := r.Code
	if len(r.Details.Inputs) > 0 {
		code = cmp.Or(r.Details.Inputs[0].Code, code)
	}
	if code == "" && r.ServiceCode != 0 {
		code = strconv.Itoa(r.ServiceCode)
	}
	return code
}

// notBefore is when to repeat what was refused as too frequent: as the network says, else at midnight UTC, when the
// limits of the day begin anew.
func (n *Network) notBefore(answer network.Answer) time.Time {
	const day = 24 * time.Hour
	now := n.opts.Now().UTC()
	if at := answer.RetryAfter(now); !at.IsZero() {
		return at
	}
	return now.Truncate(day).Add(day)
}
