package networktest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// recorder collects the errors that a check reports.
type recorder struct {
	testing.TB

	errors []string
}

func (*recorder) Helper()             {}
func (r *recorder) Error(args ...any) { r.errors = append(r.errors, fmt.Sprint(args...)) }
func (r *recorder) Errorf(format string, a ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}

// sent returns a request with a JSON body.
func sent(t *testing.T, line, body string) Request {
	t.Helper()
	method, address, _ := strings.Cut(line, " ")
	r := Request{
		Method: method, URL: must.Get(url.Parse("http://sandbox.test" + address))(t), Header: http.Header{}, Body: []byte(body),
		ResponseHeader: http.Header{"Content-Type": {"application/json"}},
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

const (
	putLine   = "POST /bluesky/xrpc/com.atproto.repo.putRecord"
	recordOf  = `{"repo":"did:plc:a","collection":"app.bsky.feed.post","rkey":"3l2345672abce","record":%s}`
	fullPost  = `{"$type":"app.bsky.feed.post","text":"hi","createdAt":"2026-01-01T00:00:00.000Z"%s}`
	videoOf   = `,"embed":{"$type":"app.bsky.embed.video","video":{"$type":"blob","ref":{"$link":"bafy"},"mimeType":"%s","size":%d}}`
	insertURL = "POST /upload/youtube/v3/videos?uploadType=resumable&part=snippet,status"
)

func post(more string) string { return fmt.Sprintf(recordOf, fmt.Sprintf(fullPost, more)) }

func pinOn(board string) string {
	return `{"board_id":"` + board + `","media_source":{"source_type":"image_url","url":"https://a.test/"}}`
}

// Checks report only the requests that differ from the network's description.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	x, pinterest := LoadOpenAPI("x.json", "api.x.com", "/x"), LoadOpenAPI("pinterest.json", "", "/pinterest/v5")
	youtube := LoadDiscovery("youtube.json")
	xrpc := func(tb testing.TB, r Request) { CheckXRPC(tb, r) }
	data := func(tb testing.TB, r Request) {
		if !youtube().Check(tb, r, r.URL.Path) {
			tb.Errorf("%s is not described", r.URL.Path)
		}
	}
	xAPI := func(tb testing.TB, r Request) { x.Check(tb, r) }
	pins := func(tb testing.TB, r Request) { pinterest.Check(tb, r) }
	for name, c := range map[string]struct {
		check      func(testing.TB, Request)
		line, body string
		want       string // part of the first error; "" for none
	}{
		"a record":              {xrpc, putLine, post(""), ""},
		"a video":               {xrpc, putLine, post(fmt.Sprintf(videoOf, "video/mp4", 300_000_000)), ""},
		"a large video":         {xrpc, putLine, post(fmt.Sprintf(videoOf, "video/mp4", 300_000_001)), "blob"},
		"an unknown video type": {xrpc, putLine, post(fmt.Sprintf(videoOf, "video/webm", 1)), "video/webm"},
		"an unknown method":     {xrpc, "GET /bluesky/xrpc/com.atproto.repo.getRecords", "", "not described"},
		"a wrong verb":          {xrpc, "POST /bluesky/xrpc/app.bsky.actor.getProfile?actor=did:plc:a", "", "POST"},
		"a missing parameter":   {xrpc, "GET /bluesky/xrpc/app.bsky.actor.getProfile", "", "actor"},
		"an unknown parameter":  {xrpc, "GET /bluesky/xrpc/app.bsky.actor.getProfile?actor=did:plc:a&x=1", "", "no parameter x"},
		"a limit too high":      {xrpc, "GET /bluesky/xrpc/app.bsky.feed.getAuthorFeed?actor=did:plc:a&limit=101", "", "101"},
		"an unknown member":     {xrpc, putLine, post(`,"title":"x"`), "title"},
		"a wrong time":          {xrpc, putLine, strings.Replace(post(""), "2026-01-01T", "2026-01-01 ", 1), "datetime"},
		"too many languages":    {xrpc, putLine, post(`,"langs":["en","de","fr","it"]`), "langs"},
		"a long text":           {xrpc, putLine, strings.Replace(post(""), "hi", strings.Repeat("é", 301), 1), "too long"},
		"no text":               {xrpc, putLine, strings.Replace(post(""), `"text":"hi",`, "", 1), "lacks text"},
		"a wrong type":          {xrpc, putLine, strings.Replace(post(""), `"hi"`, "3", 1), "string"},

		"an upload": {data, insertURL, `{"snippet":{"title":"x"},"status":{"privacyStatus":"private"}}`, ""},
		"a wrong value": {
			data, insertURL, `{"status":{"privacyStatus":"secret"}}`, "secret",
		},
		"a member that YouTube lacks":    {data, insertURL, `{"snippet":{"name":"x"}}`, "name"},
		"a type that YouTube lacks":      {data, insertURL, `{"snippet":{"title":3}}`, "title"},
		"a parameter that is missing":    {data, "GET /youtube/v3/videos?id=1", "", "part"},
		"a parameter unknown to YouTube": {data, "GET /youtube/v3/videos?part=id&mine=true", "", "mine"},
		"a call unknown to YouTube":      {data, "GET /youtube/v3/comments?part=id", "", "not described"},

		"a post":                 {xAPI, "POST /x/2/tweets", `{"text":"hi"}`, ""},
		"a member that X lacks":  {xAPI, "POST /x/2/tweets", `{"text":"hi","title":"x"}`, "title"},
		"a parameter of X":       {xAPI, "GET /x/2/users/me?fields=x", "", "fields"},
		"a pin":                  {pins, "POST /pinterest/v5/pins", pinOn("5"), ""},
		"an invalid board ID":    {pins, "POST /pinterest/v5/pins", pinOn("five"), "board_id"},
		"a call Pinterest lacks": {pins, "GET /pinterest/v5/likes", "", "not described"},
	} {
		r := &recorder{TB: t}
		c.check(r, sent(t, c.line, c.body))
		got := ""
		if len(r.errors) > 0 {
			got = r.errors[0]
		}
		if (got == "") != (c.want == "") || !strings.Contains(strings.Join(r.errors, "\n"), c.want) {
			t.Errorf("%s: %q, want %q", name, r.errors, c.want)
		}
	}
}

// Values of Meta's enumerations are compared in any case, and parameters and fields by name.
func TestMetaSummary(t *testing.T) {
	t.Parallel()
	page := MetaObject("Page")
	for value, want := range map[string]int{"PUBLISHED": 0, "published": 0, "HIDDEN": 1} {
		r := &recorder{TB: t}
		page.CheckValues(r, http.MethodPost, "video_reels", url.Values{"video_state": {value}})
		if len(r.errors) != want {
			t.Errorf("%s: %v", value, r.errors)
		}
	}
	r := &recorder{TB: t}
	WantDescribed(r, "a Page", page.Names("extra"), []string{"followers_count", "extra", "colour"})
	if len(r.errors) != 1 || page.Params(http.MethodPost, "posts") != nil {
		t.Errorf("%v", r.errors)
	}
	if calls := ThreadsSummary().Calls; len(calls) < 20 || len(calls["POST me/threads"]) < 10 {
		t.Errorf("%v", calls)
	}
}
