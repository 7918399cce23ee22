package graph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxWait      = 24 * time.Hour
	notReadyWait = 30 * time.Second // wait before a retry if a container was not ready
)

// apiError is an error that the Graph API returned.
//
// Source: https://developers.facebook.com/docs/graph-api/guides/error-handling
type apiError struct {
	Message     string `json:"message"`
	Code        int    `json:"code"`
	Subcode     int    `json:"error_subcode"`
	Transient   bool   `json:"is_transient"`
	UserMessage string `json:"error_user_msg"`
}

// tokenError is an error that Instagram's token endpoint returned. Its format differs from the Graph API's errors.
//
// Source: observed in production. The documentation does not show errors for this endpoint.
type tokenError struct {
	Type    string `json:"error_type"`
	Message string `json:"error_message"`
}

func (e tokenError) class() network.ErrorClass {
	message := strings.ToLower(e.Message)
	switch {
	case strings.Contains(message, "client secret"), strings.Contains(message, "platform app"), strings.Contains(message, "redirect_uri"):
		return network.AppNotApproved
	}
	return network.Rejected
}

// classBySubcode maps error subcodes to classes. It takes precedence over classByCode, because subcodes are more
// specific.
var classBySubcode = map[int]network.ErrorClass{
	subcodeMissing: network.Transient, // the missing object is created again
	2207006:        network.Transient,
	2207008:        network.Transient,
	2207020:        network.Transient,

	2207001: network.Transient, // failures of the network
	2207003: network.Transient,
	2207032: network.Transient,
	2207052: network.Transient,
	2207053: network.Transient,
	2207082: network.Transient,

	2207027:           network.Processing, // the container was published before it was ready
	subcodeNotVisible: network.Processing,
	2207042:           network.QuotaExceeded, // too many posts in a day
	2207051:           network.Rejected,      // considered spam

	2207050: network.ReconnectRequired, // the account is restricted and its owner has to act
	4279013: network.ReconnectRequired,

	2207004: network.RejectedMedia, // wrong size, type, aspect ratio or number
	2207005: network.RejectedMedia,
	2207009: network.RejectedMedia,
	2207023: network.RejectedMedia,
	2207026: network.RejectedMedia,
	2207028: network.RejectedMedia,
	2207057: network.RejectedMedia,
	2207010: network.Rejected, // the text is too long
}

var classByCode = map[int]network.ErrorClass{
	// failures of the network
	-2: network.Transient, -1: network.Transient, 1: network.Transient, 2: network.Transient,
	4: network.RateLimited, 17: network.RateLimited, 32: network.RateLimited, 341: network.RateLimited,
	613: network.RateLimited, 80001: network.RateLimited,
	80002:        network.RateLimited,
	368:          network.RateLimited, // temporarily blocked by policy
	codeNotFound: network.Processing,
	10:           network.ReconnectRequired, 102: network.ReconnectRequired, 190: network.ReconnectRequired,
	506: network.Duplicate, // same content as the Page's previous post
}

// pageClasses maps codes and subcodes that only Facebook Pages return to classes.
var pageClasses = map[int]network.ErrorClass{
	1366051: network.Duplicate,         // the photos were already posted
	1390008: network.RateLimited,       // too many posts in a short time
	1346003: network.Rejected,          // because of the content
	1404102: network.Rejected,          // because of the content
	1609005: network.Rejected,          // because of the link
	1609008: network.Rejected,          // because of the link
	1366046: network.RejectedMedia,     // a photo's size or type
	1404078: network.ReconnectRequired, // the Page's owner has to confirm their identity
	4854002: network.ReconnectRequired,
	1363047: network.Transient,
	1609010: network.Transient,

	// undocumented, but observed in production
	490:         network.ReconnectRequired, // the person uses login approvals and has to sign in
	1404006:     network.ReconnectRequired, // a security check that only the person can pass
	codeLimited: network.RateLimited,
	1349125:     network.RejectedMedia,
	2069019:     network.RejectedMedia,
	2061006:     network.Rejected, // because of the link
}

// SubcodeClass returns the class of an error with this subcode. It reports false if the subcode is unknown.
func SubcodeClass(code int) (network.ErrorClass, bool) {
	class, known := classBySubcode[code]
	return class, known
}

const (
	codePolicy     = 368
	codeLimited    = 1404112 // the account is limited for days
	subcodeMissing = 33      // there is no object with this ID
)

