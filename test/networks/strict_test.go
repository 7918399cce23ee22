package networks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// withStrictApps uses the apps of pressroom sandbox --settings --strict.
func withStrictApps(t *testing.T) func(*server.Config) {
	return func(cfg *server.Config) {
		address := strings.TrimSuffix(cfg.BlueskyServers[0], "/bluesky")
		must.NoError(t, json.Unmarshal([]byte(server.StrictSandboxSettings(address)), &cfg.Networks.ByPlatform))
	}
}

// private has the options that networks require of an app without an audit.
var private = map[string]any{
	"tiktok":  map[string]any{"privacy_level": "SELF_ONLY", "music_usage_confirmed": true},
	"youtube": map[string]any{"privacy_status": "private", "title": "A private film"},
}

// public has options that need an audit.
var public = map[string]any{
	"tiktok":  map[string]any{"privacy_level": "PUBLIC_TO_EVERYONE", "music_usage_confirmed": true},
	"youtube": map[string]any{"privacy_status": "public"},
}

// TestStrictApps follows the guides in docs/networks with apps that lack approvals. It connects an account, publishes
// text, an image and a video, if the network supports them, and reads the metrics.
func TestStrictApps(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnvAs(t, database, server.RoleAll, 300*time.Millisecond, withStrictApps(t))
		w.accounts["tiktok"][usual] = w.connect("tiktok", "atelier.blau", url.Values{"platform": {"tiktok"}}) // a private account
		for _, platform := range w.networks {
			for name, media := range map[string][]int64{"text": nil, "image": w.images[:1], "video": {w.video}} {
				s := w.draft(platform, usual, w.caption(name, platform, ""), media)
				options := map[string]any{"options": private}
				if got := w.call(http.MethodPatch, "/posts/"+s.id, options); got.Status != http.StatusOK {
					t.Fatalf("%s: %d %s", platform, got.Status, got.Code())
				}
				want := once
				switch {
				case platform == "pinterest" && name != "text":
					want = "fails: `app_not_approved`"
				case name == "text" && w.least(platform) != nil:
					want = "not sent: `media_missing`"
				case platform == "youtube" && name == "image":
					want = "not sent: `media_type`"
				}
				if got := w.outcome(w.publish(s)); got != want {
					t.Errorf("%s of %s: %s, want %s", name, platform, got, want)
				}
			}
		}
		w.clock.Advance(20 * time.Hour) // posts get reactions, also those with few viewers
		for _, platform := range w.networks {
			w.readFigures(platform, usual, withoutMetrics[platform])
		}
		w.checkSecondMethod("linkedin")
		w.checkSecondMethod("instagram")
		w.checkUnapproved("tiktok", "a public post", public)
		w.checkUnapproved("tiktok", "a post of a public account", private)
		w.checkUnapproved("youtube", "a public post", public)
		w.checkApps(map[string]string{
			"pinterest": "Request Standard access", "tiktok": "Apply for the audit", "youtube": "Apply for YouTube's audit",
		})
		w.checkReviews()
		for _, platform := range []string{"facebook", "instagram", "threads"} {
			w.checkRoles(platform)
		}
	})
}

// checkSecondMethod connects an account with a network's second way to sign in, publishes for it and reads the
// metrics. On LinkedIn, this is the app for companies, while the self-service app connects members. On Instagram, it
// is Facebook login.
func (w *env) checkSecondMethod(platform string) {
	w.t.Helper()
	const second = "second"
	link, _ := w.get("/connect-link?platform=" + platform)["url"].(string)
	w.accounts[platform][second] = must.Get(fixture.ConnectByMethod(w.t.Context(), w.node.Server, w.owner, platform, link, usual, 1))(w.t)
	posts := map[string][]int64{"text": w.least(platform), "image": w.images[:1], "video": {w.video}}
	for name, media := range posts {
		if got := w.outcome(w.publish(w.draft(platform, second, w.caption("second "+name, platform, ""), media))); got != once {
			w.t.Errorf("%s of %s, second method: %s", name, platform, got)
		}
	}
	w.clock.Advance(50 * time.Minute)
	w.readFigures(platform, second, "")
}

