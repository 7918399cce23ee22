package sandbox

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/sandbox/linkedin"
	"pressroom.example/pressroom/internal/testkit/must"
)

// linkedin calls the API with the headers that every call needs; headers alternates names and values, and an empty
// value removes one.
func (b *fixture) linkedin(t *testing.T, method, path, token, body string, headers ...string) answer {
	t.Helper()
	if !strings.HasPrefix(path, b.url) {
		path = b.url + "/linkedin/" + path
	}
	request := must.Get(http.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))(t)
	for i, all := 0,
		append([]string{
			"Authorization", "Bearer " + token, "LinkedIn-Version", "202606", "X-Restli-Protocol-Version", "2.0.0",
		}, headers...); i < len(all); i += 2 {
		request.Header.Set(all[i], all[i+1])
		if all[i+1] == "" {
			request.Header.Del(all[i])
		}
	}
	return doRequest(request)
}

const linkedinAll = "openid profile w_member_social w_organization_social r_organization_social rw_organization_admin"

// linkedinToken returns the token endpoint's answer for mira.keller with these scopes.
func (b *fixture) linkedinToken(t *testing.T, scopes string) answer {
	t.Helper()
	a := b.form(t, http.MethodPost, "/linkedin/oauth/v2/authorization",
		with(consentQuery(), "scope", scopes, "decision", "allow", "account", "mira.keller"))
	back, err := url.Parse(a.header.Get("Location"))
	if err != nil || a.status != http.StatusSeeOther {
		t.Fatalf("HTTP %d: %s", a.status, a.body)
	}
	return b.form(t, http.MethodPost, "/linkedin/oauth/v2/accessToken", exchange(back.Query().Get("code")))
}

// linkedinBody returns the body of a post by mira.keller; changes alternates members and their JSON.
func linkedinBody(commentary string, changes ...string) string {
	members := map[string]any{
		"author": linkedin.PersonURN("mira.keller"), "commentary": commentary, "visibility": "PUBLIC", "lifecycleState": "PUBLISHED",
		"distribution": map[string]any{
			"feedDistribution": "MAIN_FEED", "targetEntities": []any{}, "thirdPartyDistributionChannels": []any{},
		},
		"isReshareDisabledByAuthor": false,
	}
	for i := 0; i < len(changes); i += 2 {
		members[changes[i]] = json.RawMessage(changes[i+1])
	}
	body, _ := json.Marshal(members)
	return string(body)
}

// linkedinCode returns the code of a refusal, preferably that of the input error.
func (a answer) linkedinCode() string {
	var result struct {
		Code    string
		Details struct {
			Inputs []struct{ Code string } `json:"inputErrors"`
		} `json:"errorDetails"`
	}
	_ = json.Unmarshal(a.body, &result)
	if len(result.Details.Inputs) > 0 {
		return result.Details.Inputs[0].Code
	}
	return result.Code
}

