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
var classByCode = map[string]network.Class{
	"access_token_invalid":                               network.AuthRefresh,
	codeScopeNotAuthorized:                               network.AuthDead,
	codeScopePermissionMissed:                            network.AuthDead,
	"spam_risk_user_banned_from_posting":                 network.AuthDead, // the account's owner must act
	"rate_limit_exceeded":                                network.Rate,
	"internal_error":                                     network.Transient,
	"spam_risk_too_many_posts":                           network.Quota,
	"spam_risk_too_many_pending_share":                   network.Quota,
	"reached_active_user_cap":                            network.Quota,
	"invalid_params":                                     network.Rejected,
	"invalid_file_upload":                                network.Rejected,
	codePrivacyMismatch:                                  network.Rejected,
	"url_ownership_unverified":                           network.Unapproved, // the domain of the photos' URLs
	"unaudited_client_can_only_post_to_private_accounts": network.Unapproved,
}

// classByReason maps the reasons why TikTok rejects a post after its upload to classes. Source:
// https://developers.tiktok.com/doc/content-posting-api-reference-get-video-status.
var classByReason = map[string]network.Class{
	"file_format_check_failed":  network.RejectedMedia,
	codeDurationCheckFailed:     network.RejectedMedia,
	"frame_rate_check_failed":   network.RejectedMedia,
	"picture_size_check_failed": network.RejectedMedia,
	"spam_risk":                 network.Rejected,
	"spam_risk_text":            network.Rejected,
	"publish_cancelled":         network.Rejected,
	"auth_removed":              network.AuthDead,
	"video_pull_failed":         network.Transient,
	"photo_pull_failed":         network.Transient,
	"internal":                  network.Transient,
}

const codeDurationCheckFailed = "duration_check_failed"

// classByOAuthError maps the errors of the token endpoint (RFC 6749, section 5.2) to classes. Other errors are
// Transient.
var classByOAuthError = map[string]network.Class{
	"invalid_grant":          network.AuthDead,
	"access_denied":          network.AuthDead,
	"invalid_client":         network.Unapproved,
	"unauthorized_client":    network.Unapproved,
	"unsupported_grant_type": network.Unapproved,
	"invalid_scope":          network.Unapproved,
	"rate_limit_exceeded":    network.Rate,
}

// decode decodes the data of a response into out. An error response may have status 200.
func (n *Network) decode(answer network.Response, out any) error {
	var body struct {
		Data  json.RawMessage `json:"data"`
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	err := json.Unmarshal(answer.Body, &body)
	if err != nil || body.Error.Code != "ok" || answer.Status != http.StatusOK {
		return n.rejection(answer, body.Error.Code, body.Error.Message)
	}
	if err := json.Unmarshal(body.Data, out); err != nil {
		return answer.Call.Failure(errors.New("the response is not valid JSON"), false)
	}
	return nil
}

func (n *Network) rejection(answer network.Response, code, text string) *network.Error {
	class, known := classByCode[code]
	if !known {
		class = classByStatus(answer.Status, code)
	}
	return n.withRetryTime(answer, answer.Rejection(class, code, text))
}

// classByStatus returns the class of an error with an unknown code. A response without a code comes from a proxy.
func classByStatus(status int, code string) network.Class {
	switch {
	case status == http.StatusTooManyRequests:
		return network.Rate
	case code == "" || code == "ok":
		return network.Transient
	case status == http.StatusUnauthorized:
		return network.AuthRefresh
	case status >= 400 && status <= 499:
		return network.Rejected
	}
	return network.Transient
}

// withRetryTime sets the time of the next attempt. It is unconfirmed whether TikTok sends Retry-After.
func (n *Network) withRetryTime(answer network.Response, failed *network.Error) *network.Error {
	now := n.opts.Now()
	switch failed.Class { //nolint:exhaustive // no other class has a time
	case network.Rate:
		failed.After = answer.RetryAfter(now)
		if failed.After.IsZero() {
			failed.After = now.Add(rateWindow).UTC()
		}
	case network.Quota:
		failed.After = now.Add(quotaWindow).UTC()
	}
	return failed
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
	failed := &network.Error{
		Class: class, Status: http.StatusOK, Code: network.Clip(code, maxName), Message: network.Clip(code, maxName),
		Err: errors.New("TikTok did not publish the post"),
	}
	return n.withRetryTime(network.Response{}, failed)
}
