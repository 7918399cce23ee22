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
	largeTeam   dataset // the team with a tenth of all data
	usualTeam   dataset // an average team
	ownerCookie string  // session cookie of the large team's owner, who is also an operator
	client      http.Client
	hashtags    *stats.Store
	scans       map[string]float64 // sequential reads of each table before the measurements
}

// measureYears fills databases with 1%, 10% and 100% of three years' data. For each list, search and report, it
// compares the time that a request takes in the largest and the smallest database.
func (b *bench) measureYears(ctx context.Context, tb *testbed, s storage) error {
	example, err := takeSample(ctx, b.binary)
	if err != nil {
		return err
	}
	var instances []*instance
	for _, share := range []int{100, 10, 1} {
		d, err := b.startInstance(ctx, tb, s, example, "of"+strconv.Itoa(share), max(yearTeams[s.name()]/share, minTeams))
		if err != nil {
			return err
		}
		instances = append(instances, d)
	}
	for _, c := range b.yearCalls(s.name()) {
		if err := b.compareInstances(ctx, c, instances); err != nil {
			return err
		}
	}
	return b.reportScans(ctx, s, instances[len(instances)-1])
}

const minTeams = 10

// startInstance fills a database and starts pressroom on it.
func (b *bench) startInstance(ctx context.Context, tb *testbed, s storage, example sample, label string,
	teams int) (*instance, error) {
	d, err := b.fillInstance(ctx, s, example, label, teams)
	if err != nil {
		return nil, err
	}
	tb.cleanups = append(tb.cleanups, func() error { return s.drop(context.WithoutCancel(ctx), d.url) })
	if d.p, err = startPressroom(ctx, b.binary, d.url, d.largeTeam); err != nil {
		return nil, err
	}
	d.p.pausedWhenIdle = false
	tb.cleanups = append(tb.cleanups, d.p.stop)
	hashtagDB, err := db.Open(ctx, d.url, db.Options{})
	if err != nil {
		return nil, err
	}
	d.hashtags = stats.New(hashtagDB)
	tb.cleanups = append(tb.cleanups, hashtagDB.Close)
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
	b.report.add(newAbsoluteEntry(name+"/fill_s", time.Since(began).Seconds(), 0),
		newAbsoluteEntry(name+"/size_mib", float64(bytes>>20), 0))
	return d, nil
}

// makeTeams creates two teams with pressroom's admin commands, and a key for each team. The owner of the first team
// becomes an operator.
func (d *instance) makeTeams(ctx context.Context, binary string) error {
	if err := d.largeTeam.makeTeam(ctx, binary, d.url); err != nil {
		return err
	}
	d.usualTeam.SealingKey = d.largeTeam.SealingKey
	admin := administer(ctx, binary, d.url, d.largeTeam.SealingKey)
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
	return admin(&d.usualTeam, "keys", "add", "--team=2", "--level=full", "--name=bench")
}

// fillYears fills a database and then runs the maintenance that databases do automatically during normal operation.
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
	send    func() error
	medians []float64 // median of each round, in milliseconds
}

func (r *timedRequest) round(times int) error {
	durations := make([]time.Duration, times)
	for i := range durations {
		began := time.Now()
		if err := r.send(); err != nil {
			return err
		}
		durations[i] = time.Since(began)
	}
	slices.Sort(durations)
	r.medians = append(r.medians, milliseconds(percentile(durations, 0.5)))
	return nil
}

// compareInstances sends a request to all instances in turn, so that other load on the machine affects all of them
// equally.
func (b *bench) compareInstances(ctx context.Context, c yearCall, instances []*instance) error {
	var requests []*timedRequest
	for _, d := range instances {
		send, err := c.make(ctx, d)
		if err != nil {
			return err
		}
		requests = append(requests, &timedRequest{send: send})
	}
	for n := range yearRounds + 1 {
		for _, request := range requests {
			if err := errors.Join(ctx.Err(), request.round(yearTimes)); err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if n == 0 {
				request.medians = nil // warm-up
			}
		}
	}
	largest, smallest := requests[2], requests[0]
	if target := c.maxMilliseconds(); target > 0 {
		b.report.add(newAbsoluteEntry(c.name, median(largest.medians), target),
			newRelativeEntry(c.name+"/tenth", lowerIsBetter, median(requests[1].medians), median(smallest.medians), 0))
		return nil
	}
	if c.needsMoreData() {
		if instances[1].teams == instances[0].teams {
			b.report.add(newRelativeEntry(c.name, lowerIsBetter, median(largest.medians), median(smallest.medians), 0))
			return nil
		}
		smallest = requests[1]
	}
	grown := ratios(largest.medians, smallest.medians)
	e := entry{
		Name: c.name, Direction: lowerIsBetter, Ours: median(largest.medians), Floor: median(smallest.medians), Ratio: median(grown),
		Target: growthTarget, noise: spread(grown),
	}
	e.Met = e.Ratio <= e.Target || e.Ours-e.Floor < timingAccuracy
	b.report.add(e)
	b.report.add(newRelativeEntry(c.name+"/tenth", lowerIsBetter, median(requests[1].medians), median(requests[0].medians), 0))
	return nil
}

// timingAccuracy is the accuracy of a measurement in milliseconds. Differences below it are ignored.
const timingAccuracy = 0.05

// reportScans adds to the report how often large PostgreSQL tables were read sequentially during the measurements. For
// SQLite, tests check the query plans instead.
func (b *bench) reportScans(ctx context.Context, s storage, d *instance) error {
	if d.scans == nil {
		return nil
	}
	scans, err := d.sequentialScans(ctx)
	if err != nil {
		return err
	}
	for _, table := range slices.Sorted(maps.Keys(scans)) {
		b.report.add(newAbsoluteEntry(s.name()+"/years/read_whole/"+table, scans[table]-d.scans[table], 0.5))
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
