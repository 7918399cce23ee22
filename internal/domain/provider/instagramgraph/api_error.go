package instagramgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

// errorKind is the kind of an API error.
type errorKind int

const (
	kindOther        errorKind = iota
	kindNotFound               // no such hashtag or professional account
	kindNoViews                // this version of the API has no view counts
	kindRateLimited            // the account must pause
	kindInvalidToken           // the account's token was rejected
	kindForbidden              // the account lacks a permission
	kindQuotaFull              // the account has used its hashtag quota
)

// isAccountSpecific reports whether another account may succeed.
func (k errorKind) isAccountSpecific() bool { return k >= kindRateLimited }

// apiError is an error that the API returned. It does not contain Meta's message, because the message may name the
// profile.
type apiError struct {
	kind          errorKind
	status        int
	code, subcode int
	retryDelay    time.Duration // how long the account must pause
}

func (e *apiError) Error() string {
	return fmt.Sprintf("Instagram returned HTTP %d, error %d/%d", e.status, e.code, e.subcode)
}

// publicError returns the error for callers of the provider.
func (e *apiError) publicError() error {
	if e.kind == kindNotFound {
		return provider.ErrNotFound
	}
	return &provider.UnavailableError{After: e.retryDelay, Err: e}
}

// Error codes and subcodes of the API.
const (
	codeField             = 100 // unknown parameter or field
	codePolicy            = 368 // blocked for a policy violation
	subcodeNoSuchUser     = 2207013
	subcodeNoSuchHashtag  = 2207024
	subcodeHashtagsUsedUp = 2207034
	subcodeNoSuchObject   = 33 // not found, or not visible to the token: wrong account ID, or another account's token
)

// kindBySubcode takes precedence over kindByCode.
var kindBySubcode = map[int]errorKind{
	subcodeNoSuchUser:     kindNotFound,
	subcodeNoSuchHashtag:  kindNotFound,
	subcodeHashtagsUsedUp: kindQuotaFull,
	subcodeNoSuchObject:   kindForbidden,
}

// kindByCode maps error codes to kinds. The comments say whose rate limit was exceeded.
var kindByCode = map[int]errorKind{
	102: kindInvalidToken,
	190: kindInvalidToken,

	4:          kindRateLimited, // the app
	17:         kindRateLimited, // the person
	18:         kindQuotaFull,
	24:         kindNotFound,
	32:         kindRateLimited, // the Page
	110:        kindNotFound,
	341:        kindRateLimited, // the app, permanently or temporarily
	codePolicy: kindRateLimited,
	613:        kindRateLimited,
	80001:      kindRateLimited, // the Page's business
	80002:      kindRateLimited, // the account's business

	3:  kindForbidden,
	10: kindForbidden,
}

// readError returns the error in a response, or nil if the request succeeded.
func readError(response wire.Response, now time.Time) *apiError {
	var body struct {
		Error *struct {
			Message string  `json:"message"`
			Code    float64 `json:"code"`
			Subcode float64 `json:"error_subcode"`
		} `json:"error"`
	}
	valid := wire.Decode(response.Body, &body)
	if response.Status == http.StatusOK && valid && body.Error == nil {
		return nil
	}
	e := &apiError{status: response.Status}
	if body.Error != nil {
		e.code, e.subcode = int(body.Error.Code), int(body.Error.Subcode)
		e.kind = classifyError(e.code, e.subcode)
		if e.code == codeField && strings.Contains(body.Error.Message, "view_count") {
			e.kind = kindNoViews
		}
	}
	if response.Status == http.StatusTooManyRequests {
		e.kind = kindRateLimited
	}
	e.retryDelay = e.retryAfter(response, now)
	return e
}

func classifyError(code, subcode int) errorKind {
	if k, known := kindBySubcode[subcode]; known {
		return k
	}
	if k, known := kindByCode[code]; known {
		return k
	}
	if code >= 200 && code <= 299 { // permissions
		return kindForbidden
	}
	return kindOther
}

// retryAfter returns how long to pause an account.
func (e *apiError) retryAfter(response wire.Response, now time.Time) time.Duration {
	wait := max(wire.RetryAfter(response.Header, now), readUsage(response.Header).retryAfter)
	switch {
	case e.kind != kindRateLimited || wait > 0:
		return wait
	case e.code == codePolicy:
		return policyPause
	}
	return defaultPause
}

// usage says how much of its limits an account has used.
type usage struct {
	percent    float64       // usage of the most used limit, in percent
	retryAfter time.Duration // time until Meta accepts requests again, at most a day; 0 if it accepts them now
}

// limitUsage is the usage of one limit in percent, and the number of minutes until the limit is reset.
type limitUsage struct {
	Calls   float64 `json:"call_count"`
	CPU     float64 `json:"total_cputime"`
	Time    float64 `json:"total_time"`
	Minutes float64 `json:"estimated_time_to_regain_access"`
}

// readUsage returns the highest usage in the response headers, which report the usage of the app and of businesses.
func readUsage(header http.Header) usage {
	var app limitUsage
	var businesses map[string][]limitUsage
	_ = json.Unmarshal([]byte(header.Get("X-App-Usage")), &app) // Invalid headers count as no usage.
	_ = json.Unmarshal([]byte(header.Get("X-Business-Use-Case-Usage")), &businesses)
	usages := []limitUsage{app}
	for _, shares := range businesses {
		usages = append(usages, shares...)
	}
	var highest usage
	for _, u := range usages {
		highest.percent = max(highest.percent, u.Calls, u.CPU, u.Time)
		wait := time.Duration(min(max(u.Minutes, 0), wire.MaxRetryAfter.Minutes()) * float64(time.Minute))
		highest.retryAfter = max(highest.retryAfter, wait)
	}
	return highest
}
