package tiktok

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	rateWindow  = time.Minute    // calls are limited per minute; the remaining calls are not reported
	quotaWindow = 24 * time.Hour // posts are limited per day
)

// classByCode maps the error codes of the Content Posting API to error classes.
var classByCode = map[string]network.ErrorClass{
	"access_token_invalid":                               network.RefreshRequired,
	codeScopeNotAuthorized:                               network.ReconnectRequired,
	codeScopePermissionMissed:                            network.ReconnectRequired,
	"spam_risk_user_banned_from_posting":                 network.ReconnectRequired, // the account's owner must act
	"rate_limit_exceeded":                                network.RateLimited,
	"internal_error":                                     network.Transient,
	"spam_risk_too_many_posts":                           network.QuotaExceeded,
	"spam_risk_too_many_pending_share":                   network.QuotaExceeded,
	"reached_active_user_cap":                            network.QuotaExceeded,
	"invalid_params":                                     network.Rejected,
	"invalid_file_upload":                                network.Rejected,
	codePrivacyMismatch:                                  network.Rejected,
	"url_ownership_unverified":                           network.AppNotApproved, // the domain of the photos' URLs
	"unaudited_client_can_only_post_to_private_accounts": network.AppNotApproved,
}

// classByReason maps the reasons why TikTok rejects a post after its upload to classes. Source:
// https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status.
var classByReason = map[string]network.ErrorClass{
	"file_format_check_failed":  network.RejectedMedia,
	codeDurationCheckFailed:     network.RejectedMedia,
	"frame_rate_check_failed":   network.RejectedMedia,
	"picture_size_check_failed": network.RejectedMedia,
	"spam_risk":                 network.Rejected,
	"spam_risk_text":            network.Rejected,
	"publish_cancelled":         network.Rejected,
	"auth_removed":              network.ReconnectRequired,
	"video_pull_failed":         network.Transient,
	"photo_pull_failed":         network.Transient,
	"internal":                  network.Transient,
}

const codeDurationCheckFailed = "duration_check_failed"

// classByOAuthError maps the errors of the token endpoint (RFC 6749, section 5.2) to classes. Other errors are
// Transient.
var classByOAuthError = map[string]network.ErrorClass{
	"invalid_grant":          network.ReconnectRequired,
	"access_denied":          network.ReconnectRequired,
	"invalid_client":         network.AppNotApproved,
	"unauthorized_client":    network.AppNotApproved,
	"unsupported_grant_type": network.AppNotApproved,
	"invalid_scope":          network.AppNotApproved,
	"rate_limit_exceeded":    network.RateLimited,
}

// decode decodes the data of a response into out. An error response may have status 200.
func (n *Network) decode(response network.Response, out any) error {
	var body struct {
		Data  json.RawMessage `json:"data"`
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	err := json.Unmarshal(response.Body, &body)
	if err != nil || body.Error.Code != "ok" || response.Status != http.StatusOK {
		return n.rejection(response, body.Error.Code, body.Error.Message)
	}
	if err := json.Unmarshal(body.Data, out); err != nil {
		return response.Call.Failure(errors.New("the response is not valid JSON"), false)
	}
	return nil
}

func (n *Network) rejection(response network.Response, code, text string) *network.Error {
	class, known := classByCode[code]
	if !known {
		class = classByStatus(response.Status, code)
	}
	return n.withRetryTime(response, response.Rejection(class, code, text))
}

// classByStatus returns the class of an error with an unknown code. A response without a code comes from a proxy.
func classByStatus(status int, code string) network.ErrorClass {
	switch {
	case status == http.StatusTooManyRequests:
		return network.RateLimited
	case code == "" || code == "ok":
		return network.Transient
	case status == http.StatusUnauthorized:
		return network.RefreshRequired
	case status >= 400 && status <= 499:
		return network.Rejected
	}
	return network.Transient
}

// withRetryTime sets the time of the next attempt. It is unconfirmed whether TikTok sends Retry-After.
func (n *Network) withRetryTime(response network.Response, netErr *network.Error) *network.Error {
	now := n.opts.Now()
	switch netErr.Class { //nolint:exhaustive // no other class has a time
	case network.RateLimited:
		netErr.RetryAt = response.RetryAfter(now)
		if netErr.RetryAt.IsZero() {
			netErr.RetryAt = now.Add(rateWindow).UTC()
		}
	case network.QuotaExceeded:
		netErr.RetryAt = now.Add(quotaWindow).UTC()
	}
	return netErr
}

// rejectionError returns the error for a post that TikTok rejected after its upload. An unknown reason is of class
// Rejected, so that a person has to decide.
func (n *Network) rejectionError(code string) *network.Error {
	class, known := classByReason[code]
	if !known {
		class, known = classByCode[code]
	}
	if !known {
		class = network.Rejected
	}
	netErr := &network.Error{
		Class: class, Status: http.StatusOK, Code: network.Clip(code, maxName), Message: network.Clip(code, maxName),
		Err: errors.New("TikTok did not publish the post"),
	}
	return n.withRetryTime(network.Response{}, netErr)
}
