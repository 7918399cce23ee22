package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/sandbox/world"
	"pressroom.example/pressroom/internal/testkit/must"
)

// researchToken returns an app's token for the Research API.
func (b *fixture) researchToken(t *testing.T) string {
	t.Helper()
	a := b.form(t, http.MethodPost, "/tiktok/v2/oauth/token/",
		url.Values{"client_key": {"app"}, "client_secret": {"s"}, "grant_type": {"client_credentials"}})
	var result struct {
		Token string `json:"access_token"`
		Life  int    `json:"expires_in"`
		Type  string `json:"token_type"`
	}
	if err := json.Unmarshal(a.body, &result); err != nil || !strings.HasPrefix(result.Token, "clt.") ||
		result.Life != 7200 || result.Type != "Bearer" {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return result.Token
}

type researchAnswer struct {
	Data struct {
		Videos []map[string]any
		Cursor int
		More   bool   `json:"has_more"`
		Search string `json:"search_id"`

		Name      string `json:"display_name"`
		Followers int64  `json:"follower_count"`
		Count     int64  `json:"video_count"`
	}
	Error struct {
		Code, Message string
		LogID         string `json:"log_id"`
	}
}

func (b *fixture) research(t *testing.T, token, path, fields, body string) researchAnswer {
	t.Helper()
	a := b.tiktok(t, "research/"+path+"/?fields="+fields, token, body)
	var result researchAnswer
	decoder := json.NewDecoder(strings.NewReader(string(a.body)))
	decoder.UseNumber() // IDs have more digits than a float64
	if err := decoder.Decode(&result); err != nil || result.Error.LogID == "" ||
		(a.status == http.StatusOK) != (result.Error.Code == "ok") {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return result
}

func researchBody(query, more string) string {
	return `{"query":` + query + `,"start_date":"20261022","end_date":"20261121"` + more + `}`
}

func username(names ...string) string {
	text, _ := json.Marshal(names)
	return `{"operation":"IN","field_name":"username","field_values":` + string(text) + `}`
}

const researchFields = "id,video_description,create_time,like_count,comment_count,share_count,view_count,username,video_duration"

// The Research API returns the same metrics as the bridge, on all pages.
func TestResearchMatchesBridge(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researchToken(t)
	for _, name := range []string{"stranger.1", "stranger.7", "x.y"} {
		want := b.profileMetrics(t, "tiktok/profiles/"+name, "limit=1").Profile
		result := b.research(t, token, "user/info", "display_name,follower_count,video_count", `{"username":"`+name+`"}`).Data
		if result.Name != want.DisplayName || result.Followers != want.Followers || result.Count != want.Posts {
			t.Errorf("%s: %+v, want %+v", name, result, want)
		}
		posts := b.allMetrics(t, "tiktok/profiles/"+name, "limit=200&since=2026-10-22T00:00:00Z", func() {})
		paging, videos := `,"max_count":7`, []map[string]any{}
		for {
			page := b.research(t, token, "video/query", researchFields, researchBody(`{"and":[`+username(name)+`]}`, paging)).Data
			videos = append(videos, page.Videos...)
			if !page.More {
				break
			}
			paging = fmt.Sprintf(`,"max_count":7,"cursor":%d,"search_id":%q`, page.Cursor, page.Search)
			now = now.Add(20 * time.Minute)
		}
		now = vendorNow
		if len(videos) != len(posts) {
			t.Fatalf("%s: %d videos, %d posts", name, len(videos), len(posts))
		}
		for i, video := range videos {
			post := posts[i]
			id, _ := strconv.ParseInt(post.ID, 10, 64)
			at, _ := time.Parse(time.RFC3339, post.TakenAt)
			number := func(n int64) json.Number { return json.Number(strconv.FormatInt(n, 10)) }
			want := map[string]any{
				"id": number(id), "video_description": post.Caption, "create_time": number(at.Unix()),
				"comment_count": number(post.Comments),
				"share_count":   number(post.Shares), "view_count": number(*post.Views), "username": name,
				"video_duration": number(int64(post.Duration)),
			}
			delete(video, "like_count")
			if diff := cmp.Diff(want, video); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
	}
}

// busyProfile returns a TikTok profile with many recent posts. It skips the first skip profiles.
func busyProfile(t *testing.T, skip int) world.Profile {
	t.Helper()
	for _, p := range someProfiles(200)[skip:] {
		if posts := p.Posts(worldDay); p.Platform == "tiktok" && len(posts) > 20 && worldDay-posts[20].At/world.SecondsPerDay < 25 {
			return p
		}
	}
	t.Fatal("no profile found")
	return world.Profile{}
}

func TestResearchQueries(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researchToken(t)
	count := func(query string) int {
		result := b.research(t, token, "video/query", "id", researchBody(query, `,"max_count":100`))
		if result.Error.Code != "ok" || result.Data.More {
			t.Fatalf("%s: %+v", query, result)
		}
		return len(result.Data.Videos)
	}
	first, second := busyProfile(t, 1), busyProfile(t, 100)
	onlyFirst, onlySecond := username(first.Name), username(second.Name)
	tag := ""
	for _, post := range first.Posts(worldDay) {
		if len(post.Tags) > 0 {
			tag = post.Tags[0]
			break
		}
	}
	date := func(operation string) string {
		return `{"operation":"` + operation + `","field_name":"create_date","field_values":["20261105"]}`
	}
	tagged := `{"operation":"EQ","field_name":"hashtag_name","field_values":["` + tag + `"]}`
	all, both := count(`{"and":[`+onlyFirst+`]}`), count(`{"and":[`+username(first.Name, second.Name)+`]}`)
	if all == 0 || both <= all || count(`{"or":[`+onlyFirst+`,`+onlySecond+`]}`) != both ||
		count(`{"or":[`+onlyFirst+`,`+onlySecond+`],"not":[`+onlySecond+`]}`) != all {
		t.Errorf("%d videos of one profile, %d of both", all, both)
	}
	for _, halves := range [][2]string{{"GT", "LTE"}, {"GTE", "LT"}} {
		if n := count(`{"and":[`+onlyFirst+`,`+date(halves[0])+`]}`) + count(`{"and":[`+onlyFirst+`,`+date(halves[1])+`]}`); n != all {
			t.Errorf("%v: %d videos, want %d", halves, n, all)
		}
	}
	if with, without := count(`{"and":[`+onlyFirst+`,`+tagged+`]}`),
		count(`{"and":[`+onlyFirst+`],"not":[`+tagged+`]}`); with == 0 || with+without != all {
		t.Errorf("%d videos with the hashtag, %d without, want %d together", with, without, all)
	}
	if n := count(`{"and":[` + username("missing.you", "private.you", "empty.room") + `]}`); n != 0 {
		t.Errorf("profiles without public videos: %d videos", n)
	}
}

func TestResearchErrors(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researchToken(t)
	person := b.tiktokTokens(t, tiktokAll).member("access_token")
	query := `{"and":[` + username("stranger.1") + `]}`
	for name, c := range map[string]struct{ token, path, fields, body, code string }{
		"missing": {token, "user/info", "display_name", `{"username":"missing.you"}`, "invalid_params"},
		"private": {token, "user/info", "display_name", `{"username":"private.you"}`, "invalid_params"},
		"failing": {token, "user/info", "display_name", `{"username":"error.you"}`, "internal_error"},
		"failing profile in a query": {
			token, "video/query", "id", researchBody(`{"and":[`+username("error.you")+`]}`, ""), "internal_error",
		},
		"no fields":         {token, "user/info", "", `{"username":"stranger.1"}`, "invalid_params"},
		"unknown field":     {token, "video/query", "id,url", researchBody(query, ""), "invalid_params"},
		"token of a person": {person, "user/info", "display_name", `{"username":"stranger.1"}`, "access_token_invalid"},
		"unknown token":     {"clt.x", "user/info", "display_name", `{"username":"stranger.1"}`, "access_token_invalid"},
		"invalid JSON":      {token, "video/query", "id", `{`, "invalid_params"},
		"period too long": {
			token, "video/query", "id", `{"query":` + query + `,"start_date":"20261001","end_date":"20261101"}`, "invalid_params",
		},
		"no period":                  {token, "video/query", "id", `{"query":` + query + `}`, "invalid_params"},
		"page too large":             {token, "video/query", "id", researchBody(query, `,"max_count":101`), "invalid_params"},
		"cursor without a search ID": {token, "video/query", "id", researchBody(query, `,"cursor":5`), "invalid_params"},
		"unknown search ID":          {token, "video/query", "id", researchBody(query, `,"cursor":5,"search_id":"7"`), "invalid_params"},
		"no condition":               {token, "video/query", "id", researchBody(`{}`, ""), "invalid_params"},
		"no username": {
			token, "video/query", "id",
			researchBody(`{"and":[{"operation":"EQ","field_name":"region_code","field_values":["DE"]}]}`, ""), "invalid_params",
		},
		"unsupported operation": {
			token, "video/query", "id",
			researchBody(`{"and":[{"operation":"GT","field_name":"username","field_values":["a"]}]}`, ""), "invalid_params",
		},
		"several values for EQ": {
			token, "video/query", "id",
			researchBody(`{"and":[{"operation":"EQ","field_name":"username","field_values":["a","b"]}]}`, ""), "invalid_params",
		},
	} {
		if result := b.research(t, c.token, c.path, c.fields, c.body); result.Error.Code != c.code {
			t.Errorf("%s: %+v", name, result)
		}
	}
	now = now.Add(2 * time.Hour)
	if result := b.research(t, token, "user/info", "display_name",
		`{"username":"stranger.1"}`); result.Error.Code != "access_token_invalid" {
		t.Errorf("two hours later: %+v", result)
	}
}

// An app can make a thousand requests per day.
func TestResearchQuota(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researchToken(t)
	must.NoError(t, b.base.Store.InTx(t.Context(), func(t1 store.Tx) error {
		_, err := t1.ExecContext(t.Context(), `insert into tiktok_research (client, day, used) values ('app', ?, 999)`, worldDay)
		return err
	}))
	errorCode := func() string {
		return b.research(t, token, "user/info", "display_name", `{"username":"stranger.1"}`).Error.Code
	}
	if last, next := errorCode(), errorCode(); last != "ok" || next != "daily_quota_limit_exceeded" {
		t.Errorf("request 1000: %s, request 1001: %s", last, next)
	}
	now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	token = b.researchToken(t)
	if code := errorCode(); code != "ok" {
		t.Errorf("on the next day: %s", code)
	}
}
