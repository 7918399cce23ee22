package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	crowdReports  = 100 // reports that are created concurrently
	crowdPosts    = 500 // posts per report
	crowdPageSize = 100 // posts per page of public metrics
	crowdConns    = 4   // connections for reading
	crowdPause    = 10 * time.Millisecond
	minCrowdReads = 2000 // minimum number of reads while no reports are created
	crowdTarget   = 2    // maximum ratio of the p99 while reports are created to the p99 otherwise
	crowdTimeout  = 5 * time.Minute
)

// serveMetrics prints its address and serves synthetic public metrics as described in docs/bridge.md. The metrics are
// prepared in advance and are the same for every profile, so serving them costs almost nothing.
func serveMetrics(ctx context.Context) error {
	pages := make([][]byte, crowdPosts/crowdPageSize)
	for i := range pages {
		raw, err := json.Marshal(metricsPage(i, len(pages)))
		if err != nil {
			return fmt.Errorf("encoding metrics: %w", err)
		}
		pages[i] = raw
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	fmt.Println(listener.Addr())
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(pages[min(max(page, 0), len(pages)-1)])
	})}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	if err = server.Serve(listener); errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// metricsPage returns a page of a profile's posts, with captions of a realistic length.
func metricsPage(page, pages int) map[string]any {
	posts := make([]map[string]any, crowdPageSize)
	for i := range posts {
		n := page*crowdPageSize + i
		posts[i] = map[string]any{
			"id": "p" + strconv.Itoa(n), "format": []string{"image", "reel", "carousel"}[n%3],
			"taken_at": time.Now().UTC().Add(-time.Duration(n*7) * time.Hour).Truncate(time.Second).Format(time.RFC3339),
			"caption":  caption(n) + " #coffee #harbour" + strconv.Itoa(n%7) + " #morning",
			"url":      "https://www.instagram.com/p/" + strconv.Itoa(n) + "/",
			"likes":    100 + mix(uint64(n))%900, "comments": mix(uint64(n)) % 90,
		}
	}
	out := map[string]any{
		"profile": map[string]any{"username": "x", "followers": 20_000, "follows": 300, "posts": crowdPosts}, "posts": posts,
	}
	if page < pages-1 {
		out["next_cursor"] = strconv.Itoa(page + 1)
	}
	return out
}

// measureReports measures how much slower reads are while a hundred reports are created. The result is the median ratio
// of the p99 times.
func (b *bench) measureReports(ctx context.Context, tb *testbed, s storage, posts int) error {
	name := s.name() + "/reads_beside_reports"
	metricsServer, err := startSelf(ctx, "figures", "-serve-figures")
	if err != nil {
		return err
	}
	tb.cleanups = append(tb.cleanups, metricsServer.stop)
	url, data, err := tb.copyDatabase(ctx, s, posts, "crowd")
	if err != nil {
		return err
	}
	var granted struct{}
	if err := administer(ctx, b.binary, url, data.SealingKey)(&granted, "credits", "grant",
		"--team="+strconv.FormatInt(data.Team, 10), "--credits=1000000", "--reference=bench"); err != nil {
		return err
	}
	p, err := startPressroom(ctx, b.binary, url, data, "--bridge=http://"+metricsServer.addr)
	if err != nil {
		return err
	}
	tb.cleanups = append(tb.cleanups, p.stop)
	var quietP99s, busyP99s, seconds []float64
	for range b.reportRounds {
		quiet, err := readUntil(ctx, p, func() (bool, error) { return true, nil }, minCrowdReads)
		if err != nil {
			return err
		}
		busy, took, err := readDuringReports(ctx, p)
		if err != nil {
			return err
		}
		quietP99s, busyP99s, seconds = append(quietP99s, quiet), append(busyP99s, busy), append(seconds, took.Seconds())
	}
	times := ratios(busyP99s, quietP99s)
	ratio := newAbsoluteEntry(name+"/p99_over_alone", median(times), crowdTarget)
	ratio.noise = spread(quietP99s)
	b.report.add(newAbsoluteEntry(name+"/alone_p99_ms", median(quietP99s), 0), newAbsoluteEntry(name+"/p99_ms", median(busyP99s), 0),
		newAbsoluteEntry(name+"/all_made_s", median(seconds), 0), ratio)
	return nil
}

var profileCount atomic.Int64 // number of profiles used in this run

// readDuringReports requests a hundred reports and reads pages of posts until the reports are ready. It returns the p99
// of the reads in milliseconds, and the total duration.
func readDuringReports(ctx context.Context, p *process) (float64, time.Duration, error) {
	c, err := dial(p.addr)
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	began := time.Now()
	if err := c.net.SetDeadline(began.Add(crowdTimeout)); err != nil {
		return 0, 0, fmt.Errorf("setting a deadline: %w", err)
	}
	for range crowdReports {
		n := strconv.FormatInt(profileCount.Add(1), 10)
		body := `{"type":"profile","subject":"crowd.` + n + `"}`
		status, answer, err := c.do([]byte("POST /api/v1/reports HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer "+p.data.Key+
			"\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+
			"\r\nIdempotency-Key: crowd-"+n+"\r\n\r\n"+body), true)
		if err != nil || status != http.StatusAccepted {
			return 0, 0, fmt.Errorf("requesting a report: %d %s %w", status, answer, err)
		}
	}
	p99, err := readUntil(ctx, p, func() (bool, error) {
		status, answer, err := c.do(get(p, "/api/v1/reports?status=pending&limit=1"), true)
		if err != nil || status != http.StatusOK {
			return false, fmt.Errorf("listing pending reports: %d %w", status, err)
		}
		return !strings.Contains(string(answer), `"pending"`), nil
	}, 0)
	return p99, time.Since(began), err
}

// readUntil reads pages of posts over several connections, with a pause after each read. It ends when done returns true
// and at least minReads pages have been read. It returns the p99 of the reads in milliseconds.
func readUntil(ctx context.Context, p *process, done func() (bool, error), minReads int) (float64, error) {
	var (
		wg        sync.WaitGroup
		durations = make([][]time.Duration, crowdConns)
		errs      = make([]error, crowdConns)
		ended     atomic.Bool
	)
	for i := range crowdConns {
		wg.Go(func() { durations[i], errs[i] = readSteadily(ctx, p, &ended, minReads/crowdConns) })
	}
	for !ended.Load() {
		over, err := done()
		if err != nil {
			errs = append(errs, err)
			over = true
		}
		ended.Store(over || ctx.Err() != nil)
		pause(ctx, 50*time.Millisecond)
	}
	wg.Wait()
	all := slices.Concat(durations...)
	slices.Sort(all)
	return milliseconds(percentile(all, 0.99)), errors.Join(errs...)
}

func readSteadily(ctx context.Context, p *process, ended *atomic.Bool, minReads int) ([]time.Duration, error) {
	c, err := dial(p.addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.net.SetDeadline(time.Now().Add(crowdTimeout)); err != nil {
		return nil, fmt.Errorf("setting a deadline: %w", err)
	}
	request := get(p, "/api/v1/posts?limit=20")
	var durations []time.Duration
	for ctx.Err() == nil && (!ended.Load() || len(durations) < minReads) {
		began := time.Now()
		status, _, err := c.do(request, false)
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("reading posts: %d %w", status, err)
		}
		durations = append(durations, time.Since(began))
		pause(ctx, crowdPause)
	}
	return durations, ctx.Err()
}
