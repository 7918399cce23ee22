package appcheck_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit/must"
)

var now = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// checkableNetwork is a network with configurable findings.
type checkableNetwork struct {
	network.Network

	platform  string
	app       []network.Finding
	onAccount func(network.Grant) []network.Finding
	requests  []string // access tokens of the checked accounts
}

func (c *checkableNetwork) Platform() string { return c.platform }

func (c *checkableNetwork) CheckApp(context.Context) []network.Finding { return c.app }

func (c *checkableNetwork) CheckAccount(ctx context.Context, g network.Grant) []network.Finding {
	c.requests = append(c.requests, g.AccessToken)
	if g.AccessToken == "hangs" {
		<-ctx.Done()
		return []network.Finding{network.CallFinding(c.platform, "access token", ctx.Err())}
	}
	return c.onAccount(g)
}

// uncheckableNetwork is a network without app checks.
type uncheckableNetwork struct{ network.Network }

// accounts implements appcheck.Accounts.
type accounts struct {
	networks map[string]network.Network
	order    []string
	grants   map[int64]account.Grant
	ids      []int64
	renewed  error
}

func (a *accounts) Platforms() []string { return a.order }

func (a *accounts) Network(platform string) (network.Network, error) {
	return a.networks[platform], nil
}

func (a *accounts) Newest(_ context.Context, platform string, _ int) ([]account.Account, error) {
	var out []account.Account
	for _, id := range a.ids {
		if a.grants[id].Platform == platform {
			out = append(out, account.Account{ID: id})
		}
	}
	return out, nil
}

func (a *accounts) Grant(_ context.Context, id int64) (account.Grant, error) {
	return a.grants[id], nil
}

func (a *accounts) Refresh(_ context.Context, _ int64, stale account.Grant) (account.Grant, error) {
	stale.AccessToken = "fresh"
	return stale, a.renewed
}

// verdicts implements appcheck.Deliveries.
type verdicts map[string]delivery.AppVerdict

func (v verdicts) AppVerdicts(context.Context) (map[string]delivery.AppVerdict, error) { return v, nil }

func grant(platform string, g network.Grant) account.Grant {
	return account.Grant{Platform: platform, Grant: g}
}

// newSingleAccount returns a network and its accounts, with one account.
func newSingleAccount(g network.Grant, onAccount func(network.Grant) []network.Finding) (*checkableNetwork, *accounts) {
	c := &checkableNetwork{platform: "threads", onAccount: onAccount}
	return c, &accounts{
		networks: map[string]network.Network{"threads": c}, order: []string{"threads"}, ids: []int64{1},
		grants: map[int64]account.Grant{1: grant("threads", g)},
	}
}

func service(a *accounts, v verdicts) *appcheck.Service {
	return &appcheck.Service{Accounts: a, Deliveries: v, Now: func() time.Time { return now }}
}

func works(network.Grant) []network.Finding {
	return []network.Finding{{Subject: "access token", Result: network.CheckPassed}}
}

