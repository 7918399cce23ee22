package bluesky_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

const blank = " \n\u200b\u00a0"

func TestCheck(t *testing.T) {
	t.Parallel()
	rules, _ := network.DefaultRules("bluesky")
	rules.Text.MaxLength, rules.Text.MaxBytes = 5, 30
	n := bluesky.New(bluesky.Options{App: network.App{Rules: &rules}})
	for text, code := range map[string]string{
		"":       "caption_missing",
		blank:    "caption_missing",
		"short":  "",
		"longer": "caption_too_long",
		"👩‍🚀👩‍🚀": "",
		"👨‍👩‍👧‍👦👨‍👩‍👧‍👦":        "caption_too_long", // in bytes
		strings.Repeat("é", 5):  "",
		strings.Repeat("é", 6):  "caption_too_long",
		strings.Repeat("\n", 9): "caption_missing",
	} {
		problems := n.Check(network.Content{Text: text})
		switch {
		case code == "" && len(problems) == 0:
		case len(problems) == 1 && problems[0].Code == code && problems[0].Blocking && problems[0].Message != "":
		default:
			t.Errorf("%q: %+v, want %q", text, problems, code)
		}
	}
	if bluesky.New(bluesky.Options{}).Check(network.Content{Text: strings.Repeat("a", 300)}) != nil {
		t.Error("300 characters are rejected")
	}
}

func TestPlanIsDeterministic(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.StringN(1, 40, -1).Draw(t, "seed")
		at := time.Unix(rapid.Int64Range(1, 9_000_000_000).Draw(t, "at"), 0)
		c := network.Content{
			Text: rapid.String().Draw(t, "text"), Languages: rapid.SliceOf(rapid.String()).Draw(t, "languages"),
			Media: rapid.SliceOf(rapid.Make[network.Media]()).Draw(t, "media"),
		}
		first := must.Get(newNetwork().Plan(network.Submission{Seed: seed, FirstSubmittedAt: at, At: at, Content: c}))(t)
		at = at.In(time.FixedZone("another", 3600))
		second, err := newNetwork().Plan(network.Submission{Seed: seed, FirstSubmittedAt: at, At: at, Content: c})
		if err != nil || string(first) != string(second) {
			t.Fatalf("%s and %s, %v", first, second, err)
		}
	})
}

func TestPlanRejections(t *testing.T) {
	t.Parallel()
	for seed, at := range map[string]time.Time{"": planTime, "seed": {}} {
		if d, err := newNetwork().Plan(network.Submission{Seed: seed, FirstSubmittedAt: at, At: at,
			Content: network.Content{Text: "x"}}); err == nil {
			t.Errorf("seed %q at %v: %s", seed, at, d)
		}
	}
}

func TestPlannedRecord(t *testing.T) {
	t.Parallel()
	languages := []string{"no language", "pt-BR", "pt-BR", "zh-Hant-TW", "de-1996", "fr"}
	at := time.Date(2026, 3, 29, 10, 15, 0, 123_456_789, time.FixedZone("CEST", 7200))
	content := network.Content{Text: "a\xffb <&>", Languages: languages}
	d := must.Get(newNetwork().Plan(network.Submission{Seed: "seed", FirstSubmittedAt: at, At: at, Content: content}))(t)
	var got struct{ Record map[string]any }
	must.NoError(t, json.Unmarshal(d, &got))
	want := map[string]any{
		"$type": "app.bsky.feed.post", "text": "a\uFFFDb <&>", "createdAt": "2026-03-29T08:15:00.123Z",
		"langs": []any{"pt-BR", "zh-Hant-TW", "de-1996"},
	}
	if diff := cmp.Diff(want, got.Record); diff != "" {
		t.Error(diff)
	}
}

// handles is a server of com.atproto.identity.resolveHandle that records the requested handles.
type handles struct {
	status int
	body   string
	asked  []string
}

func (h *handles) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.asked = append(h.asked, r.URL.Query().Get("handle"))
	w.WriteHeader(h.status)
	_, _ = w.Write([]byte(h.body))
}

func prepareWith(t *testing.T, h *handles, text string) (network.Draft, network.Draft, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	planned := must.Get(newNetwork().Plan(network.Submission{Seed: "seed", FirstSubmittedAt: planTime, At: planTime,
		Content: network.Content{Text: text}}))(t)
	done, _, err := newNetwork().Prepare(t.Context(), network.Grant{Server: server.URL}, planned, nil)
	return planned, done, err
}

func TestPrepareTwice(t *testing.T) {
	t.Parallel()
	h := &handles{status: http.StatusOK, body: `{"did":"did:plc:abc"}`}
	_, once, err := prepareWith(t, h, "@alice.test and @Alice.test #tag")
	must.NoError(t, err)
	h.body = `{"did":"did:plc:changed"}`
	twice, _, err := newNetwork().Prepare(t.Context(), network.Grant{Server: "http://nobody.invalid"}, once, nil)
	if err != nil || string(once) != string(twice) {
		t.Errorf("%s became %s, %v", once, twice, err)
	}
	if diff := cmp.Diff([]string{"alice.test"}, h.asked); diff != "" {
		t.Error(diff)
	}
	if strings.Count(string(once), "did:plc:abc") != 2 {
		t.Errorf("%s", once)
	}
}

func TestPrepareWithoutResolving(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		body   string
		want   network.ErrorClass
	}{
		{400, `{"error":"InvalidRequest","message":"Unable to resolve handle"}`, ""},
		{400, `{"error":"HandleNotFound"}`, ""},
		{500, `{"error":"InternalServerError"}`, network.Transient},
		{400, `not XRPC`, network.Transient},
		{200, `{"did":"nonsense"}`, network.Transient},
		{429, `{"error":"RateLimitExceeded"}`, network.RateLimited},
	} {
		_, done, err := prepareWith(t, &handles{status: c.status, body: c.body}, "@alice.test")
		if networktest.Class(err) != c.want || c.want == "" && (err != nil || strings.Contains(string(done), "facets")) {
			t.Errorf("HTTP %d %s: %v, %s", c.status, c.body, err, done)
		}
	}
}