// responseError returns the error for a response with a status other than 200.
func responseError(response network.Response, now time.Time) *network.Error {
	var body struct {
		tokenError

		Error *apiError `json:"error"`
	}
	_ = json.Unmarshal(response.Body, &body) // A response from a proxy has another format.
	if e := body.Error; e != nil {
		netErr := response.Rejection(e.class(), e.code(), e.userText())
		netErr.RetryAt = e.retryTime(netErr.Class, response, now)
		return netErr
	}
	if body.Type != "" {
		return response.Rejection(body.class(), body.Type, body.Message)
	}
	if response.Status == http.StatusTooManyRequests {
		netErr := response.Rejection(network.RateLimited, "", "")
		netErr.RetryAt = headerRetryTime(response, now)
		return netErr
	}
	return response.Rejection(network.Transient, "", "")
}

func (e apiError) class() network.ErrorClass {
	if e.concernsApp() {
		return network.AppNotApproved
	}
	if class, known := classBySubcode[e.Subcode]; known {
		return class
	}
	for _, number := range []int{e.Subcode, e.Code} {
		if class, known := pageClasses[number]; known {
			return class
		}
	}
	if class, known := classByCode[e.Code]; known {
		return class
	}
	switch {
	case e.Transient:
		return network.Transient
	case e.Code >= 200 && e.Code <= 299: // permissions
		return network.ReconnectRequired
	}
	return network.Rejected
}

// concernsApp reports whether only the operator can fix the problem: Meta blocked the app, has not approved it for this
// request, or received a wrong secret. These errors have the same codes as account errors and differ only in the
// message. The messages are undocumented, but were observed in production.
func (e apiError) concernsApp() bool {
	message := strings.ToLower(e.Message)
	switch e.Code {
	case 200:
		return strings.HasPrefix(message, "api access ") // blocked, deactivated, disabled
	case 100:
		return strings.HasPrefix(message, "unsupported request - method type")
	case 1:
		return strings.Contains(message, "validating client secret")
	}
	return false
}

// code returns the code and the subcode, such as "190" or "190/463".
func (e apiError) code() string {
	if e.Subcode == 0 {
		return strconv.Itoa(e.Code)
	}
	return fmt.Sprintf("%d/%d", e.Code, e.Subcode)
}

// IsMissing reports whether an error means that the object does not exist or no longer exists.
func IsMissing(e *network.Error) bool {
	_, subcode, _ := strings.Cut(e.Code, "/")
	switch subcode {
	case strconv.Itoa(subcodeMissing), "2207006", "2207008", "2207020":
		return true
	}
	return false
}

// isUnknownObject reports whether an error means that an ID in the request does not belong to any object.
func isUnknownObject(e *network.Error) bool {
	_, subcode, _ := strings.Cut(e.Code, "/")
	return subcode == strconv.Itoa(subcodeMissing)
}

// userText returns the network's message. It prefers the message that is meant for people.
func (e apiError) userText() string {
	if e.UserMessage != "" {
		return e.UserMessage
	}
	return e.Message
}

// dayLongCodes lists the codes of blocks that last a day or more.
var dayLongCodes = []int{codePolicy, codeLimited}

// retryTime returns the earliest time to retry. Quotas and policy blocks are assumed to last a day, because the network
// does not report how long they last.
func (e apiError) retryTime(class network.ErrorClass, response network.Response, now time.Time) time.Time {
	switch {
	case class == network.Processing:
		return now.Add(notReadyWait).UTC()
	case class == network.QuotaExceeded, class == network.RateLimited && slices.Contains(dayLongCodes, e.Code),
		class == network.RateLimited && slices.Contains(dayLongCodes, e.Subcode):
		return now.Add(maxWait).UTC()
	case class == network.RateLimited:
		return headerRetryTime(response, now)
	}
	return time.Time{}
}

// headerRetryTime returns the retry time in a response's headers, but at most a day from now. It reads Retry-After or,
// if that is missing, the usage header. It returns the zero time if the response has neither.
func headerRetryTime(response network.Response, now time.Time) time.Time {
	if at := response.RetryAfter(now); !at.IsZero() {
		return at
	}
	wait := longestRegainWait(response.Header.Get("X-Business-Use-Case-Usage"))
	if wait == 0 {
		return time.Time{}
	}
	return now.Add(min(wait, maxWait)).UTC()
}

// longestRegainWait returns the longest wait in a usage header. The header contains waits in minutes.
func longestRegainWait(header string) time.Duration {
	var usage map[string][]struct {
		Minutes int `json:"estimated_time_to_regain_access"`
	}
	if json.Unmarshal([]byte(header), &usage) != nil {
		return 0
	}
	longest := 0
	for _, uses := range usage {
		for _, use := range uses {
			longest = max(longest, use.Minutes)
		}
	}
	return time.Duration(min(longest, int(maxWait.Minutes()))) * time.Minute
}
