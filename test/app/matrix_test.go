package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// asker is a browser that runs no program and follows nothing: its requests go to the program's handler at once.
type asker struct {
	name string
	jar  http.CookieJar
	of   *gauge
	role access.Role // in the sample team; "" for whoever is not in it

	operator, out bool // out is signed out, whatever its cookie says
}

// answer is what came back.
type answer struct {
	status   int
	location string
	body     string
}

// gauge holds every address against every kind of person.
type gauge struct {
	*crew

	t       testing.TB
	program []shell.Route // as the program has them
	routes  []string
	mux     *http.ServeMux // of all patterns, to know an address by
	real    samples
	none    samples
	askers  []*asker
	filled  map[string]url.Values
	tables  []string
	ofTeams map[string]bool // the tables whose rows are a team's
	before  map[string]string
}

// Every address of the app is asked for by everybody, for what is there and for what nobody has. Who is not meant is
// told the same of both, and nothing changes.
func TestMatrix(t *testing.T) {
	houses(t, func(t *testing.T, h *house) {
		m := newGauge(t, h)
		for _, route := range m.routes {
			m.refused(route)
		}
		for _, route := range m.routes {
			m.foreign(route)
		}
		for _, route := range m.routes {
			m.allowed(route)
		}
		m.unchanged("all pages", "reading", false)
		m.astray()
		m.odd()
		m.sent()
	})
}

func newGauge(tb testing.TB, h *house) *gauge {
	tb.Helper()
	m := &gauge{t: tb, none: nothing, mux: http.NewServeMux()}
	m.crew, m.real = h.sampleTeam(tb)
	seen := map[string]bool{}
	for _, route := range h.Routes() {
		seen[route.Pattern] = true
		m.program = append(m.program, route)
		m.routes = append(m.routes, route.Pattern)
		m.mux.HandleFunc(route.Pattern, func(http.ResponseWriter, *http.Request) {})
		if matrix[route.Pattern].who == "" {
			tb.Errorf("the matrix knows nothing of %s: say in matrix whom it is for", route.Pattern)
		}
	}
	for pattern := range matrix {
		if !seen[pattern] {
			tb.Errorf("the matrix has %s, where nothing is", pattern)
		}
	}
	if tb.Failed() {
		tb.FailNow()
	}
	m.readTables()
	m.people()
	m.filled = m.forms(m.as(tb, access.Owner))
	maps.Copy(m.filled, m.operatorForms())
	const decision = "POST /posts/{id}/approval/decision" // for clients alone
	m.filled[decision] = m.forms(m.as(tb, access.Client))[decision]
	m.settle()
	m.remember()
	return m
}

func (m *gauge) operatorForms() map[string]url.Values {
	all := m.forms(&browser{t: m.t, root: m.root, http: &http.Client{Jar: m.asker("operator").jar}})
	maps.DeleteFunc(all, func(pattern string, _ url.Values) bool { return !strings.Contains(pattern, " /operator/") })
	return all
}

func (m *gauge) asker(name string) *asker {
	return m.askers[slices.IndexFunc(m.askers, func(a *asker) bool { return a.name == name })]
}

