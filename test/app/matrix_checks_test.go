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

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/shell"
)

// shownOnce matches the parts that differ between otherwise equal pages: form IDs and messages about earlier
// actions.
var shownOnce = regexp.MustCompile(`value="\d{8}T\d{6}-[^"]+"|<p class="note" role="status">[^\n]*</p>|\n`)

// checkRejections checks that a route rejects all people without permission.
func (m *accessTest) checkRejections(route string) {
	m.t.Helper()
	e := matrix[route]
	method, path := m.methodAndPath(route, m.samples)
	_, nowhere := m.methodAndPath(route, m.unknown)
	hasItem := path != nowhere || fmt.Sprint(m.samples.fill(e.form)) != fmt.Sprint(m.unknown.fill(e.form))
	for _, a := range m.visitors {
		if a.isPermitted(e.who) {
			continue
		}
		if e.order > 4 && a.role == "" && !a.isSignedOut && ofTeam(e.who) && !hasItem {
			continue // the request would end the visitor's own session or membership
		}
		theirs := a.role == "" && !a.isSignedOut && ofTeam(e.who) && !hasItem // the route shows the visitor's own team
		form := m.form(route, m.samples)
		if theirs {
			form = withoutMarks(form)
		}
		got := a.request(method, path, form, nil)
		m.checkRevealsNothing(a, route, form, got)
		if theirs {
			continue
		}
		if a.role == "" { // members may learn which items exist
			m.checkSame(a, route, got, a.request(method, nowhere, m.form(route, m.unknown), nil))
		}
		m.wantRejection(a, route, method, got)
	}
	if method != http.MethodGet { // also detects effects of GET requests
		m.checkUnchanged(route, "who is not meant", !hasItem && ofTeam(e.who))
	}
}

// withoutMarks returns a form without the sample team's marker in its values, except IDs.
func withoutMarks(form url.Values) url.Values {
	for name, values := range form {
		form[name] = slices.Clone(values)
		for i, value := range values {
			form[name][i] = strings.ReplaceAll(value, marker, "Other")
		}
	}
	return form
}

// checkRevealsNothing checks that an answer to an outsider does not contain the sample team's marker.
func (m *accessTest) checkRevealsNothing(a *visitor, route string, sent url.Values, got answer) {
	m.t.Helper()
	if a.role == "" && !strings.Contains(sent.Encode(),
		marker) && strings.Contains(strings.ToLower(got.body+got.location), strings.ToLower(marker)) {
		at := strings.Index(strings.ToLower(got.body), strings.ToLower(marker))
		m.t.Errorf("%s: %s reveals the team's data: %q", a.name, route, got.body[max(0, at-100):min(len(got.body), max(0, at)+100)])
	}
}

