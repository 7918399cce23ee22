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
	crowd        = 100 // concurrently created reports
	crowdPosts   = 500 // posts of each report
	crowdPage    = 100 // posts of a page of public metrics
	crowdConns   = 4   // connections that read
	crowdPause   = 10 * time.Millisecond
	crowdReads   = 2000 // minimum number of reads without reports
	crowdTarget  = 2    // p99 during reports over p99 without
	crowdTimeout = 5 * time.Minute
)

// serveMetrics prints its address and serves synthetic public metrics, as specified by docs/bridge.md. The metrics
// are prepared in advance and equal for every profile, so serving them costs almost nothing.
func serveMetrics(ctx context.Context) error {
	pages := make([][]byte, crowdPosts/crowdPage)
	for i := range pages {
		raw, err := json.Marshal(figuresPage(i, len(pages)))
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

// figuresPage returns a page of a profile's posts, with captions of a realistic length.
func figuresPage(page, pages int) map[string]any {
	posts := make([]map[string]any, crowdPage)
	for i := range posts {
		n := page*crowdPage + i
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

// measureReports measures how much slower reads are while a hundred reports are created, as the median ratio of p99.
func (b *bench) measureReports(ctx context.Context, st *testEnv, s storage, posts int) error {
	name := s.name() + "/reads_beside_reports"
	source, err := startSelf(ctx, "figures", "-serve-figures")
	if err != nil {
		return err
	}
	st.cleanups = append(st.cleanups, source.stop)
	url, data, err := st.database(ctx, s, posts, "crowd")
	if err != nil {
		return err
	}
	var granted struct{}
	if err := administer(ctx, b.binary, url, data.SealingKey)(&granted, "credits", "grant",
		"--team="+strconv.FormatInt(data.Team, 10), "--credits=1000000", "--reference=bench"); err != nil {
		return err
	}
	p, err := startOurs(ctx, b.binary, url, data, "--bridge=http://"+source.addr)
	if err != nil {
		return err
	}
	st.cleanups = append(st.cleanups, p.stop)
	var alone, with, seconds []float64
	for range b.crowds {
		quiet, err := readUntil(ctx, p, func() (bool, error) { return true, nil }, crowdReads)
		if err != nil {
			return err
		}
		busy, took, err := readDuringReports(ctx, p)
		if err != nil {
			return err
		}
		alone, with, seconds = append(alone, quiet), append(with, busy), append(seconds, took.Seconds())
	}
	times := ratios(with, alone)
	ratio := absolute(name+"/p99_over_alone", median(times), crowdTarget)
	ratio.noise = spread(alone)
	b.report.add(absolute(name+"/alone_p99_ms", median(alone), 0), absolute(name+"/p99_ms", median(with), 0),
		absolute(name+"/all_made_s", median(seconds), 0), ratio)
	return nil
}

var crowds atomic.Int64 // numbers the profiles of this run

// readDuringReports requests a hundred reports and reads pages until the reports are ready. It returns the p99 of
// the reads in milliseconds, and the total duration.
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
	for range crowd {
		n := strconv.FormatInt(crowds.Add(1), 10)
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

// readUntil reads pages of posts over several connections, with a pause after each read. It ends when done reports true
// and the connections have read at least the given number of pages. It returns the p99 in milliseconds.
func readUntil(ctx context.Context, p *process, done func() (bool, error), least int) (float64, error) {
	var (
		group  sync.WaitGroup
		took   = make([][]time.Duration, crowdConns)
		failed = make([]error, crowdConns)
		ended  atomic.Bool
	)
	for i := range crowdConns {
		group.Go(func() { took[i], failed[i] = readSteadily(ctx, p, &ended, least/crowdConns) })
	}
	for !ended.Load() {
		over, err := done()
		if err != nil {
			failed = append(failed, err)
			over = true
		}
		ended.Store(over || ctx.Err() != nil)
		pause(ctx, 50*time.Millisecond)
	}
	group.Wait()
	all := slices.Concat(took...)
	slices.Sort(all)
	return milliseconds(percentile(all, 0.99)), errors.Join(failed...)
}

func readSteadily(ctx context.Context, p *process, ended *atomic.Bool, least int) ([]time.Duration, error) {
	c, err := dial(p.addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := c.net.SetDeadline(time.Now().Add(crowdTimeout)); err != nil {
		return nil, fmt.Errorf("setting a deadline: %w", err)
	}
	request := get(p, "/api/v1/posts?limit=20")
	var took []time.Duration
	for ctx.Err() == nil && (!ended.Load() || len(took) < least) {
		began := time.Now()
		status, _, err := c.do(request, false)
		if err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("reading posts: %d %w", status, err)
		}
		took = append(took, time.Since(began))
		pause(ctx, crowdPause)
	}
	return took, ctx.Err()
}