// checkUnapproved checks that an app without an audit cannot publish a post with these options for the second person,
// whose TikTok account is public.
func (w *env) checkUnapproved(platform, name string, options map[string]any) {
	w.t.Helper()
	s := w.draft(platform, expendable, w.caption(name, platform, ""), w.least(platform))
	if got := w.call(http.MethodPatch, "/posts/"+s.id, map[string]any{"options": options}); got.Status != http.StatusOK {
		w.t.Fatalf("%s: %d %s", platform, got.Status, got.Code())
	}
	w.awaitJob(w.publish(s))
	accounts, _ := w.get("/posts/" + s.id)["accounts"].([]any)
	if account, _ := accounts[0].(map[string]any); account["error_code"] != "app_not_approved" {
		w.t.Errorf("%s on %s: %v", name, platform, account)
	}
}

// checkRoles checks that only people with a role in the app can connect, and that only these people see the app's
// posts.
func (w *env) checkRoles(platform string) {
	w.t.Helper()
	link, _ := w.get("/connect-link?platform=" + platform)["url"].(string)
	if _, err := fixture.ConnectByConsent(w.t.Context(), w.node.Server, w.owner, platform, link, "studio.north"); err == nil {
		w.t.Errorf("%s: a person without a role connected an account", platform)
	}
	posts := fixture.Posts(w.t, w.box.URL, platform, "")
	for _, p := range posts {
		if p.Audience != "roles" {
			w.t.Errorf("%s: a post of an app in development mode is visible to %q", platform, p.Audience)
		}
	}
	if len(posts) == 0 {
		w.t.Errorf("%s: no posts", platform)
	}
}

// TestAppWithoutCredit connects an account with an app whose credit at X is used up.
func TestAppWithoutCredit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		must.NoError(t, w.node.Stop())
		w.cfg.Networks.ByPlatform["x"] = bytes.Replace(w.cfg.Networks.ByPlatform["x"], []byte(`"sandbox"`), []byte(`"sandbox-unpaid"`), 1)
		w.node = fixture.Serve(t, w.cfg)
		link, _ := w.get("/connect-link?platform=x")["url"].(string)
		_, err := fixture.ConnectByConsent(t.Context(), w.node.Server, w.owner, "x", link, "studio.north")
		rejected, ok := errors.AsType[*network.Error](err)
		if !ok || rejected.Class != network.AppNotApproved || rejected.Status != http.StatusPaymentRequired {
			t.Fatalf("connecting: %v", err)
		}
		if step := network.NextStep("x", rejected.Code); !strings.Contains(step, "Buy credit") {
			t.Error(step)
		}
	})
}

// TestAppWithoutDomain publishes photos with a TikTok app that has not verified the domain of the photos' URLs.
func TestAppWithoutDomain(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		must.NoError(t, w.node.Stop())
		w.cfg.Networks.ByPlatform["tiktok"] = bytes.Replace(w.cfg.Networks.ByPlatform["tiktok"],
			[]byte(`"sandbox"`), []byte(`"sandbox-unverified-domain"`), 1)
		w.node = fixture.Serve(t, w.cfg)
		w.accounts["tiktok"][usual] = w.connect("tiktok", usual, url.Values{"platform": {"tiktok"}})
		s := w.draft("tiktok", usual, w.caption("photo", "tiktok", ""), w.images[:1])
		if got := w.outcome(w.publish(s)); got != "fails: `app_not_approved`" {
			t.Errorf("a photo: %s", got)
		}
		w.checkApps(map[string]string{"tiktok": "Verify the domain"})
	})
}

