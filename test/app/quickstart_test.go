package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"regexp"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit/must"
)

// openQuickstart starts the quickstart, which runs until the test ends.
func openQuickstart(t *testing.T) (*env, server.Greeting) {
	t.Helper()
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	root := "http://" + listener.Addr().String()
	q := must.Get(server.OpenQuickstart(t.Context(), t.TempDir(), server.Config{
		PublicURL: root, Workers: 1, Log: slog.New(slog.DiscardHandler),
	}))(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		must.NoError(t, <-ended)
		must.NoError(t, q.Close())
	})
	must.NoError(t, q.AddSamples(t.Context()))
	return &env{Server: q.Server, root: root}, q.Greeting
}

// The demo team has published in each of the four weeks before the first start, on every network that needs no video.
func TestQuickstartHistory(t *testing.T) {
	t.Parallel()
	before := time.Now()
	_, greeting := openQuickstart(t)
	var list struct {
		Data struct {
			Posts []struct {
				PublishedAt struct{ UTC time.Time } `json:"published_at"`
				Accounts    []struct{ Platform string }
			}
		}
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet,
		greeting.BaseURL+"/posts?status=published&limit=50", http.NoBody))(t)
	request.Header.Set("Authorization", "Bearer "+greeting.Keys["read_only"])
	answer := must.Get(http.DefaultClient.Do(request))(t)
	must.NoError(t, json.NewDecoder(answer.Body).Decode(&list))
	must.NoError(t, answer.Body.Close())
	weeks, platforms := map[int]bool{}, map[string]bool{}
	for _, p := range list.Data.Posts {
		age := before.Sub(p.PublishedAt.UTC)
		if age <= 0 {
			t.Errorf("a post was published at %v, after the start", p.PublishedAt.UTC)
		}
		weeks[int(age/(7*24*time.Hour))] = true
		for _, a := range p.Accounts {
			platforms[a.Platform] = true
		}
	}
	if len(weeks) != 4 || len(platforms) != 7 {
		t.Errorf("posts in the weeks %v on %v, want 4 weeks and 7 networks", weeks, platforms)
	}
}

// The demo team's reports show the followers and the engagement of earlier weeks.
func TestQuickstartReports(t *testing.T) {
	t.Parallel()
	h, greeting := openQuickstart(t)
	for platform, subject := range map[string]string{"tiktok": "quay.roasters", "instagram": "north.cafe"} {
		known := must.Get(h.Reports.Preview(t.Context(), greeting.Team.ID,
			report.CreateInput{Type: report.Profile, Platform: platform, Subject: subject}))(t)
		sizes := must.Get(h.Reports.Trends(t.Context(), greeting.Team.ID, []string{known.ID}))(t)[known.ID]
		if len(sizes) != 7 {
			t.Fatalf("%s: %d measurements", subject, len(sizes))
		}
		for i, size := range sizes {
			if size.Followers <= 0 || size.Engagement == nil || (*size.Engagement == *sizes[6].Engagement) != (i == 6) {
				t.Errorf("%s: measurement %d: %+v", subject, i, size)
			}
		}
	}
}

var signInShown = regexp.MustCompile(`handle <code>([^<]+)</code> and the app password <code>([^<]+)</code>`)

// In the quickstart, the page that connects Bluesky shows the handle and app password of a new sandbox account.
func TestQuickstartConnectsBluesky(t *testing.T) {
	t.Parallel()
	h, greeting := openQuickstart(t)
	b := h.browser(t)
	b.open("/sign-in").form("Sign in").fill("email", greeting.Owner.Email).
		fill("password", greeting.Owner.Password).press().shows(http.StatusOK)
	page := b.open("/accounts").form("Bluesky Profiles").press().
		shows(http.StatusOK, "sandbox").contains(`value="` + greeting.SandboxURL + `/bluesky"`)
	shown := signInShown.FindStringSubmatch(page.source)
	if shown == nil {
		t.Fatalf("no handle and app password in %s", page.source)
	}
	page.form("Connect").fill("identifier", shown[1]).fill("password", shown[2]).press().
		shows(http.StatusOK, shown[1], "You can publish to it")
}

// Outside the quickstart, the page names Bluesky's server and no sandbox.
func TestConnectBlueskyHasNoSandbox(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		h.crew(t).as(t, access.Owner).open("/accounts").form("Bluesky Profiles").press().
			shows(http.StatusOK, "App password").
			contains(`value="https://bsky.social"`).lacks("sandbox")
	})
}
