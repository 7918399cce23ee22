package graph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	maxWait = 24 * time.Hour
	notYet  = 30 * time.Second // after which a container that was not ready may be
)

// refused is an error in the form of the Graph API.
type refused struct {
	Message     string `json:"message"`
	Code        int    `json:"code"`
	Subcode     int    `json:"error_subcode"`
	Transient   bool   `json:"is_transient"`
	UserMessage string `json:"error_user_msg"`
}

// bySubcode goes before byCode: a subcode says more, and codes are shared by unlike things.
var bySubcode = map[int]network.Class{
	subcodeMissing: network.Transient, // each of the missing ones is made again
	2207006:        network.Transient,
	2207008:        network.Transient,
	2207020:        network.Transient,

	2207001: network.Transient, // failures of the network's own
	2207003: network.Transient,
	2207032: network.Transient,
	2207052: network.Transient,
	2207053: network.Transient,
	2207082: network.Transient,

	2207027: network.Processing, // published before it was ready
	2207042: network.Quota,      // posts of a day
	2207051: network.Rejected,   // taken for spam

	2207050: network.AuthDead, // the account is restricted, and its owner has to act
	4279013: network.AuthDead,

	2207004: network.RejectedMedia, // size, type, form, number
	2207005: network.RejectedMedia,
	2207009: network.RejectedMedia,
	2207023: network.RejectedMedia,
	2207026: network.RejectedMedia,
	2207028: network.RejectedMedia,
	2207057: network.RejectedMedia,
	2207010: network.Rejected, // the text's length
}

var byCode = map[int]network.Class{
	// the network's own failures
	-2: network.Transient, -1: network.Transient, 1: network.Transient, 2: network.Transient,
	4: network.Rate, 17: network.Rate, 32: network.Rate, 341: network.Rate, 613: network.Rate, 80001: network.Rate,
	80002: network.Rate,
	368:   network.Rate, // blocked for a while by policy
	10:    network.AuthDead, 102: network.AuthDead, 190: network.AuthDead,
	506: network.Duplicate, // the same as the page's post before it
}

// ofPages is what Facebook alone says of its pages, as a code or as a subcode.
var ofPages = map[int]network.Class{
	1366051: network.Duplicate,     // the photos were posted already
	1390008: network.Rate,          // too many posts at once
	1346003: network.Rejected,      // the content
	1404102: network.Rejected,      // the content
	1609005: network.Rejected,      // the link
	1609008: network.Rejected,      // the link
	1366046: network.RejectedMedia, // a photo's size or type
	1404078: network.AuthDead,      // the page's owner has to confirm who they are
	4854002: network.AuthDead,
	1363047: network.Transient,
	1609010: network.Transient,
}

// Subcode is the class of an error with this subcode; false where the subcode says nothing.
func Subcode(code int) (network.Class, bool) {
	class, known := bySubcode[code]
	return class, known
}

const (
	codePolicy     = 368
	subcodeMissing = 33 // nothing has this id
)

// refusal is the error of an answer other than 200.
func refusal(answer network.Answer, now time.Time) *network.Error {
	var body struct {
		Error *refused `json:"error"`
	}
	_ = json.Unmarshal(answer.Body, &body) // an answer that is not the Graph's is that of something on the way to it
	if said := body.Error; said != nil {
		failed := answer.Refusal(said.class(), said.code(), said.text())
		failed.After = said.notBefore(failed.Class, answer, now)
		return failed
	}
	if answer.Status == http.StatusTooManyRequests {
		failed := answer.Refusal(network.Rate, "", "")
		failed.After = told(answer, now)
		return failed
	}
	return answer.Refusal(network.Transient, "", "")
}

func (r refused) class() network.Class {
	if class, known := bySubcode[r.Subcode]; known {
		return class
	}
	for _, number := range []int{r.Subcode, r.Code} {
		if class, known := ofPages[number]; known {
			return class
		}
	}
	if class, known := byCode[r.Code]; known {
		return class
	}
	switch {
	case r.Transient:
		return network.Transient
	case r.Code >= 200 && r.Code <= 299: // permissions
		return network.AuthDead
	}
	return network.Rejected
}

// code is such as "190" or "190/463".
func (r refused) code() string {
	if r.Subcode == 0 {
		return strconv.Itoa(r.Code)
	}
	return fmt.Sprintf("%d/%d", r.Code, r.Subcode)
}

// Missing tells whether an error says that there is no such object, or no longer.
func Missing(e *network.Error) bool {
	_, subcode, _ := strings.Cut(e.Code, "/")
	switch subcode {
	case strconv.Itoa(subcodeMissing), "2207006", "2207008", "2207020":
		return true
	}
	return false
}

// text is what the network says to people, where it does.
func (r refused) text() string {
	if r.UserMessage != "" {
		return r.UserMessage
	}
	return r.Message
}

// notBefore is when to repeat. Quotas and blocks by policy last a day, which the network does not say.
func (r refused) notBefore(class network.Class, answer network.Answer, now time.Time) time.Time {
	switch {
	case class == network.Processing:
		return now.Add(notYet).UTC()
	case class == network.Quota || class == network.Rate && r.Code == codePolicy:
		return now.Add(maxWait).UTC()
	case class == network.Rate:
		return told(answer, now)
	}
	return time.Time{}
}

// told reads when the network will answer again, at most a day ahead: Retry-After in seconds, else the minutes in the
// headers about usage. Zero where it does not say.
func told(answer network.Answer, now time.Time) time.Time {
	if at := answer.RetryAfter(now); !at.IsZero() {
		return at
	}
	wait := regained(answer.Header.Get("X-Business-Use-Case-Usage"))
	if wait == 0 {
		return time.Time{}
	}
	return now.Add(min(wait, maxWait)).UTC()
}

// regained is the longest time that a header about usage names, in whole minutes.
func regained(header string) time.Duration {
	var usage map[string][]struct {
		Minutes int `json:"estimated_time_to_regain_access"`
	}
	if json.Unmarshal([]byte(header), &usage) != nil {
		return 0
	}
	most := 0
	for _, uses := range usage {
		for _, use := range uses {
			most = max(most, use.Minutes)
		}
	}
	return time.Duration(min(most, int(maxWait.Minutes()))) * time.Minute
}
