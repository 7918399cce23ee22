package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// linkedCall has an operation's arguments and a text on the page that the response links to. Names of samples in the
// arguments are replaced by IDs.
type linkedCall struct {
	args map[string]any
	says string
}

// linkedCalls lists a call for every operation.
var linkedCalls = map[string]linkedCall{
	"get_identity":          {says: "API keys"},
	"get_credits":           {says: "Credits"},
	"get_limits":            {says: "Plan"},
	"list_social_accounts":  {says: "Accounts"},
	"get_connect_link":      {args: map[string]any{"platform": "bluesky"}, says: "Accounts"},
	"get_account_analytics": {args: map[string]any{"account_id": "accounts{id}"}, says: marker},
	"create_post": {
		args: map[string]any{"caption": marker + " again.", "account_ids": []any{"accounts{id}"}}, says: marker + " again.",
	},
	"get_post":       {args: map[string]any{"id": "posts{id}"}, says: marker + " opens"},
	"list_posts":     {says: "Posts"},
	"update_post":    {args: map[string]any{"id": "posts{id}", "caption": marker + " opens at nine."}, says: marker + " opens"},
	"validate_post":  {args: map[string]any{"post_id": "posts{id}"}, says: marker + " opens"},
	"schedule_post":  {args: map[string]any{"post_id": "planned", "scheduled_at": "later"}, says: marker + " plans"},
	"publish_post":   {args: map[string]any{"post_id": "fresh"}, says: marker + " tells"},
	"cancel_post":    {args: map[string]any{"post_id": "scheduled"}, says: marker + " waits"},
	"archive_post":   {args: map[string]any{"post_id": "refused"}, says: marker + " is rejected"},
	"retry_post":     {args: map[string]any{"post_id": "failed"}, says: marker + " fails"},
	"get_job":        {args: map[string]any{"job_id": "jobs{id}"}, says: marker + " is sent"},
	"list_media":     {says: "Media"},
	"import_media":   {args: map[string]any{"url": "https://127.0.0.1/none.png"}, says: "Media"},
	"create_uploads": {args: map[string]any{}, says: "Upload files"},
	"download_profile_media": {
		args: map[string]any{"platform": "instagram", "type": "posts", "username": "harbour_cafe", "limit": 1}, says: "Media",
	},
	"create_report":       {args: map[string]any{"type": "profile", "platform": "instagram", "subject": "quay_cafe"}, says: "quay_cafe"},
	"get_report":          {args: map[string]any{"type": "profile", "id": "reports{id}"}, says: "harbour_cafe"},
	"list_reports":        {says: "Reports"},
	"refresh_report":      {args: map[string]any{"type": "profile", "id": "reports{id}"}, says: "harbour_cafe"},
	"set_report_tracking": {args: map[string]any{"type": "profile", "id": "reports{id}", "enabled": true}, says: "harbour_cafe"},
	"list_hashtag_lists":  {says: "Hashtag"},
	"create_hashtag_list": {args: map[string]any{"name": marker + " two", "platform": "instagram"}, says: marker + " two"},
	"get_hashtag_list":    {args: map[string]any{"list_id": "hashtags{id}"}, says: marker},
	"add_hashtags":        {args: map[string]any{"list_id": "hashtags{id}", "hashtags": []any{"roast"}}, says: marker},
	"search_hashtags":     {args: map[string]any{"query": "coffee", "platform": "instagram"}, says: "New search"},
	"list_brand_voices":   {says: "Brand voices"},
	"get_brand_voice":     {args: map[string]any{"id": "voices{id}"}, says: marker},
}

