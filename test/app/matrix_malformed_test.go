package app

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom/internal/testkit/must"
	"pressroom/internal/web/shell"
)

// script must never be on a page unescaped.
const script = `"><script>alert(1)</script>`

// oddities are texts that no page expects.
var oddities = []string{
	"", "0", "-1", "9223372036854775808", "\x00", "\xff\xfe", script, "💥", "9999-99-99", strings.Repeat("a", 5000),
	"01890000-0000-7000-8000-00000000000G", "social_post:",
}

// asked are query parameters of all pages.
var asked = []string{
	"account", "again", "before", "after", "at", "code", "cursor", "date", "day", "download", "folder", "from", "group",
	"ids", "job", "kind", "month", "next", "page", "platform", "post", "q", "query", "scope", "sort", "state", "status",
	"to", "type", "view", "week",
}

// mostPermitted returns the person with the most permissions at a route: the team's owner or the operator.
func (m *accessTest) mostPermitted(route string) *visitor {
	if matrix[route].who == shell.Operators {
		return m.visitor("operator")
	}
	return m.visitor("owner")
}

// checkMalformed sends malformed IDs, queries and methods to every route. None may cause an internal error, be echoed
// unescaped or change anything.
func (m *accessTest) checkMalformed() {
	m.t.Helper()
	for i, route := range m.routes {
		if strings.HasPrefix(route, "GET /docs/") {
			continue
		}
		who := m.mostPermitted(route)
		method, path := m.at(route, m.real)
		for _, other := range []string{
			http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
			http.MethodTrace, "BREW",
		} {
			r := must.Get(http.NewRequestWithContext(m.t.Context(), other, path, nil))(m.t)
			if _, is := m.mux.Handler(r); other == method || is == http.MethodPost+" "+strings.TrimPrefix(route,
				"GET ") || is != "" && strings.HasPrefix(is, other) {
				continue
			}
			if got := who.ask(other, path, nil, nil); got.status != http.StatusNotFound && got.status != http.StatusMethodNotAllowed {
				m.t.Errorf("%s %s is answered with %d", other, path, got.status)
			}
		}
		m.oddIDs(who, route)
		if method == http.MethodGet {
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
	for _, id := range oddities[1:] {
		odd := samples{}
		for name := range m.real {
			odd[name] = id
		}
		method, path := m.at(route, odd)
		form := m.form(route, odd)
		got := who.ask(method, path, form, nil)
		if method == http.MethodGet && got.status < http.StatusBadRequest && matrix[route].who != shell.Anyone {
			m.t.Errorf("%s %.100s is answered with %d", method, path, got.status)
		}
		m.checkEscaping(method+" "+path, got)
	}
}

func (m *accessTest) oddQueries(who *visitor, path string, turn int) {
	m.t.Helper()
	all := url.Values{}
	for n, odd := range oddities {
		if n%2 != turn%2 {
			continue
		}
		for i, name := range asked {
			all[name] = []string{odd, oddities[(i+turn)%len(oddities)]}
		}
		m.checkEscaping(path, who.ask(http.MethodGet, path+"?"+all.Encode(), nil, nil))
	}
	for i := turn % 4; i < len(asked); i += 4 {
		name := asked[i]
		query := url.Values{name: {oddities[(i+turn)%len(oddities)]}}.Encode()
		m.checkEscaping(path+"?"+query, who.ask(http.MethodGet, path+"?"+query, nil, nil))
	}
	m.checkEscaping(path, who.ask(http.MethodGet, path+"?%zz=%&;=;&"+url.QueryEscape(script), nil, nil))
}

func (m *accessTest) checkEscaping(what string, got answer) {
	m.t.Helper()
	if strings.Contains(got.body, script) {
		m.t.Errorf("%.200s: what was sent stands on the page as it is", what)
	}
}

// sendForms sends every form malformed and then valid, as the person with the fewest permissions who is permitted.
// Actions that end something come last.
func (m *accessTest) sendForms() {
	m.t.Helper()
	forms := slices.DeleteFunc(slices.Clone(m.routes), func(route string) bool { return strings.HasPrefix(route, "GET ") })
	slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(matrix[a].later, matrix[b].later) })
	done := 0
	for turn, route := range forms {
		e := matrix[route]
		method, path := m.at(route, m.real)
		who := m.leastPermitted(e)
		got := who.ask(method, path, m.form(route, m.real), nil)
		if e.gone == 0 && (got.status == http.StatusNotFound || strings.Contains(got.body,
			"Your role in this team does not allow this.") || strings.Contains(got.body, "Nothing was changed.")) {
			m.t.Errorf("%s: %s is answered with %d", who.name, route, got.status)
		}
		if got.status < http.StatusBadRequest && !strings.HasPrefix(got.location, "/sign-in") {
			done++
		}
		if e.later < 5 {
			m.oddForms(route, turn)
		}
	}
	if done < len(forms)/2 {
		m.t.Errorf("%d of %d forms were taken", done, len(forms))
	}
}

// leastPermitted returns the person with the fewest permissions who is still permitted.
func (m *accessTest) leastPermitted(e entry) *visitor {
	found := m.visitor("operator")
	for _, a := range m.visitors {
		if a.role != "" && a.may(e.who) {
			found = a
		}
	}
	return found
}

// oddForms sends a form without its fields, with duplicate fields, with invalid texts, and with another content type.
func (m *accessTest) oddForms(route string, turn int) {
	m.t.Helper()
	method, path := m.at(route, m.real)
	who, meant := m.mostPermitted(route), m.form(route, m.real)
	if matrix[route].who == invited { // the browser's session changes
		who = m.visitor("signed out")
	}
	twice, empty := url.Values{}, url.Values{"once": meant["once"]}
	for name, values := range meant {
		twice[name] = append(slices.Clone(values), script)
	}
	m.checkEscaping(route, who.ask(method, path, nil, nil))
	m.checkEscaping(route, who.ask(method, path, empty, nil))
	for n, odd := range oddities {
		if odd != script && odd != "\x00" && n%4 != turn%4 {
			continue // belongs to another form
		}
		form := m.form(route, m.real)
		for name := range form {
			if name != "once" {
				form[name] = []string{odd, odd}
			}
		}
		m.checkEscaping(route, who.ask(method, path, form, nil))
	}
	twice.Set("once", strings.Repeat("1", 300))
	m.checkEscaping(route, who.ask(method, path, twice, nil))
	m.checkEscaping(route,
		who.ask(method, path, url.Values{"text": {strings.Repeat("long ", 1<<18)}, "caption": {strings.Repeat("long ", 1<<18)}}, nil))
	for _, kind := range []string{
		"application/json", "multipart/form-data; boundary=x", "text/plain", "application/x-www-form-urlencoded; charset=%%",
	} {
		m.checkEscaping(route, who.ask(method, path, meant, http.Header{"Content-Type": {kind}}))
	}
}
