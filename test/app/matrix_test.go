package app

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/shell"
)

// visitor sends requests with cookies directly to the server's handler. It does not follow redirects.
type visitor struct {
	name string
	jar  http.CookieJar
	test *accessTest
	role access.Role // role in the sample team; "" if not a member

	operator, isSignedOut bool // isSignedOut: signed out, even with a cookie
}

// answer is a response.
type answer struct {
	status   int
	location string
	body     string
}

// accessTest checks every route for every kind of visitor.
type accessTest struct {
	*crew

	t           testing.TB
	program     []shell.Route // as registered
	routes      []string
	mux         *http.ServeMux // has all patterns; used to match paths
	samples     samples
	unknown     samples
	visitors    []*visitor
	formValues  map[string]url.Values
	tables      []string
	isTeamTable map[string]bool // whether a table has a team_id column
	checksums   map[string]string
}

// Every visitor requests every route with existing and nonexistent IDs. Visitors without permission get the same
// response for both and change nothing.
func TestRoutePermissions(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		m := newAccessTest(t, h)
		for _, route := range m.routes {
			m.checkRejections(route)
		}
		for _, route := range m.routes {
			m.checkCrossSite(route)
		}
		for _, route := range m.routes {
			m.checkAllowed(route)
		}
		m.checkUnchanged("all pages", "reading", false)
		m.checkTeamSwitch()
		m.checkMalformed()
		m.sendForms()
	})
}

func newAccessTest(tb testing.TB, h *env) *accessTest {
	tb.Helper()
	m := &accessTest{t: tb, unknown: unknownIDs, mux: http.NewServeMux()}
	m.crew, m.samples = h.sampleTeam(tb)
	seen := map[string]bool{}
	for _, route := range h.Routes() {
		seen[route.Pattern] = true
		m.program = append(m.program, route)
		m.routes = append(m.routes, route.Pattern)
		m.mux.HandleFunc(route.Pattern, func(http.ResponseWriter, *http.Request) {})
		if matrix[route.Pattern].who == "" {
			tb.Errorf("matrix has no entry for %s: add one that states who may use the route", route.Pattern)
		}
	}
	for pattern := range matrix {
		if !seen[pattern] {
			tb.Errorf("matrix has the unknown route %s", pattern)
		}
	}
	if tb.Failed() {
		tb.FailNow()
	}
	m.readTables()
	m.people()
	m.formValues = m.forms(m.as(tb, access.Owner))
	maps.Copy(m.formValues, m.operatorForms())
	const decision = "POST /posts/{id}/approval/decision" // for clients only
	m.formValues[decision] = m.forms(m.as(tb, access.Client))[decision]
	m.waitForJobs()
	m.recordTables()
	return m
}

func (m *accessTest) operatorForms() map[string]url.Values {
	all := m.forms(&browser{t: m.t, root: m.root, http: &http.Client{Jar: m.visitor("operator").jar}})
	maps.DeleteFunc(all, func(pattern string, _ url.Values) bool { return !strings.Contains(pattern, " /operator/") })
	return all
}

func (m *accessTest) visitor(name string) *visitor {
	return m.visitors[slices.IndexFunc(m.visitors, func(a *visitor) bool { return a.name == name })]
}

