package app

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	maxPageBytes = 100_000                // maximum size of a page, without images
	maxPageTime  = 100 * time.Millisecond // maximum server time per page
)

// pagePaths returns the paths of every page of a team with a lot of data, including later pages and the most expensive
// filters.
func (m *accessTest) pagePaths(f *filledTeam) []string {
	var out []string
	for _, route := range m.routes {
		method, path := m.methodAndPath(route, m.samples)
		e := matrix[route]
		if method == http.MethodGet && e.status == 0 && e.who != invited && path != "/live" && !strings.HasSuffix(path,
			".zip") && !strings.HasSuffix(path, ".csv") && !strings.HasSuffix(path, ".jsonl") &&
			!strings.HasSuffix(path, "/file") && !strings.HasSuffix(path, "/thumbnail") && !strings.HasPrefix(path,
			"/assets/") && !strings.HasPrefix(path, "/notices/"+m.samples["notices{id}"]) {
			out = append(out, path)
		}
	}
	var lonely, account, picture int64
	must.NoError(m.t, m.db.QueryRow(m.t.Context(),
		`SELECT MIN(id) FROM social_accounts WHERE team_id = ? AND network_id LIKE 'filled %'`, m.team.ID).Scan(&account))
	must.NoError(m.t, m.db.QueryRow(m.t.Context(), `SELECT id FROM social_accounts WHERE team_id = ? AND network_id = 'lonely'`,
		m.team.ID).Scan(&lonely))
	must.NoError(m.t, m.db.QueryRow(m.t.Context(), `SELECT MIN(id) FROM media WHERE team_id = ? AND blob LIKE 'filled/%'`,
		m.team.ID).Scan(&picture))
	past, ahead := m.now().AddDate(0, -3, 0).Format(time.DateOnly), m.now().AddDate(0, 3, 0).Format(time.DateOnly)
	sent, planned := f.id(f.posts/4+1), f.id(f.posts*3/4+1)
	list := 2_000_000 + m.team.ID*1000
	out = append(out,
		"/posts?status=draft", "/posts?status=published", "/posts?status=partially_published",
		"/posts?status=failed&account="+fmt.Sprint(account), fmt.Sprintf("/posts?account=%d", account),
		fmt.Sprintf("/posts?account=%d", lonely),
		"/posts?from="+past+"&to="+ahead, fmt.Sprintf("/posts?from=%s&to=%s&account=%d&status=failed", past, ahead, lonely),
		"/calendar?day="+past, "/calendar?view=week", "/calendar?view=week&day="+ahead,
		fmt.Sprintf("/calendar?account=%d", account), fmt.Sprintf("/calendar?account=%d", lonely),
		"/posts/"+sent, "/posts/"+planned, "/posts/"+planned+"/edit",
		fmt.Sprintf("/posts/%s/accounts/%d", sent, m.accountOf(sent)), "/jobs/social_post:"+sent,
		fmt.Sprintf("/accounts/%d", account), fmt.Sprintf("/accounts/%d/disconnect", account),
		"/media?query=quay", "/media?query=nothing+like+that", "/media?kind=video", fmt.Sprintf("/media/%d", picture),
		fmt.Sprintf("/media/%d/delete", picture),
		"/hashtags?scope=own", fmt.Sprintf("/hashtags/%d", list), fmt.Sprintf("/hashtags/%d?sort=hashtag", list),
		fmt.Sprintf("/hashtags/%d?group=Group+1", list), fmt.Sprintf("/hashtags/%d/edit", list),
	)
	for _, page := range []string{
		"/posts", "/media", "/notices", "/settings/audit", "/reports", "/accounts", "/hashtags", "/settings/members",
		"/settings/keys", "/settings/assistants", "/settings/credits",
	} {
		out = append(out, m.nextPage(page)...)
	}
	return out
}

// accountOf returns the first account of a post.
func (m *accessTest) accountOf(post string) int64 {
	var id int64
	must.NoError(m.t, m.db.QueryRow(m.t.Context(), `SELECT account_id FROM post_targets WHERE post_id = ? AND position = 0`,
		post).Scan(&id))
	return id
}

// nextPage returns the path of a list's next page, if there is one.
func (m *accessTest) nextPage(path string) []string {
	b := &browser{t: m.t, root: m.root, http: &http.Client{Jar: m.visitor("owner").jar}}
	for d := range b.open(path).doc.Descendants() {
		if d.Data == "a" && slices.Contains([]string{"Next page", "Earlier", "Older", "More"}, textOf(d)) {
			return []string{attribute(d, "href")}
		}
	}
	return nil
}

// permittedVisitor returns a visitor who may open a page.
func (m *accessTest) permittedVisitor(path string) *visitor {
	if strings.HasPrefix(path, "/operator") {
		return m.visitor("operator")
	}
	return m.visitor("owner")
}

// Every page has less than 100 KB, even for a team with a lot of data.
func TestPageSizesOfFullTeam(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		m := newAccessTest(t, h)
		f := m.fill(t, 3000, 2200)
		for _, path := range m.pagePaths(f) {
			got := m.permittedVisitor(path).request(http.MethodGet, path, nil, nil)
			if got.status != http.StatusOK && (got.status != http.StatusSeeOther || strings.HasPrefix(got.location, "/sign-in")) {
				t.Errorf("%s: %d %s", path, got.status, got.location)
			}
			if text := strings.HasSuffix(path, "/text"); len(got.body) > maxPageBytes && !text {
				t.Errorf("%s: %d bytes", path, len(got.body))
			}
		}
	})
}

// Every asset is small too.
func TestAssetSizes(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{"assets", "styles"} {
		for _, e := range must.Get(os.ReadDir("../../internal/web/shell/" + folder))(t) {
			if info := must.Get(e.Info())(t); info.Size() > maxPageBytes {
				t.Errorf("%s: %d bytes", e.Name(), info.Size())
			}
		}
	}
}

// BenchmarkPages measures how long the server takes for each page of a team with 100,000 posts.
func BenchmarkPages(b *testing.B) {
	databases := map[string]func(testing.TB) string{"sqlite": testkit.SQLite}
	if os.Getenv("PRESSROOM_TEST_POSTGRES") != "" {
		databases["postgres"] = testkit.Postgres
	}
	for name, database := range databases {
		b.Run(name, func(b *testing.B) { benchmarkPages(b, database(b)) })
	}
}

func benchmarkPages(b *testing.B, url string) {
	b.Helper()
	m := newAccessTest(b, open(b, url, func(cfg *server.Config) { cfg.Workers = 1 }))
	f := m.fill(b, 100_000, 200)
	for _, path := range m.pagePaths(f) {
		b.Run(strings.NewReplacer("/", "~", "?", " ", "#", "").Replace(path), func(b *testing.B) { m.measure(b, path) })
	}
}

// measure reports the median and maximum duration of requests for a page.
func (m *accessTest) measure(b *testing.B, path string) {
	b.Helper()
	who := m.permittedVisitor(path)
	who.request(http.MethodGet, path, nil, nil) // warm up prepared statements and caches
	var took []time.Duration
	for b.Loop() {
		start := time.Now()
		who.request(http.MethodGet, path, nil, nil)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	at := func(share float64) time.Duration { return took[int(share*float64(len(took)-1))] }
	b.ReportMetric(float64(at(0.5))/1e6, "p50-ms")
	b.ReportMetric(float64(at(0.99))/1e6, "p99-ms")
	b.ReportMetric(0, "ns/op")
	if at(0.5) > maxPageTime {
		b.Errorf("%s takes %v", path, at(0.5))
	}
}
