package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/platform/db"
)

// instance is a running pressroom with a share of three years' data.
type instance struct {
	teams       int
	url         string
	middle      string // the time of the middle post, in RFC 3339
	p           *process
	large       dataset // the team with a tenth of everything
	usual       dataset // an average team
	ownerCookie string  // the cookie of the large team's owner, who is also an operator
	client      http.Client
	hashtags    *stats.Store
	scans       map[string]float64 // sequential reads of each table before the measurements
}

// measureYears fills databases with 1, 10 and 100% of three years' data. For each list, search and report, it
// compares the time with all data with the time with 1%.
func (b *bench) measureYears(ctx context.Context, st *testEnv, s storage) error {
	example, err := takeSample(ctx, b.binary)
	if err != nil {
		return err
	}
	var all []*instance
	for _, share := range []int{100, 10, 1} {
		d, err := b.startInstance(ctx, st, s, example, "of"+strconv.Itoa(share), max(yearTeams[s.name()]/share, leastTeams))
		if err != nil {
			return err
		}
		all = append(all, d)
	}
	for _, c := range b.yearCalls(s.name()) {
		if err := b.compareInstances(ctx, c, all); err != nil {
			return err
		}
	}
	return b.reportScans(ctx, s, all[len(all)-1])
}

const leastTeams = 10

// startInstance fills a database and starts pressroom on it.
func (b *bench) startInstance(ctx context.Context, st *testEnv, s storage, example sample, label string,
	teams int) (*instance, error) {
	d, err := b.fillInstance(ctx, s, example, label, teams)
	if err != nil {
		return nil, err
	}
	st.cleanups = append(st.cleanups, func() error { return s.drop(context.WithoutCancel(ctx), d.url) })
	if d.p, err = startOurs(ctx, b.binary, d.url, d.large); err != nil {
		return nil, err
	}
	d.p.pausedWhenIdle = false
	st.cleanups = append(st.cleanups, d.p.stop)
	opened, err := db.Open(ctx, d.url, db.Options{})
	if err != nil {
		return nil, err
	}
	d.hashtags = stats.New(opened)
	st.cleanups = append(st.cleanups, opened.Close)
	if d.ownerCookie, err = d.signIn(ctx); err != nil || s.name() != "postgres" {
		return d, err
	}
	d.scans, err = d.sequentialScans(ctx)
	return d, err
}

// fillInstance creates and fills a database.
func (b *bench) fillInstance(ctx context.Context, s storage, example sample, label string, teams int) (*instance, error) {
	url, err := s.empty(ctx, label)
	if err != nil {
		return nil, err
	}
	d := &instance{teams: teams, url: url}
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
	return d, nil
}

// makeTeams creates two teams, each with a key, with pressroom's admin commands. The first owner becomes an operator.
func (d *instance) makeTeams(ctx context.Context, binary string) error {
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

// fillYears fills a database and then runs the maintenance that happens by itself during normal operation.
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

// signIn signs the owner in to the app and returns the cookie.
func (d *instance) signIn(ctx context.Context) (string, error) {
	form := url.Values{"email": {ownerEmail}, "password": {ownerPassword}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.p.addr+"/sign-in", strings.NewReader(form.Encode()))
	if err != nil {
		return "", fmt.Errorf("signing in: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultTransport.RoundTrip(req) // a client would follow the redirect
	if err != nil {
		return "", fmt.Errorf("signing in: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) == 0 {
		return "", fmt.Errorf("signing in: status %d", res.StatusCode)
	}
	c := res.Cookies()[0]
	return c.Name + "=" + c.Value, nil
}

// timedRequest is one request to one instance.
type timedRequest struct {
	send func() error
	took []float64 // milliseconds: the median of each round
}

func (a *timedRequest) round(times int) error {
	took := make([]time.Duration, times)
	for i := range took {
		began := time.Now()
		if err := a.send(); err != nil {
			return err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	a.took = append(a.took, milliseconds(percentile(took, 0.5)))
	return nil
}

// compareInstances sends a request to all instances in turn, so that other load on the machine affects all of them
// equally.
func (b *bench) compareInstances(ctx context.Context, c yearCall, all []*instance) error {
	var sides []*timedRequest
	for _, d := range all {
		send, err := c.make(ctx, d)
		if err != nil {
			return err
		}
		sides = append(sides, &timedRequest{send: send})
	}
	for n := range yearRounds + 1 {
		for _, one := range sides {
			if err := errors.Join(ctx.Err(), one.round(yearTimes)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if n == 0 {
				one.took = nil // warm-up
			}
		}
	}
	most, least := sides[2], sides[0]
	if target := c.limit(); target > 0 {
		b.report.add(absolute(c.name, median(most.took), target),
			relative(c.name+"/tenth", lowerIsBetter, median(sides[1].took), median(least.took), 0))
		return nil
	}
	if c.needsMoreData() {
		if all[1].teams == all[0].teams {
			b.report.add(relative(c.name, lowerIsBetter, median(most.took), median(least.took), 0))
			return nil
		}
		least = sides[1]
	}
	grown := ratios(most.took, least.took)
	e := entry{
		Name: c.name, Better: lowerIsBetter, Ours: median(most.took), Floor: median(least.took), Ratio: median(grown),
		Target: growthTarget, noise: spread(grown),
	}
	e.Holds = e.Ratio <= e.Target || e.Ours-e.Floor < unmeasurable
	b.report.add(e)
	b.report.add(relative(c.name+"/tenth", lowerIsBetter, median(sides[1].took), median(sides[0].took), 0))
	return nil
}

// unmeasurable is the accuracy of a measurement in milliseconds. Smaller differences are ignored.
const unmeasurable = 0.05

// reportScans reports how often large PostgreSQL tables were read sequentially during the measurements. For SQLite,
// tests check the query plans instead.
func (b *bench) reportScans(ctx context.Context, s storage, d *instance) error {
	if d.scans == nil {
		return nil
	}
	now, err := d.sequentialScans(ctx)
	if err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(now)) {
		b.report.add(absolute(s.name()+"/years/read_whole/"+table, now[table]-d.scans[table], 0.5))
	}
	return nil
}

const largeTable = 10_000 // rows

// sequentialScans returns how many times PostgreSQL read the rows of each large table sequentially.
func (d *instance) sequentialScans(ctx context.Context) (map[string]float64, error) {
	bulk, err := openBulk(ctx, d.url)
	if err != nil {
		return nil, err
	}
	defer bulk.Close()
	rows, err := bulk.QueryContext(ctx,
		`SELECT relname, CAST(seq_tup_read AS DOUBLE PRECISION) / n_live_tup FROM pg_stat_user_tables WHERE n_live_tup > $1`, largeTable)
	if err != nil {
		return nil, fmt.Errorf("reading table statistics: %w", err)
	}
	defer rows.Close()
	out := map[string]float64{}
	for rows.Next() {
		var table string
		var scans float64
		if err := rows.Scan(&table, &scans); err != nil {
			return nil, fmt.Errorf("reading table statistics: %w", err)
		}
		out[table] = scans
	}
	return out, rows.Err()
}
