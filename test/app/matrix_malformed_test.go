package app

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/shell"
)

// script must never appear unescaped on a page.
const script = `"><script>alert(1)</script>`

// oddValues are unexpected values of parameters and fields.
var oddValues = []string{
	"", "0", "-1", "9223372036854775808", "\x00", "\xff\xfe", script, "💥", "9999-99-99", strings.Repeat("a", 5000),
	"01890000-0000-7000-8000-00000000000G", "social_post:",
}

// queryParams lists the query parameters of all pages.
var queryParams = []string{
	"account", "again", "before", "after", "at", "code", "cursor", "date", "day", "download", "folder", "from", "group",
	"ids", "job", "kind", "month", "next", "page", "platform", "post", "q", "query", "scope", "sort", "state", "status",
	"to", "type", "view", "week",
}

// mostPermitted returns the visitor with the most permissions for a route: the team's owner or the operator.
func (m *accessTest) mostPermitted(route string) *visitor {
	if matrix[route].who == shell.Operators {
		return m.visitor("operator")
	}
	return m.visitor("owner")
}

// checkMalformed sends malformed IDs, queries and methods to every route. They must not cause an internal error, be
// echoed unescaped or change data.
func (m *accessTest) checkMalformed() {
	m.t.Helper()
	for i, route := range m.routes {
		if strings.HasPrefix(route, "GET /docs/") {
			continue
		}
		who := m.mostPermitted(route)
		method, path := m.methodAndPath(route, m.samples)
		for _, other := range []string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
			http.MethodTrace, "BREW",
		} {
			r := must.Get(http.NewRequestWithContext(m.t.Context(), other, path, nil))(m.t)
			if _, is := m.mux.Handler(r); other == method || is == http.MethodPost+" "+strings.TrimPrefix(route,
				"GET ") || is != "" && strings.HasPrefix(is, other) {
				continue
			}
			if got := who.request(other, path, nil, nil); got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
				m.t.Errorf("%s %s: %d", other, path, got.status)
			}
		}
		m.oddIDs(who, route)
		if method == http.MethodGet && !isSecretPage(path) {
			m.oddQueries(who, path, i)
		}
	}
	m.checkUnchanged("all", "what nobody asks for", false)
}

func (m *accessTest) oddIDs(who *visitor, route string) {
	m.t.Helper()
	if !named.MatchString(route) {
		return
	}
	for _, id := range oddValues[1:] {
		odd := samples{}
		for name := range m.samples {
			odd[name] = id
		}
		method, path := m.methodAndPath(route, odd)
		form := m.form(route, odd)
		got := who.request(method, path, form, nil)
		if method == http.MethodGet && got.status < http.StatusBadRequest && matrix[route].who != shell.Anyone {
			m.t.Errorf("%s %.100s: %d", method, path, got.status)
		}
		m.checkEscaping(method+" "+path, got)
	}
}

func (m *accessTest) oddQueries(who *visitor, path string, turn int) {
	m.t.Helper()
	all := url.Values{}
	for n, odd := range oddValues {
		if n%2 != turn%2 {
			continue
		}
		for i, name := range queryParams {
			all[name] = []string{odd, oddValues[(i+turn)%len(oddValues)]}
		}
		m.checkEscaping(path, who.request(http.MethodGet, path+"?"+all.Encode(), nil, nil))
	}
	for i := turn % 4; i < len(queryParams); i += 4 {
		name := queryParams[i]
		query := url.Values{name: {oddValues[(i+turn)%len(oddValues)]}}.Encode()
		m.checkEscaping(path+"?"+query, who.request(http.MethodGet, path+"?"+query, nil, nil))
	}
	m.checkEscaping(path, who.request(http.MethodGet, path+"?%zz=%&;=;&"+url.QueryEscape(script), nil, nil))
}

func (m *accessTest) checkEscaping(what string, got answer) {
	m.t.Helper()
	if strings.Contains(got.body, script) {
		m.t.Errorf("%.200s: the page contains the unescaped input", what)
	}
}

// sendForms sends every form, first malformed and then valid, as the visitor with the fewest sufficient permissions.
// Destructive actions come last.
func (m *accessTest) sendForms() {
	m.t.Helper()
	forms := slices.DeleteFunc(slices.Clone(m.routes), func(route string) bool { return strings.HasPrefix(route, "GET ") })
	slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(matrix[a].order, matrix[b].order) })
	done := 0
	for turn, route := range forms {
		e := matrix[route]
		method, path := m.methodAndPath(route, m.samples)
		who := m.leastPermitted(e)
		got := who.request(method, path, m.form(route, m.samples), nil)
		if e.status == 0 && (got.status == http.StatusNotFound || strings.Contains(got.body,
			"Your role in this team does not allow this.") || strings.Contains(got.body, "Nothing was changed.")) {
			m.t.Errorf("%s: %s: %d", who.name, route, got.status)
		}
		if got.status < http.StatusBadRequest && !strings.HasPrefix(got.location, "/sign-in") {
			done++
		}
		if e.order < 5 {
			m.oddForms(route, turn)
		}
	}
	if done < len(forms)/2 {
		m.t.Errorf("%d of %d forms were accepted", done, len(forms))
	}
}

// leastPermitted returns the visitor with the fewest sufficient permissions.
func (m *accessTest) leastPermitted(e entry) *visitor {
	found := m.visitor("operator")
	for _, a := range m.visitors {
		if a.role != "" && a.isPermitted(e.who) {
			found = a
		}
	}
	return found
}

// oddForms sends a form without its fields, with duplicate fields, with invalid texts, and with another content type.
func (m *accessTest) oddForms(route string, turn int) {
	m.t.Helper()
	method, path := m.methodAndPath(route, m.samples)
	who, meant := m.mostPermitted(route), m.form(route, m.samples)
	if matrix[route].who == invited { // the form replaces the session
		who = m.visitor("signed out")
	}
	twice, empty := url.Values{}, url.Values{"once": meant["once"]}
	for name, values := range meant {
		twice[name] = append(slices.Clone(values), script)
	}
	m.checkEscaping(route, who.request(method, path, nil, nil))
	m.checkEscaping(route, who.request(method, path, empty, nil))
	for n, odd := range oddValues {
		if odd != script && odd != "\x00" && n%4 != turn%4 {
			continue // a field of another form
		}
		form := m.form(route, m.samples)
		for name := range form {
			if name != "once" {
				form[name] = []string{odd, odd}
			}
		}
		m.checkEscaping(route, who.request(method, path, form, nil))
	}
	twice.Set("once", strings.Repeat("1", 300))
	m.checkEscaping(route, who.request(method, path, twice, nil))
	m.checkEscaping(route,
		who.request(method, path, url.Values{"text": {strings.Repeat("long ", 1<<18)}, "caption": {strings.Repeat("long ", 1<<18)}}, nil))
	for _, kind := range []string{
		"application/json", "multipart/form-data; boundary=x", "text/plain", "application/x-www-form-urlencoded; charset=%%",
	} {
		m.checkEscaping(route, who.request(method, path, meant, http.Header{"Content-Type": {kind}}))
	}
}