// Links in API answers open the item, even if another team is selected.
func TestAPILinksOpenItem(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, s := h.sampleTeam(t)
		c.moreSamples(t, s)
		member := c.people[access.Admin]
		elsewhere := must.Get(h.Teams.AddTeam(t.Context(),
			team.Team{Name: "Elsewhere", Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, member.ID))(t)
		b, stranger := c.as(t, access.Admin), h.crew(t).as(t, access.Owner)
		_, key, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "Links", Level: access.Full})
		must.NoError(t, err)
		for _, op := range h.Registry().All() {
			call, ok := linkedCalls[op.Tool]
			if !ok {
				t.Errorf("no call for operation %s", op.Tool)
				continue
			}
			leads := c.appLink(t, key, op, s, call.args)
			b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).shows(http.StatusOK)
			if p := b.open(leads).shows(http.StatusOK); !strings.Contains(p.text(), call.says) {
				t.Errorf("%s links to %s, which does not show %q: %.600s", op.Tool, leads, call.says, p.text())
			}
			if p := b.open("/"); !strings.Contains(p.source, c.team.Name+"</bdi></button>") {
				t.Errorf("%s links to %s, which does not select the team", op.Tool, leads)
			}
			if p := stranger.open(leads).
				shows(http.StatusNotFound); strings.Contains(p.text(), c.team.Name) || strings.Contains(p.text(),
				call.says) && call.says == marker {
				t.Errorf("%s: a member of another team gets to %s: %.600s", op.Tool, leads, p.text())
			}
		}
		list := c.appLink(t, key, h.Registry().Tool("list_posts"), s, nil)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).shows(http.StatusOK)
		b.open(list+"&status=draft").shows(http.StatusOK, "You switched to the team "+c.team.Name, marker+" waits").lacks(marker + " tells")
		b.open(list).shows(http.StatusOK).lacks("You switched to the team")
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).shows(http.StatusOK)
		for _, site := range []string{"cross-site", "same-site"} { // a link from another site requires a confirmation
			for _, leads := range []string{list + "&status=draft", "/settings/keys/" + s["keys{key}"]} {
				b.openFromSite(site, leads).shows(http.StatusOK, "Switch to "+c.team.Name,
					"Switch team").lacks(marker+" waits", marker+"</h1>")
				if p := b.open("/"); strings.Contains(p.source, c.team.Name+"</bdi></button>") {
					t.Errorf("a link from another site switches the team: %s", leads)
				}
			}
		}
		b.openFromSite("cross-site", list+"&status=draft").form("Switch team").press().shows(http.StatusOK, marker+" waits").
			lacks(marker + " tells")
		b.openFromSite("cross-site", list).shows(http.StatusOK).lacks("Switch to <bdi>")
		for _, wrong := range []string{"/posts?team_id=", "/posts?team_id=x", "/posts?team_id=-1", "/posts?team_id=999999999"} {
			b.open(wrong).shows(http.StatusNotFound)
		}
		c.browser(t).open(list).form("Sign in").fill("email", member.Email).fill("password", password).press().
			shows(http.StatusOK, marker+" opens")
		at := "/settings/keys/" + s["keys{key}"]
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).shows(http.StatusOK)
		b.open(at).shows(http.StatusOK, "You switched to the team "+c.team.Name, marker)
		must.NoError(t, h.Teams.SetMember(t.Context(), elsewhere.ID, c.people[access.Editor].ID, access.Admin))
		editor := c.as(t, access.Editor)
		editor.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).shows(http.StatusOK)
		editor.open(at).shows(http.StatusForbidden, "Your role in this team does not allow this.")
		c.as(t, access.Viewer).open(at).shows(http.StatusForbidden).lacks(marker + "</h1>")

		at = "/settings/assistants/" + s["assistants{connection}"]
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).shows(http.StatusOK)
		b.open(at).shows(http.StatusOK, "You switched to the team "+c.team.Name, marker)
		editor.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).shows(http.StatusOK)
		editor.open(at).shows(http.StatusNotFound).lacks("You switched to the team")
	})
}

// moreSamples adds posts in the states that operations require.
func (c *crew) moreSamples(t *testing.T, s samples) {
	t.Helper()
	s["later"] = c.apiTime(72 * time.Hour)
	s["planned"], s["fresh"] = c.draft(t, marker+" plans.", ""), c.draft(t, marker+" tells.", "")
	s["scheduled"] = c.draft(t, marker+" waits.", "")
	c.callTool(t, "schedule_post", map[string]any{"post_id": s["scheduled"], "scheduled_at": s["later"]})
	s["failed"] = c.draft(t, marker+" fails. [sandbox:reject]", "")
	s["refused"] = c.draft(t, marker+" is rejected. [sandbox:reject]", "")
	for _, id := range []string{s["failed"], s["refused"]} {
		c.callTool(t, "publish_post", map[string]any{"post_id": id})
		c.as(t, access.Owner).waitUntilPublished(id)
	}
}

// id returns the ID of the sample with the given name, as a number if numeric. Other values are returned unchanged.
func (s samples) id(value any) any {
	if all, ok := value.([]any); ok {
		return []any{s.id(all[0])}
	}
	text, _ := value.(string)
	id, ok := s[text]
	switch _, err := strconv.ParseInt(id, 10, 64); {
	case !ok:
		return value
	case err == nil:
		return json.Number(id)
	}
	return id
}

// appLink calls an operation over REST and returns the app link in its answer.
func (c *crew) appLink(t *testing.T, key string, op *operation.Operation, s samples, args map[string]any) string {
	t.Helper()
	path, rest := op.Path, url.Values{}
	body := map[string]any{}
	for name, value := range args {
		value = s.id(value)
		if strings.Contains(path, "{"+name+"}") {
			path = strings.ReplaceAll(path, "{"+name+"}", fmt.Sprint(value))
			continue
		}
		rest.Set(name, fmt.Sprint(value))
		body[name] = value
	}
	var sent io.Reader
	if op.Method == http.MethodGet {
		path += "?" + rest.Encode()
	} else {
		raw := must.Get(json.Marshal(body))(t)
		sent = bytes.NewReader(raw)
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), op.Method, c.root+"/api/v1"+path, sent))(t)
	r.Header.Set("Authorization", "Bearer "+key)
	if op.Key == operation.KeyRequired {
		r.Header.Set("Idempotency-Key", "links-"+op.Tool)
	}
	if sent != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	resp := must.Get(http.DefaultClient.Do(r))(t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(t)
	var answer struct {
		Meta struct {
			AppURL string `json:"app_url"`
		} `json:"meta"`
	}
	must.NoError(t, json.Unmarshal(raw, &answer))
	at, ok := strings.CutPrefix(answer.Meta.AppURL, c.root)
	if !ok || at == "" {
		t.Errorf("%s: %d %s", op.Tool, resp.StatusCode, raw)
	}
	return at
}

// openFromSite opens a page as a browser does that follows a link from another site.
func (b *browser) openFromSite(site, path string) *page {
	b.t.Helper()
	following := *b
	following.http = &http.Client{Jar: b.http.Jar, Transport: fetchSite(site)}
	p := following.open(path)
	p.b = b
	return p
}

// fetchSite is a transport that sets Sec-Fetch-Site.
type fetchSite string

// RoundTrip sends a request.
func (site fetchSite) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Sec-Fetch-Site", string(site))
	return http.DefaultTransport.RoundTrip(r)
}
