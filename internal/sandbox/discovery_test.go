package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/sandbox/bridge"
	"pressroom.example/pressroom/internal/sandbox/instagram"
	"pressroom.example/pressroom/internal/sandbox/world"
	"pressroom.example/pressroom/internal/testkit/must"
)

// operator is an operator account that makes calls in tests.
type operator struct{ OperatorAccount }

// startWithOperator starts a sandbox and returns it with an operator account.
func startWithOperator(t *testing.T, now *time.Time) (*fixture, operator) {
	t.Helper()
	b := startBridge(t, now)
	accounts := must.Get(b.Operators(t.Context(), 1))(t)
	return b, operator{accounts[0]}
}

// call sends a request to the host of Facebook Login with the operator's token.
func (o operator) call(t *testing.T, b *fixture, path string, values ...string) answer {
	t.Helper()
	return b.instagram(t, http.MethodGet, instagramFacebook+path, o.Token, values...)
}

func (o operator) discover(t *testing.T, b *fixture, name, fields string) answer {
	t.Helper()
	return o.call(t, b, o.ID, "fields", "business_discovery.username("+name+"){"+fields+"}")
}

// mediaTypes has Instagram's media type for each format.
var mediaTypes = map[string]string{"image": "IMAGE", "video": "VIDEO", "reel": "VIDEO", "carousel": "CAROUSEL_ALBUM"}

// graphList is a page of objects.
type graphList struct {
	Data   []map[string]any
	Paging struct {
		Cursors struct{ After, Before string }
		Next    string
	}
}

type discoveredProfile struct {
	ID         string
	Discovered struct {
		ID, Name, Biography, Website string
		Followers                    int64 `json:"followers_count"`
		Posts                        int64 `json:"media_count"`
		Media                        graphList
	} `json:"business_discovery"`
}

