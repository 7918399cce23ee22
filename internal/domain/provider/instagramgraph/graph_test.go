package instagramgraph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

var began = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// graph fakes the used part of Meta's API with given profiles, hashtags and errors.
type graph struct {
	t        *testing.T
	mu       sync.Mutex
	clock    *testkit.Clock
	people   map[string]map[string]any // by name; posts are in the field media
	tags     map[string]map[string][]map[string]any
	reject   func(account string, r *http.Request) (status int, body string)
	usage    http.Header // sent with every response
	requests []string    // accounts and paths
	queries  []string    // the requested fields
	unique   map[string][]string
	walks    map[string]int
}

const token = "EAAtokenOf"

func newGraph(t *testing.T) *graph {
	t.Helper()
	return &graph{
		t: t, clock: testkit.NewClock(began), people: map[string]map[string]any{},
		tags:  map[string]map[string][]map[string]any{},
		usage: http.Header{}, unique: map[string][]string{}, walks: map[string]int{},
	}
}

// source returns a source for the graph with a number of accounts.
func (g *graph) source(accounts int, change func(*Options)) *Source {
	g.t.Helper()
	server := httptest.NewServer(g)
	g.t.Cleanup(server.Close)
	opts := Options{URL: server.URL, Hashtags: true, HashtagStore: NewDBHashtagStore(testkit.Open(g.t,
		testkit.SQLite(g.t), g.clock)), Now: g.clock.Now, FetchPublic: rejectFetch}
	for i := range accounts {
		opts.Accounts = append(opts.Accounts, Account{ID: strconv.Itoa(17_841_400 + i),
			Token: token + strconv.Itoa(17_841_400+i)})
	}
	if change != nil {
		change(&opts)
	}
	s := must.Get(New(opts))(g.t)
	return s
}

func rejectFetch(context.Context, string, int64, io.Writer) error {
	return errors.New("the public fetcher was called")
}

func (g *graph) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	account := strings.TrimPrefix(r.FormValue("access_token"), token)
	path := strings.TrimPrefix(r.URL.Path, "/v25.0/")
	g.requests = append(g.requests, account+" "+path)
	g.queries = append(g.queries, r.FormValue("fields"))
	maps.Copy(w.Header(), g.usage)
	if g.reject != nil {
		if status, body := g.reject(account, r); status != 0 {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return
		}
	}
	status, answer := g.answer(account, path, r)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

func (g *graph) answer(account, path string, r *http.Request) (int, any) {
	tag, edge, _ := strings.Cut(path, "/")
	tag = strings.TrimLeft(tag, "9")
	switch {
	case path == account:
		return g.discover(r)
	case r.FormValue("user_id") != account:
		return errorResponse(100, 33, "Unsupported get request")
	case path == "ig_hashtag_search":
		if g.tags[r.FormValue("q")] == nil {
			return errorResponse(24, 2207024, "The requested resource does not exist")
		}
		return g.countSlots(account, r.FormValue("q"),
			map[string]any{"data": []any{map[string]string{"id": tagID(r.FormValue("q"))}}})
	default:
		for name, edges := range g.tags {
			if strings.TrimLeft(tagID(name), "9") == tag {
				return g.countSlots(account, name, g.taggedPage(account+path, edges[edge], r))
			}
		}
	}
	return errorResponse(100, 33, "Unsupported get request")
}

func tagID(name string) string { return fmt.Sprintf("99%d", len(name)*1000+int(name[len(name)-1])) }

// countSlots rejects the 31st distinct hashtag of an account.
func (g *graph) countSlots(account, hashtag string, answer any) (int, any) {
	if !slices.Contains(g.unique[account], hashtag) {
		if len(g.unique[account]) == 30 {
			return errorResponse(18, 2207034, "too many hashtags")
		}
		g.unique[account] = append(g.unique[account], hashtag)
	}
	return http.StatusOK, answer
}

func errorResponse(code, subcode int, message string) (int, any) {
	return http.StatusBadRequest, map[string]any{"error": map[string]any{"message": message, "type": "OAuthException",
		"code": code, "error_subcode": subcode, "fbtrace_id": "x"}}
}

func errorText(code, subcode int) string {
	_, body := errorResponse(code, subcode, "The user with username natgeo, "+token)
	text, _ := json.Marshal(body)
	return string(text)
}

var (
	discovery  = regexp.MustCompile(`^business_discovery\.username\(([a-z0-9._]+)\)\{(.*)\}$`)
	mediaField = regexp.MustCompile(`,?media\.limit\((\d+)\)(?:\.after\(([A-Za-z0-9]+)\))?\{([^{}]*(?:\{[^{}]*\})?)\}$`)
)