// Check returns the findings of the app, of the newest account of each kind, and of the last post.
func TestCheck(t *testing.T) {
	t.Parallel()
	tiktok := &checkableNetwork{
		platform: "tiktok", app: []network.Finding{{Subject: "client key and secret", Result: network.CheckPassed}},
		onAccount: func(g network.Grant) []network.Finding {
			return []network.Finding{{
				Subject: "permission video.list", Result: network.CheckFailed, Detail: "no\n" + g.AccessToken,
				NextStep: "Connect",
			}}
		},
	}
	bare := &checkableNetwork{platform: "x", app: []network.Finding{{Subject: "client ID and secret",
		Result: network.CheckPassed}}}
	a := &accounts{
		networks: map[string]network.Network{"tiktok": tiktok, "x": bare, "other": uncheckableNetwork{}},
		order:    []string{"tiktok", "x", "other"}, ids: []int64{4, 3, 2},
		grants: map[int64]account.Grant{
			4: grant("tiktok", network.Grant{Username: "new\x1b", AccessToken: "4"}),
			3: grant("tiktok", network.Grant{Username: "old", AccessToken: "3"}),
			2: grant("tiktok", network.Grant{Username: "shop", AccessToken: "2", Kind: "business"}),
		},
	}
	found := must.Get(service(a, verdicts{
		"tiktok": {At: now, NetworkCode: "url_ownership_unverified", NetworkText: "not\nverified"},
		"x":      {At: now, Accepted: true},
	}).Check(t.Context()))(t)
	want := []appcheck.Finding{
		{Network: "tiktok", Subject: "client key and secret", Result: "works"},
		{Network: "tiktok", Account: "new", Subject: "permission video.list", Result: "fails", Detail: "no 4", NextStep: "Connect"},
		{Network: "tiktok", Account: "shop", Subject: "permission video.list", Result: "fails", Detail: "no 2", NextStep: "Connect"},
		{
			Network: "tiktok", Subject: "last post", Result: "fails",
			Detail:   "Rejected at 2026-11-21T09:30:00Z, because of the app: url_ownership_unverified: not verified",
			NextStep: "Verify the domain of --public-url in TikTok's developer console. TikTok fetches photos from it.",
		},
		{Network: "x", Subject: "client ID and secret", Result: "works"},
		{
			Network: "x", Subject: "accounts", Result: "unclear", Detail: "No account is connected.",
			NextStep: "Connect an account, then run the check again: permissions belong to accounts.",
		},
		{Network: "x", Subject: "last post", Result: "works", Detail: "Published at 2026-11-21T09:30:00Z."},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if n := appcheck.CountFailures(found); n != 3 {
		t.Errorf("%d failures", n)
	}
}

// An access token that has expired, or that the network rejects as expired, is renewed once.
func TestCheckRenewsToken(t *testing.T) {
	t.Parallel()
	old := func(g network.Grant) []network.Finding {
		if g.AccessToken != "fresh" {
			return []network.Finding{{Subject: "access token", Result: network.CheckFailed, Expired: true}}
		}
		return works(g)
	}
	never := func(network.Grant) []network.Finding {
		return []network.Finding{{Subject: "access token", Result: network.CheckFailed, Expired: true}}
	}
	dead := &network.Error{Class: network.ReconnectRequired, Code: "190", Message: "revoked"}
	for name, c := range map[string]struct {
		expires time.Time
		answer  func(network.Grant) []network.Finding
		renewed error
		want    []string
		result  network.CheckResult
	}{
		"valid":              {time.Time{}, works, nil, []string{"given"}, network.CheckPassed},
		"expired":            {now.Add(30 * time.Second), old, nil, []string{"fresh"}, network.CheckPassed},
		"refused":            {now.Add(time.Hour), old, nil, []string{"given", "fresh"}, network.CheckPassed},
		"rejected again":     {now.Add(time.Hour), never, nil, []string{"given", "fresh"}, network.CheckFailed},
		"cannot be renewed":  {now, old, dead, nil, network.CheckFailed},
		"network is offline": {now, old, errors.New("offline"), nil, network.CheckUnclear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, a := newSingleAccount(network.Grant{AccessToken: "given", Expires: c.expires}, c.answer)
			a.renewed = c.renewed
			found := must.Get(service(a, nil).Check(t.Context()))(t)
			if diff := cmp.Diff(c.want, n.requests); diff != "" || len(found) != 1 || found[0].Result != c.result {
				t.Errorf("%+v\n%s", found, diff)
			}
			if c.renewed != nil && (found[0].NextStep == "" || found[0].Detail == "") {
				t.Errorf("%+v", found[0])
			}
		})
	}
}

// defaultingNetwork is a network whose settings have options for posts that set none.
type defaultingNetwork struct {
	*checkableNetwork

	defaults network.Options
}

func (n defaultingNetwork) DefaultOptions() network.Options { return n.defaults }