func TestLinkedinRefusals(t *testing.T) {
	b := start(t, Options{})
	token := b.linkedinToken(t, linkedinAll).member("access_token")
	member := b.linkedinToken(t, "openid w_member_social").member("access_token")
	company := `"` + linkedin.OrganizationURN("mira.keller") + `"`
	posts := func(body string, headers ...string) func() answer {
		return func() answer { return b.linkedin(t, http.MethodPost, "rest/posts", token, body, headers...) }
	}
	as := func(token, method, path, body string) func() answer {
		return func() answer { return b.linkedin(t, method, path, token, body) }
	}
	const images, videos = "rest/images?action=initializeUpload", "rest/videos?action=initializeUpload"
	for name, c := range map[string]struct {
		call   func() answer
		status int
		code   string
	}{
		"no version":        {posts(linkedinBody("x"), "LinkedIn-Version", ""), 400, "VERSION_MISSING"},
		"an old version":    {posts(linkedinBody("x"), "LinkedIn-Version", "202506"), 426, "NONEXISTENT_VERSION"},
		"a version to come": {posts(linkedinBody("x"), "LinkedIn-Version", "202701"), 426, "NONEXISTENT_VERSION"},
		"no version at all": {posts(linkedinBody("x"), "LinkedIn-Version", "202613"), 426, "NONEXISTENT_VERSION"},
		"an old protocol":   {posts(linkedinBody("x"), "X-Restli-Protocol-Version", "1.0.0"), 400, "ILLEGAL_ARGUMENT"},
		"no token":          {posts(linkedinBody("x"), "Authorization", ""), 401, "INVALID_ACCESS_TOKEN"},
		"another's":         {posts(linkedinBody("x", "author", `"urn:li:person:other"`)), 403, "ACCESS_DENIED"},
		"a member unknown":  {posts(linkedinBody("x", "mood", `"good"`)), 403, "ACCESS_DENIED"},
		"no JSON":           {posts(`{`), 400, "ILLEGAL_ARGUMENT"},
		"a draft":           {posts(linkedinBody("x", "lifecycleState", `"DRAFT"`)), 400, "ILLEGAL_ARGUMENT"},
		"nothing":           {posts(linkedinBody("")), 422, "MISSING_FIELD"},
		"too long":          {posts(linkedinBody(strings.Repeat("👋", 1501))), 422, "FIELD_LENGTH_TOO_LONG"},
		"no content":        {posts(linkedinBody("x", "content", `{}`)), 400, "ILLEGAL_ARGUMENT"},
		"one of several": {
			posts(linkedinBody("x", "content", `{"multiImage":{"images":[{"id":"urn:li:image:1"}]}}`)), 400, "ILLEGAL_ARGUMENT",
		},
		"no such image": {posts(linkedinBody("x", "content", `{"media":{"id":"urn:li:image:1"}}`)), 400, "ILLEGAL_ARGUMENT"},
		"without the scope": {
			as(member, http.MethodPost, "rest/posts", linkedinBody("x", "author", company)), 403, "ACCESS_DENIED",
		},
		"offices":                 {as(member, http.MethodGet, "rest/organizationAcls?q=roleAssignee", ""), 403, "ACCESS_DENIED"},
		"offices of others":       {as(token, http.MethodGet, "rest/organizationAcls?q=organization", ""), 400, "ILLEGAL_ARGUMENT"},
		"an organisation unknown": {as(token, http.MethodGet, "rest/organizations/1", ""), 404, "NOT_FOUND"},
		"an organisation":         {as(member, http.MethodGet, "rest/organizations/1", ""), 403, "ACCESS_DENIED"},
		"who":                     {as(member, http.MethodGet, "v2/userinfo", ""), 403, "ACCESS_DENIED"},
		"a member's posts": {
			as(token, http.MethodGet, "rest/posts?q=author&author="+url.QueryEscape(linkedin.PersonURN("mira.keller")), ""),
			403, "ACCESS_DENIED",
		},
		"a page":           {as(token, http.MethodGet, "rest/posts?q=author&count=101", ""), 400, "ILLEGAL_ARGUMENT"},
		"an image's state": {as(member, http.MethodGet, "rest/images/urn:li:image:1", ""), 403, "ACCESS_DENIED"},
		"an image unknown": {as(token, http.MethodGet, "rest/images/urn:li:image:1", ""), 404, "NOT_FOUND"},
		"an image of others": {
			as(token, http.MethodPost, images, `{"initializeUploadRequest":{"owner":"urn:li:person:other"}}`), 403, "ACCESS_DENIED",
		},
		"an image, how": {as(token, http.MethodPost, "rest/images", `{}`), 400, "ILLEGAL_ARGUMENT"},
		"a video, how":  {as(token, http.MethodPost, "rest/videos", `{}`), 400, "ILLEGAL_ARGUMENT"},
		"a video without size": {
			as(token, http.MethodPost, videos, `{"initializeUploadRequest":{"owner":`+company+`}}`), 400, "ILLEGAL_ARGUMENT",
		},
		"an upload": {as(token, http.MethodPut, "dms-uploads/none", "x"), 404, "NOT_FOUND"},
		"a path":    {as(token, http.MethodGet, "rest/shares", ""), 404, "RESOURCE_NOT_FOUND"},
		"a file":    {as(token, http.MethodGet, "media/x/y", ""), 404, "NOT_FOUND"},
	} {
		if a := c.call(); a.status != c.status || a.linkedinCode() != c.code {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("held: %q", posts)
	}
}

func TestLinkedinPost(t *testing.T) {
	b := start(t, Options{})
	token := b.linkedinToken(t, linkedinAll).member("access_token")
	a := b.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody(`Kept \(all\) but (this)`))
	urn := a.header.Get("X-Restli-Id")
	if a.status != http.StatusCreated || len(a.body) != 0 || !strings.HasPrefix(urn, "urn:li:share:") {
		t.Fatalf("HTTP %d, %v: %s", a.status, a.header, a.body)
	}
	a = b.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody(`Kept \(all\) but `))
	if a.status != http.StatusUnprocessableEntity || a.linkedinCode() != "DUPLICATE_POST" || !strings.Contains(string(a.body), urn) {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	a = b.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody("cut off [sandbox:rate-limit]"))
	if a.status != http.StatusCreated {
		t.Errorf("a marker that was cut off: HTTP %d", a.status)
	}
	a = b.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody(`\[sandbox:rate-limit\]`))
	if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "2" {
		t.Errorf("HTTP %d, %v: %s", a.status, a.header, a.body)
	}
	if page := string(b.get(t, "/").body); !strings.Contains(page, `id="linkedin-`+urn+`"`) {
		t.Error("the page lacks the post")
	}
}

