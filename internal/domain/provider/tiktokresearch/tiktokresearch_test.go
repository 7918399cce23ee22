package tiktokresearch

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestProfile(t *testing.T) {
	t.Parallel()
	r := newResearch(t)
	r.user = `{"display_name":"Khabane\nLame","bio_description":"If u wanna laugh 🙂",` +
		`"bio_url":"https://example.com/","follower_count":162000000,"following_count":80,"video_count":4,"likes_count":"many"}`
	r.videos = []string{
		clip(7080213458555737986, 2,
			`,"video_description":"Bread","like_count":10,"comment_count":0,"share_count":3,"view_count":1000,`+
				`"video_duration":15,"hashtag_names":["Bread","cake"]`),
		clip(7080213458555737987, 1, `,"like_count":-1,"video_duration":0`),
		`{"id":7080213458555737988,"create_time":1e300}`, `{"id":"x"}`, `{}`, `null`, `7`,
	}
	r.pageSize = 100
	metrics := must.Get(r.source(nil).Profile(t.Context(), profileQuery(10, began.AddDate(0, 0, -10))))(t)
	link := "https://www.tiktok.com/@khaby.lame/video/"
	want := provider.ProfileMetrics{
		Account: provider.Account{
			Username: "khaby.lame", DisplayName: "Khabane Lame", Biography: "If u wanna laugh 🙂",
			Website:   "https://example.com/",
			Followers: new(int64(162_000_000)), Follows: new(int64(80)), Posts: new(int64(4)), MeasuredAt: began,
		},
		Posts: []provider.Post{
			{ID: "7080213458555737987", TakenAt: began.AddDate(0, 0, -1), URL: link + "7080213458555737987"},
			{
				ID: "7080213458555737986", Format: provider.FormatVideo, TakenAt: began.AddDate(0, 0, -2),
				Caption: "Bread", URL: link + "7080213458555737986",
				Hashtags: []string{"bread", "cake"}, Likes: new(int64(10)), Comments: new(int64(0)),
				Shares: new(int64(3)), Views: new(int64(1000)), Duration: 15 * time.Second,
			},
		},
	}
	if diff := cmp.Diff(want, metrics); diff != "" {
		t.Error(diff)
	}
	if r.requests[0] != `{"username":"khaby.lame"}` {
		t.Error(r.requests[0])
	}
}

