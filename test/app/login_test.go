package app

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apicli"
	"pressroom.example/pressroom/internal/apicli/profile"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// approve approves the command line in the person's browser, which then redirects to it.
func (b *browser) approve(level string) func(string) error {
	return func(address string) error {
		f := b.keepRedirects().open(strings.TrimPrefix(address, b.root)).shows(http.StatusOK, "Command line Authorize the command line",
			"if you have just run pressroom login yourself", "pressroom logout").lacks("ssistant?").form("Allow")
		f.fill("level", level)
		to := f.press().header.Get("Location")
		go func() {
			if resp, err := http.Get(to); err == nil {
				_ = resp.Body.Close()
			}
		}()
		return nil
	}
}

// A person signs in to the command line with the browser. Calls use the profile and renew its tokens, within the
// rights that the person granted.
func TestCommandLineLogin(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		owner := c.as(t, access.Owner)
		folder := filepath.Join(t.TempDir(), "profiles")
		var out, problems bytes.Buffer
		term := apicli.Terminal{Env: func(string) string { return "" }, In: strings.NewReader(""), Out: &out, Err: &problems,
			Profiles: profile.Open(folder)}
		call := func(args ...string) (int, string) {
			t.Helper()
			out.Reset()
			problems.Reset()
			status := apicli.Run(t.Context(), term, args)
			return status, out.String() + problems.String()
		}
		must.NoError(t, apicli.Login(t.Context(), term, apicli.LoginOptions{URL: h.root + "/api/v1/", Open: owner.approve("drafts")}))
		if !strings.Contains(out.String(), "as Ada owner in the team "+c.team.Name+". Profile: default\n") {
			t.Errorf("output: %s", out.String())
		}
		file := must.Get(os.Stat(filepath.Join(folder, "default.json")))(t)
		if file.Mode() != 0o600 {
			t.Errorf("mode %v", file.Mode())
		}
		if status, got := call("posts", "create", "--caption", "Fresh buns", "--account-ids",
			strconv.FormatInt(c.account, 10), "--field", "data.status"); status != 0 || got != "draft\n" {
			t.Fatalf("%d %s", status, got)
		}
		if status, got := call("hashtags", "search", "--query", "buns"); status != apicli.StatusRejected ||
			!strings.Contains(got, "spend_not_allowed") {
			t.Errorf("a paid operation: %d %s", status, got)
		}
		if status, got := call("me", "get", "--url", "https://elsewhere.example"); status != apicli.StatusUsage ||
			!strings.Contains(got, "the profile default is for "+h.root) {
			t.Errorf("another address: %d %s", status, got)
		}

		stored := must.Get(term.Profiles.Get("default"))(t)
		first := *stored.OAuth
		stored.OAuth.Expires = time.Now().Add(30 * time.Second)
		storeProfile(t, term, stored)
		if status, got := call("me", "get", "--field", "data.key.level"); status != 0 || got != "drafts\n" {
			t.Errorf("after the token expired: %d %s", status, got)
		}
		renewed := must.Get(term.Profiles.Get("default"))(t)
		if renewed.OAuth.RefreshToken == first.RefreshToken || renewed.OAuth.AccessToken == first.AccessToken {
			t.Error("the tokens were not renewed")
		}
		bridge := term
		bridge.In = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}` + "\n")
		out.Reset()
		must.NoError(t, apicli.ServeMCP(t.Context(), bridge, apicli.MCPOptions{}))
		if !strings.Contains(out.String(), `"result":{}`) {
			t.Errorf("pressroom mcp: %s", out.String())
		}

		must.NoError(t, apicli.Logout(t.Context(), term, ""))
		stored = renewed
		stored.OAuth.Expires = time.Time{}
		storeProfile(t, term, stored) // a copy of the removed file
		status, got := call("me", "get")
		if status != apicli.StatusRejected || !strings.Contains(got, "run pressroom login --profile default") {
			t.Errorf("after logout: %d %s", status, got)
		}
	})
}

func storeProfile(t *testing.T, term apicli.Terminal, p profile.Profile) {
	t.Helper()
	must.NoError(t, term.Profiles.Update(t.Context(), p.Name, func(*profile.Profile) (*profile.Profile, error) { return &p, nil }))
}

// A profile can have an API key. A denied sign-in and a wrong key leave no profile.
func TestCommandLineProfiles(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		key := func(level access.Level) string {
			_, key, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "Build " + string(level), Level: level})
			must.NoError(t, err)
			return key
		}
		var out bytes.Buffer
		term := apicli.Terminal{Env: func(string) string { return "" }, Out: &out, Err: io.Discard,
			Profiles: profile.Open(filepath.Join(t.TempDir(), "profiles"))}
		login := func(name, key string, open func(string) error) error {
			term.In = strings.NewReader(key + "\n")
			return apicli.Login(t.Context(), term, apicli.LoginOptions{Profile: name, URL: h.root, WithKey: open == nil, Open: open})
		}
		must.NoError(t, login("build", key(access.Drafts), nil))
		for name, secret := range map[string]string{"wrong": "prk_wrong", "empty": "", "a/b": key(access.Full)} {
			if err := login(name, secret, nil); err == nil || secret != "" && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: %v", name, err)
			}
		}
		deny := func(address string) error {
			got := c.as(t, access.Editor).keepRedirects().open(strings.TrimPrefix(address, h.root)).form("Deny").press()
			resp, err := http.Get(got.header.Get("Location"))
			if err != nil {
				return err
			}
			return resp.Body.Close()
		}
		if err := login("denied", "", deny); err == nil || !strings.Contains(err.Error(), "access_denied") {
			t.Errorf("a denied sign-in: %v", err)
		}
		out.Reset()
		must.NoError(t, apicli.ListProfiles(term, "table"))
		if lines := strings.Split(out.String(), "\n"); len(lines) != 3 || !strings.Contains(lines[1], "API key") ||
			strings.Contains(out.String(), "prk_") {
			t.Errorf("profiles: %s", out.String())
		}
		out.Reset()
		if status := apicli.Run(t.Context(), term, []string{"me", "get", "--profile", "build", "--field", "data.key.level"}); status != 0 ||
			out.String() != "drafts\n" {
			t.Errorf("%d %s", status, out.String())
		}
		if status := apicli.Run(t.Context(), term, []string{"me", "get"}); status != apicli.StatusUsage {
			t.Errorf("no default profile: %d", status)
		}
	})
}
