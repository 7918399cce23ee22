package sandbox

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/instagram"
	"pressroom.example/pressroom/internal/testkit/must"
)

const instagramGraph, instagramFacebook = "/instagram/graph/v25.0/", "/instagram/facebook/v25.0/"

// instagramCode returns the code for a person who grants the permissions on a consent page.
func (b *fixture) instagramCode(t *testing.T, page, person string) string {
	t.Helper()
	return b.form(t, http.MethodPost, page, with(consentQuery(), "decision", "allow", "account", person,
		"scope", "instagram_basic,instagram_content_publish,instagram_business_content_publish")).code(t)
}

// instagramToken returns a person's token of Instagram Login.
func (b *fixture) instagramToken(t *testing.T, person string) string {
	t.Helper()
	return b.form(t, http.MethodPost, "/instagram/api/oauth/access_token",
		exchange(b.instagramCode(t, "/instagram/www/oauth/authorize", person))).member("access_token")
}

// personToken returns a person's token of Facebook Login.
func (b *fixture) personToken(t *testing.T, person string) string {
	t.Helper()
	code := b.instagramCode(t, instagramFacebook+"dialog/oauth", person)
	return b.form(t, http.MethodGet, instagramFacebook+"oauth/access_token", exchange(code, "grant_type", "")).member("access_token")
}

func (b *fixture) instagram(t *testing.T, method, path, token string, values ...string) answer {
	t.Helper()
	return b.form(t, method, path, with(url.Values{"access_token": {token}}, values...))
}

// jpegFile serves a small image and returns its URL.
func jpegFile(t *testing.T) string {
	t.Helper()
	var file bytes.Buffer
	must.NoError(t, jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, 9, 9)), nil))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file.Bytes()) }))
	t.Cleanup(server.Close)
	return server.URL
}

// photoContainer creates a container with an image and returns its ID.
func (b *fixture) photoContainer(t *testing.T, token, account, caption string) string {
	t.Helper()
	return b.instagram(t, http.MethodPost, instagramGraph+account+"/media", token, "image_url", jpegFile(t), "caption", caption).id(t)
}

