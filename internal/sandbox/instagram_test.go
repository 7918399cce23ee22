package sandbox

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/instagram"
	"pressroom.example/pressroom/internal/testkit/must"
)

const instagramGraph, instagramFacebook = "/instagram/graph/v25.0/", "/instagram/facebook/v25.0/"

// instagramCode returns the code for a person who allows the request of a consent page.
func (b *fixture) instagramCode(t *testing.T, page, person string) string {
	t.Helper()
	a := b.form(t, http.MethodPost, page, with(consentQuery(), "decision", "allow", "account", person,
		"scope", "instagram_basic,instagram_content_publish,instagram_business_content_publish"))
	back, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusSeeOther {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return back.Query().Get("code")
}

// instagramToken returns a token by Instagram Login.
func (b *fixture) instagramToken(t *testing.T, person string) string {
	t.Helper()
	return b.form(t, http.MethodPost, "/instagram/api/oauth/access_token",
		exchange(b.instagramCode(t, "/instagram/www/oauth/authorize", person))).member("access_token")
}

// personToken returns a person's token by Facebook Login.
func (b *fixture) personToken(t *testing.T, person string) string {
	t.Helper()
	code := b.instagramCode(t, instagramFacebook+"dialog/oauth", person)
	return b.form(t, http.MethodGet, instagramFacebook+"oauth/access_token", exchange(code, "grant_type", "")).member("access_token")
}

func (b *fixture) instagram(t *testing.T, method, path, token string, values ...string) answer {
	t.Helper()
	return b.form(t, method, path, with(url.Values{"access_token": {token}}, values...))
}

// jpegFile returns the address of a small image.
func jpegFile(t *testing.T) string {
	t.Helper()
	var file bytes.Buffer
	must.NoError(t, jpeg.Encode(&file, image.NewGray(image.Rect(0, 0, 9, 9)), nil))
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file.Bytes()) }))
	t.Cleanup(front.Close)
	return front.URL
}

// photo returns the ID of a container of one image.
func (b *fixture) photo(t *testing.T, token, account, caption string) string {
	t.Helper()
	return b.instagram(t, http.MethodPost, instagramGraph+account+"/media", token, "image_url", jpegFile(t), "caption", caption).id(t)
}