// checkSame checks that the answers for an inaccessible and for a nonexistent item are equal, apart from the input.
func (m *accessTest) checkSame(a *visitor, route string, got, none answer) {
	m.t.Helper()
	plain := func(b answer, s samples) string {
		_, path := m.methodAndPath(route, s)
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
	is, isNone := plain(got, m.samples), plain(none, m.unknown)
	if is == isNone {
		return
	}
	at := 0
	for at < min(len(is), len(isNone)) && is[at] == isNone[at] {
		at++
	}
	m.t.Errorf("%s: %s: %d …%.80q, but %d …%.80q for a nonexistent item", a.name, route, got.status,
		is[at:], none.status, isNone[at:])
}

// wantRejection checks the answer to a visitor without permission.
func (m *accessTest) wantRejection(a *visitor, route, method string, got answer) {
	m.t.Helper()
	e := matrix[route]
	switch {
	case a.isSignedOut && e.returnsError:
		if got.status != http.StatusUnauthorized {
			m.t.Errorf("%s: %s: %d", a.name, route, got.status)
		}
	case a.isSignedOut: // the sign-in page keeps long forms
		if got.status != http.StatusSeeOther && (got.status != http.StatusTemporaryRedirect ||
			method == http.MethodGet) || !strings.HasPrefix(got.location, "/sign-in?next=") {
			m.t.Errorf("%s: %s: %d %s", a.name, route, got.status, got.location)
		}
	case a.role != "" && ofTeam(e.who):
		if got.status != http.StatusForbidden && got.status != http.StatusNotFound {
			m.t.Errorf("%s: %s: %d %s", a.name, route, got.status, got.location)
		}
	case got.status != http.StatusNotFound && got.status != http.StatusForbidden:
		m.t.Errorf("%s: %s: %d %s, want 404", a.name, route, got.status, got.location)
	}
}

// checkCrossSite checks that a request from another site's page in the owner's browser is rejected.
func (m *accessTest) checkCrossSite(route string) {
	m.t.Helper()
	method, path := m.methodAndPath(route, m.samples)
	if method == http.MethodGet || route == "/uploads/{link}" ||
		matrix[route].allowsCrossOrigin { // without a session, cookies do not matter
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
		got := who.request(method, path, m.form(route, m.samples), header)
		if got.status != http.StatusForbidden || !strings.Contains(got.body, "Nothing was changed.") {
			m.t.Errorf("%s with %v: %d", route, header, got.status)
		}
	}
	m.checkUnchanged(route, "another site", false)
}

// checkAllowed checks that people with permission can open a page.
func (m *accessTest) checkAllowed(route string) {
	m.t.Helper()
	e := matrix[route]
	method, path := m.methodAndPath(route, m.samples)
	if method != http.MethodGet {
		return
	}
	for _, a := range m.visitors {
		if !a.isPermitted(e.who) {
			continue
		}
		want := http.StatusOK
		if e.status > 0 {
			want = e.status
		}
		for _, way := range []string{http.MethodGet, http.MethodHead} {
			got := a.request(way, path, nil, nil)
			if led := got.status == http.StatusSeeOther && e.status == 0 && !strings.HasPrefix(got.location,
				"/sign-in"); got.status != want && !led {
				m.t.Errorf("%s: %s %s: %d, want %d", a.name, way, route, got.status, want)
			}
		}
	}
	if strings.HasPrefix(path, "/notices/") || isSecretPage(path) { // the notification is now marked as read
		m.recordTables()
	}
}

// isSecretPage reports whether a page shows a secret. The audit log records every request for it.
func isSecretPage(path string) bool { return strings.HasSuffix(path, "/secret") }

// volatileTables matches the tables that background jobs and sign-ins write to.
var volatileTables = regexp.MustCompile(
	`^(hold|river_|goose_|sqlite_|sessions$|free_calls$|account_|` +
		`hashtag_(offsets|grams|posts|links|versions)$|hashtags$|instagram_|cluster_stats$|nodes$)`)

func (m *accessTest) readTables() {
	m.isTeamTable = map[string]bool{}
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
		if !volatileTables.MatchString(name) {
			m.tables = append(m.tables, name)
			m.isTeamTable[name] = of == 1
		}
	}
	must.NoError(m.t, rows.Err())
	if len(m.tables) < 40 {
		m.t.Fatalf("tables = %v", m.tables)
	}
}

// tableSums returns a checksum of each table, or only of the team's rows.
func (m *accessTest) tableSums(team bool) map[string]string {
	out := map[string]string{}
	for _, name := range m.tables {
		if team && m.isTeamTable[name] {
			out[name] = m.checksum(`SELECT * FROM `+name+` WHERE team_id = ?`, m.team.ID) //nolint:unqueryvet // every change counts
		} else if !team {
			out[name] = m.checksum(`SELECT * FROM ` + name) //nolint:unqueryvet // as above
		}
	}
	return out
}

// checksum returns a checksum of rows that does not depend on their order.
func (m *accessTest) checksum(query string, args ...any) string {
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
		was := m.checksums[name]
		if ownTeam {
			was = m.checksums["of the team: "+name]
		}
		if same = same && was == sum; was != sum {
			m.t.Errorf("%s: %s changed table %s: %s, was %s", route, whose, name, sum, was)
		}
	}
	if ownTeam || !same {
		m.recordTables()
	}
}

func (m *accessTest) recordTables() {
	m.checksums = m.tableSums(false)
	for name, sum := range m.tableSums(true) {
		m.checksums["of the team: "+name] = sum
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
			m.t.Fatal("jobs do not finish")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
