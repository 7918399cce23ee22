package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

// decade is a service that has gathered a share of three years' data, filled and running.
type decade struct {
	teams    int
	url      string
	middle   string // the time of the post in the middle, in RFC 3339
	p        *process
	large    dataset // of the team with a tenth of everything
	usual    dataset // of a team like all the others
	pages    string  // the cookie of the large team's owner, who is an operator too
	client   http.Client
	hashtags *stats.Store
	scans    map[string]float64 // how often a table's rows were read one after the other before anything was measured
}

// overYears fills databases with 1, 10 and 100 % of three years' data and holds the time that each list, search and
// report takes with all of it against the time it takes with a hundredth.
func (b *bench) overYears(ctx context.Context, s storage, full int) error {
	var st stage
	return errors.Join(b.overYearsOn(ctx, &st, s, full), st.close())
}

func (b *bench) overYearsOn(ctx context.Context, st *stage, s storage, full int) error {
	example, err := sampled(ctx, b.binary, b.dir)
	if err != nil {
		return err
	}
	var all []*decade
	for _, share := range []int{100, 10, 1} {
		d, err := b.grown(ctx, st, s, example, "of"+strconv.Itoa(share), max(full/share, leastTeams))
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	for _, c := range b.yearCalls(s.name()) {
		if !b.wants(c.name) {
			continue
		}
		if err := b.holdYears(ctx, c, all); err != nil {
			return err
		}
	}
	return b.sequential(ctx, s, all[len(all)-1])
}

const leastTeams = 10

// grown starts the program on a filled database.
func (b *bench) grown(ctx context.Context, st *stage, s storage, example sample, label string, teams int) (*decade, error) {
	d, err := b.filled(ctx, s, example, label, teams)
	if err != nil {
		return nil, err
	}
	if !b.keep {
		st.ends = append(st.ends, func() error { return s.drop(context.WithoutCancel(ctx), d.url) })
	}
	if d.p, err = startOurs(ctx, b.binary, d.url, d.large); err != nil {
		return nil, err
	}
	d.p.rests = false
	st.ends = append(st.ends, d.p.stop)
	opened, err := db.Open(ctx, d.url, db.Options{})
	if err != nil {
		return nil, err
	}
	d.hashtags = stats.New(opened)
	st.ends = append(st.ends, opened.Close)
	if d.pages, err = d.signIn(ctx); err != nil || s.name() != "postgres" {
		return d, err
	}
	d.scans, err = d.readWhole(ctx)
	return d, err
}

// filled fills a database, or finds the one that an earlier run left.
func (b *bench) filled(ctx context.Context, s storage, example sample, label string, teams int) (*decade, error) {
	note := filepath.Join(b.dir, "years-"+s.name()+"-"+label+".json")
	if b.keep {
		if d, there, err := left(ctx, s, note, teams); there || err != nil {
			return d, err
		}
	}
	url, err := s.empty(ctx, label)
	if err != nil {
		return nil, err
	}
	d := &decade{teams: teams, url: url}
	if err := d.makeTeams(ctx, b.binary); err != nil {
		return nil, err
	}
	began := time.Now()
	y := years{Teams: teams, Now: time.Now().UnixMicro(), Postgres: s.name() == "postgres"}
	d.middle = time.UnixMicro(y.First() + (y.Now-y.First())/2).UTC().Format(time.RFC3339)
	if err := b.fillYears(ctx, url, y, example); err != nil {
		return nil, err
	}
	bytes, err := s.size(ctx, url)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s/years/%s/%d_teams", s.name(), label, teams)
	fmt.Fprintf(b.report.out, "%s: %d posts, %d hashtag figures, filled in %s, %d MiB\n", name, y.Posts(), y.figures(),
		time.Since(began).Round(time.Second), bytes>>20)
	b.report.add(absolute(name+"/fill_s", time.Since(began).Seconds(), 0), absolute(name+"/size_mib", float64(bytes>>20), 0))
	if b.keep {
		err = d.leave(s, note)
	}
	return d, err
}

// makeTeams has the program make two teams with a key each. The first one's owner looks after the service too.
func (d *decade) makeTeams(ctx context.Context, binary string) error {
	if err := d.large.makeTeam(ctx, binary, d.url); err != nil {
		return err
	}
	d.usual.SealingKey = d.large.SealingKey
	admin := administer(ctx, binary, d.url, d.large.SealingKey)
	var done struct{}
	for _, args := range [][]string{
		{"people", "operator", ownerEmail, "--on"},
		{"people", "add", "--name=Ben Adeyemi", "--email=ben@hill.example"},
		{"teams", "add", "--name=Hill Bakery", "--owner=2", "--timezone=Europe/Berlin", "--plan=agency"},
	} {
		if err := admin(&done, args...); err != nil {
			return err
		}
	}
	return admin(&d.usual, "keys", "add", "--team=2", "--level=full", "--name=bench")
}

// fillYears fills a database and leaves it as the service's own care would.
func (b *bench) fillYears(ctx context.Context, url string, y years, example sample) error {
	bulk, err := openBulk(ctx, url)
	if err != nil {
		return err
	}
	defer bulk.Close()
	conn, err := bulk.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to fill: %w", err)
	}
	defer conn.Close()
	err = y.fill(ctx, conn, &example, func(name string, rows int64, took time.Duration) {
		if took > time.Second {
			fmt.Fprintf(b.report.out, "  %-40s %12d rows %8s\n", name, rows, took.Round(100*time.Millisecond))
		}
	})
	if err != nil {
		return err
	}
	tidy := "PRAGMA wal_checkpoint(TRUNCATE)"
	if y.Postgres {
		tidy = "VACUUM ANALYZE"
	}
	if _, err := conn.ExecContext(ctx, tidy); err != nil {
		return fmt.Errorf("tidying: %w", err)
	}
	return nil
}

