package networks

import (
	"encoding/json"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// strictApps maps a network to the text in the sandbox's settings that is replaced for an app without approvals.
var strictApps = map[string][2]string{
	"facebook":  {`"client_id": "sandbox"`, `"client_id": "sandbox-require-app-secret"`},
	"linkedin":  {`"client_id": "sandbox"`, `"company": {"client_id": "sandbox-community-management"}`},
	"pinterest": {`"client_id": "sandbox"`, `"client_id": "sandbox-trial"`},
	"tiktok":    {`"client_id": "sandbox"`, `"client_id": "sandbox-unaudited"`},
	"youtube":   {`"client_id": "sandbox"`, `"client_id": "sandbox-unaudited"`},
}

func withStrictApps(cfg *server.Config) {
	for platform, change := range strictApps {
		changed := strings.Replace(string(cfg.Networks.ByPlatform[platform]), change[0], change[1], 1)
		cfg.Networks.ByPlatform[platform] = json.RawMessage(changed)
	}
}

// private has the options that networks require of an app without an audit.
var private = map[string]any{
	"tiktok":  map[string]any{"privacy_level": "SELF_ONLY", "music_usage_confirmed": true},
	"youtube": map[string]any{"privacy_status": "private", "title": "A private film"},
}

// TestStrictApps follows the guides in docs/networks with apps that lack approvals. It connects an account, publishes text,
// an image and a video, if the network supports them, and reads the metrics.
func TestStrictApps(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnvAs(t, database, server.RoleAll, 300*time.Millisecond, withStrictApps)
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
			w.readFigures(platform)
		}
		for _, platform := range []string{"tiktok", "youtube"} { // an audience that needs the audit
			s := w.publish(w.draft(platform, usual, w.caption("public", platform, ""), w.least(platform)))
			w.awaitJob(s)
			accounts, _ := w.get("/posts/" + s.id)["accounts"].([]any)
			if account, _ := accounts[0].(map[string]any); account["error_code"] != "app_not_approved" {
				t.Errorf("a public post on %s: %v", platform, account)
			}
		}
	})
}

// TestStrictAppsInGuide checks that the sandbox knows each app without approvals that docs/networks.md lists.
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

// readFigures reads the metrics of an account's posts. Networks do not list posts that only the account can see.
func (w *env) readFigures(platform string) {
	w.t.Helper()
	n, ok := must.Get(w.node.Accounts.Network(platform))(w.t).(network.Collector)
	if !ok {
		w.t.Errorf("%s has no metrics", platform)
		return
	}
	g := must.Get(w.node.Accounts.Grant(w.t.Context(), w.accounts[platform][usual]))(w.t)
	found, err := n.Collect(w.t.Context(), g.Grant, w.clock.Now().Add(-24*time.Hour), 50)
	listed := platform != "pinterest" && platform != "youtube" && platform != "tiktok"
	if err != nil || listed && len(found.Posts) == 0 {
		w.t.Errorf("metrics of %s: %d posts, %v", platform, len(found.Posts), err)
	}
}
