package bridge

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var program = regexp.MustCompile("(?s)```go\n(.*?)```")

// The bridge in docs/bridge.md works.
func TestGuideBridge(t *testing.T) {
	t.Parallel()
	guide := must.Get(os.ReadFile("../../../../docs/bridge.md"))(t)
	dir := t.TempDir()
	for name, content := range map[string][]byte{
		"bridge.go": program.FindSubmatch(guide)[1],
		"media/instagram/natgeo/posts/1 first.jpg": []byte("first"),
		"media/instagram/natgeo/posts/2.mp4":       []byte("second"),
		"media/instagram/natgeo/posts/3.jpg":       []byte("third"),
		"media/instagram/natgeo/posts/notes.txt":   []byte("none"),
		"media/instagram/slow.bread/figures.json": []byte(strings.Replace(examples(guide, "profile"), `"cGFnZSAy"`,
			`""`, 1)),
		"media/hashtags/instagram/bread.json": []byte(examples(guide, "hashtag")),
		"secret.jpg":                          []byte("outside"),
	} {
		write(t, filepath.Join(dir, name), content)
	}
	client := must.Get(New(Options{URL: "http://" + run(t, dir), Token: token, FetchPublic: rejectFetch, Now: func() time.Time {
		return now
	}}))(t)
	checkGuideMetrics(t, client)
	q, got := question, ""
	q.Limit = 2
	for more := true; more; more = q.Cursor != "" {
		page := must.Get(client.ProfileMedia(t.Context(), q))(t)
		for _, item := range page.Items {
			var file bytes.Buffer
			err := client.Fetch(t.Context(), item.URL, 100, &file)
			got += item.Kind + " " + file.String() + ";"
			if err != nil {
				t.Errorf("%s: %v", item.URL, err)
			}
		}
		q.Cursor = page.Next
	}
	if want := "image third;video second;image first;"; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	for _, name := range []string{"nobody", ".."} {
		q.Username = "../../" + name
		if _, err := client.ProfileMedia(t.Context(), q); !errors.Is(err, provider.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

var example = regexp.MustCompile("(?s)```json\n(.*?)```")

// examples returns the guide's example that begins with a member.
func examples(guide []byte, member string) string {
	for _, found := range example.FindAllSubmatch(guide, -1) {
		if strings.HasPrefix(strings.TrimLeft(string(found[1]), "{ \n"), `"`+member+`"`) {
			return string(found[1])
		}
	}
	return ""
}

// checkGuideMetrics requests the guide's examples from the guide's bridge.
func checkGuideMetrics(t *testing.T, client *Client) {
	t.Helper()
	ask := provider.ProfileQuery{Platform: provider.Instagram, Username: "slow.bread", PostLimit: 10}
	metrics := must.Get(client.Profile(t.Context(), ask))(t)
	taken := time.Date(2026, 11, 20, 17, 4, 5, 0, time.UTC)
	want := provider.ProfileMetrics{
		Account: provider.Account{
			Username: "slow.bread", DisplayName: "Slow Bread 🥖", Biography: "Sourdough, and nothing else.",
			Website:   "https://bread.example/",
			Followers: new(int64(48_210)), Follows: new(int64(312)), Posts: new(int64(861)), MeasuredAt: now,
		},
		Posts: []provider.Post{{
			ID: "3141592653589793238", Format: provider.FormatReel, TakenAt: taken,
			Caption: "Rain all week, then this. #sourdough",
			URL:     "https://www.instagram.com/reel/C0dE/", Hashtags: []string{"sourdough"}, Likes: new(int64(1204)),
			Comments: new(int64(31)), Shares: new(int64(12)), Views: new(int64(22_875)),
			Duration: 31500 * time.Millisecond,
		}},
	}
	if diff := cmp.Diff(want, metrics); diff != "" {
		t.Error(diff)
	}
	ask.Since = taken.Add(time.Second)
	if metrics, err := client.Profile(t.Context(), ask); err != nil || len(metrics.Posts) != 0 {
		t.Errorf("since then: %v, %v", metrics.Posts, err)
	}
	hashtag, err := client.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.Instagram, Hashtag: "bread",
		PostLimit: 10})
	if err != nil || *hashtag.Size != 6_120_334 || len(hashtag.Top) != 1 || len(hashtag.Recent) != 1 ||
		!hashtag.From.Equal(time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", hashtag, err)
	}
	for name, want := range map[string]error{"natgeo": provider.ErrNotOffered, "nobody": provider.ErrNotFound,
		"../..": provider.ErrNotFound} {
		ask.Username = name
		if _, err := client.Profile(t.Context(), ask); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := client.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.TikTok, Hashtag: "bread",
		PostLimit: 10}); !errors.Is(err, provider.ErrNotFound) {
		t.Error(err)
	}
}

func write(t *testing.T, name string, content []byte) {
	t.Helper()
	must.NoError(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, content, 0o600)))
}

// run builds and starts the bridge in dir and waits until it listens.
func run(t *testing.T, dir string) string {
	t.Helper()
	binary := filepath.Join(dir, "bridge")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", binary, filepath.Join(dir, "bridge.go")).
		CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	address := must.Get(testkit.FreeAddr())(t)
	cmd := exec.CommandContext(t.Context(), binary, filepath.Join(dir, "media"), address)
	cmd.Env = append(os.Environ(), "BRIDGE_TOKEN="+token)
	must.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Wait() })
	for began := time.Now(); time.Since(began) < 30*time.Second; {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return address
		}
	}
	t.Fatal("the bridge does not listen")
	return ""
}
