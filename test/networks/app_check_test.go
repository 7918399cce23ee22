package networks

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// TestAppCheck checks the app of every network, also with expired access tokens. Three networks then reject posts
// because of the app, which the check can detect only from a failed post.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		w.checkApps(nil)
		w.clock.Advance(3 * time.Hour)
		w.checkApps(nil)
		for _, platform := range []string{"pinterest", "tiktok", "x"} {
			w.outcome(w.publish(w.draft(platform, usual, w.caption("refused", platform, "[sandbox:unapproved]"), w.least(platform))))
		}
		w.checkApps(map[string]string{"pinterest": "Request Standard access", "tiktok": "Apply for the audit", "x": "Buy credit"})
		w.outcome(w.publish(w.draft("pinterest", usual, w.caption("accepted", "pinterest", ""), w.least("pinterest"))))
		w.checkApps(map[string]string{"tiktok": "Apply for the audit", "x": "Buy credit"})
	})
}

// TestCheckRejectedCreator checks an account for which TikTok accepts no posts today.
func TestCheckRejectedCreator(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		w.connect("tiktok", "busy.bistro", url.Values{"platform": {"tiktok"}})
		found := must.Get(w.node.Apps.Check(t.Context()))(t)
		rejected := slices.ContainsFunc(found, func(f appcheck.Finding) bool {
			return f.Subject == network.CreatorInfo && f.Account == "busy.bistro" && f.Result == network.CheckFailed &&
				strings.Contains(f.Detail, "spam_risk_too_many_posts")
		})
		if !rejected {
			t.Errorf("%+v", found)
		}
	})
}

// checkApps checks that only the given networks fail, with the given text in the next step, and that nothing is
// published.
func (w *env) checkApps(fails map[string]string) {
	w.t.Helper()
	before, _ := w.postsOn("", "")
	found := must.Get(w.node.Apps.Check(w.t.Context()))(w.t)
	if after, _ := w.postsOn("", ""); after != before {
		w.t.Errorf("the check published %d posts", after-before)
	}
	checked := map[string]bool{}
	for _, f := range found {
		if f.Account != "" {
			checked[f.Network] = true
		}
		next, want := fails[f.Network]
		if f.Result == "fails" && (!want || f.Subject != "last post" || !strings.Contains(f.NextStep, next)) {
			w.t.Errorf("%+v", f)
		}
		if strings.Contains(fmt.Sprint(f), "sandbox-secret") {
			w.t.Errorf("the finding contains a secret: %+v", f)
		}
	}
	if n := appcheck.CountFailures(found); n != len(fails) || len(checked) != len(w.networks) {
		w.t.Errorf("%d failures, %d networks with an account", n, len(checked))
	}
}
