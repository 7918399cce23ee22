package bridge

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
	"pressroom.example/pressroom/internal/testkit/must"
)

func profileQuery(limit int) provider.ProfileQuery {
	return provider.ProfileQuery{Platform: provider.Instagram, Username: "natgeo", PostLimit: limit}
}

func TestMetricsRequest(t *testing.T) {
	t.Parallel()
	var got []string
	client, _ := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.RequestURI, r.Header.Get("Authorization"))
		if strings.Contains(r.URL.Path, "hashtags") {
			respond(http.StatusOK, `{"hashtag":{},"top":[],"recent":[]}`)(w, r)
			return
		}
		respond(http.StatusOK, fmt.Sprintf(`{"profile":{},"posts":[{"id":"%d"}],"next_cursor":"a b"}`, min(len(got), 3)))(
			w, r)
	}, nil)
	q := profileQuery(1000)
	q.Since = time.Date(2026, 8, 1, 2, 0, 0, 0, time.FixedZone("", 7200))
	if metrics, err := client.Profile(t.Context(), q); err != nil || len(metrics.Posts) != 2 {
		t.Errorf("%v, %v", metrics, err)
	}
	for _, most := range []int{7, 9999} {
		if _, err := client.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.TikTok, Hashtag: "größe",
			PostLimit: most}); err != nil {
			t.Error(err)
		}
	}
	want := []string{
		"/v1/instagram/profiles/natgeo?limit=100&since=2026-08-01T00%3A00%3A00Z", "Bearer " + token,
		"/v1/instagram/profiles/natgeo?cursor=a+b&limit=100&since=2026-08-01T00%3A00%3A00Z", "Bearer " + token,
		"/v1/instagram/profiles/natgeo?cursor=a+b&limit=100&since=2026-08-01T00%3A00%3A00Z", "Bearer " + token,
		"/v1/tiktok/hashtags/gr%C3%B6%C3%9Fe?limit=7", "Bearer " + token,
		"/v1/tiktok/hashtags/gr%C3%B6%C3%9Fe?limit=500", "Bearer " + token,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Implausible values are dropped without a replacement.
func TestMetricsResponse(t *testing.T) {
	t.Parallel()
	client, _ := newTestClient(t,
		respond(http.StatusOK,
			`{"cost":1,"profile":{"username":"somebody.else","display_name":"A\nB\u0000","biography":"Hi\n🙂",`+
				`"website":"javascript:alert(1)",
		"followers":1e15,"follows":-1,"posts":"many"},"posts":[null,7,"x",[],{},{"id":""},{"id":7},`+strings.Join(
				[]string{
					`{"id":"1","format":"image","taken_at":"2026-11-21T09:30:00Z","caption":"é","likes":0,` +
						`"comments":999999999999999,"shares":1e3,"views":2.5,"duration_seconds":-1}`,
					`{"id":"1","likes":7}`,
					`{"id":"2","format":"story","taken_at":"2026-11-21T09:30:01Z","caption":7,"url":"http:x",` +
						`"hashtags":["#Bread",7,null,"bread","a b"],"likes":null,"comments":true}`,
					`{"id":"é/3","hashtags":"bread","taken_at":1700000000,"url":"https://a.example/?a=1",` +
						`"views":[1],"duration_seconds":86401}`,
				}, ",")+`]}`), nil)
	metrics := must.Get(client.Profile(t.Context(), profileQuery(100)))(t)
	want := provider.ProfileMetrics{
		Account: provider.Account{Username: "natgeo", DisplayName: "A B", Biography: "Hi\n🙂", MeasuredAt: now},
		Posts: []provider.Post{
			{ID: "1", Format: provider.FormatImage, TakenAt: now, Caption: "é", Likes: new(int64(0)),
				Comments: new(int64(999_999_999_999_999)), Shares: new(int64(1000))},
			{ID: "2", Hashtags: []string{"bread"}},
			{ID: wire.ID("é/3"), URL: "https://a.example/?a=1"},
		},
	}
	if diff := cmp.Diff(want, metrics); diff != "" {
		t.Error(diff)
	}
}

// From is set only if no recent post was dropped.
func TestRecentFrom(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		size   *int64
		recent string
		from   bool
	}{
		`{"hashtag":{"posts":0},"top":[],"recent":[],"recent_from":"2026-11-21T09:00:00Z"}`: {
			new(int64(0)), "", true},
		`{"hashtag":{"posts":-1},"top":[],"recent":[],"recent_from":"2026-11-21T09:30:01Z"}`:                       {nil, "", false},
		`{"hashtag":{},"top":[],"recent":[{"id":"1"},{"id":"2"}],"recent_from":"2026-11-21T09:00:00Z"}`:            {nil, "1 2", true},
		`{"hashtag":{},"top":[],"recent":[{"id":"1"},{"id":"2"},{"id":"3"}],"recent_from":"2026-11-21T09:00:00Z"}`: {nil, "1 2", false},
		`{"hashtag":{},"top":[],"recent":[{"id":"1"},{}],"recent_from":"2026-11-21T09:00:00Z"}`:                    {nil, "1", false},
		`{"hashtag":{},"top":[],"recent":[{"id":"1","taken_at":"2026-11-20T00:00:00Z"},{"id":"2",` +
			`"taken_at":"2026-11-21T00:00:00Z"}]}`: {nil, "2 1", false},
	} {
		client, _ := newTestClient(t, respond(http.StatusOK, text), nil)
		metrics := must.Get(client.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.Instagram,
			Hashtag: "bread", PostLimit: 2}))(t)
		var recent []string
		for _, post := range metrics.Recent {
			recent = append(recent, post.ID)
		}
		if got := strings.Join(recent, " "); got != c.recent || metrics.From.IsZero() == c.from || cmp.Diff(c.size,
			metrics.Size) != "" || metrics.Hashtag != "bread" || !metrics.MeasuredAt.Equal(now) {
			t.Errorf("%s: %+v", text, metrics)
		}
	}
}

