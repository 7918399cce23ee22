package app

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/core/access"
	"pressroom/internal/testkit/must"
	"pressroom/internal/web/shell"
)

// anyTeam are the audiences whose addresses ignore the current team: an item or a person determines it.
var anyTeam = []shell.Audience{shell.Anyone, shell.People, shell.Operators}

// checkTeamSwitch sends every form of a team's pages after its owner has switched to another team in a second tab.
// Each answer names the form's team and does nothing in either team. Afterwards that team is selected again.
func (m *accessTest) checkTeamSwitch() {
	m.t.Helper()
	ctx, owner := m.t.Context(), m.crew.people[access.Owner].ID
	var second int64
	must.NoError(m.t, m.db.QueryRow(ctx,
		`SELECT m.team_id FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE p.email = 'operator@other.example'`).Scan(&second))
	must.NoError(m.t, m.Teams.SetMember(ctx, second, owner, access.Admin))
	m.remember()
	asks, tried := m.visitor("owner"), 0
	for _, route := range m.program {
		form := maps.Clone(m.filled[route.Pattern])
		if form == nil {
			continue
		}
		if form.Get(shell.TeamField) == "" {
			m.t.Errorf("the form of %s does not say which team it is of: %v", route.Pattern, form)
		}
		if slices.Contains(anyTeam, route.For) {
			if ofTeam(matrix[route.Pattern].who) && !named.MatchString(route.Pattern) && route.Pattern != "POST /team" {
				m.t.Errorf("%s is done in whatever team is looked at", route.Pattern)
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
	asks.post("/team", url.Values{"team": {m.real["teams{team}"]}})
	must.NoError(m.t, m.Teams.RemoveMember(ctx, second, owner))
	m.remember()
}

// checkFormOfOtherTeam sends a form of a team that is not selected, as a page does and as a script does.
func (m *accessTest) checkFormOfOtherTeam(asks *visitor, of shell.Route, form url.Values) {
	m.t.Helper()
	route, id := of.Pattern, ""
	method, path := m.at(route, m.real)
	if parts := strings.Split(path, "/"); len(parts) > 2 {
		id = parts[2]
	}
	back := cmp.Or(strings.ReplaceAll(of.Page, "{id}", id), path)
	if got := asks.ask(method, path, form,
		http.Header{"Sec-Fetch-Dest": {"empty"}}); got.status != http.StatusConflict || strings.Contains(got.body, marked+".test") {
		m.t.Errorf("%s of another team is answered with %d to a script", route, got.status)
	}
	got := asks.ask(method, path, form, http.Header{"Referer": {m.root + "/settings/team"}})
	if got.status != http.StatusSeeOther || got.location != "/settings/team" && got.location != back {
		m.t.Errorf("%s of another team is answered with %d %s", route, got.status, got.location)
		return
	}
	page := asks.ask(http.MethodGet, got.location, nil, nil)
	if page.status != http.StatusOK || !strings.Contains(page.body, "so that team is selected again") ||
		!strings.Contains(page.body, marked+" Ltd") {
		m.t.Errorf("%s of another team leads to %s, which does not say so: %d", route, got.location, page.status)
	}
}