func TestInstagramRefusals(t *testing.T) {
	b := start(t, Options{})
	token, mira := b.instagramToken(t, "mira.keller"), instagram.AccountID("mira.keller")
	film := b.instagram(t, http.MethodPost, instagramGraph+mira+"/media", token, "media_type", "VIDEO", "video_url",
		"http://127.0.0.1:1/", "is_carousel_item", "true").id(t)
	photo := b.photo(t, token, mira, "one")
	for name, c := range map[string]struct {
		method, path string
		values       []string
		want         [2]int
	}{
		"no media": {http.MethodPost, mira + "/media", []string{"caption", "x"}, [2]int{100, 0}},
		"no film":  {http.MethodPost, mira + "/media", []string{"media_type", "REELS"}, [2]int{100, 0}},
		"a film by itself": {
			http.MethodPost, mira + "/media", []string{"media_type", "VIDEO", "video_url", "http://127.0.0.1:1/"}, [2]int{100, 0},
		},
		"a reel in a row": {
			http.MethodPost, mira + "/media",
			[]string{"media_type", "REELS", "video_url", "http://127.0.0.1:1/", "is_carousel_item", "true"}, [2]int{100, 0},
		},
		"a text": {http.MethodPost, mira + "/media", []string{"media_type", "TEXT", "caption", "x"}, [2]int{100, 0}},
		"too long": {
			http.MethodPost, mira + "/media",
			[]string{"image_url", "http://127.0.0.1:1/", "caption", strings.Repeat("👋", 1101)}, [2]int{36004, 2207010},
		},
		"many hashtags": {
			http.MethodPost, mira + "/media",
			[]string{"image_url", "http://127.0.0.1:1/", "caption", strings.Repeat("#a ", 31)}, [2]int{36004, 2207010},
		},
		"not fetched": {http.MethodPost, mira + "/media", []string{"image_url", "http://127.0.0.1:1/"}, [2]int{9004, 2207052}},
		"another's":   {http.MethodPost, instagram.AccountID("studio.north") + "/media", []string{"caption", "x"}, [2]int{100, 33}},
		"a small carousel": {
			http.MethodPost, mira + "/media", []string{"media_type", "CAROUSEL", "children", film}, [2]int{100, 2207028},
		},
		"a large carousel": {
			http.MethodPost, mira + "/media",
			[]string{"media_type", "CAROUSEL", "children", strings.Repeat("1,", 10) + "1"}, [2]int{100, 2207028},
		},
		"no part": {
			http.MethodPost, mira + "/media", []string{"media_type", "CAROUSEL", "children", photo + "," + photo}, [2]int{100, 33},
		},
		"a failed part": {
			http.MethodPost, mira + "/media", []string{"media_type", "CAROUSEL", "children", film + "," + film}, [2]int{9007, 2207027},
		},
		"no container":        {http.MethodPost, mira + "/media_publish", []string{"creation_id", "18x"}, [2]int{24, 2207006}},
		"a part":              {http.MethodPost, mira + "/media_publish", []string{"creation_id", film}, [2]int{24, 2207006}},
		"nothing":             {http.MethodGet, "189", nil, [2]int{100, 33}},
		"no path":             {http.MethodGet, "me/likes", nil, [2]int{2500, 0}},
		"an unknown field":    {http.MethodGet, photo, []string{"fields", "status_code,error_message"}, [2]int{100, 0}},
		"a page":              {http.MethodGet, mira + "/media", []string{"limit", "101"}, [2]int{100, 0}},
		"no token":            {http.MethodGet, "me", []string{"access_token", ""}, [2]int{190, 0}},
		"Pages":               {http.MethodGet, "me/accounts", nil, [2]int{2500, 0}},
		"a field of accounts": {http.MethodGet, "me", []string{"fields", "email"}, [2]int{100, 0}},
	} {
		a := b.instagram(t, c.method, instagramGraph+c.path, token, c.values...)
		if a.status != http.StatusBadRequest || a.graphCode() != c.want {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if a := b.instagram(t, http.MethodGet, instagramGraph+film, token, "fields",
		"status_code,status"); a.member("status_code") != "ERROR" || !strings.HasSuffix(a.member("status"), " 2207052") {
		t.Errorf("a failed part: %s", a.body)
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: %q", posts)
	}
}

// TestInstagramPages checks whose Pages a person sees, and that each one's token is only for its own account.
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
			again := b.instagram(t, http.MethodGet, instagramFacebook+page.ID, token, "fields", "id,access_token")
			if again.member("access_token") == "" {
				t.Errorf("the Page by its id: %s", again.body)
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
	renew := func(token string) answer {
		return b.form(t, http.MethodGet, "/instagram/graph/refresh_access_token",
			url.Values{"grant_type": {"ig_refresh_token"}, "access_token": {token}})
	}
	lengthen := func(token, secret string) answer {
		return b.form(t, http.MethodGet, instagramFacebook+"oauth/access_token",
			url.Values{"grant_type": {"fb_exchange_token"}, "client_id": {"app"}, "client_secret": {secret}, "fb_exchange_token": {token}})
	}
	if a := renew(long); a.status != http.StatusBadRequest {
		t.Errorf("a young token: HTTP %d: %s", a.status, a.body)
	}
	if a := lengthen(person, ""); a.status != http.StatusBadRequest {
		t.Errorf("no secret: HTTP %d: %s", a.status, a.body)
	}
	kept := lengthen(person, "s").member("access_token")
	now = now.Add(24 * time.Hour)
	for name, dead := range map[string]answer{
		"a token of an hour": b.instagram(t, http.MethodGet, instagramGraph+"me", short), "a person's": lengthen(person, "s"),
	} {
		if dead.graphCode() != [2]int{190, 463} {
			t.Errorf("%s after a day: HTTP %d: %s", name, dead.status, dead.body)
		}
	}
	for name, live := range map[string]string{
		"renewed": renew(long).member("access_token"), "lengthened": lengthen(kept, "s").member("access_token"),
	} {
		if a := b.instagram(t, http.MethodGet, instagramFacebook+instagram.AccountID("mira.keller"), live, "fields",
			"username"); a.member("username") != "mira.keller" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// TestInstagramDataAfterKill opens the data of a sandbox that was never closed, as after a kill.
func TestInstagramDataAfterKill(t *testing.T) {
	b := start(t, Options{})
	token, mira := b.instagramToken(t, "mira.keller"), instagram.AccountID("mira.keller")
	id := b.photo(t, token, mira, "kept")
	again := startIn(t, b.dir, Options{})
	again.instagram(t, http.MethodPost, instagramGraph+mira+"/media_publish", token, "creation_id", id).id(t)
	if posts := again.texts(t, url.Values{"platform": {"instagram"}}); len(posts) != 1 || posts[0] != "kept" {
		t.Errorf("stored posts: %q", posts)
	}
}
