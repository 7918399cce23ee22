package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// AppChecker is a network that reports what the operator's apps may do there. Its requests only read.
type AppChecker interface {
	Network
	// CheckApp reports what the network says about the apps themselves. It needs no account.
	CheckApp(ctx context.Context) []Finding
	// CheckAccount reports what an app may do for a connected account.
	CheckAccount(ctx context.Context, g Grant) []Finding
}

// Result is whether something works.
type Result string

// The results.
const (
	Works   Result = "works"
	Fails   Result = "fails"
	Unclear Result = "unclear" // the network does not say, or could not be asked
)

// Finding is what a network says about one thing that an app needs.
type Finding struct {
	Subject  string // such as "permission video.publish"
	Result   Result
	Detail   string // for people; may quote the network
	NextStep string // what the operator has to do; empty if nothing
	Expired  bool   // the access token was refused; a renewed one may work
}

// The next steps that do not depend on the network's code.
const (
	reconnect = "Connect the account again, and allow everything."
	askAgain  = "Run the check again later."

	compareApp = "Compare the app's ID and secret with the network's developer console."
)

// FindingOf returns the finding of a call: it works if there is no error.
func FindingOf(platform, subject string, err error) Finding {
	if err == nil {
		return Finding{Subject: subject, Result: Works}
	}
	found := Finding{Subject: subject, Result: Fails, Detail: err.Error()}
	refused, ok := errors.AsType[*Error](err)
	if !ok {
		found.Result, found.NextStep = Unclear, askAgain
		return found
	}
	found.Detail = cmp.Or(refused.Message, refused.Code, "The network did not answer.")
	if refused.Message != "" && refused.Code != "" {
		found.Detail = refused.Code + ": " + refused.Message
	}
	switch refused.Class {
	case AuthDead, AuthRefresh:
		found.NextStep, found.Expired = reconnect, refused.Class == AuthRefresh
	case Quota:
		found.NextStep = "Wait until the limit ends."
	case Unapproved:
		found.NextStep = NextStep(platform, refused.Code)
	case Rate, Transient, Uncertain, Processing, HostBlocked:
		found.Result, found.NextStep = Unclear, askAgain
	case Rejected, RejectedMedia, Duplicate:
		found.NextStep = NextStep(platform, "")
	}
	return found
}

// FindingOfCredentials returns the finding of a token request with the app's ID and secret and with a token that does
// not exist. The network refuses the token only after it has accepted the app.
func FindingOfCredentials(platform, app string, err error) Finding {
	found := FindingOf(platform, strings.TrimSpace(app+" client ID and secret"), err)
	refused, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
	// RFC 6749, section 5.2
	case refused.Status == http.StatusUnauthorized, refused.Code == "invalid_client", refused.Code == "unauthorized_client":
		found.Result, found.NextStep = Fails, compareApp
	case refused.Class == AuthDead:
		return Finding{Subject: found.Subject, Result: Works}
	}
	return found
}

// RequiredScope is a permission, and what does not work without it.
type RequiredScope struct{ Scope, Effect string }

// CheckScopes returns a finding for each permission that is needed. It is unclear if the network does not say what was
// granted.
func CheckScopes(granted []string, needs ...RequiredScope) []Finding {
	if len(granted) == 0 {
		return []Finding{{Subject: "permissions", Result: Unclear, Detail: "The network does not say what was granted."}}
	}
	var out []Finding
	for _, need := range needs {
		found := Finding{Subject: "permission " + need.Scope, Result: Works}
		if !slices.Contains(granted, need.Scope) {
			found.Result, found.Detail = Fails, "Not granted: "+need.Effect+"."
			found.NextStep = "Give the app the permission in the network's developer console. " + reconnect
		}
		out = append(out, found)
	}
	return out
}

// CreatorInfo is the subject of the finding that describes an account's own settings.
const CreatorInfo = "creator_info"

// What needs a permission.
const (
	ToPublish  = "posts cannot be published"
	ForFigures = "figures are missing"
	ToConnect  = "accounts cannot be found"
)

// Limit returns the finding of a limit that is partly used. It fails if it is used up. A total of 0 is unknown.
func Limit(subject string, used, total int) Finding {
	found := Finding{Subject: subject, Result: Works, Detail: fmt.Sprintf("%d of %d used", used, total)}
	switch {
	case total <= 0:
		found.Detail = fmt.Sprintf("%d used", used)
	case used >= total:
		found.Result, found.NextStep = Fails, "Wait until the limit ends."
	}
	return found
}