// signIn signs the owner in to the app and gives the cookie.
func (d *decade) signIn(ctx context.Context) (string, error) {
	form := url.Values{"email": {ownerEmail}, "password": {ownerPassword}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.p.addr+"/sign-in", strings.NewReader(form.Encode()))
	if err != nil {
		return "", fmt.Errorf("signing in: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultTransport.RoundTrip(req) // which follows no redirect
	if err != nil {
		return "", fmt.Errorf("signing in: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) == 0 {
		return "", fmt.Errorf("signing in was answered with %d", res.StatusCode)
	}
	c := res.Cookies()[0]
	return c.Name + "=" + c.Value, nil
}

// yearCall is one of the requests that are asked at each size.
type yearCall struct {
	name string
	make func(ctx context.Context, d *decade) (func() error, error)
}

// yearCalls are every list, search and report: of the largest team and of a usual one, then the app's and the
// operator's pages.
func (b *bench) yearCalls(database string) []yearCall {
	var out []yearCall
	add := func(kind string, names []string, header string, value func(d *decade) string) {
		for _, name := range names {
			out = append(out, yearCall{database + "/years/" + kind + name, func(ctx context.Context, d *decade) (func() error, error) {
				return d.requested(ctx, name, header, value(d))
			}})
		}
	}
	add("large/", largeReads, "Authorization", func(d *decade) string { return "Bearer " + d.large.Key })
	add("usual/", usualReads, "Authorization", func(d *decade) string { return "Bearer " + d.usual.Key })
	for _, word := range searches {
		out = append(out, yearCall{database + "/years/search/" + word, func(ctx context.Context, d *decade) (func() error, error) {
			return d.searched(ctx, word)
		}})
	}
	add("app", appPages, "Cookie", func(d *decade) string { return d.pages })
	return out
}

// What stands in braces is filled in: an id of the large team's, a time in the middle of its posts, a cursor there.
var (
	largeReads = []string{
		"me", "credits", "limits", "posts?limit=20", "posts?limit=50", "posts?status=draft", "posts?status=scheduled",
		"posts?status=failed", "posts?status=published",
		"posts?account_id=1", "posts?account_id=1&status=failed", "posts?from={middle}", "posts?to={middle}",
		"posts?limit=20&to={middle}&cursor={cursor}", "posts/{post}", "posts/{draft}/validation",
		"media", "media?kind=video", "media?folder_id=1", "media?query=harbour", "media?query=nothing-is-called-so",
		"media?query=image{media}.jpg", "reports", "reports?query=profile0", "reports?query=nothing-so",
		"reports?tracked_only=true", "reports?status=error", "reports/profile/{report}", "social-accounts",
		"social-accounts/1/analytics?period_days=7", "hashtag-lists", "hashtag-lists?scope=own", "hashtag-lists/{list}",
		"brand-voices", "brand-voices/1", "jobs/{job}",
	}
	usualReads = []string{
		"posts?limit=20", "posts?status=failed", "posts?from={middle}", "media", "media?query=nothing-is-called-so",
		"reports", "social-accounts", "hashtag-lists",
	}
	appPages = []string{
		"/", "/posts", "/posts?status=failed", "/calendar", "/posts/{post}", "/media", "/reports", "/reports/{report}",
		"/accounts", "/accounts/1", "/hashtags", "/voices", "/notices", "/settings", "/settings/credits",
		"/settings/audit", "/settings/audit?kind=post.published", "/settings/keys", "/operator", "/operator/teams",
		"/operator/people", "/operator/queue", "/operator/networks", "/operator/posts", "/operator/ledger", "/operator/events",
	}
)

// searches are words of each kind: one that many hashtags hold, the end of one alone, and one that none holds.
var searches = []string{"coffee", "roastcoffee", "1999", "quartz"}

var blank = regexp.MustCompile(`\{(\w+)\}`)

// fit fills a path in.
func (d *decade) fit(ctx context.Context, path string) (string, error) {
	var failed error
	out := blank.ReplaceAllStringFunc(path, func(in string) string {
		text, err := d.known(ctx, in[1:len(in)-1])
		failed = errors.Join(failed, err)
		return text
	})
	if !strings.HasPrefix(out, "/") {
		out = "/api/v1/" + out
	}
	return out, failed
}

// firsts are where the id is found that a path needs: the first one of a list.
var firsts = map[string]string{
	"post": "posts?limit=1&status=published", "draft": "posts?limit=1&status=draft", "report": "reports?limit=1",
	"list": "hashtag-lists?scope=own&limit=1", "media": "media?limit=1",
}

var (
	firstID    = regexp.MustCompile(`"id":"?([^",]+)`)
	nextCursor = regexp.MustCompile(`"cursor":"([^"]+)"`)
)

// known tells what a path needs.
func (d *decade) known(ctx context.Context, what string) (string, error) {
	switch what {
	case "middle":
		return d.middle, nil
	case "cursor":
		return d.found(ctx, "posts?limit=20&to="+d.middle, nextCursor)
	case "job":
		id, err := d.found(ctx, firsts["post"], firstID)
		return "social_post:" + id, err
	}
	return d.found(ctx, firsts[what], firstID)
}

// found is what an answer to the large team's key holds.
func (d *decade) found(ctx context.Context, path string, pattern *regexp.Regexp) (string, error) {
	c, err := dial(d.p.addr)
	if err != nil {
		return "", err
	}
	defer c.close()
	status, body, err := c.do(get(d.p, "/api/v1/"+path), true)
	if err != nil {
		return "", errors.Join(ctx.Err(), err)
	}
	match := pattern.FindSubmatch(body)
	if status != http.StatusOK || match == nil {
		return "", fmt.Errorf("%s was answered with %d and tells no %s", path, status, pattern)
	}
	return string(match[1]), nil
}

// aged is one of the services, asked for one thing.
type aged struct {
	ask  func() error
	took []float64 // milliseconds: the median of each round
}

// requested asks over a connection that stays open.
func (d *decade) requested(ctx context.Context, path, header, value string) (func() error, error) {
	path, err := d.fit(ctx, path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.p.addr+path, nil)
	if err != nil {
		return nil, fmt.Errorf("asking for %s: %w", path, err)
	}
	req.Header.Set(header, value)
	return func() error {
		res, err := d.client.Do(req)
		if err != nil {
			return fmt.Errorf("asking for %s: %w", path, err)
		}
		_, err = io.Copy(io.Discard, res.Body)
		if err = errors.Join(err, res.Body.Close()); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if res.StatusCode != http.StatusOK {
			return fmt.Errorf("%s was answered with %d", path, res.StatusCode)
		}
		return nil
	}, nil
}

// searched looks for hashtags as the job of a search does, once its source has answered.
func (d *decade) searched(ctx context.Context, word string) (func() error, error) {
	return func() error {
		_, err := d.hashtags.Find(ctx, provider.Instagram, word, stats.MaxMatches)
		return err
	}, nil
}

func (a *aged) round(times int) error {
	took := make([]time.Duration, times)
	for i := range took {
		began := time.Now()
		if err := a.ask(); err != nil {
			return err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	a.took = append(a.took, milliseconds(percentile(took, 0.5)))
	return nil
}

// holdYears asks all services in turn, so that what else the machine does meets them alike.
func (b *bench) holdYears(ctx context.Context, c yearCall, all []*decade) error {
	var sides []*aged
	for _, d := range all {
		ask, err := c.make(ctx, d)
		if err != nil {
			return err
		}
		sides = append(sides, &aged{ask: ask})
	}
	for n := range b.yearRounds + 1 {
		for _, one := range sides {
			if err := errors.Join(ctx.Err(), one.round(b.yearTimes)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if n == 0 {
				one.took = nil // it warmed up
			}
		}
	}
	most, least := sides[2], sides[0]
	if target := c.bound(); target > 0 {
		b.report.add(absolute(c.name, median(most.took), target),
			against(c.name+"/tenth", less, median(sides[1].took), median(least.took), 0))
		return nil
	}
	if c.unfilled() {
		if all[1].teams == all[0].teams {
			b.report.add(against(c.name, less, median(most.took), median(least.took), 0))
			return nil
		}
		least = sides[1]
	}
	grown := ratios(most.took, least.took)
	e := entry{
		Name: c.name, Better: less, Ours: median(most.took), Floor: median(least.took), Ratio: median(grown),
		Target: growthTarget, noise: spread(grown),
	}
	e.Holds = e.Ratio <= e.Target || e.Ours-e.Floor < unmeasurable
	b.report.add(e)
	b.report.add(against(c.name+"/tenth", less, median(sides[1].took), median(sides[0].took), 0))
	return nil
}

// unfilled tells of what a hundredth of the data does not fill yet, a month, a page of teams or of failed reports: it
// is held against a tenth, where that is more than the hundredth: ten teams are the least.
func (c yearCall) unfilled() bool {
	return slices.ContainsFunc([]string{
		"/calendar", "app/accounts/1", "reports?status=error", "/operator/teams", "/operator/people",
	}, func(end string) bool {
		return strings.HasSuffix(c.name, end)
	})
}

// bound is what a request may take with all data, in milliseconds, that reads more where there is more to find: all
// names of the largest team's files or reports, a tenth of the service's, where a text is looked for in them, or as
// many hashtags as one search looks at (internal/domain/hashtag/stats), which a hundredth of the data has not got. It
// is 0 for all others.
func (c yearCall) bound() float64 {
	for part, most := range map[string]float64{"media?query=": 50, "reports?query=": 5, "/search/": 5} {
		if strings.Contains(c.name, part) {
			return most
		}
	}
	return 0
}

// unmeasurable is a difference in milliseconds that is the clock's and the scheduler's.
const unmeasurable = 0.05

// sequential tells which large tables were read from end to end while everything was asked of all the data. Of
// SQLite's plans the tests of each subject hold what they are.
func (b *bench) sequential(ctx context.Context, s storage, d *decade) error {
	if d.scans == nil {
		return nil
	}
	now, err := d.readWhole(ctx)
	if err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(now)) {
		b.report.add(absolute(s.name()+"/years/read_whole/"+table, now[table]-d.scans[table], 0.5))
	}
	return nil
}

const largeTable = 10_000 // rows

// readWhole tells how many times the rows of each large table PostgreSQL read from one end on.
func (d *decade) readWhole(ctx context.Context) (map[string]float64, error) {
	bulk, err := openBulk(ctx, d.url)
	if err != nil {
		return nil, err
	}
	defer bulk.Close()
	rows, err := bulk.QueryContext(ctx,
		`SELECT relname, CAST(seq_tup_read AS DOUBLE PRECISION) / n_live_tup FROM pg_stat_user_tables WHERE n_live_tup > $1`, largeTable)
	if err != nil {
		return nil, fmt.Errorf("looking which tables were read whole: %w", err)
	}
	defer rows.Close()
	out := map[string]float64{}
	for rows.Next() {
		var table string
		var scans float64
		if err := rows.Scan(&table, &scans); err != nil {
			return nil, fmt.Errorf("looking which tables were read whole: %w", err)
		}
		out[table] = scans
	}
	return out, rows.Err()
}