// discover returns exactly the requested fields.
func (g *graph) discover(r *http.Request) (int, any) {
	asked := discovery.FindStringSubmatch(r.FormValue("fields"))
	if asked == nil {
		return errorResponse(2500, 0, "Syntax error")
	}
	person := g.people[asked[1]]
	if person == nil {
		return errorResponse(110, 2207013, "Invalid user id")
	}
	answer := map[string]any{"id": person["id"]}
	fields := asked[2]
	if media := mediaField.FindStringSubmatch(fields); media != nil {
		fields = strings.TrimSuffix(fields, media[0])
		limit, _ := strconv.Atoi(media[1])
		answer["media"] = page(person["media"].([]map[string]any), media[2], limit, media[3])
	}
	for field := range strings.SplitSeq(fields, ",") {
		if value := person[field]; value != nil && field != "media" {
			answer[field] = value
		}
	}
	return http.StatusOK, map[string]any{"business_discovery": answer, "id": r.PathValue("id")}
}

// page returns a page of posts whose cursors are indexes.
func page(posts []map[string]any, after string, limit int, fields string) map[string]any {
	from := 0
	for i, post := range posts {
		if "c"+fmt.Sprint(post["id"]) == after {
			from = i + 1
		}
	}
	to := min(from+limit, len(posts))
	data := []any{}
	for _, post := range posts[from:to] {
		data = append(data, selectFields(post, fields))
	}
	answer := map[string]any{"data": data}
	if to < len(posts) {
		answer["paging"] = map[string]any{"cursors": map[string]any{"after": "c" + fmt.Sprint(posts[to-1]["id"])}}
	}
	return answer
}

func selectFields(post map[string]any, fields string) map[string]any {
	answer := map[string]any{"id": post["id"]}
	names, _, _ := strings.Cut(fields, "{")
	for field := range strings.SplitSeq(names, ",") {
		if value := post[field]; value != nil {
			answer[field] = value
		}
	}
	return answer
}

// taggedPage returns a page of a hashtag with a constant cursor. The graph tracks the position per account.
func (g *graph) taggedPage(walk string, posts []map[string]any, r *http.Request) map[string]any {
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	if r.FormValue("after") == "" {
		g.walks[walk] = 0
	}
	from := g.walks[walk]
	to := min(from+limit, len(posts))
	g.walks[walk] = to
	data := []any{}
	for _, post := range posts[from:to] {
		data = append(data, selectFields(post, r.FormValue("fields")))
	}
	answer := map[string]any{"data": data}
	if to < len(posts) {
		answer["paging"] = map[string]any{"cursors": map[string]any{"after": "always"}}
	}
	return answer
}

// media returns posts, one per hour, newest first.
func media(count int, change func(i int, post map[string]any)) []map[string]any {
	var posts []map[string]any
	for i := range count {
		post := map[string]any{
			"id": strconv.Itoa(18_000_000 + i), "caption": "Bread " + strconv.Itoa(i), "media_type": "IMAGE",
			"media_product_type": "FEED",
			"media_url":          fmt.Sprintf("https://cdn.example/%d.jpg", i),
			"permalink":          fmt.Sprintf("https://www.instagram.com/p/%d/", i),
			"timestamp":          began.Add(-time.Duration(i) * time.Hour).Format("2006-01-02T15:04:05-0700"),
			"like_count":         100 + i, "comments_count": i, "view_count": 1000 + i,
		}
		if change != nil {
			change(i, post)
		}
		posts = append(posts, post)
	}
	return posts
}

func person(posts []map[string]any) map[string]any {
	return map[string]any{
		"id": "178414099", "username": "natgeo", "name": "National\nGeographic\x00", "biography": "We 🌍\nare here",
		"website":             "https://example.com/",
		"profile_picture_url": "https://cdn.example/face.jpg", "followers_count": 280_000_000, "follows_count": 130,
		"media_count": 30_000, "media": posts,
	}
}

func profileQuery(limit int) provider.ProfileQuery {
	return provider.ProfileQuery{Platform: provider.Instagram, Username: "natgeo", PostLimit: limit}
}

func hashtagQuery(hashtag string, limit int) provider.HashtagQuery {
	return provider.HashtagQuery{Platform: provider.Instagram, Hashtag: hashtag, PostLimit: limit}
}

// checkUnavailable checks the delay of an error, and that the error contains no secrets.
func checkUnavailable(t *testing.T, err error, after time.Duration) {
	t.Helper()
	u, ok := errors.AsType[*provider.UnavailableError](err)
	switch {
	case !ok:
		t.Errorf("%v", err)
	case u.After != after:
		t.Errorf("retry after %s, want %s: %v", u.After, after, err)
	case strings.Contains(err.Error(), "natgeo") || strings.Contains(err.Error(), token):
		t.Errorf("the error contains the response: %v", err)
	}
}

// journal returns a log with its buffer.
func journal() (*slog.Logger, *bytes.Buffer) {
	var text bytes.Buffer
	return slog.New(slog.NewTextHandler(&text, nil)), &text
}
