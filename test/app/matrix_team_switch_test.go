package app

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/shell"
)

// teamIndependent lists the audiences whose routes do not depend on the selected team.
var teamIndependent = []shell.Audience{shell.Anyone, shell.People, shell.Operators}

// checkTeamSwitch sends every form of a team's pages after its owner has selected another team in a second tab. The
// form must have no effect in either team. The answer must name the form's team and select it again.
func (m *accessTest) checkTeamSwitch() {
	m.t.Helper()
	ctx, owner := m.t.Context(), m.crew.people[access.Owner].ID
	var second int64
	must.NoError(m.t, m.db.QueryRow(ctx,
		`SELECT m.team_id FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE p.email = 'operator@other.example'`).Scan(&second))
	must.NoError(m.t, m.Teams.SetMember(ctx, second, owner, access.Admin))
	m.recordTables()
	asks, tried := m.visitor("owner"), 0
	for _, route := range m.program {
		form := maps.Clone(m.formValues[route.Pattern])
		if form == nil {
			continue
		}
		if form.Get(shell.TeamField) == "" {
			m.t.Errorf("the form of %s does not name its team: %v", route.Pattern, form)
		}
		if slices.Contains(teamIndependent, route.Audience) {
			if ofTeam(matrix[route.Pattern].who) && !named.MatchString(route.Pattern) && route.Pattern != "POST /team" {
				m.t.Errorf("%s affects the selected team instead of the form's team", route.Pattern)
			}
			continue
		}
		asks.post("/team", url.Values{"team": {fmt.Sprint(second)}})
		m.checkFormOfOtherTeam(asks, route, form)
		tried++
	}
	if tried < 40 {
		m.t.Errorf("%d forms were tried", tried)
	}
	m.checkUnchanged("all forms", "whoever has turned to another team", false)
	asks.post("/team", url.Values{"team": {m.samples["teams{team}"]}})
	must.NoError(m.t, m.Teams.RemoveMember(ctx, second, owner))
	m.recordTables()
}

// checkFormOfOtherTeam sends a form of a team that is not selected, both as a page and as a script does.
func (m *accessTest) checkFormOfOtherTeam(asks *visitor, of shell.Route, form url.Values) {
	m.t.Helper()
	route, id := of.Pattern, ""
	method, path := m.methodAndPath(route, m.samples)
	if parts := strings.Split(path, "/"); len(parts) > 2 {
		id = parts[2]
	}
	back := cmp.Or(strings.ReplaceAll(of.Page, "{id}", id), path)
	if got := asks.request(method, path, form,
		http.Header{"Sec-Fetch-Dest": {"empty"}}); got.status != http.StatusConflict || strings.Contains(got.body, marker+".test") {
		m.t.Errorf("%s of another team, sent by a script: %d", route, got.status)
	}
	got := asks.request(method, path, form, http.Header{"Referer": {m.root + "/settings/team"}})
	if got.status != http.StatusSeeOther || got.location != "/settings/team" && got.location != back {
		m.t.Errorf("%s of another team: %d %s", route, got.status, got.location)
		return
	}
	page := asks.request(http.MethodGet, got.location, nil, nil)
	if page.status != http.StatusOK || !strings.Contains(page.body, "so that team is selected again") ||
		!strings.Contains(page.body, marker+" Ltd") {
		m.t.Errorf("%s of another team redirects to %s, which does not explain it: %d", route, got.location, page.status)
	}
}