func TestFailuresOfMetrics(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   error // nil for *provider.UnavailableError
		after  time.Duration
	}{
		"no such profile":    {respond(http.StatusNotFound, `{"error":"profile_not_found"}`), provider.ErrNotFound, 0},
		"no such hashtag":    {respond(http.StatusNotFound, `{"error":"hashtag_not_found"}`), provider.ErrNotFound, 0},
		"private":            {respond(http.StatusForbidden, `{"error":"profile_private"}`), provider.ErrPrivate, 0},
		"never told":         {respond(http.StatusNotFound, `{"error":"not_offered"}`), provider.ErrNotOffered, 0},
		"never told, as 403": {respond(http.StatusForbidden, `{"error":"not_offered"}`), nil, 0},
		"wrong URL":          {respond(http.StatusNotFound, `404`), nil, 0},
		"too often":          {respond(http.StatusTooManyRequests, ``, "Retry-After", "90"), nil, 90 * time.Second},
		"not JSON":           {respond(http.StatusOK, `<html>natgeo`), nil, 0},
		"nothing":            {respond(http.StatusOK, `null`), nil, 0},
		"an empty object":    {respond(http.StatusOK, `{}`), nil, 0},
		"no posts":           {respond(http.StatusOK, `{"profile":{},"hashtag":{},"top":[]}`), nil, 0},
		"no profile": {respond(http.StatusOK, `{"profile":null,"posts":[],"hashtag":null,"top":[],"recent":[]}`),
			nil, 0},
		"a text for one": {respond(http.StatusOK,
			`{"profile":"natgeo","posts":[],"hashtag":"natgeo","top":[],"recent":[]}`), nil, 0},
		"unusable posts": {respond(http.StatusOK, `{"profile":{},"posts":[{}],"hashtag":{},"top":[{}],"recent":[]}`),
			nil, 0},
		"too long": {respond(http.StatusOK,
			`{"profile":{},"posts":[],"hashtag":{},"top":[],"recent":[]}`+strings.Repeat(" ", maxMetricsBytes)), nil,
			0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, _ := newTestClient(t, c.answer, nil)
			metrics, err := client.Profile(t.Context(), profileQuery(10))
			checkFailure(t, err, c.want, c.after)
			tagged, err := client.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.Instagram,
				Hashtag: "natgeo", PostLimit: 10})
			checkFailure(t, err, c.want, c.after)
			if metrics.Account.Username != "" || tagged.Hashtag != "" {
				t.Errorf("metrics are returned with the error: %v, %v", metrics, tagged)
			}
		})
	}
	client, _ := newTestClient(t, respond(http.StatusOK, `{"profile":{},"posts":[{"id":"1"}],"next_cursor":"\u0000"}`), nil)
	_, err := client.Profile(t.Context(), profileQuery(10))
	checkFailure(t, err, nil, 0)
	client, _ = newTestClient(t, respond(http.StatusNotFound, `{"error":"not_offered"}`), nil)
	if _, err := client.ProfileMedia(t.Context(), question); !errors.Is(err, provider.ErrNotOffered) {
		t.Error(err)
	}
}

// FuzzMetrics checks that the metrics of any response satisfy the guarantees of provider.Account and provider.Post.
func FuzzMetrics(f *testing.F) {
	f.Add([]byte(
		`{"profile":{"display_name":"\ud800","followers":1e99},"posts":[{"id":"1","taken_at":"2026-01-01T00:00:00Z",` +
			`"likes":-0.0,"hashtags":["a"],"duration_seconds":1e308}],"next_cursor":"x"}`))
	f.Add([]byte(`{"hashtag":{"posts":7},"top":[{"id":"1"}],"recent":[null],"recent_from":"2026-01-01T00:00:00Z"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		page, _ := readProfile(body, "natgeo", now)
		tag, _ := readHashtag(body, provider.HashtagQuery{Hashtag: "bread", PostLimit: 5}, now)
		if len(tag.Top) > 5 || len(tag.Recent) > 5 || tag.From.After(now) || len(page.next) > wire.MaxURL {
			t.Errorf("%+v", tag)
		}
		for _, post := range append(append(page.posts, tag.Top...), tag.Recent...) {
			if !idForm.MatchString(post.ID) || post.TakenAt.After(now) || post.Duration < 0 ||
				len([]rune(post.Caption)) > wire.MaxText || len(post.Hashtags) > 100 {
				t.Errorf("taken: %+v", post)
			}
			for _, metric := range []*int64{post.Likes, post.Comments, post.Shares, post.Views, page.account.Followers,
				tag.Size} {
				if metric != nil && (*metric < 0 || *metric >= 1e15) {
					t.Errorf("taken: %d", *metric)
				}
			}
		}
	})
}
