package app

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"pressroom/internal/testkit/must"
	"pressroom/internal/web/shell"
)

// shownOnce matches the parts that differ between equal answers: form identifiers and results of earlier actions.
var shownOnce = regexp.MustCompile(`value="\d{8}T\d{6}-[^"]+"|<p class="note" role="status">[^\n]*</p>|\n`)

// checkRefusals checks that a route refuses everybody who is not permitted.
func (m *accessTest) checkRefusals(route string) {
	m.t.Helper()
	e := matrix[route]
	method, path := m.at(route, m.real)
	_, nowhere := m.at(route, m.none)
	hasItem := path != nowhere || fmt.Sprint(m.real.fill(e.form)) != fmt.Sprint(m.none.fill(e.form))
	for _, a := range m.visitors {
		if a.may(e.who) {
			continue
		}
		if e.later > 4 && a.role == "" && !a.out && ofTeam(e.who) && !hasItem {
			continue // they would end their own session or membership
		}
		theirs := a.role == "" && !a.out && ofTeam(e.who) && !hasItem // the route shows their own team
		form := m.form(route, m.real)
		if theirs {
			form = withoutMarks(form)
		}
		got := a.ask(method, path, form, nil)
		m.checkRevealsNothing(a, route, form, got)
		if theirs {
			continue
		}
		if a.role == "" { // members may know what exists
			m.checkSame(a, route, got, a.ask(method, nowhere, m.form(route, m.none), nil))
		}
		m.wantRefusal(a, route, method, got)
	}
	if method != http.MethodGet { // including effects of reading
		m.checkUnchanged(route, "who is not meant", !hasItem && ofTeam(e.who))
	}
}

// withoutMarks returns a form without the sample team's marker, except in IDs.
func withoutMarks(form url.Values) url.Values {
	for name, values := range form {
		form[name] = slices.Clone(values)
		for i, value := range values {
			form[name][i] = strings.ReplaceAll(value, marked, "Other")
		}
	}
	return form
}

// checkRevealsNothing checks that an answer for outsiders does not contain the sample team's marker.
func (m *accessTest) checkRevealsNothing(a *visitor, route string, sent url.Values, got answer) {
	m.t.Helper()
	if a.role == "" && !strings.Contains(sent.Encode(),
		marked) && strings.Contains(strings.ToLower(got.body+got.location), strings.ToLower(marked)) {
		at := strings.Index(strings.ToLower(got.body), strings.ToLower(marked))
		m.t.Errorf("%s: %s tells of the team: %q", a.name, route, got.body[max(0, at-100):min(len(got.body), max(0, at)+100)])
	}
}

// checkSame compares the answer for an inaccessible item with the one for an item that does not exist, ignoring what
// was sent.
func (m *accessTest) checkSame(a *visitor, route string, got, none answer) {
	m.t.Helper()
	plain := func(b answer, s samples) string {
		_, path := m.at(route, s)
		sent := []string{path, "PATH", url.QueryEscape(path), "PATH"}
		if at := strings.LastIndex(path, "/"); at > 0 { // the page of a form
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

// wantRefusal checks the answer for people who are not permitted.
func (m *accessTest) wantRefusal(a *visitor, route, method string, got answer) {
	m.t.Helper()
	e := matrix[route]
	switch {
	case a.out && e.parts:
		if got.status != http.StatusUnauthorized {
			m.t.Errorf("%s: %s is answered with %d", a.name, route, got.status)
		}
	case a.out: // the sign-in page keeps long forms
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

// checkCrossSite sends a request as a page of another site would from the owner's browser.
func (m *accessTest) checkCrossSite(route string) {
	m.t.Helper()
	method, path := m.at(route, m.real)
	if method == http.MethodGet || route == "/uploads/{link}" || matrix[route].open { // without a session, cookies do not matter
		return
	}
	who := m.visitor("owner")
	if matrix[route].who == shell.Operators {
		who = m.visitor("operator")
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
	m.checkUnchanged(route, "another site", false)
}

// checkAllowed checks that the permitted people can read a page.
func (m *accessTest) checkAllowed(route string) {
	m.t.Helper()
	e := matrix[route]
	method, path := m.at(route, m.real)
	if method != http.MethodGet {
		return
	}
	for _, a := range m.visitors {
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

// work matches the tables that background work and sign-ins write to.
var work = regexp.MustCompile(
	`^(river_|goose_|sqlite_|sessions$|free_calls$|account_|` +
		`hashtag_(offsets|grams|posts|links|versions)$|hashtags$|instagram_|standings$|nodes$)`)

func (m *accessTest) readTables() {
	m.ofTeams = map[string]bool{}
	query := `SELECT m.name, MAX(CASE WHEN c.name = 'team_id' THEN 1 ELSE 0 END) FROM sqlite_master m
		JOIN pragma_table_info(m.name) c WHERE m.type = 'table' GROUP BY m.name ORDER BY m.name`
	if m.db.Postgres() {
		query = `SELECT table_name, MAX(CASE WHEN column_name = 'team_id' THEN 1 ELSE 0 END)
		FROM information_schema.columns WHERE table_schema = 'public' GROUP BY table_name ORDER BY table_name`
	}
	rows := must.Get(m.db.Query(m.t.Context(), query))(m.t)
	defer rows.Close()
	for rows.Next() {
		var name string
		var of int
		must.NoError(m.t, rows.Scan(&name, &of))
		if !work.MatchString(name) {
			m.tables = append(m.tables, name)
			m.ofTeams[name] = of == 1
		}
	}
	must.NoError(m.t, rows.Err())
	if len(m.tables) < 40 {
		m.t.Fatalf("the tables are %v", m.tables)
	}
}

// tableSums returns a checksum of each table, or only of the team's rows.
func (m *accessTest) tableSums(team bool) map[string]string {
	out := map[string]string{}
	for _, name := range m.tables {
		if team && m.ofTeams[name] {
			out[name] = m.sum(`SELECT * FROM `+name+` WHERE team_id = ?`, m.team.ID) //nolint:unqueryvet // every change counts
		} else if !team {
			out[name] = m.sum(`SELECT * FROM ` + name) //nolint:unqueryvet // as above
		}
	}
	return out
}

// sum returns a sum of rows that does not hang on their order.
func (m *accessTest) sum(query string, args ...any) string {
	rows := must.Get(m.db.Query(m.t.Context(), query, args...))(m.t)
	defer rows.Close()
	columns := must.Get(rows.Columns())(m.t)
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	var n int
	var all [sha256.Size]byte
	for rows.Next() {
		must.NoError(m.t, rows.Scan(into...))
		n++
		row := sha256.New()
		fmt.Fprint(row, values...)
		for i, b := range row.Sum(nil) {
			all[i] ^= b
		}
	}
	must.NoError(m.t, rows.Err())
	return fmt.Sprintf("%d rows, %x", n, all[:6])
}

// checkUnchanged checks that the tables are unchanged.
func (m *accessTest) checkUnchanged(route, whose string, ownTeam bool) {
	m.t.Helper()
	if ownTeam {
		m.waitForJobs()
	}
	same := true
	for name, sum := range m.tableSums(ownTeam) {
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

func (m *accessTest) remember() {
	m.before = m.tableSums(false)
	for name, sum := range m.tableSums(true) {
		m.before["of the team: "+name] = sum
	}
}

// waitForJobs waits until no job is running.
func (m *accessTest) waitForJobs() {
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