// A post that needs no audit does not prove that the app has passed the audit.
func TestLastPostWithoutAudit(t *testing.T) {
	t.Parallel()
	none := network.Options{}
	tikTok := func(o network.TikTokOptions) network.Options { return network.Options{TikTok: &o} }
	youTube := func(privacy string) network.Options {
		return network.Options{YouTube: &network.YouTubeOptions{PrivacyStatus: privacy}}
	}
	for name, c := range map[string]struct {
		platform string
		options  network.Options
		result   network.CheckResult
		next     string
		defaults network.Options
	}{
		"inbox":                {"tiktok", tikTok(network.TikTokOptions{Mode: network.TikTokInbox}), network.CheckUnclear, "audit", none},
		"the operator's inbox": {"tiktok", none, network.CheckUnclear, "audit", none},
		"SELF_ONLY":            {"tiktok", tikTok(network.TikTokOptions{PrivacyLevel: "SELF_ONLY"}), network.CheckUnclear, "audit", none},
		"everybody": {"tiktok", tikTok(network.TikTokOptions{PrivacyLevel: "PUBLIC_TO_EVERYONE"}),
			network.CheckPassed, "", none},
		"private":            {"youtube", youTube("private"), network.CheckUnclear, "audit", youTube("public")},
		"public":             {"youtube", none, network.CheckPassed, "", youTube("public")},
		"private by default": {"youtube", none, network.CheckUnclear, "audit", youTube("private")},
		"only a title":       {"youtube", youTube(""), network.CheckUnclear, "audit", youTube("private")},
		"public by choice":   {"youtube", youTube("public"), network.CheckPassed, "", youTube("private")},
		"no audit":           {"x", none, network.CheckPassed, "", none},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &accounts{
				networks: map[string]network.Network{c.platform: defaultingNetwork{&checkableNetwork{platform: c.platform}, c.defaults}},
				order:    []string{c.platform},
			}
			found := must.Get(service(a, verdicts{c.platform: {At: now, Accepted: true, Options: c.options}}).Check(t.Context()))(t)
			last := found[len(found)-1]
			if last.Subject != "last post" || last.Result != c.result || !strings.Contains(last.NextStep, c.next) ||
				c.next == "" && last.NextStep != "" {
				t.Errorf("%+v", last)
			}
		})
	}
}

// If a network does not respond within 30 seconds, the finding is CheckUnclear.
func TestCheckTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, a := newSingleAccount(network.Grant{AccessToken: "hangs"}, nil)
		began := time.Now()
		found := must.Get(service(a, nil).Check(t.Context()))(t)
		if took := time.Since(began); took > 30*time.Second || len(found) != 1 || found[0].Result != network.CheckUnclear ||
			found[0].NextStep == "" {
			t.Errorf("after %v: %+v", took, found)
		}
	})
}

// The settings of an account are read at most once a minute. They are empty for a lost account.
func TestCreatorInfo(t *testing.T) {
	t.Parallel()
	n, a := newSingleAccount(network.Grant{AccessToken: "given"}, func(network.Grant) []network.Finding {
		return []network.Finding{{Subject: network.CreatorInfo, Result: network.CheckPassed, Detail: "Audiences:\nSELF_ONLY",
			Creator: &network.Creator{Audiences: []string{"SELF_ONLY"}, NoDuet: true}}}
	})
	lost := a.grants[1]
	lost.Lost = true
	a.grants[2] = lost
	clock := now
	s := &appcheck.Service{Accounts: a, Now: func() time.Time { return clock }}
	for range 2 {
		if got := s.CreatorInfo(t.Context(), 1); got.Text != "Audiences: SELF_ONLY" || got.Forbids("SELF_ONLY") ||
			got.Forbids("comment") || !got.Forbids("duet") || !got.Forbids("PUBLIC_TO_EVERYONE") {
			t.Errorf("%+v", got)
		}
	}
	clock = clock.Add(2 * time.Minute)
	_ = s.CreatorInfo(t.Context(), 1)
	_, rejecting := newSingleAccount(network.Grant{AccessToken: "given"}, func(network.Grant) []network.Finding {
		return []network.Finding{{Subject: network.CreatorInfo, Result: network.CheckFailed,
			Detail: "reached_active_user_cap: Too\nmany."}}
	})
	rejected := (&appcheck.Service{Accounts: rejecting, Now: time.Now}).CreatorInfo(t.Context(), 1)
	if rejected.Text != "reached_active_user_cap: Too many." || !rejected.Rejected || rejected.Forbids("SELF_ONLY") {
		t.Errorf("a rejection: %+v", rejected)
	}
	if got := s.CreatorInfo(t.Context(), 2); got.Text != "" || len(n.requests) != 2 {
		t.Errorf("%+v after %d requests", got, len(n.requests))
	}
}