// checkReviews checks that the app check reports the missing review of Facebook's and Instagram's apps.
func (w *env) checkReviews() {
	w.t.Helper()
	missing := map[string]bool{}
	for _, f := range must.Get(w.node.Apps.Check(w.t.Context()))(w.t) {
		if f.Subject == "App Review" && f.Result == network.CheckUnclear && strings.Contains(f.NextStep,
			"Complete App Review") {
			missing[f.Network] = true
		}
	}
	if !missing["facebook"] || !missing["instagram"] {
		w.t.Errorf("App Review is missing for %v", missing)
	}
}

// TestStrictAppsInGuide checks that the sandbox knows each unapproved app that docs/networks.md lists.
func TestStrictAppsInGuide(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(string(must.Get(os.ReadFile("../../docs/networks.md"))(t)), "| ending of `client_id` |")
	if !found {
		t.Fatal("the guide has no table of strict apps")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	var sources strings.Builder
	must.NoError(t, filepath.WalkDir("../../internal/sandbox", func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			sources.Write(must.Get(os.ReadFile(path))(t))
		}
		return err
	}))
	endings := regexp.MustCompile("`(-[a-z-]+)`").FindAllStringSubmatch(table, -1)
	if len(endings) < 8 {
		t.Errorf("%d endings", len(endings))
	}
	for _, ending := range endings {
		if !strings.Contains(sources.String(), `"`+ending[1]+`"`) {
			t.Errorf("the sandbox does not know %s", ending[1])
		}
	}
}

// withoutMetrics has the networks that return no metrics for posts of unapproved apps.
var withoutMetrics = map[string]string{
	"linkedin":  "an app cannot list a member's posts without r_member_social",
	"pinterest": "an app with Trial access creates no Pins",
	"tiktok":    "an app without the audit publishes only SELF_ONLY, and TikTok lists only public videos",
	"youtube":   "an app without the audit publishes only private videos, which have no metrics",
}

// readFigures reads the metrics of an account's posts. If reason is set, the metrics must be absent for that reason.
func (w *env) readFigures(platform, person, reason string) {
	w.t.Helper()
	n, ok := must.Get(w.node.Accounts.Network(platform))(w.t).(network.Collector)
	if !ok {
		w.t.Errorf("%s has no metrics", platform)
		return
	}
	g := must.Get(w.node.Accounts.Grant(w.t.Context(), w.accounts[platform][person]))(w.t)
	found, err := n.Collect(w.t.Context(), g.Grant, w.clock.Now().Add(-24*time.Hour), 50)
	if expired, ok := errors.AsType[*network.Error](err); ok && expired.Class == network.RefreshRequired {
		g = must.Get(w.node.Accounts.Refresh(w.t.Context(), w.accounts[platform][person], g))(w.t)
		found, err = n.Collect(w.t.Context(), g.Grant, w.clock.Now().Add(-24*time.Hour), 50)
	}
	if reason != "" {
		rejected, _ := errors.AsType[*network.Error](err)
		lacksScope := rejected != nil && rejected.Class == network.AppNotApproved && strings.Contains(reason, rejected.Code)
		if err != nil && !lacksScope || len(found.Posts) > 0 || found.Followers == nil && platform != "linkedin" {
			w.t.Errorf("metrics of %s: %d posts, %v, although %s", platform, len(found.Posts), err, reason)
		}
		return
	}
	if err != nil || len(found.Posts) == 0 {
		w.t.Errorf("metrics of %s: %d posts, %v", platform, len(found.Posts), err)
	}
	for _, p := range found.Posts {
		reactions := int64(0)
		for _, count := range []*int64{p.Reach, p.Views, p.Likes, p.Comments, p.Shares} {
			if count != nil {
				reactions += *count
			}
		}
		if p.Likes == nil || reactions == 0 {
			w.t.Errorf("metrics of %q on %s: %d reactions", p.Text, platform, reactions)
		}
	}
}
