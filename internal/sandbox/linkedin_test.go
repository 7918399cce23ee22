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

// linkedin calls the API with the headers that every call requires. headers contains pairs of a name and a value that
// replace these headers. An empty value removes a header.
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

// linkedinToken returns the response of the token endpoint for mira.keller with scopes.
func (b *fixture) linkedinToken(t *testing.T, scopes string) answer {
	t.Helper()
	consent := b.form(t, http.MethodPost, "/linkedin/oauth/v2/authorization",
		with(consentQuery(), "scope", scopes, "decision", "allow", "account", "mira.keller"))
	return b.form(t, http.MethodPost, "/linkedin/oauth/v2/accessToken", exchange(consent.code(t)))
}

// linkedinBody returns the body of a post by mira.keller. changes contains pairs of a member and its JSON.
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

// linkedinCode returns the code of an error response. It prefers the code of an input error.
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

func TestLinkedinErrors(t *testing.T) {
	b := start(t, Options{})
	token := b.linkedinToken(t, linkedinAll).member("access_token")
	member := b.linkedinToken(t, "openid w_member_social").member("access_token")
	company := `"` + linkedin.OrganizationURN("mira.keller") + `"`
	posts := func(body string, headers ...string) func() answer {
		return func() answer { return b.linkedin(t, http.MethodPost, "rest/posts", token, body, headers...) }
	}
	callWith := func(token, method, path, body string) func() answer {
		return func() answer { return b.linkedin(t, method, path, token, body) }
	}
	const images, videos = "rest/images?action=initializeUpload", "rest/videos?action=initializeUpload"
	for name, c := range map[string]struct {
		call   func() answer
		status int
		code   string
	}{
		"missing version":          {posts(linkedinBody("x"), "LinkedIn-Version", ""), 400, "VERSION_MISSING"},
		"unsupported old version":  {posts(linkedinBody("x"), "LinkedIn-Version", "202506"), 426, "NONEXISTENT_VERSION"},
		"unsupported new version":  {posts(linkedinBody("x"), "LinkedIn-Version", "202701"), 426, "NONEXISTENT_VERSION"},
		"invalid version":          {posts(linkedinBody("x"), "LinkedIn-Version", "202613"), 426, "NONEXISTENT_VERSION"},
		"old protocol":             {posts(linkedinBody("x"), "X-Restli-Protocol-Version", "1.0.0"), 400, "ILLEGAL_ARGUMENT"},
		"no token":                 {posts(linkedinBody("x"), "Authorization", ""), 401, "INVALID_ACCESS_TOKEN"},
		"another author":           {posts(linkedinBody("x", "author", `"urn:li:person:other"`)), 403, "ACCESS_DENIED"},
		"unknown member":           {posts(linkedinBody("x", "mood", `"good"`)), 403, "ACCESS_DENIED"},
		"invalid JSON":             {posts(`{`), 400, "ILLEGAL_ARGUMENT"},
		"draft":                    {posts(linkedinBody("x", "lifecycleState", `"DRAFT"`)), 400, "ILLEGAL_ARGUMENT"},
		"connections of a company": {posts(linkedinBody("x", "author", company, "visibility", `"CONNECTIONS"`)), 400, "ILLEGAL_ARGUMENT"},
		"unknown visibility":       {posts(linkedinBody("x", "visibility", `"FRIENDS"`)), 400, "ILLEGAL_ARGUMENT"},
		"no text":                  {posts(linkedinBody("")), 422, "MISSING_FIELD"},
		"too long":                 {posts(linkedinBody(strings.Repeat("👋", 1501))), 422, "FIELD_LENGTH_TOO_LONG"},
		"empty content":            {posts(linkedinBody("x", "content", `{}`)), 400, "ILLEGAL_ARGUMENT"},
		"multiImage with one image": {
			posts(linkedinBody("x", "content", `{"multiImage":{"images":[{"id":"urn:li:image:1"}]}}`)), 400, "ILLEGAL_ARGUMENT",
		},
		"two members": {
			posts(linkedinBody("x", "content", `{"article":{"source":"https://a.test","title":"x"},"media":{"id":"urn:li:image:1"}}`)), 400,
			"ILLEGAL_ARGUMENT",
		},
		"article without a title": {
			posts(linkedinBody("x", "content", `{"article":{"source":"https://a.test","title":""}}`)), 400, "ILLEGAL_ARGUMENT",
		},
		"article without a URL": {posts(linkedinBody("x", "content", `{"article":{"source":"a","title":"x"}}`)), 400, "ILLEGAL_ARGUMENT"},
		"article with an unknown image": {
			posts(linkedinBody("x", "content", `{"article":{"source":"https://a.test","title":"x","thumbnail":"urn:li:image:1"}}`)), 400,
			"ILLEGAL_ARGUMENT",
		},
		"poll with one choice": {
			posts(linkedinBody("x", "content",
				`{"poll":{"question":"x","options":[{"text":"a"}],"settings":{"duration":"ONE_DAY"}}}`)), 400, "ILLEGAL_ARGUMENT",
		},
		"poll without a duration": {
			posts(linkedinBody("x", "content", `{"poll":{"question":"x","options":[{"text":"a"},{"text":"b"}],"settings":{}}}`)), 400,
			"ILLEGAL_ARGUMENT",
		},
		"unknown image": {posts(linkedinBody("x", "content", `{"media":{"id":"urn:li:image:1"}}`)), 400, "ILLEGAL_ARGUMENT"},
		"author without the scope": {
			callWith(member, http.MethodPost, "rest/posts", linkedinBody("x", "author", company)), 403, "ACCESS_DENIED",
		},
		"roles without the scope": {
			callWith(member, http.MethodGet, "rest/organizationAcls?q=roleAssignee", ""), 403, "ACCESS_DENIED",
		},
		"roles by organization": {
			callWith(token, http.MethodGet, "rest/organizationAcls?q=organization", ""), 400, "ILLEGAL_ARGUMENT",
		},
		"unknown organization":           {callWith(token, http.MethodGet, "rest/organizations/1", ""), 404, "NOT_FOUND"},
		"organization without the scope": {callWith(member, http.MethodGet, "rest/organizations/1", ""), 403, "ACCESS_DENIED"},
		"userinfo without the scope":     {callWith(member, http.MethodGet, "v2/userinfo", ""), 403, "ACCESS_DENIED"},
		"posts without the scope": {
			callWith(token, http.MethodGet, "rest/posts?q=author&author="+url.QueryEscape(linkedin.PersonURN("mira.keller")), ""),
			403, "ACCESS_DENIED",
		},
		"count too high":                 {callWith(token, http.MethodGet, "rest/posts?q=author&count=101", ""), 400, "ILLEGAL_ARGUMENT"},
		"image status without the scope": {callWith(member, http.MethodGet, "rest/images/urn:li:image:1", ""), 403, "ACCESS_DENIED"},
		"status of an unknown image":     {callWith(token, http.MethodGet, "rest/images/urn:li:image:1", ""), 404, "NOT_FOUND"},
		"image of another owner": {
			callWith(token, http.MethodPost, images, `{"initializeUploadRequest":{"owner":"urn:li:person:other"}}`), 403, "ACCESS_DENIED",
		},
		"image without an action": {callWith(token, http.MethodPost, "rest/images", `{}`), 400, "ILLEGAL_ARGUMENT"},
		"video without an action": {callWith(token, http.MethodPost, "rest/videos", `{}`), 400, "ILLEGAL_ARGUMENT"},
		"video without a size": {
			callWith(token, http.MethodPost, videos, `{"initializeUploadRequest":{"owner":`+company+`}}`), 400, "ILLEGAL_ARGUMENT",
		},
		"unknown upload": {callWith(token, http.MethodPut, "dms-uploads/none", "x"), 404, "NOT_FOUND"},
		"unknown path":   {callWith(token, http.MethodGet, "rest/shares", ""), 404, "RESOURCE_NOT_FOUND"},
		"unknown file":   {callWith(token, http.MethodGet, "media/x/y", ""), 404, "NOT_FOUND"},
	} {
		if a := c.call(); a.status != c.status || a.linkedinCode() != c.code {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	if posts := b.texts(t, nil); len(posts) != 0 {
		t.Errorf("stored posts: %q", posts)
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
		t.Errorf("marker in the truncated part: HTTP %d", a.status)
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
func TestLinkedinOrganizationCannotSignIn(t *testing.T) {
	b := start(t, Options{})
	if page := string(b.form(t, http.MethodGet, "/linkedin/oauth/v2/authorization",
		consentQuery()).body); !strings.Contains(page, "mira.keller") || strings.Contains(page, ".company") {
		t.Errorf("the page offers an organization:\n%s", page)
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
	for name, token := range map[string]string{"old": first.member("access_token"), "new": next.member("access_token")} {
		if a := b.linkedin(t, http.MethodGet, "v2/userinfo", token, ""); a.member("name") != "Mira Keller" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
	for name, a := range map[string]answer{
		"another app": refresh("client_id", "other"), "no token": refresh("refresh_token", "none"),
		"access token": refresh("refresh_token", next.member("access_token")),
		"no secret":    refresh("client_secret", ""), "unknown grant type": refresh("grant_type", "password"),
	} {
		if a.status < 400 || a.member("access_token") != "" {
			t.Errorf("%s: HTTP %d: %s", name, a.status, a.body)
		}
	}
}

// finalizeUpload requires all parts in order. A post can use the video after its processing.
func TestLinkedinVideo(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	b := start(t, Options{Now: func() time.Time { return now }, ProcessingTime: time.Minute})
	token := b.linkedinToken(t, linkedinAll).member("access_token")
	owner := linkedin.PersonURN("mira.keller")
	video := "\x00\x00\x00\x18ftypmp42" + strings.Repeat("film", (4<<20)/4)
	initialized := b.linkedin(t, http.MethodPost, "rest/videos?action=initializeUpload", token,
		`{"initializeUploadRequest":{"owner":"`+owner+`","fileSizeBytes":`+strconv.Itoa(len(video))+
			`,"uploadCaptions":false,"uploadThumbnail":false}}`)
	var result struct {
		Value struct {
			Video        string
			Instructions []struct {
				URL string `json:"uploadUrl"`
			} `json:"uploadInstructions"`
		}
	}
	if err := json.Unmarshal(initialized.body, &result); err != nil || len(result.Value.Instructions) != 2 {
		t.Fatalf("HTTP %d: %s", initialized.status, initialized.body)
	}
	put := func(part int, bytes string) answer {
		return b.linkedin(t, http.MethodPut, result.Value.Instructions[part].URL, "", bytes)
	}
	finalize := func(etags ...string) answer {
		return b.linkedin(t, http.MethodPost, "rest/videos?action=finalizeUpload", token,
			`{"finalizeUploadRequest":{"video":"`+result.Value.Video+`","uploadToken":"","uploadedPartIds":["`+
				strings.Join(etags, `","`)+`"]}}`)
	}
	status := func() string {
		return b.linkedin(t, http.MethodGet, "rest/videos/"+url.QueryEscape(result.Value.Video), token, "").member("status")
	}
	if a := put(1, video); a.status != http.StatusBadRequest {
		t.Errorf("part with a wrong size: HTTP %d", a.status)
	}
	first := put(0, video[:(4<<20)]).header.Get("ETag")
	if a := finalize(first); a.status != http.StatusBadRequest || status() != "WAITING_UPLOAD" {
		t.Errorf("missing part: HTTP %d", a.status)
	}
	second := put(1, video[(4<<20):]).header.Get("ETag")
	if a := finalize(second, first); a.status != http.StatusBadRequest {
		t.Errorf("wrong order: HTTP %d", a.status)
	}
	if a := finalize(first, second); a.status != http.StatusOK || status() != "PROCESSING" {
		t.Errorf("HTTP %d: %s, %s", a.status, a.body, status())
	}
	post := linkedinBody("a film", "content", `{"media":{"id":"`+result.Value.Video+`"}}`)
	if a := b.linkedin(t, http.MethodPost, "rest/posts", token, post); a.status != http.StatusBadRequest {
		t.Errorf("published too soon: HTTP %d", a.status)
	}
	now = now.Add(time.Minute)
	if a := b.linkedin(t, http.MethodPost, "rest/posts", token, post); a.status != http.StatusCreated || status() != "AVAILABLE" {
		t.Errorf("HTTP %d: %s, %s", a.status, a.body, status())
	}
	posts := b.listPosts(t, nil)
	if len(posts) != 1 || len(posts[0].Media) != 1 {
		t.Fatalf("stored posts: %+v", posts)
	}
	if file := b.get(t, strings.TrimPrefix(posts[0].Media[0], b.url)); string(file.body) != video ||
		file.header.Get("Content-Type") != "video/mp4" {
		t.Errorf("%d bytes of %s", len(file.body), file.header.Get("Content-Type"))
	}
}

// TestLinkedinDataSurvivesKill opens the data of a sandbox that was never closed, as after a kill.
func TestLinkedinDataSurvivesKill(t *testing.T) {
	b := start(t, Options{})
	token := b.linkedinToken(t, linkedinAll).member("access_token")
	if a := b.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody(`\[sandbox:lost-answer\]`)); a.err == nil {
		t.Errorf("HTTP %d", a.status)
	}
	reopened := startIn(t, b.dir, Options{})
	a := reopened.linkedin(t, http.MethodPost, "rest/posts", token, linkedinBody(`\[sandbox:lost-answer\]`))
	if posts := reopened.texts(t, nil); a.linkedinCode() != "DUPLICATE_POST" || len(posts) != 1 {
		t.Errorf("HTTP %d: %s, stored posts: %q", a.status, a.body, posts)
	}
}