func TestInstagramErrors(t *testing.T) {
	b := start(t, Options{})
	token, mira := b.instagramToken(t, "mira.keller"), instagram.AccountID("mira.keller")
	item := b.instagram(t, http.MethodPost, instagramGraph+mira+"/media", token, "media_type", "VIDEO", "video_url",
		"http://127.0.0.1:1/", "is_carousel_item", "true").id(t)
	container := b.photoContainer(t, token, mira, "one")
	for name, c := range map[string]struct {
		method, path string
		values       []string
		want         [2]int
	}{
		"no image_url": {http.MethodPost, mira + "/media", []string{"caption", "x"}, [2]int{100, 0}},
		"no video_url": {http.MethodPost, mira + "/media", []string{"media_type", "REELS"}, [2]int{100, 0}},
		"VIDEO outside a carousel": {
			http.MethodPost, mira + "/media", []string{"media_type", "VIDEO", "video_url", "http://127.0.0.1:1/"}, [2]int{100, 0},
		},
		"reel in a carousel": {
			http.MethodPost, mira + "/media",
			[]string{"media_type", "REELS", "video_url", "http://127.0.0.1:1/", "is_carousel_item", "true"}, [2]int{100, 0},
		},
		"unknown media type": {http.MethodPost, mira + "/media", []string{"media_type", "TEXT", "caption", "x"}, [2]int{100, 0}},
		"too long": {
			http.MethodPost, mira + "/media",
			[]string{"image_url", "http://127.0.0.1:1/", "caption", strings.Repeat("👋", 1101)}, [2]int{36004, 2207010},
		},
		"many hashtags": {
			http.MethodPost, mira + "/media",
			[]string{"image_url", "http://127.0.0.1:1/", "caption", strings.Repeat("#a ", 31)}, [2]int{36004, 2207010},
		},
		"not fetched":     {http.MethodPost, mira + "/media", []string{"image_url", "http://127.0.0.1:1/"}, [2]int{9004, 2207052}},
		"another account": {http.MethodPost, instagram.AccountID("studio.north") + "/media", []string{"caption", "x"}, [2]int{100, 33}},
		"small carousel": {
			http.MethodPost, mira + "/media", []string{"media_type", "CAROUSEL", "children", item}, [2]int{100, 2207028},
		},
		"large carousel": {
			http.MethodPost, mira + "/media",
			[]string{"media_type", "CAROUSEL", "children", strings.Repeat("1,", 10) + "1"}, [2]int{100, 2207028},
		},
		"containers that are not items": {
			http.MethodPost, mira + "/media", []string{"media_type", "CAROUSEL", "children", container + "," + container}, [2]int{100, 33},
		},
		"failed item": {
			http.MethodPost, mira + "/media", []string{"media_type", "CAROUSEL", "children", item + "," + item}, [2]int{9007, 2207027},
		},
		"unknown container":               {http.MethodPost, mira + "/media_publish", []string{"creation_id", "18x"}, [2]int{24, 2207006}},
		"publishing an item":              {http.MethodPost, mira + "/media_publish", []string{"creation_id", item}, [2]int{24, 2207006}},
		"unknown ID":                      {http.MethodGet, "189", nil, [2]int{100, 33}},
		"unknown path":                    {http.MethodGet, "me/likes", nil, [2]int{2500, 0}},
		"unknown field":                   {http.MethodGet, container, []string{"fields", "status_code,error_message"}, [2]int{100, 0}},
		"limit too high":                  {http.MethodGet, mira + "/media", []string{"limit", "101"}, [2]int{100, 0}},
		"no token":                        {http.MethodGet, "me", []string{"access_token", ""}, [2]int{190, 0}},
		"Pages on Instagram Login's host": {http.MethodGet, "me/accounts", nil, [2]int{2500, 0}},
		"unknown field of an account":     {http.MethodGet, "me", []string{"fields", "email"}, [2]int{100, 0}},
	} {
		a := b.instagram(t, c.method, instagramGraph+c.path, token, c.values...)
		if a.status != http.StatusBadRequest || a.graphCode() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.instagram(t, http.MethodGet, instagramGraph+item, token, "fields",
		"status_code,status"); a.member("status_code") != "ERROR" || !strings.HasSuffix(a.member("status"), " 2207052") {
		t.Errorf("failed item: %s", a.body)
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: %q", posts)
	}
}

// TestInstagramPages checks the list of a person's Pages. It also checks that a Page's token is valid only for the
// Page's account.
func TestInstagramPages(t *testing.T) {
	b := start(t, Options{})
	for person, want := range map[string][]string{
		"mira.keller": {"mira.keller"}, "studio.north": {"harbour.coffee", "mira.keller", "studio.north", ""},
	} {
		token := b.personToken(t, person)
		var list struct {
			Data []struct {
				ID, Name string
				Token    string                        `json:"access_token"`
				Account  struct{ ID, Username string } `json:"instagram_business_account"`
			}
		}
		a := b.instagram(t, http.MethodGet, instagramFacebook+"me/accounts", token)
		if err := json.Unmarshal(a.body, &list); err != nil || len(list.Data) != len(want) {
			t.Fatalf("HTTP %d: %s", a.status, a.body)
		}
		for i, page := range list.Data {
			if page.Account.Username != want[i] || page.Token == "" || page.Token == token {
				t.Errorf("page %+v", page)
			}
			for j, other := range list.Data {
				if a := b.instagram(t, http.MethodGet, instagramFacebook+other.Account.ID,
					page.Token); other.Account.ID != "" && (a.status == http.StatusOK) != (i == j ||
					page.Account.ID == "" && other.Account.Username == person) {
					t.Errorf("%s with the token of %s: HTTP %d", other.Name, page.Name, a.status)
				}
			}
			found := b.instagram(t, http.MethodGet, instagramFacebook+page.ID, token, "fields", "id,access_token")
			if found.member("access_token") == "" {
				t.Errorf("the Page by its ID: %s", found.body)
			}
		}
	}
}

func TestInstagramTokens(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	short, person := b.instagramToken(t, "mira.keller"), b.personToken(t, "mira.keller")
	long := b.form(t, http.MethodGet, "/instagram/graph/access_token",
		url.Values{"grant_type": {"ig_exchange_token"}, "client_secret": {"s"}, "access_token": {short}}).member("access_token")
	refresh := func(token string) answer {
		return b.form(t, http.MethodGet, "/instagram/graph/refresh_access_token",
			url.Values{"grant_type": {"ig_refresh_token"}, "access_token": {token}})
	}
	exchangeToken := func(token, secret string) answer {
		return b.form(t, http.MethodGet, instagramFacebook+"oauth/access_token",
			url.Values{"grant_type": {"fb_exchange_token"}, "client_id": {"app"}, "client_secret": {secret}, "fb_exchange_token": {token}})
	}
	if a := refresh(long); a.status != http.StatusBadRequest {
		t.Errorf("new token: HTTP %d: %s", a.status, a.body)
	}
	if a := exchangeToken(person, ""); a.status != http.StatusBadRequest {
		t.Errorf("no secret: HTTP %d: %s", a.status, a.body)
	}
	longLived := exchangeToken(person, "s").member("access_token")
	now = now.Add(24 * time.Hour)
	for name, expired := range map[string]answer{
		"short-lived token": b.instagram(t, http.MethodGet, instagramGraph+"me", short), "person's token": exchangeToken(person, "s"),
	} {
		if expired.graphCode() != [2]int{190, 463} {
			t.Errorf("%s after a day: HTTP %d: %s", name, expired.status, expired.body)
		}
	}
	for name, token := range map[string]string{
		"refreshed": refresh(long).member("access_token"), "exchanged": exchangeToken(longLived, "s").member("access_token"),
	} {
		if a := b.instagram(t, http.MethodGet, instagramFacebook+instagram.AccountID("mira.keller"), token, "fields",
			"username"); a.member("username") != "mira.keller" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// TestInstagramDataSurvivesKill opens the data of a sandbox that was never closed, as after a kill.
func TestInstagramDataSurvivesKill(t *testing.T) {
	b := start(t, Options{})
	token, mira := b.instagramToken(t, "mira.keller"), instagram.AccountID("mira.keller")
	id := b.photoContainer(t, token, mira, "kept")
	reopened := startIn(t, b.dir, Options{})
	reopened.instagram(t, http.MethodPost, instagramGraph+mira+"/media_publish", token, "creation_id", id).id(t)
	if posts := reopened.texts(t, url.Values{"platform": {"instagram"}}); len(posts) != 1 || posts[0] != "kept" {
		t.Errorf("stored posts: %q", posts)
	}
}

// A story is listed for a day, separately from posts, and its text is not stored.
func TestInstagramStories(t *testing.T) {
	clock := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return clock }})
	token, mira := b.instagramToken(t, "mira.keller"), instagram.AccountID("mira.keller")
	container := b.instagram(t, http.MethodPost, instagramGraph+mira+"/media", token, "media_type", "STORIES", "image_url", jpegFile(t),
		"caption", "not shown").id(t)
	story := b.instagram(t, http.MethodPost, instagramGraph+mira+"/media_publish", token, "creation_id", container).id(t)
	list := func(edge string) string {
		return string(b.instagram(t, http.MethodGet, instagramGraph+mira+"/"+edge, token, "fields",
			"id,caption,media_type,media_product_type").body)
	}
	if posts := list("media"); strings.Contains(posts, story) {
		t.Errorf("posts %s", posts)
	}
	stories := list("stories")
	for _, part := range []string{story, `"media_product_type":"STORY"`, `"media_type":"IMAGE"`, `"caption":""`} {
		if !strings.Contains(stories, part) {
			t.Errorf("stories %s lack %s", stories, part)
		}
	}
	if held := must.Get(b.posts(t.Context(), "instagram", ""))(t); len(held) != 1 || held[0].Format != "story" {
		t.Errorf("posts %+v", held)
	}
	clock = clock.Add(24 * time.Hour)
	token = b.instagramToken(t, "mira.keller")
	if stories := list("stories"); strings.TrimSpace(stories) != `{"data":[]}` {
		t.Errorf("stories of yesterday: %s", stories)
	}
	for name, values := range map[string][]string{
		"no media":        {"media_type", "STORIES"},
		"in a carousel":   {"media_type", "STORIES", "image_url", "http://127.0.0.1:1/", "is_carousel_item", "true"},
		"several stories": {"media_type", "STORIES", "children", container},
	} {
		if a := b.instagram(t, http.MethodPost, instagramGraph+mira+"/media", token, values...); a.graphCode() != [2]int{100, 0} {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// Invalid options are rejected with the errors of the API.
func TestInstagramOptions(t *testing.T) {
	b := start(t, Options{})
	token, mira := b.instagramToken(t, "mira.keller"), instagram.AccountID("mira.keller")
	image, reel := []string{"image_url", jpegFile(t)}, []string{"media_type", "REELS", "video_url", "http://127.0.0.1:1/"}
	for name, values := range map[string][]string{
		"collaborators that are no list": append(slices.Clone(image), "collaborators", "mira"),
		"four collaborators":             append(slices.Clone(image), "collaborators", `["a","b","c","d"]`),
		"an invalid username":            append(slices.Clone(image), "collaborators", `["@a"]`),
		"a tag without a place":          append(slices.Clone(image), "user_tags", `[{"username":"a"}]`),
		"a tag outside":                  append(slices.Clone(image), "user_tags", `[{"username":"a","x":1.5,"y":0}]`),
		"tags that are no list":          append(slices.Clone(image), "user_tags", `{}`),
		"an invalid location":            append(slices.Clone(image), "location_id", "Kiel"),
		"an unknown strategy":            append(slices.Clone(reel), "trial_params", `{"graduation_strategy":"NEVER"}`),
		"a trial that is no object":      append(slices.Clone(reel), "trial_params", "MANUAL"),
		"a share that is no boolean":     append(slices.Clone(reel), "share_to_feed", "maybe"),
	} {
		if a := b.instagram(t, http.MethodPost, instagramGraph+mira+"/media", token, values...); a.graphCode() != [2]int{100, 0} {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	a := b.instagram(t, http.MethodPost, instagramGraph+mira+"/media", token, append(reel, "cover_url", "http://127.0.0.1:1/")...)
	if a.graphCode() != [2]int{9004, 2207052} {
		t.Errorf("a cover that cannot be fetched: HTTP %d: %s", a.status, a.body)
	}
}
