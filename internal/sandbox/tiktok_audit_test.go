package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
	"pressroom.example/pressroom/internal/testkit/must"
)

// tiktokAppToken returns an access token of a person for an app.
func (b *fixture) tiktokAppToken(t *testing.T, client, person string) string {
	t.Helper()
	a := b.form(t, http.MethodPost, "/tiktok/v2/auth/authorize/", url.Values{
		"client_key": {client}, "redirect_uri": {"https://app.test/back"}, "response_type": {"code"},
		"scope": {tiktokAll + ",video.upload"}, "decision": {"allow"}, "account": {person},
	})
	return b.tiktokToken(t, "authorization_code", "client_key", client, "code", a.code(t),
		"redirect_uri", "https://app.test/back").member("access_token")
}

// TestTikTokAppRestrictions checks the restrictions on apps without an audit or a verified domain.
func TestTikTokAppRestrictions(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	initVideo := func(client, person, privacy string) string {
		body := strings.Replace(tiktokInit("film", 9, 9, 1), "PUBLIC_TO_EVERYONE", privacy, 1)
		return b.tiktok(t, "post/publish/video/init/", b.tiktokAppToken(t, client, person), body).tiktok(t).Error.Code
	}
	const rejected = "unaudited_client_can_only_post_to_private_accounts"
	for _, c := range []struct{ client, person, privacy, want string }{
		{"app-unaudited", "mira.keller", "PUBLIC_TO_EVERYONE", rejected},
		{"app-unaudited", "mira.keller", "SELF_ONLY", rejected}, // a public account
		{"app-unaudited", "atelier.blau", "FOLLOWER_OF_CREATOR", rejected},
		{"app-unaudited", "atelier.blau", "PUBLIC_TO_EVERYONE", "privacy_level_option_mismatch"},
		{"app-unaudited", "atelier.blau", "SELF_ONLY", "ok"},
		{"app", "atelier.blau", "FOLLOWER_OF_CREATOR", "ok"},
		{"app", "mira.keller", "FOLLOWER_OF_CREATOR", "privacy_level_option_mismatch"},
	} {
		if got := initVideo(c.client, c.person, c.privacy); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}

	must.NoError(t, b.base.Store.InTx(t.Context(), func(t1 store.Tx) error {
		var err error
		for i := range 5 {
			if err == nil {
				err = t1.Run(t.Context(), "inserting", `insert into tiktok_posters (client, account, posted_at) values (?, ?, ?)`,
					"full-unaudited", fmt.Sprint("other ", i), now.UnixMilli())
			}
		}
		return err
	}))
	if got := initVideo("full-unaudited", "atelier.blau", "SELF_ONLY"); got != "reached_active_user_cap" {
		t.Errorf("sixth account: %s", got)
	}
	if got := initVideo("app", "busy.bistro", "SELF_ONLY"); got != "spam_risk_too_many_posts" {
		t.Errorf("too many posts: %s", got)
	}
	info := b.tiktok(t, "post/publish/creator_info/query/", b.tiktokAppToken(t, "full-unaudited", "atelier.blau"), "{}")
	if got := info.tiktok(t).Error.Code; got != "reached_active_user_cap" {
		t.Errorf("creator_info of a sixth account: %s", got)
	}
	now = now.Add(24 * time.Hour)
	if got := initVideo("full-unaudited", "atelier.blau", "SELF_ONLY"); got != "ok" {
		t.Errorf("a day later: %s", got)
	}

	for client, want := range map[string]string{"app-unaudited-unverified-domain": "url_ownership_unverified", "app-unaudited": "ok"} {
		a := b.tiktok(t, "post/publish/content/init/", b.tiktokAppToken(t, client, "atelier.blau"),
			`{"media_type":"PHOTO","post_mode":"DIRECT_POST","post_info":{"privacy_level":"SELF_ONLY"},"source_info":{
			"source":"PULL_FROM_URL","photo_cover_index":0,"photo_images":["`+jpegFile(t)+`"]}}`)
		if got := a.tiktok(t).Error.Code; got != want {
			t.Errorf("photos by %s: %s", client, got)
		}
	}
	if posts := b.listPosts(t, url.Values{"platform": {"tiktok"}}); len(posts) != 1 || posts[0].Audience != "account" {
		t.Errorf("%+v", posts)
	}
}
