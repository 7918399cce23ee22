package network

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// AppChecker is a network that can check what the operator's apps are allowed to do. The requests do not publish
// anything, but may start an upload that is never used.
type AppChecker interface {
	Network
	// CheckApp reports what the network says about the operator's apps. It works without a connected account.
	CheckApp(ctx context.Context) []Finding
	// CheckAccount reports what an app may do for a connected account.
	CheckAccount(ctx context.Context, g Grant) []Finding
}

// CheckResult is the outcome of one check.
type CheckResult string

// The results.
const (
	CheckPassed  CheckResult = "works"
	CheckFailed  CheckResult = "fails"
	CheckUnclear CheckResult = "unclear" // the network does not report it, or could not be reached
)

// Finding is the outcome of checking one requirement of an app.
type Finding struct {
	Subject  string // the requirement, such as "permission video.publish"
	Result   CheckResult
	Detail   string // displayed to people; may quote the network
	NextStep string // what the operator has to do; empty if there is nothing to do
	Expired  bool   // the access token was rejected; a refreshed token may work

	Creator *Creator // set if Subject is CreatorInfo
}

// Creator holds the account settings that limit a post's options.
type Creator struct {
	Audiences                   []string // as named by the network
	NoComment, NoDuet, NoStitch bool
	MaxVideoDuration            time.Duration // 0 if unknown
}

// Forbids reports whether the settings forbid an option: an audience, "comment", "duet" or "stitch".
func (c Creator) Forbids(option string) bool {
	switch option {
	case "comment":
		return c.NoComment
	case "duet":
		return c.NoDuet
	case "stitch":
		return c.NoStitch
	}
	return !slices.Contains(c.Audiences, option)
}

// Next steps that apply to every network.
const (
	reconnectStep  = "Connect the account again, and allow everything."
	retryLaterStep = "Run the check again later."

	compareAppStep = "Compare the app's ID and secret with the network's developer console."
)

// CallFinding returns the finding for a call that returned err. The result is CheckPassed if err is nil.
func CallFinding(platform, subject string, err error) Finding {
	if err == nil {
		return Finding{Subject: subject, Result: CheckPassed}
	}
	finding := Finding{Subject: subject, Result: CheckFailed, Detail: err.Error()}
	netErr, ok := errors.AsType[*Error](err)
	if !ok {
		finding.Result, finding.NextStep = CheckUnclear, retryLaterStep
		return finding
	}
	finding.Detail = cmp.Or(netErr.Message, netErr.Code, "The network did not respond.")
	if netErr.Message != "" && netErr.Code != "" {
		finding.Detail = netErr.Code + ": " + netErr.Message
	}
	switch netErr.Class {
	case ReconnectRequired, RefreshRequired:
		finding.NextStep, finding.Expired = reconnectStep, netErr.Class == RefreshRequired
		if step := nextSteps[platform][netErr.Code]; netErr.Code != "" && step != "" {
			finding.NextStep = step
		}
	case QuotaExceeded:
		finding.NextStep = cmp.Or(nextSteps[platform][netErr.Code], "Wait until the limit is reset.")
	case AppNotApproved:
		finding.NextStep = NextStep(platform, netErr.Code)
	case RateLimited, Transient, OutcomeUnknown, Processing, HostBlocked:
		finding.Result, finding.NextStep = CheckUnclear, retryLaterStep
	case Rejected, RejectedMedia, Duplicate:
		finding.NextStep = NextStep(platform, "")
	}
	return finding
}

// CredentialsFinding returns the finding for a token request that contained the app's ID and secret, but an invalid
// token. A network rejects the token only after it has accepted the app's credentials.
func CredentialsFinding(platform, app string, err error) Finding {
	finding := CallFinding(platform, strings.TrimSpace(app+" client ID and secret"), err)
	netErr, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
	// RFC 6749, section 5.2
	case netErr.Status == http.StatusUnauthorized, netErr.Code == "invalid_client", netErr.Code == "unauthorized_client":
		finding.Result, finding.NextStep = CheckFailed, compareAppStep
	case netErr.Class == ReconnectRequired:
		return Finding{Subject: finding.Subject, Result: CheckPassed}
	}
	return finding
}

// RequiredScope is a permission, and the effect if it is missing.
type RequiredScope struct{ Scope, Effect string }

// CheckScopes returns a finding for each required permission. If the network does not report the granted permissions,
// it returns a single finding with CheckUnclear.
func CheckScopes(granted []string, required ...RequiredScope) []Finding {
	if len(granted) == 0 {
		return []Finding{{Subject: "permissions", Result: CheckUnclear,
			Detail: "The network does not report the granted permissions."}}
	}
	var out []Finding
	for _, scope := range required {
		finding := Finding{Subject: "permission " + scope.Scope, Result: CheckPassed}
		if !slices.Contains(granted, scope.Scope) {
			finding.Result, finding.Detail = CheckFailed, "Not granted: "+scope.Effect+"."
			finding.NextStep = "Give the app the permission in the network's developer console. " + reconnectStep
		}
		out = append(out, finding)
	}
	return out
}

// CreatorInfo is the subject of the finding that contains an account's own settings.
const CreatorInfo = "creator_info"

// Effects of a missing permission, for RequiredScope.
const (
	CannotPublish   = "posts cannot be published"
	MetricsMissing  = "metrics are missing"
	CommentsMissing = "first comments cannot be published"
	CannotConnect   = "accounts cannot be found"
)

// UsageFinding returns the finding for a usage limit. The result is CheckFailed if the limit is used up. If total is 0,
// the limit is unknown.
func UsageFinding(subject string, used, total int) Finding {
	finding := Finding{Subject: subject, Result: CheckPassed, Detail: fmt.Sprintf("%d of %d used", used, total)}
	switch {
	case total <= 0:
		finding.Detail = fmt.Sprintf("%d used", used)
	case used >= total:
		finding.Result, finding.NextStep = CheckFailed, "Wait until the limit is reset."
	}
	return finding
}
