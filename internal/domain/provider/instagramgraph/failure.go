package instagramgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

// kind is what a failure of Instagram's means to us.
type kind int

const (
	other     kind = iota
	missing        // there is no such profile, or none of a professional account; or no such hashtag
	noViews        // the version of the API has no views
	throttled      // the account is to be left alone
	unsigned       // the account's token does not work
	unallowed      // the account may not, at least not this
	full           // the account may ask for no further hashtag
)

// ofAccount tells whether another account may fare better.
func (k kind) ofAccount() bool { return k >= throttled }

// failure is an error of the API. It repeats no text of Meta's: that may name the profile that was asked for.
type failure struct {
	kind          kind
	status        int
	code, subcode int
	after         time.Duration // how long to leave the account alone
}

func (f *failure) Error() string {
	return fmt.Sprintf("Instagram answered with HTTP %d, error %d/%d", f.status, f.code, f.subcode)
}

// shown is the failure as those who ask a source know it.
func (f *failure) shown() error {
	if f.kind == missing {
		return provider.ErrNotFound
	}
	return &provider.Unavailable{After: f.after, Err: f}
}

// Codes and subcodes of the API's errors.
const (
	codeField      = 100 // a parameter or a field that is not known
	codePolicy     = 368 // blocked for a violation of a policy
	noSuchUser     = 2207013
	noSuchHashtag  = 2207024
	hashtagsUsedUp = 2207034
	noSuchObject   = 33 // or none that the token lets be seen: the account's own id is mistaken, or its token another's
)

var bySubcode = map[int]kind{
	noSuchUser:     missing,
	noSuchHashtag:  missing,
	hashtagsUsedUp: full,
	noSuchObject:   unallowed,
}

var byCode = map[int]kind{
	102: unsigned,
	190: unsigned,

	4:          throttled, // the app
	17:         throttled, // the person
	18:         full,
	24:         missing,
	32:         throttled, // the Page
	110:        missing,
	341:        throttled, // the app, for good or for a while
	codePolicy: throttled,
	613:        throttled,
	80001:      throttled, // the Page's business
	80002:      throttled, // the account's business

	3:  unallowed,
	10: unallowed,
}

// refusal reads an answer that is not one, or nil where it is.
func refusal(answer wire.Answer, now time.Time) *failure {
	var said struct {
		Error *struct {
			Message string  `json:"message"`
			Code    float64 `json:"code"`
			Subcode float64 `json:"error_subcode"`
		} `json:"error"`
	}
	understood := wire.Read(answer.Body, &said)
	if answer.Status == http.StatusOK && understood && said.Error == nil {
		return nil
	}
	f := &failure{status: answer.Status}
	if said.Error != nil {
		f.code, f.subcode = int(said.Error.Code), int(said.Error.Subcode)
		f.kind = kindOf(f.code, f.subcode)
		if f.code == codeField && strings.Contains(said.Error.Message, "view_count") {
			f.kind = noViews
		}
	}
	if answer.Status == http.StatusTooManyRequests {
		f.kind = throttled
	}
	f.after = f.rest(answer, now)
	return f
}

func kindOf(code, subcode int) kind {
	if k, known := bySubcode[subcode]; known {
		return k
	}
	if k, known := byCode[code]; known {
		return k
	}
	if code >= 200 && code <= 299 { // permissions
		return unallowed
	}
	return other
}

// rest is how long to leave an account alone.
func (f *failure) rest(answer wire.Answer, now time.Time) time.Duration {
	told := max(wire.After(answer.Header, now), readUsage(answer.Header).regained)
	switch {
	case f.kind != throttled || told > 0:
		return told
	case f.code == codePolicy:
		return policyRest
	}
	return usualRest
}

// usage is how much of its limits an account has used.
type usage struct {
	share    float64       // percent
	regained time.Duration // after which Meta answers again, where it does not now; a day at most
}

// share is one limit, in percent of it.
type share struct {
	Calls   float64 `json:"call_count"`
	CPU     float64 `json:"total_cputime"`
	Time    float64 `json:"total_time"`
	Minutes float64 `json:"estimated_time_to_regain_access"`
}

// readUsage reads the headers about limits: those of the app, and those of each business that it acts for.
func readUsage(header http.Header) usage {
	var app share
	var businesses map[string][]share
	_ = json.Unmarshal([]byte(header.Get("X-App-Usage")), &app) // what cannot be read tells of no use
	_ = json.Unmarshal([]byte(header.Get("X-Business-Use-Case-Usage")), &businesses)
	all := []share{app}
	for _, shares := range businesses {
		all = append(all, shares...)
	}
	var most usage
	for _, one := range all {
		most.share = max(most.share, one.Calls, one.CPU, one.Time)
		wait := time.Duration(min(max(one.Minutes, 0), wire.MaxAfter.Minutes()) * float64(time.Minute))
		most.regained = max(most.regained, wait)
	}
	return most
}
