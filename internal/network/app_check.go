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

// AppChecker is a network that can check what the operator's apps are allowed to do. The requests publish nothing, but
// may start an upload that is never used.
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
	Detail   string // for people; may quote the network
	NextStep string // what the operator has to do; empty if nothing
	Expired  bool   // the access token was rejected; a refreshed token may work

	Creator *Creator // set if Subject is CreatorInfo
}

// Creator has the settings of an account that limit a post's options.
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

// Next steps that apply to all networks.
const (
	reconnect  = "Connect the account again, and allow everything."
	retryLater = "Run the check again later."

	compareApp = "Compare the app's ID and secret with the network's developer console."
)

// CallFinding returns the finding for a call: CheckPassed if err is nil.
func CallFinding(platform, subject string, err error) Finding {
	if err == nil {
		return Finding{Subject: subject, Result: CheckPassed}
	}
	found := Finding{Subject: subject, Result: CheckFailed, Detail: err.Error()}
	rejected, ok := errors.AsType[*Error](err)
	if !ok {
		found.Result, found.NextStep = CheckUnclear, retryLater
		return found
	}
	found.Detail = cmp.Or(rejected.Message, rejected.Code, "The network did not answer.")
	if rejected.Message != "" && rejected.Code != "" {
		found.Detail = rejected.Code + ": " + rejected.Message
	}
	switch rejected.Class {
	case ReconnectRequired, RefreshRequired:
		found.NextStep, found.Expired = reconnect, rejected.Class == RefreshRequired
		if step := nextSteps[platform][rejected.Code]; rejected.Code != "" && step != "" {
			found.NextStep = step
		}
	case QuotaExceeded:
		found.NextStep = cmp.Or(nextSteps[platform][rejected.Code], "Wait until the limit ends.")
	case AppNotApproved:
		found.NextStep = NextStep(platform, rejected.Code)
	case RateLimited, Transient, OutcomeUnknown, Processing, HostBlocked:
		found.Result, found.NextStep = CheckUnclear, retryLater
	case Rejected, RejectedMedia, Duplicate:
		found.NextStep = NextStep(platform, "")
	}
	return found
}

// CredentialsFinding returns the finding for a token request with the app's ID and secret and an invalid token. A
// network rejects the token only after it has accepted the app's credentials.
func CredentialsFinding(platform, app string, err error) Finding {
	found := CallFinding(platform, strings.TrimSpace(app+" client ID and secret"), err)
	rejected, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
	// RFC 6749, section 5.2
	case rejected.Status == http.StatusUnauthorized, rejected.Code == "invalid_client", rejected.Code == "unauthorized_client":
		found.Result, found.NextStep = CheckFailed, compareApp
	case rejected.Class == ReconnectRequired:
		return Finding{Subject: found.Subject, Result: CheckPassed}
	}
	return found
}

// RequiredScope is a permission and the effect of its absence.
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
		found := Finding{Subject: "permission " + scope.Scope, Result: CheckPassed}
		if !slices.Contains(granted, scope.Scope) {
			found.Result, found.Detail = CheckFailed, "Not granted: "+scope.Effect+"."
			found.NextStep = "Give the app the permission in the network's developer console. " + reconnect
		}
		out = append(out, found)
	}
	return out
}

// CreatorInfo is the subject of the finding for an account's own settings.
const CreatorInfo = "creator_info"

// Effects of a missing permission, for RequiredScope.
const (
	CannotPublish   = "posts cannot be published"
	MetricsMissing  = "metrics are missing"
	CommentsMissing = "first comments cannot be published"
	CannotConnect   = "accounts cannot be found"
)

// UsageFinding returns the finding for a usage limit: CheckFailed if the limit is used up. A total of 0 means that the
// limit is unknown.
func UsageFinding(subject string, used, total int) Finding {
	found := Finding{Subject: subject, Result: CheckPassed, Detail: fmt.Sprintf("%d of %d used", used, total)}
	switch {
	case total <= 0:
		found.Detail = fmt.Sprintf("%d used", used)
	case used >= total:
		found.Result, found.NextStep = CheckFailed, "Wait until the limit ends."
	}
	return found
}
