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

	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/team"
	"pressroom/internal/testkit/must"
)

// linked is a call of an operation and a text on the page that its answer links to. Values that are names of samples
// are replaced by their IDs.
type linked struct {
	args map[string]any
	says string
}

// linking has a call to every operation.
var linking = map[string]linked{
	"get_identity":          {says: "API keys"},
	"get_credits":           {says: "Credits"},
	"get_limits":            {says: "Plan"},
	"list_social_accounts":  {says: "Accounts"},
	"get_connect_link":      {args: map[string]any{"platform": "bluesky"}, says: "Accounts"},
	"get_account_analytics": {args: map[string]any{"account_id": "accounts{id}"}, says: marked},
	"create_post": {
		args: map[string]any{"caption": marked + " again.", "account_ids": []any{"accounts{id}"}}, says: marked + " again.",
	},
	"get_post":       {args: map[string]any{"id": "posts{id}"}, says: marked + " opens"},
	"list_posts":     {says: "Posts"},
	"update_post":    {args: map[string]any{"id": "posts{id}", "caption": marked + " opens at nine."}, says: marked + " opens"},
	"validate_post":  {args: map[string]any{"post_id": "posts{id}"}, says: marked + " opens"},
	"schedule_post":  {args: map[string]any{"post_id": "planned", "scheduled_at": "later"}, says: marked + " plans"},
	"publish_post":   {args: map[string]any{"post_id": "fresh"}, says: marked + " tells"},
	"cancel_post":    {args: map[string]any{"post_id": "scheduled"}, says: marked + " waits"},
	"archive_post":   {args: map[string]any{"post_id": "refused"}, says: marked + " is refused"},
	"retry_post":     {args: map[string]any{"post_id": "failed"}, says: marked + " fails"},
	"get_job":        {args: map[string]any{"job_id": "jobs{id}"}, says: marked + " is sent"},
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
	"create_hashtag_list": {args: map[string]any{"name": marked + " two", "platform": "instagram"}, says: marked + " two"},
	"get_hashtag_list":    {args: map[string]any{"list_id": "hashtags{id}"}, says: marked},
	"add_hashtags":        {args: map[string]any{"list_id": "hashtags{id}", "hashtags": []any{"roast"}}, says: marked},
	"search_hashtags":     {args: map[string]any{"query": "coffee", "platform": "instagram"}, says: "New search"},
	"list_brand_voices":   {says: "Brand voices"},
	"get_brand_voice":     {args: map[string]any{"id": "voices{id}"}, says: marked},
}

// Links in answers of the API lead members to the item, even if another team is selected.
func TestAppLinks(t *testing.T) {
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
			call, ok := linking[op.Tool]
			if !ok {
				t.Errorf("no call to %s is tried", op.Tool)
				continue
			}
			leads := c.leadsTo(t, key, op, s, call.args)
			b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).wants(http.StatusOK)
			if p := b.open(leads).wants(http.StatusOK); !strings.Contains(p.text(), call.says) {
				t.Errorf("%s leads to %s, which does not say %q: %.600s", op.Tool, leads, call.says, p.text())
			}
			if p := b.open("/"); !strings.Contains(p.source, c.team.Name+"</bdi></button>") {
				t.Errorf("%s leads to %s, and the team is not looked at", op.Tool, leads)
			}
			if p := stranger.open(leads).
				wants(http.StatusNotFound); strings.Contains(p.text(), c.team.Name) || strings.Contains(p.text(),
				call.says) && call.says == marked {
				t.Errorf("%s leads somebody of another team to %s: %.600s", op.Tool, leads, p.text())
			}
		}
		list := c.leadsTo(t, key, h.Registry().Tool("list_posts"), s, nil)
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).wants(http.StatusOK)
		b.open(list+"&status=draft").wants(http.StatusOK, "You switched to the team "+c.team.Name, marked+" waits").lacks(marked + " tells")
		b.open(list).wants(http.StatusOK).lacks("You switched to the team")
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).wants(http.StatusOK)
		for _, site := range []string{"cross-site", "same-site"} { // a link from another site requires confirmation
			for _, leads := range []string{list + "&status=draft", "/settings/keys/" + s["keys{key}"]} {
				b.from(site, leads).wants(http.StatusOK, "Switch to "+c.team.Name, "Switch team").lacks(marked+" waits", marked+"</h1>")
				if p := b.open("/"); strings.Contains(p.source, c.team.Name+"</bdi></button>") {
					t.Errorf("a link on another site turns to the team by %s", leads)
				}
			}
		}
		b.from("cross-site", list+"&status=draft").form("Switch team").press().wants(http.StatusOK, marked+" waits").
			lacks(marked + " tells")
		b.from("cross-site", list).wants(http.StatusOK).lacks("Switch to <bdi>")
		for _, wrong := range []string{"/posts?team_id=", "/posts?team_id=x", "/posts?team_id=-1", "/posts?team_id=999999999"} {
			b.open(wrong).wants(http.StatusNotFound)
		}
		c.browser(t).open(list).form("Sign in").fill("email", member.Email).fill("password", password).press().
			wants(http.StatusOK, marked+" opens")
		at := "/settings/keys/" + s["keys{key}"]
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).wants(http.StatusOK)
		b.open(at).wants(http.StatusOK, "You switched to the team "+c.team.Name, marked)
		must.NoError(t, h.Teams.SetMember(t.Context(), elsewhere.ID, c.people[access.Editor].ID, access.Admin))
		editor := c.as(t, access.Editor)
		editor.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).wants(http.StatusOK)
		editor.open(at).wants(http.StatusForbidden, "Your role in this team does not allow this.")
		c.as(t, access.Viewer).open(at).wants(http.StatusForbidden).lacks(marked + "</h1>")

		at = "/settings/assistants/" + s["assistants{connection}"]
		b.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).wants(http.StatusOK)
		b.open(at).wants(http.StatusOK, "You switched to the team "+c.team.Name, marked)
		editor.send(http.MethodPost, "/team", url.Values{"team": {fmt.Sprint(elsewhere.ID)}}).wants(http.StatusOK)
		editor.open(at).wants(http.StatusNotFound).lacks("You switched to the team")
	})
}

// moreSamples are posts in the states that operations begin from.
func (c *crew) moreSamples(t *testing.T, s samples) {
	t.Helper()
	s["later"] = c.timeIn(72 * time.Hour)
	s["planned"], s["fresh"] = c.draft(t, marked+" plans.", ""), c.draft(t, marked+" tells.", "")
	s["scheduled"] = c.draft(t, marked+" waits.", "")
	c.callTool(t, "schedule_post", map[string]any{"post_id": s["scheduled"], "scheduled_at": s["later"]})
	s["failed"] = c.draft(t, marked+" fails. [sandbox:reject]", "")
	s["refused"] = c.draft(t, marked+" is refused. [sandbox:reject]", "")
	for _, id := range []string{s["failed"], s["refused"]} {
		c.callTool(t, "publish_post", map[string]any{"post_id": id})
		c.as(t, access.Owner).waitUntilPublished(id)
	}
}

// id returns the ID of a sample by its name, as a number if it is one. Other values are returned unchanged.
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

// leadsTo calls an operation over REST, and returns where its answer leads in the app.
func (c *crew) leadsTo(t *testing.T, key string, op *operation.Operation, s samples, args map[string]any) string {
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
		t.Errorf("%s is answered with %d %s", op.Tool, resp.StatusCode, raw)
	}
	return at
}

// from opens a page like a browser that follows a link from another site.
func (b *browser) from(site, path string) *page {
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
