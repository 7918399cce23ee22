// Package appcheck asks the configured networks what the operator's apps are allowed to do, and suggests next steps.
package appcheck

import (
	"context"
	"slices"
	"sync"
	"time"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

const (
	timeout       = 25 * time.Second // timeout of the whole check
	expiryMargin  = time.Minute      // remaining lifetime of an access token below which it is renewed first
	maxCandidates = 20               // number of a network's newest accounts that grants considers
)

// Finding is the result of one check.
type Finding struct {
	Network  string              `json:"network"`
	Account  string              `json:"account"` // username; empty for the app itself
	Subject  string              `json:"subject"`
	Result   network.CheckResult `json:"result"`
	Detail   string              `json:"detail"` // single line of plain text; may quote the network
	NextStep string              `json:"next_step"`
}

// Accounts provides the connected accounts.
type Accounts interface {
	Platforms() []string
	Network(platform string) (network.Network, error)
	Newest(ctx context.Context, platform string, limit int) ([]account.Account, error)
	Grant(ctx context.Context, account int64) (account.Grant, error)
	Refresh(ctx context.Context, account int64, stale account.Grant) (account.Grant, error)
}

// Deliveries provides, for each network, the result of the last post that was either published or rejected because of
// the operator's app.
type Deliveries interface {
	AppVerdicts(ctx context.Context) (map[string]delivery.AppVerdict, error)
}

// Service checks apps. It does not publish anything, but it renews expired access tokens and may start uploads that are
// never used.
type Service struct {
	Accounts   Accounts
	Deliveries Deliveries
	Now        func() time.Time

	creators creatorCache
}

// Check checks all networks concurrently and returns the findings, sorted by network. It returns within 30 seconds.
func (s *Service) Check(ctx context.Context) ([]Finding, error) {
	verdicts, err := s.Deliveries.AppVerdicts(ctx)
	if err != nil {
		return nil, err
	}
	checkCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	platforms := s.Accounts.Platforms()
	findings := make([][]Finding, len(platforms))
	errs := make([]error, len(platforms))
	var wg sync.WaitGroup
	for i, platform := range platforms {
		wg.Go(func() { findings[i], errs[i] = s.checkNetwork(checkCtx, platform) })
	}
	wg.Wait()
	out := []Finding{}
	for i, platform := range platforms {
		if errs[i] != nil {
			return nil, errs[i]
		}
		if v, ok := verdicts[platform]; ok {
			findings[i] = append(findings[i], lastPostFinding(platform, v, s.DefaultOptions(platform)))
		}
		out = append(out, findings[i]...)
	}
	return out, nil
}

// CountFailures returns the number of findings with the result CheckFailed.
func CountFailures(findings []Finding) int {
	n := 0
	for _, f := range findings {
		if f.Result == network.CheckFailed {
			n++
		}
	}
	return n
}

func (s *Service) checkNetwork(ctx context.Context, platform string) ([]Finding, error) {
	n, err := s.Accounts.Network(platform)
	if err != nil {
		return nil, err
	}
	checker, ok := n.(network.AppChecker)
	if !ok {
		return nil, nil
	}
	out := newFindings(platform, "", checker.CheckApp(ctx))
	grants, err := s.grants(ctx, platform)
	if err != nil {
		return nil, err
	}
	if len(grants) == 0 {
		out = append(out, Finding{
			Network: platform, Subject: "accounts", Result: network.CheckUnclear, Detail: "No account is connected.",
			NextStep: "Connect an account, then run the check again: permissions belong to accounts.",
		})
	}
	for _, g := range grants {
		out = append(out, newFindings(platform, g.Username, s.checkAccount(ctx, checker, g))...)
	}
	return out, nil
}

// checkAccount checks an account. It renews the access token once if it has expired or the network reports it as
// expired.
func (s *Service) checkAccount(ctx context.Context, checker network.AppChecker, g accountGrant) []network.Finding {
	expired := !g.Expires.IsZero() && s.Now().Add(expiryMargin).After(g.Expires)
	var findings []network.Finding
	if !expired {
		findings = checker.CheckAccount(ctx, g.Grant.Grant)
		expired = slices.ContainsFunc(findings, func(f network.Finding) bool { return f.Expired })
	}
	if !expired {
		return findings
	}
	renewed, err := s.Accounts.Refresh(ctx, g.account, g.Grant)
	if err != nil {
		return []network.Finding{network.CallFinding(checker.Platform(), "access token", err)}
	}
	return checker.CheckAccount(ctx, renewed.Grant)
}

// accountGrant is a grant with the ID of its account.
type accountGrant struct {
	account.Grant

	account int64
}

// grants returns one grant of each kind from the newest accounts, because each kind has its own app or permissions.
func (s *Service) grants(ctx context.Context, platform string) ([]accountGrant, error) {
	accounts, err := s.Accounts.Newest(ctx, platform, maxCandidates)
	if err != nil {
		return nil, err
	}
	var out []accountGrant
	seen := map[string]bool{}
	for _, a := range accounts {
		g, err := s.Accounts.Grant(ctx, a.ID)
		if err != nil {
			return nil, err
		}
		if kind := g.Kind + "/" + g.Extra["app"]; !seen[kind] {
			seen[kind] = true
			out = append(out, accountGrant{g, a.ID})
		}
	}
	return out, nil
}

func newFindings(platform, account string, findings []network.Finding) []Finding {
	var out []Finding
	for _, f := range findings {
		out = append(out, Finding{
			Network: platform, Account: plaintext.Line(account), Subject: f.Subject, Result: f.Result,
			Detail: plaintext.Line(f.Detail), NextStep: f.NextStep,
		})
	}
	return out
}

// lastPostFinding returns a finding about the app, based on the result of the last post. Some approvals, such as
// TikTok's and YouTube's audits and Pinterest's Standard access, can be checked only by publishing. A post that needs
// no approval proves nothing. defaults are the network's options for posts that do not set any.
func lastPostFinding(platform string, v delivery.AppVerdict, defaults network.Options) Finding {
	out := Finding{
		Network: platform, Subject: "last post", Result: network.CheckPassed,
		Detail: "Published at " + v.At.UTC().Format(time.RFC3339) + ".",
	}
	if !v.Accepted {
		rejected := &network.Error{Class: network.AppNotApproved, Code: v.NetworkCode, Message: v.NetworkText}
		finding := network.CallFinding(platform, out.Subject, rejected)
		out.Result, out.NextStep = network.CheckFailed, finding.NextStep
		out.Detail = "Rejected at " + v.At.UTC().Format(time.RFC3339) + ", because of the app: " + plaintext.Line(finding.Detail)
		return out
	}
	if reason, code := missingAuditReason(platform, v.Options, defaults); reason != "" {
		out.Result, out.NextStep = network.CheckUnclear, network.NextStep(platform, code)
		out.Detail += " " + reason
	}
	return out
}

// missingAuditReason returns the reason why a published post does not prove that the app has passed the network's
// audit, and the network's code for a missing audit. The reason is empty if the post proves the audit, or if the
// network has no audit.
func missingAuditReason(platform string, o, defaults network.Options) (string, string) {
	const tikTokAudit, youTubeAudit = "unaudited_client_can_only_post_to_private_accounts", "privacyStatus"
	switch {
	case platform == "tiktok" && (o.TikTok == nil || o.TikTok.Mode == network.TikTokInbox): // without options, the operator's mode is inbox
		return "It went to the account's inbox, which needs no audit. Without the audit, direct posts are private.", tikTokAudit
	case platform == "tiktok" && o.TikTok.PrivacyLevel == "SELF_ONLY":
		return "Only the account itself can see it, which needs no audit.", tikTokAudit
	case platform == "youtube" && youTubePrivacy(o, defaults) == "private":
		return "It is private, which needs no audit.", youTubeAudit
	}
	return "", ""
}

// youTubePrivacy returns the privacy status of a video, or "" if it is not known.
func youTubePrivacy(o, defaults network.Options) string {
	for _, y := range []*network.YouTubeOptions{o.YouTube, defaults.YouTube} {
		if y != nil && y.PrivacyStatus != "" {
			return y.PrivacyStatus
		}
	}
	return ""
}