// Windows are read completely. They go back in time until there are enough videos or no more videos.
func TestWindows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most    int
		since   time.Time
		told    string
		days    []int // of the videos
		want    []int
		windows []string
	}{
		"one month, unordered": {2, time.Time{}, `3`, []int{9, 1, 5}, []int{1, 5}, []string{"20261023 20261121 0",
			"20261023 20261121 2"}},
		"all videos": {9, time.Time{}, `2`, []int{1, 35}, []int{1, 35}, []string{"20261023 20261121 0",
			"20260923 20261022 0"}},
		"since a day": {9, began.AddDate(0, 0, -31), `null`, []int{1, 31, 32}, []int{1, 31},
			[]string{"20261023 20261121 0", "20261021 20261022 0"}},
		"since an hour": {9, began.AddDate(0, 0, -2).Add(time.Second), `null`, []int{1, 2}, []int{1},
			[]string{"20261119 20261121 0"}},
		"limit 0":        {0, time.Time{}, `9`, []int{1}, nil, nil},
		"since tomorrow": {9, began.AddDate(0, 0, 1), `9`, []int{1}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newResearch(t)
			r.user = `{"video_count":` + c.told + `}`
			for i, days := range c.days {
				r.videos = append(r.videos, clip(int64(1000+i), days, ""))
			}
			metrics := must.Get(r.source(nil).Profile(t.Context(), profileQuery(c.most, c.since)))(t)
			var got []int
			for _, post := range metrics.Posts {
				got = append(got, int(began.Sub(post.TakenAt).Hours()/24))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.windows, r.requests[1:], cmp.Transformer("nil", func(s []string) []string {
				return append([]string{}, s...)
			})); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A profile with few posts uses a limited number of queries.
func TestProfileWithFewPosts(t *testing.T) {
	t.Parallel()
	r := newResearch(t)
	if _, err := r.source(nil).Profile(t.Context(), profileQuery(100, time.Time{})); err != nil ||
		len(r.requests) != 1+maxWindows {
		t.Errorf("%d calls, %v", len(r.requests), err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	r := newResearch(t)
	s := r.source(nil)
	ask := func(want int) {
		t.Helper()
		if _, err := s.Profile(t.Context(), profileQuery(0, time.Time{})); err != nil || r.tokens != want {
			t.Errorf("%v after %d tokens, want %d", err, r.tokens, want)
		}
	}
	ask(1)
	ask(1)
	r.clock.Advance(2*time.Hour - tokenMargin)
	ask(2)
	s.token.text = "clt.dead"
	ask(3)
	r.reject = func(path string) (int, string) {
		if strings.HasPrefix(path, "/v2/research") {
			return http.StatusUnauthorized, failure("access_token_invalid", "")
		}
		return 0, ""
	}
	_, err := s.Profile(t.Context(), profileQuery(0, time.Time{}))
	checkUnavailable(t, err, 0)
	if r.tokens != 4 {
		t.Errorf("an invalid token was renewed %d times", r.tokens-3)
	}
}

func checkUnavailable(t *testing.T, err error, after time.Duration) {
	t.Helper()
	u, ok := errors.AsType[*provider.UnavailableError](err)
	switch {
	case !ok:
		t.Errorf("%v", err)
	case u.After != after:
		t.Errorf("retry after %s, want %s: %v", u.After, after, err)
	case strings.Contains(err.Error(), "khaby") || strings.Contains(err.Error(), secret) ||
		strings.Contains(err.Error(), "clt."):
		t.Errorf("the error contains the response: %v", err)
	}
}

func TestRejections(t *testing.T) {
	t.Parallel()
	midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC).Sub(began)
	for name, c := range map[string]struct {
		status int
		body   string
		want   error // nil for *provider.UnavailableError
		after  time.Duration
	}{
		"not found": {http.StatusBadRequest, failure("invalid_params", "cannot find the user khaby.lame"),
			provider.ErrNotFound, 0},
		"not found or private": {http.StatusOK, failure("invalid_params", "The user cannot be found, or is not public"),
			provider.ErrNotFound, 0},
		"private": {http.StatusBadRequest, failure("invalid_params", "The user is private"),
			provider.ErrPrivate, 0},
		"invalid request": {http.StatusBadRequest, failure("invalid_params", "khaby.lame: field not found"), nil, 0},
		"no scope":        {http.StatusUnauthorized, failure("scope_not_authorized", "user not found"), nil, 0},
		"too often": {http.StatusTooManyRequests, failure("rate_limit_exceeded", "khaby.lame"), nil,
			defaultPause},
		"too often, a wait": {http.StatusTooManyRequests, failure("rate_limit_exceeded", "wait"), nil,
			90 * time.Second},
		"the day's queries": {http.StatusTooManyRequests, failure("daily_quota_limit_exceeded", "wait"), nil, midnight},
		"broken":            {http.StatusInternalServerError, failure("internal_error", "user not found"), nil, 0},
		"not JSON":          {http.StatusOK, `<html>khaby.lame`, nil, 0},
		"no code":           {http.StatusOK, `{"data":{}}`, nil, 0},
		"a strange code":    {http.StatusOK, failure("khaby.lame\n", ""), nil, 0},
		"no data":           {http.StatusOK, `{"error":{"code":"ok"}}`, nil, 0},
		"hung up":           {0, "", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newResearch(t)
			r.reject = func(path string) (int, string) {
				switch {
				case !strings.HasPrefix(path, "/v2/research"):
					return 0, ""
				case c.status == 0:
					panic(http.ErrAbortHandler)
				}
				return c.status, c.body
			}
			_, err := r.source(nil).Profile(t.Context(), profileQuery(1, time.Time{}))
			if c.want == nil {
				checkUnavailable(t, err, c.after)
			} else if !errors.Is(err, c.want) {
				t.Error(err)
			}
		})
	}
}

// After a rejection, no requests are sent until the stated time.
func TestPauseAfterRejection(t *testing.T) {
	t.Parallel()
	r := newResearch(t)
	s := r.source(nil)
	calls := 0
	r.reject = func(string) (int, string) {
		calls++
		return http.StatusTooManyRequests, failure("daily_quota_limit_exceeded", "")
	}
	s.token.text, s.token.expiresAt = "clt.0", began.Add(100*time.Hour)
	for range 3 {
		_, err := s.Profile(t.Context(), profileQuery(1, time.Time{}))
		checkUnavailable(t, err, 14*time.Hour+30*time.Minute)
	}
	if calls != 1 {
		t.Errorf("%d requests were sent", calls)
	}
	r.reject = nil
	r.clock.Advance(14*time.Hour + 30*time.Minute)
	s.token = token{}
	if _, err := s.Profile(t.Context(), profileQuery(1, time.Time{})); err != nil {
		t.Error(err)
	}
}

// Invalid client credentials are not retried immediately.
func TestWrongSecret(t *testing.T) {
	t.Parallel()
	r := newResearch(t)
	s := r.source(func(o *Options) { o.ClientSecret = "another" })
	calls := 0
	r.reject = func(string) (int, string) { calls++; return 0, "" }
	for range 2 {
		_, err := s.Profile(t.Context(), profileQuery(1, time.Time{}))
		checkUnavailable(t, err, defaultPause)
	}
	if calls != 1 {
		t.Errorf("%d requests were sent", calls)
	}
}

func TestEndlessWindow(t *testing.T) {
	t.Parallel()
	r := newResearch(t)
	r.reject = func(path string) (int, string) {
		if path == "/v2/research/video/query/" {
			return http.StatusOK,
				`{"data":{"videos":[],"cursor":100,"has_more":true,"search_id":"7"},"error":{"code":"ok"}}`
		}
		return 0, ""
	}
	_, err := r.source(nil).Profile(t.Context(), profileQuery(1, time.Time{}))
	checkUnavailable(t, err, 0)
}

func TestUnsupportedQueries(t *testing.T) {
	t.Parallel()
	s := newResearch(t).source(nil)
	if _, err := s.Hashtag(t.Context(), provider.HashtagQuery{Platform: provider.TikTok, Hashtag: "bread"}); !errors.Is(
		err, provider.ErrNotOffered) {
		t.Error(err)
	}
	if _, err := s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.Instagram,
		Username: "natgeo"}); !errors.Is(err, provider.ErrNotOffered) {
		t.Error(err)
	}
	if _, err := s.Profile(t.Context(), provider.ProfileQuery{Platform: provider.TikTok, Username: "a b"}); !errors.Is(
		err, provider.ErrNotFound) {
		t.Error(err)
	}
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	good := Options{Eligible: true, ClientKey: "key", ClientSecret: secret}
	must.Get(New(good))(t)
	for name, change := range map[string]func(*Options){
		"not confirmed": func(o *Options) { o.Eligible = false },
		"no key":        func(o *Options) { o.ClientKey = "" },
		"no secret":     func(o *Options) { o.ClientSecret = "" },
		"no address":    func(o *Options) { o.URL = "open.tiktokapis.com" },
	} {
		opts := good
		change(&opts)
		if _, err := New(opts); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzAnswer checks that the results of any response satisfy the guarantees of provider.Account and provider.Post.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(
		`{"data":{"display_name":"\ud800","videos":[{"id":7,"create_time":1700000000,"like_count":1e99,` +
			`"video_duration":1e300,"hashtag_names":["a"]},null],"cursor":1,"has_more":true,"search_id":"7"},"error":{"code":"ok"}}`))
	f.Add([]byte(`{"error":{"code":"rate_limit_exceeded"}}`))
	var body []byte
	s, err := New(Options{
		Eligible: true, ClientKey: "key", ClientSecret: secret, Now: func() time.Time { return began },
		HTTP: &http.Client{Transport: fixedResponse(func() []byte { return body })},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, said []byte) {
		body, s.pausedUntil = said, time.Time{}
		s.token = token{"clt.0", began.Add(time.Hour)}
		metrics, err := s.Profile(t.Context(), profileQuery(10, began.AddDate(0, 0, -20)))
		if err != nil && metrics.Posts != nil || len(metrics.Posts) > 10 {
			t.Errorf("%d posts, %v", len(metrics.Posts), err)
		}
		for _, post := range metrics.Posts {
			if post.ID == "" || len(post.ID) > 100 || post.TakenAt.After(began) || post.Duration < 0 ||
				post.Likes != nil && *post.Likes < 0 {
				t.Errorf("taken: %+v", post)
			}
		}
	})
}

// fixedResponse answers every request with the same bytes.
type fixedResponse func() []byte

func (a fixedResponse) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(a()))},
		nil
}