// people signs all visitors in and then removes the rights of some.
func (m *accessTest) people() {
	t, ctx := m.t, m.t.Context()
	join := func(name string, role access.Role) *visitor {
		a := m.newVisitor(name)
		p := must.Get(m.Teams.AddPerson(ctx, "Bob "+name, strings.ReplaceAll(name, " ", "-")+"@other.example", password))(t)
		must.NoError(t, m.Teams.SetMember(ctx, m.team.ID, p.ID, role))
		a.signIn(p.Email)
		switch name {
		case "held":
			must.NoError(t, m.Teams.SetSuspended(ctx, p.ID, true))
		case "deleted":
			must.NoError(t, m.Erasure.DeletePerson(ctx, p.ID))
		case "signed out elsewhere":
			must.NoError(t, m.Teams.EndSessions(ctx, p.ID))
		case "in no team":
			must.NoError(t, m.Teams.RemoveMember(ctx, m.team.ID, p.ID))
		default: // an owner of another team, who selects the sample team before leaving it
			must.Get(m.Teams.AddTeam(ctx,
				team.Team{Name: "Team of " + name, Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, p.ID))(t)
			a.post("/team", url.Values{"team": {m.samples["teams{team}"]}})
			must.NoError(t, m.Teams.RemoveMember(ctx, m.team.ID, p.ID))
		}
		return a
	}
	m.newVisitor("signed out").isSignedOut = true
	for _, role := range access.Roles() {
		a := m.newVisitor(string(role))
		a.role = role
		a.signIn(m.crew.people[role].Email)
	}
	join("held", access.Admin).isSignedOut = true
	join("deleted", access.Admin).isSignedOut = true
	join("signed out elsewhere", access.Admin).isSignedOut = true
	join("in no team", access.Admin).isSignedOut = true
	join("of another team", access.Admin)
	join("operator", access.Admin).operator = true
	must.Get(m.Teams.SetOperator(ctx, "operator@other.example", true))(t)
}

func (m *accessTest) newVisitor(name string) *visitor {
	jar := must.Get(cookiejar.New(nil))(m.t)
	a := &visitor{name: name, jar: jar, test: m}
	m.visitors = append(m.visitors, a)
	return a
}

func (a *visitor) signIn(email string) {
	a.test.t.Helper()
	if got := a.post("/sign-in", url.Values{"email": {email}, "password": {password}}); got.status != http.StatusSeeOther {
		a.test.t.Fatalf("%s cannot sign in: %d", a.name, got.status)
	}
}

func (a *visitor) post(path string, form url.Values) answer {
	a.test.t.Helper()
	return a.request(http.MethodPost, path, form, nil)
}

// request sends a request as a browser on a page of the app does.
func (a *visitor) request(method, path string, form url.Values, header http.Header) answer {
	t := a.test.t
	t.Helper()
	var body io.Reader = http.NoBody
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r := must.Get(http.NewRequestWithContext(t.Context(), method, a.test.root+path, body))(t)
	r.RequestURI, r.RemoteAddr = path, "127.0.0.1:1"
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range a.jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	a.test.Handler().ServeHTTP(w, r)
	got := w.Result()
	a.jar.SetCookies(r.URL, got.Cookies())
	if got.StatusCode >= http.StatusInternalServerError {
		t.Errorf("%s: %s %.200s: %d", a.name, method, path, got.StatusCode)
	}
	return answer{got.StatusCode, got.Header.Get("Location"), w.Body.String()}
}

// methodAndPath returns the method and the path of a route, with the IDs of the samples.
func (m *accessTest) methodAndPath(route string, s samples) (string, string) {
	method, pattern, ok := strings.Cut(route, " ")
	if !ok {
		method, pattern = http.MethodPut, route
	}
	return method, s.path(m.t, pattern)
}

// form returns the values of a route's form: initial values from pages, and values that a person would enter.
func (m *accessTest) form(route string, s samples) url.Values {
	method, _ := m.methodAndPath(route, s)
	if method == http.MethodGet {
		return nil
	}
	out := url.Values{}
	maps.Copy(out, m.formValues[route])
	maps.Copy(out, s.fill(matrix[route].form))
	out.Del(shell.TeamField) // an attacker omits it
	out.Set("once", m.now().UTC().Format("20060102T150405")+"-"+fmt.Sprint(m.env.people.Add(1)))
	return out
}

// isPermitted reports whether a route permits an audience.
func (a *visitor) isPermitted(who shell.Audience) bool {
	can := func(c access.Capability) bool { return slices.Contains(access.RoleCapabilities(a.role), c) }
	switch who {
	case shell.Anyone, invited:
		return true
	case shell.People:
		return !a.isSignedOut
	case shell.Members:
		return can(access.Read)
	case staff:
		return can(access.Read) && a.role != access.Client
	case shell.Writers:
		return can(access.Write)
	case shell.Publishers:
		return can(access.Publish)
	case shell.Spenders:
		return can(access.Spend)
	case shell.Managers:
		return a.role == access.Owner || a.role == access.Admin
	case shell.Owners, mine:
		return a.role == access.Owner
	case shell.Clients:
		return a.role == access.Client
	case shell.Operators:
		return a.operator
	}
	return false
}