func decodeGraph[T any](t *testing.T, a answer) T {
	t.Helper()
	var result T
	if err := json.Unmarshal(a.body, &result); err != nil || a.status != http.StatusOK {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return result
}

// Business discovery returns the same metrics as the bridge, on all pages.
func TestDiscoveryMatchesBridge(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b, o := startWithOperator(t, &now)
	for _, p := range someProfiles(60) {
		if p.Platform != "instagram" {
			continue
		}
		posts := b.allMetrics(t, "instagram/profiles/"+p.Name, "limit=200", func() {})
		const fields = "id,caption,comments_count,like_count,view_count,media_type,media_product_type,timestamp,media_url"
		result := decodeGraph[discoveredProfile](t, o.discover(t, b, p.Name, "followers_count,media_count,media.limit(100){"+fields+"}"))
		want := b.profileMetrics(t, "instagram/profiles/"+p.Name, "limit=1").Profile
		if result.Discovered.Followers != want.Followers || result.Discovered.Posts != want.Posts || result.ID != o.ID {
			t.Errorf("%s: %+v, want %+v", p.Name, result.Discovered, want)
		}
		media := result.Discovered.Media.Data
		for next := result.Discovered.Media.Paging.Cursors.After; next != ""; {
			page := decodeGraph[discoveredProfile](t,
				o.discover(t, b, p.Name, "media.after("+next+").limit(100){"+fields+"}")).Discovered.Media
			media, next = append(media, page.Data...), page.Paging.Cursors.After
		}
		if len(media) != len(posts) {
			t.Fatalf("%s: %d media, %d posts", p.Name, len(media), len(posts))
		}
		for i, item := range media {
			post := posts[i]
			want := map[string]any{
				"id": post.ID, "caption": post.Caption, "comments_count": float64(post.Comments),
				"timestamp":          strings.Replace(post.TakenAt, "Z", "+0000", 1),
				"media_type":         mediaTypes[post.Format],
				"media_product_type": map[bool]string{true: "REELS", false: "FEED"}[post.Format == world.FormatReel],
			}
			if post.Likes != nil {
				want["like_count"] = float64(*post.Likes)
			}
			if post.Views != nil {
				want["view_count"] = float64(*post.Views)
			}
			if _, exists := item["media_url"]; exists == (p.Traits().HidesReels && post.Format == world.FormatReel) {
				t.Errorf("%s: %v", p.Name, item)
			}
			delete(item, "media_url")
			if diff := cmp.Diff(want, item); diff != "" {
				t.Errorf("%s: %s", p.Name, diff)
			}
		}
	}
}

func TestDiscoveryFields(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b, o := startWithOperator(t, &now)
	a := o.call(t, b, o.ID, "fields",
		"username,business_discovery.username(Harbour.Bread){username,media.limit(40){children{media_type,media_url}}}")
	var result map[string]any
	if err := json.Unmarshal(a.body, &result); err != nil || result["username"] != "operator.1" || a.header.Get("X-App-Usage") == "" {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	found := result["business_discovery"].(map[string]any)
	if len(result) != 3 || len(found) != 3 || found["username"] != "harbour.bread" {
		t.Errorf("%s", a.body)
	}
	carousels := 0
	for _, item := range found["media"].(map[string]any)["data"].([]any) {
		post := item.(map[string]any)
		children, exists := post["children"].(map[string]any)
		if !exists && len(post) == 1 {
			continue
		}
		parts := children["data"].([]any)
		carousels++
		part := parts[0].(map[string]any)
		if len(parts) < 2 || len(part) != 3 || part["id"] == post["id"] {
			t.Errorf("%v", post)
		}
		if a := b.get(t, strings.TrimPrefix(part["media_url"].(string), "http://sandbox.example")); a.status != http.StatusOK {
			t.Errorf("%v: HTTP %d", part, a.status)
		}
	}
	if carousels == 0 {
		t.Error("no carousel")
	}
}

func TestDiscoveryRejections(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b, o := startWithOperator(t, &now)
	person := b.personToken(t, "mira.keller")
	mine := instagram.AccountID("mira.keller")
	discovery := "business_discovery.username(harbour.bread)"
	for name, c := range map[string]struct {
		path, token, fields string
		status              int
		want                [2]int
	}{
		"missing":             {o.ID, o.Token, "business_discovery.username(missing.you){id}", 400, [2]int{110, 2207013}},
		"private":             {o.ID, o.Token, "business_discovery.username(private.you){id}", 400, [2]int{110, 2207013}},
		"invalid username":    {o.ID, o.Token, "business_discovery.username(no-name){id}", 400, [2]int{110, 2207013}},
		"failing":             {o.ID, o.Token, "business_discovery.username(error.you){id}", 500, [2]int{2, 0}},
		"no username":         {o.ID, o.Token, "business_discovery{id}", 400, [2]int{100, 0}},
		"unknown field":       {o.ID, o.Token, discovery + "{email}", 400, [2]int{100, 0}},
		"unknown media field": {o.ID, o.Token, discovery + "{media{shares_count}}", 400, [2]int{100, 0}},
		"stories":             {o.ID, o.Token, discovery + "{stories}", 400, [2]int{100, 0}},
		"limit too high":      {o.ID, o.Token, discovery + "{media.limit(101){id}}", 400, [2]int{100, 0}},
		"invalid cursor":      {o.ID, o.Token, discovery + "{media.after(x){id}}", 400, [2]int{100, 0}},
		"unknown modifier":    {o.ID, o.Token, discovery + "{media.offset(1){id}}", 400, [2]int{100, 0}},
		"missing brace":       {o.ID, o.Token, discovery + "{media{id}", 400, [2]int{2500, 0}},
		"another account":     {mine, o.Token, discovery + "{id}", 400, [2]int{100, 33}},
		"no scope":            {mine, person, discovery + "{id}", 403, [2]int{10, 0}},
		"no token":            {o.ID, "x", discovery + "{id}", 400, [2]int{190, 0}},
	} {
		a := b.instagram(t, http.MethodGet, instagramFacebook+c.path, c.token, "fields", c.fields)
		if a.status != c.status || a.graphCode() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.instagram(t, http.MethodGet, instagramGraph+o.ID, o.Token, "fields", discovery+"{id}"); a.graphCode() != [2]int{100, 0} {
		t.Errorf("host of Instagram Login: HTTP %d: %s", a.status, a.body)
	}
	empty := decodeGraph[discoveredProfile](t, o.discover(t, b, "empty.room", "media_count,media{id}"))
	if empty.Discovered.Posts != 0 || empty.Discovered.Media.Data == nil || len(empty.Discovered.Media.Data) != 0 {
		t.Errorf("empty profile: %+v", empty)
	}
}

// Operator returns the same accounts each time, and people cannot sign in as an operator.
func TestOperatorAccounts(t *testing.T) {
	t.Parallel()
	b := start(t, Options{})
	first := must.Get(b.Operators(t.Context(), 3))(t)
	second, err := startIn(t, b.dir, Options{}).Operators(t.Context(), 2)
	if err != nil || len(first) != 3 || second[1].ID != first[1].ID || second[1].Token == first[1].Token {
		t.Errorf("%v, then %v: %v", first, second, err)
	}
	for _, o := range append(first, second...) {
		if a := (operator{o}).call(t, b, o.ID, "fields", "username"); !strings.HasPrefix(a.member("username"), "operator.") {
			t.Errorf("HTTP %d: %s", a.status, a.body)
		}
	}
	if a := b.form(t, http.MethodGet, instagramFacebook+"dialog/oauth", consentQuery()); strings.Contains(string(a.body),
		"operator") || !strings.Contains(string(a.body), "mira.keller") {
		t.Errorf("consent page: %s", a.body)
	}
	if a := b.instagram(t, http.MethodGet, instagramFacebook+"me/accounts",
		b.personToken(t, "studio.north")); strings.Contains(string(a.body), "Operator") {
		t.Errorf("Pages of studio.north: %s", a.body)
	}
}

func (o operator) search(t *testing.T, b *fixture, hashtag string) answer {
	t.Helper()
	return o.call(t, b, "ig_hashtag_search", "user_id", o.ID, "q", hashtag)
}

func (o operator) hashtag(t *testing.T, b *fixture, name string) string {
	t.Helper()
	return decodeGraph[graphList](t, o.search(t, b, name)).Data[0]["id"].(string)
}

// hashtagPages returns the media of all pages. It calls between before each page after the first one.
func (o operator) hashtagPages(t *testing.T, b *fixture, path string, limit int, between func()) []map[string]any {
	t.Helper()
	var all []map[string]any
	after := ""
	for {
		page := decodeGraph[graphList](t,
			o.call(t, b, path, "user_id", o.ID, "fields",
				"id,caption,media_type,like_count,comments_count,permalink,timestamp", "limit", strconv.Itoa(limit), "after", after))
		all = append(all, page.Data...)
		if page.Paging.Cursors.After == "" || page.Paging.Cursors.Before != "" {
			return all
		}
		if strings.HasSuffix(path, "recent_media") && after != "" && after != page.Paging.Cursors.After {
			t.Error("the cursor of recent media changed")
		}
		after = page.Paging.Cursors.After
		between()
	}
}

// smallHashtag returns an Instagram hashtag with 120 to 300 posts a day.
func smallHashtag(t *testing.T) world.Hashtag {
	t.Helper()
	for _, h := range someHashtags(300) {
		now := vendorNow.Unix()
		if perDay := h.Size(now) - h.Size(now-24*60*60); h.Platform == "instagram" && perDay > 120 && perDay < 300 {
			return h
		}
	}
	t.Fatal("no hashtag found")
	return world.Hashtag{}
}

func TestHashtagMedia(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b, o := startWithOperator(t, &now)
	h := smallHashtag(t)
	id := o.hashtag(t, b, strings.ToUpper(h.Name))
	if a := o.call(t, b, id, "fields", "id,name"); a.member("name") != h.Name {
		t.Errorf("the hashtag by its ID: %s", a.body)
	}
	want := decodeBridge[bridge.HashtagMetrics](t, b, "instagram/hashtags/"+h.Name+"?limit=1000")
	for path, posts := range map[string][]bridge.PostMetrics{"/top_media": want.Top, "/recent_media": want.Recent} {
		startTime := now
		media := o.hashtagPages(t, b, id+path, 23, func() { now = now.Add(time.Minute) })
		now = startTime
		if len(media) != len(posts) || len(posts) < 60 {
			t.Fatalf("%s: %d media, %d posts", path, len(media), len(posts))
		}
		for i, item := range media {
			if item["id"] != posts[i].ID || item["caption"] != posts[i].Caption || item["like_count"] != float64(*posts[i].Likes) {
				t.Errorf("%s: %v, want %+v", path, item, posts[i])
			}
		}
	}
	page := decodeGraph[graphList](t, o.call(t, b, id+"/top_media", "user_id", o.ID, "limit", "3"))
	next, err := url.Parse(page.Paging.Next)
	if err != nil || len(page.Data) != 3 || len(page.Data[0]) != 1 {
		t.Fatalf("%v: %+v", err, page)
	}
	if second := decodeGraph[graphList](t, b.get(t, next.RequestURI())); second.Data[0]["id"] != want.Top[3].ID {
		t.Errorf("the first item of the next page is %v", second.Data[0])
	}
}

func TestHashtagRejections(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b, o := startWithOperator(t, &now)
	id := o.hashtag(t, b, "bread")
	for name, c := range map[string]struct {
		path   string
		values []string
		want   [2]int
	}{
		"missing":               {"ig_hashtag_search", []string{"q", "missingthings"}, [2]int{24, 2207024}},
		"emoji":                 {"ig_hashtag_search", []string{"q", "🍞"}, [2]int{24, 2207024}},
		"failing":               {"ig_hashtag_search", []string{"q", "errors"}, [2]int{2, 0}},
		"no query":              {"ig_hashtag_search", nil, [2]int{100, 0}},
		"another account":       {"ig_hashtag_search", []string{"q", "bread", "user_id", "1"}, [2]int{100, 33}},
		"no account":            {id + "/top_media", []string{"user_id", ""}, [2]int{100, 33}},
		"unknown hashtag":       {"17000/top_media", nil, [2]int{100, 33}},
		"field username":        {id + "/recent_media", []string{"fields", "id,username"}, [2]int{100, 0}},
		"field view_count":      {id + "/top_media", []string{"fields", "view_count"}, [2]int{100, 0}},
		"limit too high":        {id + "/recent_media", []string{"limit", "51"}, [2]int{100, 0}},
		"invalid recent cursor": {id + "/recent_media", []string{"after", "x"}, [2]int{100, 0}},
		"invalid top cursor":    {id + "/top_media", []string{"after", "x"}, [2]int{100, 0}},
		"invalid fields":        {id + "/top_media", []string{"fields", "id,{"}, [2]int{2500, 0}},
	} {
		if a := o.call(t, b, c.path, append([]string{"user_id", o.ID}, c.values...)...); a.graphCode() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// An account may query thirty hashtags in seven days. Repeating a query does not count and does not extend the seven
// days.
func TestHashtagQuota(t *testing.T) {
	t.Parallel()
	now := vendorNow
	b, o := startWithOperator(t, &now)
	first := o.hashtag(t, b, "first")
	for i := range 30 - 1 {
		now = now.Add(time.Minute)
		o.hashtag(t, b, "more"+strconv.Itoa(i))
	}
	if a := o.search(t, b, "toomany"); a.graphCode() != [2]int{18, 2207034} {
		t.Errorf("hashtag 31: HTTP %d: %s", a.status, a.body)
	}
	now = vendorNow.Add(7*24*time.Hour - time.Hour)
	if a := o.call(t, b, first+"/top_media", "user_id", o.ID); a.status != http.StatusOK || o.hashtag(t, b, "First") != first {
		t.Errorf("repeated query: HTTP %d: %s", a.status, a.body)
	}
	searched := func() []map[string]any {
		return decodeGraph[graphList](t, o.call(t, b, o.ID+"/recently_searched_hashtags", "limit", "30")).Data
	}
	if all := searched(); len(all) != 30 || all[0]["id"] != first {
		t.Errorf("%d hashtags count, the first is %v", len(all), all[0])
	}
	now = vendorNow.Add(7 * 24 * time.Hour)
	if all := searched(); len(all) != 30-1 {
		t.Errorf("seven days later: %d hashtags count", len(all))
	}
	if a := o.search(t, b, "toomany"); a.status != http.StatusOK {
		t.Errorf("another hashtag after seven days: HTTP %d: %s", a.status, a.body)
	}
	if a := o.call(t, b, first+"/top_media", "user_id", o.ID); a.graphCode() != [2]int{18, 2207034} {
		t.Errorf("media of the expired hashtag: HTTP %d: %s", a.status, a.body)
	}
	other := must.Get(b.Operators(t.Context(), 2))(t)
	if a := (operator{other[1]}).search(t, b, "first"); a.status != http.StatusOK {
		t.Errorf("another account: HTTP %d: %s", a.status, a.body)
	}
}
