package tiktok_test

import (
	"net/http"
	"testing"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/network/tiktok"
)

// CheckAccount reports the account's settings from creator_info.
func TestAppCheck(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	networktest.WantFinding(t, f.CheckAccount(f.Connect("", "mira.keller")), network.CheckPassed,
		"creator_info: Audiences: Everyone, Friends, Only me. Longest video: 10 minutes.",
		"Turned off: duets, stitches")
	g := f.Grant()
	g.Scopes = []string{scopeInTest}
	networktest.WantFinding(t, f.CheckAccount(g), network.CheckFailed, "permission video.list", "metrics are missing")
}

// CheckAccount reports the missing scope of inbox mode if the app requests it, or posts go to the inbox by default.
func TestAppCheckOfInbox(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	old := f.Grant()
	if bad := networktest.Findings(f.CheckAccount(old), network.CheckFailed); len(bad) > 0 {
		t.Errorf("failures: %q", bad)
	}
	f.Scopes(append([]string{"video.upload"}, defaultScopes...)...)
	const subject, effect = "permission video.upload", "posts cannot be sent to the account's inbox"
	networktest.WantFinding(t, f.CheckAccount(old), network.CheckFailed, subject, effect, "Connect the account again")
	networktest.WantFinding(t, f.CheckAccount(f.Grant()), network.CheckPassed, subject)

	opts := tiktok.Options{Defaults: network.TikTokOptions{Mode: network.TikTokInbox}}
	opts.HTTP = &http.Client{Transport: f.Transport}
	networktest.WantFinding(t, tiktok.New(opts).CheckAccount(t.Context(), old), network.CheckFailed, subject, effect)
}

const scopeInTest = "video.publish"

// An unaudited app can only publish posts that nobody else can see, and only for private accounts.
func TestUnauditedApp(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter.WithApp("-unaudited"), 0)
	open, private := f.Grant(), f.Connect("", "atelier.blau")
	publish := func(g network.Grant, level string, m network.Media) error {
		content := network.Content{Text: level, Media: []network.Media{m}, Options: tiktokOptions(network.TikTokOptions{
			PrivacyLevel: level, MusicUsageConfirmed: true,
		})}
		d, err := f.Network().Plan(network.Submission{
			Seed: level + m.Kind + g.Username, FirstSubmittedAt: f.Clock.Now(), At: f.Clock.Now(), Content: content,
		})
		if err != nil {
			t.Fatal(err)
		}
		if d, err = f.Prepare(g, d); err == nil {
			_, err = f.Commit(g, d)
		}
		return err
	}
	for _, m := range []network.Media{f.Library.Video(2 * chunk), f.Library.Image("jpeg", 40, 30)} {
		for _, level := range []string{"PUBLIC_TO_EVERYONE", "SELF_ONLY"} {
			if class := networktest.Class(publish(open, level, m)); class != network.AppNotApproved {
				t.Errorf("a %s of a public account with %s: %s", m.Kind, level, class)
			}
		}
		if class := networktest.Class(publish(private, "SELF_ONLY", m)); class != "" && class != network.Processing {
			t.Errorf("a private %s: %s", m.Kind, class)
		}
	}
	if posts := f.Posts(); len(posts) != 2 {
		t.Errorf("posts %+v", posts)
	}
}