// Nobody can sign in as an organization.
func TestLinkedinConsent(t *testing.T) {
	b := start(t, Options{})
	if page := string(b.form(t, http.MethodGet, "/linkedin/oauth/v2/authorization",
		consentQuery()).body); !strings.Contains(page, "mira.keller") || strings.Contains(page, ".company") {
		t.Errorf("the page offers an organisation:\n%s", page)
	}
	a := b.form(t, http.MethodPost, "/linkedin/oauth/v2/authorization",
		with(consentQuery(), "decision", "allow", "account", "mira.keller"+".company"))
	if a.status != http.StatusBadRequest {
		t.Errorf("HTTP %d", a.status)
	}
}

func TestLinkedinTokens(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }})
	if a := b.linkedinToken(t, "openid w_member_social"); a.member("refresh_token") != "" || a.member("scope") != "openid,w_member_social" {
		t.Errorf("HTTP %d: %s", a.status, a.body)
	}
	first := b.linkedinToken(t, linkedinAll)
	refresh := func(changes ...string) answer {
		return b.form(t, http.MethodPost, "/linkedin/oauth/v2/accessToken", with(url.Values{
			"grant_type": {"refresh_token"}, "refresh_token": {first.member("refresh_token")}, "client_id": {"app"}, "client_secret": {"s"},
		}, changes...))
	}
	now = now.Add(59 * 24 * time.Hour)
	next := refresh()
	if left := `"refresh_token_expires_in":26438400`; next.member("refresh_token") != first.member("refresh_token") ||
		!strings.Contains(string(next.body), left) {
		t.Errorf("HTTP %d: %s", next.status, next.body)
	}
	for name, token := range map[string]string{"the old": first.member("access_token"), "the new": next.member("access_token")} {
		if a := b.linkedin(t, http.MethodGet, "v2/userinfo", token, ""); a.member("name") != "Mira Keller" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	for name, a := range map[string]answer{
		"another app": refresh("client_id", "other"), "no token": refresh("refresh_token", "none"),
		"an access token": refresh("refresh_token", next.member("access_token")),
		"no secret":       refresh("client_secret", ""), "no way": refresh("grant_type", "password"),
	} {
		if a.status < 400 || a.member("access_token") != "" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// A video is complete when its parts are named in order, and is then processed for a while.
func TestLinkedinVideo(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }, Ready: time.Minute})
	token := b.linkedinToken(t, linkedinAll).member("access_token")
	owner := linkedin.PersonURN("mira.keller")
	film := "\x00\x00\x00\x18ftypmp42" + strings.Repeat("film", (4<<20)/4)
	announced := b.linkedin(t, http.MethodPost, "rest/videos?action=initializeUpload", token,
		`{"initializeUploadRequest":{"owner":"`+owner+`","fileSizeBytes":`+strconv.Itoa(len(film))+
			`,"uploadCaptions":false,"uploadThumbnail":false}}`)
	var result struct {
		Value struct {
			Video        string
			Instructions []struct {
				URL string `json:"uploadUrl"`
			} `json:"uploadInstructions"`
		}
	}
	if err := json.Unmarshal(announced.body, &result); err != nil || len(result.Value.Instructions) != 2 {
		t.Fatalf("HTTP %d: %s", announced.status, announced.body)
	}
	put := func(part int, bytes string) answer {
		return b.linkedin(t, http.MethodPut, result.Value.Instructions[part].URL, "", bytes)
	}
	finish := func(marks ...string) answer {
		return b.linkedin(t, http.MethodPost, "rest/videos?action=finalizeUpload", token,
			`{"finalizeUploadRequest":{"video":"`+result.Value.Video+`","uploadToken":"","uploadedPartIds":["`+
				strings.Join(marks, `","`)+`"]}}`)
	}
	status := func() string {
		return b.linkedin(t, http.MethodGet, "rest/videos/"+url.QueryEscape(result.Value.Video), token, "").member("status")
	}
	if a := put(1, film); a.status != http.StatusBadRequest {
		t.Errorf("another part: HTTP %d", a.status)
	}
	first := put(0, film[:(4<<20)]).header.Get("ETag")
	if a := finish(first); a.status != http.StatusBadRequest || status() != "WAITING_UPLOAD" {
		t.Errorf("half of it: HTTP %d", a.status)
	}
	second := put(1, film[(4<<20):]).header.Get("ETag")
	if a := finish(second, first); a.status != http.StatusBadRequest {
		t.Errorf("in another order: HTTP %d", a.status)
	}
	if a := finish(first, second); a.status != http.StatusOK || status() != "PROCESSING" {
		t.Errorf("HTTP %d: %s, %s", a.status, a.body, status())
	}
	posting := linkedinBody("a film", "content", `{"media":{"id":"`+result.Value.Video+`"}}`)
	if a := b.linkedin(t, http.MethodPost, "rest/posts", token, posting); a.status != http.StatusBadRequest {
		t.Errorf("published too soon: HTTP %d", a.status)
	}
	now = now.Add(time.Minute)
	if a := b.linkedin(t, http.MethodPost, "rest/posts", token, posting); a.status != http.StatusCreated || status() != "AVAILABLE" {
		t.Errorf("HTTP %d: %s, %s", a.status, a.body, status())
	}
	posts := b.listPosts(t, nil)
	if len(posts) != 1 || len(posts[0].Media) != 1 {
		t.Fatalf("held: %+v", posts)
	}
	if shown := b.get(t, strings.TrimPrefix(posts[0].Media[0], b.url)); string(shown.body) != film ||
		shown.header.Get("Content-Type") != "video/mp4" {
		t.Errorf("%d bytes of %s", len(shown.body), shown.header.Get("Content-Type"))
	}
}

// TestLinkedinDataAfterKill opens the data of a sandbox that was never closed, as after a kill.
func TestLinkedinDataAfterKill(t *testing.T) {
	b := start(t, Options{})
	token := b.linkedinToken(t, linkedinAll).member("access_token")
	if a := b.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody(`\[sandbox:lost-answer\]`)); a.err == nil {
		t.Errorf("HTTP %d", a.status)
	}
	again := startIn(t, b.dir, Options{})
	a := again.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody(`\[sandbox:lost-answer\]`))
	if posts := again.texts(t, nil); a.linkedinCode() != "DUPLICATE_POST" || len(posts) != 1 {
		t.Errorf("HTTP %d: %s, held %q", a.status, a.body, posts)
	}
}