// people signs everybody in who asks, and then takes from some of them what they had.
func (m *gauge) people() {
	t, ctx := m.t, m.t.Context()
	join := func(name string, role access.Role) *asker {
		a := m.newAsker(name)
		p, err := m.Teams.AddPerson(ctx, "Bob "+name, strings.ReplaceAll(name, " ", "-")+"@other.example", password)
		must(t, err)
		must(t, m.Teams.SetMember(ctx, m.team.ID, p.ID, role))
		a.signIn(p.Email)
		switch name {
		case "held":
			must(t, m.Teams.SetHold(ctx, p.ID, true))
		case "deleted":
			must(t, m.Erasure.DeletePerson(ctx, p.ID))
		case "signed out elsewhere":
			must(t, m.Teams.EndSessions(ctx, p.ID))
		case "in no team":
			must(t, m.Teams.RemoveMember(ctx, m.team.ID, p.ID))
		default: // an owner elsewhere, who looks at the sample team at the time of leaving it
			_, err := m.Teams.AddTeam(ctx,
				team.Team{Name: "Team of " + name, Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, p.ID)
			must(t, err)
			a.post("/team", url.Values{"team": {m.real["teams{team}"]}})
			must(t, m.Teams.RemoveMember(ctx, m.team.ID, p.ID))
		}
		return a
	}
	m.newAsker("signed out").out = true
	for _, role := range access.Roles() {
		a := m.newAsker(string(role))
		a.role = role
		a.signIn(m.crew.people[role].Email)
	}
	join("held", access.Admin).out = true
	join("deleted", access.Admin).out = true
	join("signed out elsewhere", access.Admin).out = true
	join("in no team", access.Admin).out = true
	join("of another team", access.Admin)
	join("operator", access.Admin).operator = true
	_, err := m.Teams.SetOperator(ctx, "operator@other.example", true)
	must(t, err)
}

func (m *gauge) newAsker(name string) *asker {
	jar, err := cookiejar.New(nil)
	must(m.t, err)
	a := &asker{name: name, jar: jar, of: m}
	m.askers = append(m.askers, a)
	return a
}

func (a *asker) signIn(email string) {
	a.of.t.Helper()
	if got := a.post("/sign-in", url.Values{"email": {email}, "password": {password}}); got.status != http.StatusSeeOther {
		a.of.t.Fatalf("%s cannot sign in: %d", a.name, got.status)
	}
}

func (a *asker) post(path string, form url.Values) answer {
	a.of.t.Helper()
	return a.ask(http.MethodPost, path, form, nil)
}

// ask sends a request as a browser would that stands on a page of ours.
func (a *asker) ask(method, path string, form url.Values, header http.Header) answer {
	t := a.of.t
	t.Helper()
	var body io.Reader = http.NoBody
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(t.Context(), method, a.of.root+path, body)
	must(t, err)
	r.RequestURI, r.RemoteAddr = path, "127.0.0.1:1"
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range a.jar.Cookies(r.URL) {
		r.AddCookie(c)
	}
	maps.Copy(r.Header, header)
	w := httptest.NewRecorder()
	a.of.Handler().ServeHTTP(w, r)
	got := w.Result()
	a.jar.SetCookies(r.URL, got.Cookies())
	if got.StatusCode >= http.StatusInternalServerError {
		t.Errorf("%s: %s %.200s: %d", a.name, method, path, got.StatusCode)
	}
	return answer{got.StatusCode, got.Header.Get("Location"), w.Body.String()}
}

// at is the method and the path of an address, with ids filled in.
func (m *gauge) at(route string, s samples) (string, string) {
	method, pattern, ok := strings.Cut(route, " ")
	if !ok {
		method, pattern = http.MethodPut, route
	}
	return method, s.path(m.t, pattern)
}

// form is what is sent to an address: what the pages fill in, and what only a person can.
func (m *gauge) form(route string, s samples) url.Values {
	method, _ := m.at(route, s)
	if method == http.MethodGet {
		return nil
	}
	out := url.Values{}
	maps.Copy(out, m.filled[route])
	maps.Copy(out, s.fill(matrix[route].form))
	out.Del(shell.TeamField) // whoever means harm leaves it out
	out.Set("once", m.now().UTC().Format("20060102T150405")+"-"+fmt.Sprint(m.house.people.Add(1)))
	return out
}

// may tells whether somebody is meant by an address.
func (a *asker) may(who shell.Audience) bool {
	can := func(c access.Capability) bool { return slices.Contains(access.RoleCapabilities(a.role), c) }
	switch who {
	case shell.Anyone, invited:
		return true
	case shell.People:
		return !a.out
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

// shownOnce is what two answers differ by that are the same: what names a form's sending, and what was done before.
var shownOnce = regexp.MustCompile(`value="\d{8}T\d{6}-[^"]+"|<p class="note" role="status">[^\n]*</p>|\n`)

// refused holds an address against everybody for whom it is not.
func (m *gauge) refused(route string) {
	m.t.Helper()
	e := matrix[route]
	method, path := m.at(route, m.real)
	_, nowhere := m.at(route, m.none)
	hasItem := path != nowhere || fmt.Sprint(m.real.fill(e.form)) != fmt.Sprint(m.none.fill(e.form))
	for _, a := range m.askers {
		if a.may(e.who) {
			continue
		}
		if e.later > 4 && a.role == "" && !a.out && ofTeam(e.who) && !hasItem {
			continue // they would end what they stand on themselves
		}
		theirs := a.role == "" && !a.out && ofTeam(e.who) && !hasItem // the address is of their own team
		form := m.form(route, m.real)
		if theirs {
			form = unmarked(form)
		}
		got := a.ask(method, path, form, nil)
		m.tellsNothing(a, route, form, got)
		if theirs {
			continue
		}
		if a.role == "" { // the team's own people may know what there is
			m.same(a, route, got, a.ask(method, nowhere, m.form(route, m.none), nil))
		}
		m.wantRefusal(a, route, method, got)
	}
	if method != http.MethodGet { // what reading changes is seen then too
		m.unchanged(route, "who is not meant", !hasItem && ofTeam(e.who))
	}
}

// unmarked is a form without what the sample team is known by, but for ids.
func unmarked(form url.Values) url.Values {
	for name, values := range form {
		form[name] = slices.Clone(values)
		for i, value := range values {
			form[name][i] = strings.ReplaceAll(value, marked, "Other")
		}
	}
	return form
}

// tellsNothing holds an answer against the marks of the sample team, for those who are not in it.
func (m *gauge) tellsNothing(a *asker, route string, sent url.Values, got answer) {
	m.t.Helper()
	if a.role == "" && !strings.Contains(sent.Encode(),
		marked) && strings.Contains(strings.ToLower(got.body+got.location), strings.ToLower(marked)) {
		at := strings.Index(strings.ToLower(got.body), strings.ToLower(marked))
		m.t.Errorf("%s: %s tells of the team: %q", a.name, route, got.body[max(0, at-100):min(len(got.body), max(0, at)+100)])
	}
}

// same holds the answer for an item against the one for an item that nobody has. What was sent may be shown again.
func (m *gauge) same(a *asker, route string, got, none answer) {
	m.t.Helper()
	plain := func(b answer, s samples) string {
		_, path := m.at(route, s)
		sent := []string{path, "PATH", url.QueryEscape(path), "PATH"}
		if at := strings.LastIndex(path, "/"); at > 0 { // the page that a form stands on
			sent = append(sent, url.QueryEscape(path[:at]), "PAGE")
		}
		for part := range strings.SplitSeq(path, "/") {
			if len(part) > len("987654") {
				sent = append(sent, part, "PART")
			}
		}
		for _, name := range slices.Sorted(maps.Keys(matrix[route].form)) {
			sent = append(sent, `"`+s.fill(matrix[route].form).Get(name)+`"`, name)
		}
		return strings.NewReplacer(sent...).Replace(fmt.Sprint(b.status, b.location, " ", shownOnce.ReplaceAllString(b.body, "")))
	}
	is, isNone := plain(got, m.real), plain(none, m.none)
	if is == isNone {
		return
	}
	at := 0
	for at < min(len(is), len(isNone)) && is[at] == isNone[at] {
		at++
	}
	m.t.Errorf("%s: %s is answered with %d …%.80q, and with %d …%.80q where nothing is", a.name, route, got.status,
		is[at:], none.status, isNone[at:])
}

// wantRefusal holds the answer against what people are told who are not meant.
func (m *gauge) wantRefusal(a *asker, route, method string, got answer) {
	m.t.Helper()
	e := matrix[route]
	switch {
	case a.out && e.parts:
		if got.status != http.StatusUnauthorized {
			m.t.Errorf("%s: %s is answered with %d", a.name, route, got.status)
		}
	case a.out: // a form that is long to write is kept by the sign-in page
		if got.status != http.StatusSeeOther && (got.status != http.StatusTemporaryRedirect ||
			method == http.MethodGet) || !strings.HasPrefix(got.location, "/sign-in?next=") {
			m.t.Errorf("%s: %s is answered with %d %s", a.name, route, got.status, got.location)
		}
	case a.role != "" && ofTeam(e.who):
		if got.status != http.StatusForbidden && got.status != http.StatusNotFound {
			m.t.Errorf("%s: %s is answered with %d %s", a.name, route, got.status, got.location)
		}
	case got.status != http.StatusNotFound && got.status != http.StatusForbidden:
		m.t.Errorf("%s: %s is answered with %d %s, want what is not there", a.name, route, got.status, got.location)
	}
}

// foreign sends what a page of another site makes the owner's browser send.
func (m *gauge) foreign(route string) {
	m.t.Helper()
	method, path := m.at(route, m.real)
	if method == http.MethodGet || route == "/uploads/{link}" || matrix[route].open { // there no cookie counts
		return
	}
	who := m.asker("owner")
	if matrix[route].who == shell.Operators {
		who = m.asker("operator")
	}
	elsewhere := []http.Header{
		{"Sec-Fetch-Site": {"cross-site"}}, {"Sec-Fetch-Site": {"same-site"}},
		{"Origin": {"https://elsewhere.example"}}, {"Origin": {"null"}},
	}
	for _, header := range elsewhere {
		got := who.ask(method, path, m.form(route, m.real), header)
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "Nothing was changed.") {
			m.t.Errorf("%s with %v is answered with %d", route, header, got.status)
		}
	}
	m.unchanged(route, "another site", false)
}

// allowed has those read a page for whom it is.
func (m *gauge) allowed(route string) {
	m.t.Helper()
	e := matrix[route]
	method, path := m.at(route, m.real)
	if method != http.MethodGet {
		return
	}
	for _, a := range m.askers {
		if !a.may(e.who) {
			continue
		}
		want := http.StatusOK
		if e.gone > 0 {
			want = e.gone
		}
		for _, way := range []string{http.MethodGet, http.MethodHead} {
			got := a.ask(way, path, nil, nil)
			if led := got.status == http.StatusSeeOther && e.gone == 0 && !strings.HasPrefix(got.location,
				"/sign-in"); got.status != want && !led {
				m.t.Errorf("%s: %s %s is answered with %d, want %d", a.name, way, route, got.status, want)
			}
		}
	}
	if strings.HasPrefix(path, "/notices/") { // it has been read then
		m.remember()
	}
}

// work are the tables that background work and sign-ins write to; no page does but by what the others show.
var work = regexp.MustCompile(
	`^(river_|goose_|sqlite_|sessions$|free_calls$|account_|hashtag_(offsets|grams|posts|links|versions)$|hashtags$|instagram_|standings$|nodes$)`)

func (m *gauge) readTables() {
	m.ofTeams = map[string]bool{}
	query := `SELECT m.name, MAX(CASE WHEN c.name = 'team_id' THEN 1 ELSE 0 END) FROM sqlite_master m
		JOIN pragma_table_info(m.name) c WHERE m.type = 'table' GROUP BY m.name ORDER BY m.name`
	if m.db.Postgres() {
		query = `SELECT table_name, MAX(CASE WHEN column_name = 'team_id' THEN 1 ELSE 0 END)
		FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name ORDER BY table_name`
	}
	rows, err := m.db.Query(m.t.Context(), query)
	must(m.t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		var of int
		must(m.t, rows.Scan(&name, &of))
		if !work.MatchString(name) {
			m.tables = append(m.tables, name)
			m.ofTeams[name] = of == 1
		}
	}
	must(m.t, rows.Err())
	if len(m.tables) < 40 {
		m.t.Fatalf("the tables are %v", m.tables)
	}
}

// look sums up the rows of each table; the sample team's alone where strangers worked in their own.
func (m *gauge) look(team bool) map[string]string {
	out := map[string]string{}
	for _, name := range m.tables {
		if team && m.ofTeams[name] {
			out[name] = m.sum(`SELECT * FROM `+name+` WHERE team_id = ?`, m.team.ID) //nolint:unqueryvet // whatever changes is to be seen
		} else if !team {
			out[name] = m.sum(`SELECT * FROM ` + name) //nolint:unqueryvet // as above
		}
	}
	return out
}

// sum is a sum of rows that does not hang on their order.
func (m *gauge) sum(query string, args ...any) string {
	rows, err := m.db.Query(m.t.Context(), query, args...)
	must(m.t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	must(m.t, err)
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var n int
	var all [sha256.Size]byte
	for rows.Next() {
		must(m.t, rows.Scan(into...))
		n++
		row := sha256.New()
		fmt.Fprint(row, values...)
		for i, b := range row.Sum(nil) {
			all[i] ^= b
		}
	}
	must(m.t, rows.Err())
	return fmt.Sprintf("%d rows, %x", n, all[:6])
}

// unchanged holds the tables against what they were.
func (m *gauge) unchanged(route, whose string, ownTeam bool) {
	m.t.Helper()
	if ownTeam {
		m.settle()
	}
	same := true
	for name, sum := range m.look(ownTeam) {
		was := m.before[name]
		if ownTeam {
			was = m.before["of the team: "+name]
		}
		if same = same && was == sum; was != sum {
			m.t.Errorf("%s: %s changed %s: %s, and before %s", route, whose, name, sum, was)
		}
	}
	if ownTeam || !same {
		m.remember()
	}
}

func (m *gauge) remember() {
	m.before = m.look(false)
	for name, sum := range m.look(true) {
		m.before["of the team: "+name] = sum
	}
}

// settle waits until nothing is under way that would change what is looked at.
func (m *gauge) settle() {
	m.t.Helper()
	ctx, stop := context.WithTimeout(m.t.Context(), 20*time.Second)
	defer stop()
	for m.count(m.t, "jobs WHERE finished_at = 0 AND id NOT IN (SELECT job_id FROM upload_batches)") > 0 {
		select {
		case <-ctx.Done():
			m.t.Fatal("the work does not end")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
