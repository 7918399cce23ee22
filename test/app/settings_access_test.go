package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Every route returns an error to people without permission and reveals no data.
func TestSettingsPermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, others := h.crew(t), h.crew(t)
		k, _, err := h.Teams.AddKey(t.Context(), team.NewKey{Team: c.team.ID, Name: "Secret robot", Level: access.Full})
		must.NoError(t, err)
		i, _, err := h.Teams.Invite(t.Context(), 0, c.team.ID, "nora@harbour.example", access.Editor)
		must.NoError(t, err)
		key, person := fmt.Sprintf("/settings/keys/%d", k.ID), fmt.Sprintf("/settings/members/%d", c.people[access.Editor].ID)
		everybody, managers, owners := access.Roles(), access.Roles()[:2], access.Roles()[:1]
		form := url.Values{
			"level": {"full"}, "access": {"off"}, "role": {"viewer"}, "email": {"x@harbour.example"}, "name": {"X"},
			"timezone": {"UTC"}, "content_language": {"de"}, "daily_credits": {"1"}, "once": {"x"},
		}
		addresses := []struct {
			method, path string
			may          []access.Role
			item         bool // an item of the team; other teams get 404
		}{
			{"GET", "/settings", everybody, false}, {"GET", "/settings/team", everybody, false},
			{"GET", "/settings/plan", everybody, false}, {"GET", "/settings/credits", everybody, false},
			{"GET", "/settings/keys", managers, false}, {"GET", "/settings/access", managers, false},
			{"GET", "/settings/members", managers, false}, {"GET", "/settings/audit", managers, false},
			{"GET", "/settings/credits/statement.csv", managers, false}, {"GET", key, managers, true},
			{"GET", person, managers, true}, {"GET", person + "/remove", managers, true},
			{"GET", "/settings/keys/new", owners, false}, {"GET", key + "/revoke", owners, true}, {"GET", person + "/owner", owners, true},
			{"POST", "/settings/keys", owners, false}, {"POST", key, owners, true},
			{"POST", key + "/revoke", owners, true}, {"POST", "/settings/access", owners, false},
			{"POST", "/settings/credits/limit", owners, false}, {"POST", person + "/owner", owners, true},
			{"POST", "/settings/team", managers, false}, {"POST", person, managers, true},
			{"POST", person + "/remove", managers, true}, {"POST", "/settings/invitations", managers, false},
			{"POST", fmt.Sprintf("/settings/invitations/%d/revoke", i.ID), managers, true},
		}
		before := h.events(t, c.team.ID)
		out, stranger := h.browser(t), others.as(t, access.Owner)
		browsers := map[access.Role]*browser{}
		for _, role := range everybody {
			browsers[role] = c.as(t, role)
		}
		for _, a := range addresses {
			values := form
			if a.method == "GET" {
				values = nil
			}
			for role, b := range browsers {
				if allowed := strings.Contains(fmt.Sprint(a.may), string(role)); !allowed {
					b.send(a.method, a.path, values).shows(403, "Your role in this team does not allow this").lacks("Secret robot", "nora@")
				} else if a.method == "GET" {
					b.open(a.path).shows(200)
				}
			}
			if p := out.send(a.method, a.path, values).shows(200, "Sign in").
				lacks("Secret robot", "nora@", c.team.Name); !strings.HasPrefix(p.path, "/sign-in") {
				t.Errorf("signed out, %s redirects to %s", a.path, p.path)
			}
			if a.item {
				stranger.send(a.method, a.path, values).shows(404, "This page doesn’t exist").lacks("Secret robot", "nora@", c.team.Name)
			}
		}
		if after := h.events(t, c.team.ID); after != before {
			t.Errorf("%d actions were recorded", after-before)
		}
		// Requests from other sites are rejected.
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, h.root+"/settings/access",
			strings.NewReader(form.Encode())))(t)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		resp := must.Get(browsers[access.Owner].http.Do(r))(t)
		must.NoError(t, resp.Body.Close())
		if resp.StatusCode != http.StatusForbidden || h.events(t, c.team.ID) != before {
			t.Errorf("from another site: %d", resp.StatusCode)
		}
	})
}
