package sandbox

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// TestDevelopmentMode checks that an app of Meta without App Review serves only people with a role in it.
func TestDevelopmentMode(t *testing.T) {
	b := start(t, Options{})
	consent := func(page, client, person, scopes string) answer {
		return b.form(t, http.MethodPost, page, with(consentQuery(), "client_id", client, "scope", scopes,
			"decision", "allow", "account", person))
	}
	for page, want := range map[string]string{
		"/threads/oauth/authorize":         "1349245",
		"/instagram/www/oauth/authorize":   "Insufficient developer role",
		instagramFacebook + "dialog/oauth": "App not active",
		"/facebook/www/v25.0/dialog/oauth": "App not active",
	} {
		a := consent(page, "app-unreviewed-require-app-secret", "studio.north", "any")
		if a.status != http.StatusBadRequest || !strings.Contains(string(a.body), want) || a.header.Get("Location") != "" {
			t.Errorf("%s without a role: HTTP %d %s", page, a.status, a.body)
		}
		if a := consent(page, "app-unreviewed", "mira.keller", "any"); a.status != http.StatusSeeOther {
			t.Errorf("%s with a role: HTTP %d %s", page, a.status, a.body)
		}
		if a := consent(page, "app", "studio.north", "any"); a.status != http.StatusSeeOther {
			t.Errorf("%s with a reviewed app: HTTP %d %s", page, a.status, a.body)
		}
	}
	for client, want := range map[string]string{"app-unreviewed": "roles", "app": ""} {
		allowed := consent("/threads/oauth/authorize", client, "mira.keller", "threads_content_publish")
		token := b.form(t, http.MethodPost, "/threads/oauth/access_token",
			exchange(allowed.code(t), "client_id", client)).member("access_token")
		id := b.threads(t, http.MethodPost, "me/threads", token, "media_type", "TEXT", "text", "of "+client+".").id(t)
		b.threads(t, http.MethodPost, "me/threads_publish", token, "creation_id", id).id(t)
		posts := b.listPosts(t, url.Values{"contains": {"of " + client + "."}})
		if len(posts) != 1 || posts[0].Audience != want {
			t.Errorf("posts of %s: %+v", client, posts)
		}
	}
	if page := string(b.get(t, "/").body); strings.Count(page, "Visible only to people with a role") != 1 {
		t.Error("the page does not show the audience of a post")
	}
	allowed := consent(instagramFacebook+"dialog/oauth", "app-unreviewed", "mira.keller", "instagram_basic")
	token := b.form(t, http.MethodGet, instagramFacebook+"oauth/access_token",
		exchange(allowed.code(t), "grant_type", "", "client_id", "app-unreviewed")).member("access_token")
	if a := b.instagram(t, http.MethodGet, instagramFacebook+"ig_hashtag_search", token, "q", "coffee"); a.graphCode() != [2]int{10, 0} {
		t.Errorf("hashtags without App Review: HTTP %d %s", a.status, a.body)
	}
}

// TestPublishingScopes checks that Threads publishes only with the scope for publishing.
func TestPublishingScopes(t *testing.T) {
	b := start(t, Options{})
	consent := b.form(t, http.MethodPost, "/threads/oauth/authorize",
		with(consentQuery(), "scope", "threads_basic", "decision", "allow", "account", "mira.keller"))
	token := b.form(t, http.MethodPost, "/threads/oauth/access_token", exchange(consent.code(t))).member("access_token")
	for path, values := range map[string][]string{
		"me/threads":         {"media_type", "TEXT", "text", "hello"},
		"me/threads_publish": {"creation_id", "1"},
	} {
		if a := b.threads(t, http.MethodPost, path, token, values...); a.graphCode() != [2]int{10, 0} {
			t.Errorf("%s: HTTP %d %s", path, a.status, a.body)
		}
	}
	if a := b.threads(t, http.MethodGet, "me", token, "fields", "id,username"); a.member("username") != "mira.keller" {
		t.Errorf("reading the account: HTTP %d %s", a.status, a.body)
	}
}

// code returns the authorization code in the redirect after the consent.
func (a answer) code(t *testing.T) string {
	t.Helper()
	redirect, err := url.Parse(a.header.Get("Location"))
	if err != nil || redirect.Query().Get("code") == "" {
		t.Fatalf("HTTP %d, to %s: %s", a.status, redirect, a.body)
	}
	return redirect.Query().Get("code")
}
