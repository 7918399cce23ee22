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

// researcher returns a token of an app.
func (b *fixture) researcher(t *testing.T) string {
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

// Research returns the same metrics as the bridge: for one profile in time windows, and for several profiles together,
// page by page.
func TestResearchAgreesWithVendor(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researcher(t)
	for _, name := range []string{"stranger.1", "stranger.7", "x.y"} {
		face := b.figures(t, "tiktok/profiles/"+name, "limit=1").Profile
		result := b.research(t, token, "user/info", "display_name,follower_count,video_count", `{"username":"`+name+`"}`).Data
		if result.Name != face.DisplayName || result.Followers != face.Followers || result.Count != face.Posts {
			t.Errorf("%s: %+v, want %+v", name, result, face)
		}
		posts := b.allMetrics(t, "tiktok/profiles/"+name, "limit=200&since=2026-10-22T00:00:00Z", func() {})
		more, videos := `,"max_count":7`, []map[string]any{}
		for {
			page := b.research(t, token, "video/query", researchFields, researchBody(`{"and":[`+username(name)+`]}`, more)).Data
			videos = append(videos, page.Videos...)
			if !page.More {
				break
			}
			more = fmt.Sprintf(`,"max_count":7,"cursor":%d,"search_id":%q`, page.Cursor, page.Search)
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

// busyProfile returns a profile of TikTok with many recent posts; its number is at least from.
func busyProfile(t *testing.T, from int) world.Profile {
	t.Helper()
	for _, p := range someProfiles(200)[from:] {
		if posts := p.Posts(worldDay); p.Platform == "tiktok" && len(posts) > 20 && worldDay-posts[20].At/world.SecondsPerDay < 25 {
			return p
		}
	}
	t.Fatal("there is no such profile")
	return world.Profile{}
}

func TestResearchQueries(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researcher(t)
	count := func(query string) int {
		result := b.research(t, token, "video/query", "id", researchBody(query, `,"max_count":100`))
		if result.Error.Code != "ok" || result.Data.More {
			t.Fatalf("%s: %+v", query, result)
		}
		return len(result.Data.Videos)
	}
	first, second := busyProfile(t, 1), busyProfile(t, 100)
	one, other := username(first.Name), username(second.Name)
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
	all, both := count(`{"and":[`+one+`]}`), count(`{"and":[`+username(first.Name, second.Name)+`]}`)
	if all == 0 || both <= all || count(`{"or":[`+one+`,`+other+`]}`) != both ||
		count(`{"or":[`+one+`,`+other+`],"not":[`+other+`]}`) != all {
		t.Errorf("%d of one, %d of both", all, both)
	}
	for _, halves := range [][2]string{{"GT", "LTE"}, {"GTE", "LT"}} {
		if n := count(`{"and":[`+one+`,`+date(halves[0])+`]}`) + count(`{"and":[`+one+`,`+date(halves[1])+`]}`); n != all {
			t.Errorf("%v: %d of %d", halves, n, all)
		}
	}
	if with, without := count(`{"and":[`+one+`,`+tagged+`]}`),
		count(`{"and":[`+one+`],"not":[`+tagged+`]}`); with == 0 || with+without != all {
		t.Errorf("%d with the hashtag, %d without, of %d", with, without, all)
	}
	if n := count(`{"and":[` + username("missing.you", "private.you", "empty.room") + `]}`); n != 0 {
		t.Errorf("of those who show nothing: %d", n)
	}
}

func TestResearchRefusals(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researcher(t)
	person := b.tiktokTokens(t, tiktokAll).member("access_token")
	one := `{"and":[` + username("stranger.1") + `]}`
	for name, c := range map[string]struct{ token, path, fields, body, code string }{
		"missing":       {token, "user/info", "display_name", `{"username":"missing.you"}`, "invalid_params"},
		"private":       {token, "user/info", "display_name", `{"username":"private.you"}`, "invalid_params"},
		"failing":       {token, "user/info", "display_name", `{"username":"error.you"}`, "internal_error"},
		"a failing one": {token, "video/query", "id", researchBody(`{"and":[`+username("error.you")+`]}`, ""), "internal_error"},
		"no field":      {token, "user/info", "", `{"username":"stranger.1"}`, "invalid_params"},
		"another field": {token, "video/query", "id,url", researchBody(one, ""), "invalid_params"},
		"a person":      {person, "user/info", "display_name", `{"username":"stranger.1"}`, "access_token_invalid"},
		"nobody":        {"clt.x", "user/info", "display_name", `{"username":"stranger.1"}`, "access_token_invalid"},
		"no JSON":       {token, "video/query", "id", `{`, "invalid_params"},
		"a long time": {
			token, "video/query", "id", `{"query":` + one + `,"start_date":"20261001","end_date":"20261101"}`, "invalid_params",
		},
		"no time":        {token, "video/query", "id", `{"query":` + one + `}`, "invalid_params"},
		"a large page":   {token, "video/query", "id", researchBody(one, `,"max_count":101`), "invalid_params"},
		"no search":      {token, "video/query", "id", researchBody(one, `,"cursor":5`), "invalid_params"},
		"another search": {token, "video/query", "id", researchBody(one, `,"cursor":5,"search_id":"7"`), "invalid_params"},
		"no condition":   {token, "video/query", "id", researchBody(`{}`, ""), "invalid_params"},
		"everybody": {
			token, "video/query", "id",
			researchBody(`{"and":[{"operation":"EQ","field_name":"region_code","field_values":["DE"]}]}`, ""), "invalid_params",
		},
		"an operation": {
			token, "video/query", "id",
			researchBody(`{"and":[{"operation":"GT","field_name":"username","field_values":["a"]}]}`, ""), "invalid_params",
		},
		"several for one": {
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

// A client has a thousand requests a day.
func TestResearchQuota(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b := startBridge(t, &now)
	token := b.researcher(t)
	must.NoError(t, b.base.Store.InTx(t.Context(), func(t1 store.Tx) error {
		_, err := t1.ExecContext(t.Context(), `insert into tiktok_research (client, day, used) values ('app', ?, 999)`, worldDay)
		return err
	}))
	ask := func() string {
		return b.research(t, token, "user/info", "display_name", `{"username":"stranger.1"}`).Error.Code
	}
	if last, over := ask(), ask(); last != "ok" || over != "daily_quota_limit_exceeded" {
		t.Errorf("the last one: %s, and one more: %s", last, over)
	}
	now = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	token = b.researcher(t)
	if again := ask(); again != "ok" {
		t.Errorf("on the next day: %s", again)
	}
}
