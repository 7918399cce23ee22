package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	crowd       = 100 // reports that are made at once
	crowdPosts  = 500 // posts that each rests on
	crowdPage   = 100 // posts of a page of the source
	crowdConns  = 4   // connections that read meanwhile
	crowdRest   = 10 * time.Millisecond
	crowdAlone  = 2000 // reads that are timed while nothing else is done
	crowdTarget = 2    // p99 beside reports over p99 alone
	crowdWithin = 5 * time.Minute
)

// serveSource serves public figures by the contract of docs/bridge.md, the same for every profile and made up before,
// so that the source costs next to nothing. It prints its address.
func serveSource(ctx context.Context) error {
	pages := make([][]byte, crowdPosts/crowdPage)
	for i := range pages {
		raw, err := json.Marshal(sourcePage(i, len(pages)))
		if err != nil {
			return fmt.Errorf("making up figures: %w", err)
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

// sourcePage is one page of a profile's posts, with captions as long as people write them.
func sourcePage(page, pages int) map[string]any {
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

// startSource starts this very program again as the source, which prints its address.
func startSource(ctx context.Context) (string, func() error, error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("finding this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, self, "-serve-source")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, fmt.Errorf("starting the source: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("starting the source: %w", err)
	}
	p := &process{name: "source", cmd: cmd}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("reading the source's address: %w", err), p.stop())
	}
	return strings.TrimSpace(line), p.stop, nil
}

// beside tells how much slower reads get while a hundred reports are made: the median of some ratios of p99.
func (b *bench) beside(ctx context.Context, s storage) error {
	name := s.name() + "/reads_beside_reports"
	if !b.wants(name) {
		return nil
	}
	var st stage
	return errors.Join(b.besideOn(ctx, &st, s, name), st.close())
}

func (b *bench) besideOn(ctx context.Context, st *stage, s storage, name string) error {
	source, stop, err := startSource(ctx)
	if err != nil {
		return err
	}
	st.ends = append(st.ends, stop)
	url, data, err := st.database(ctx, s, b.sizes[s.name()][0], "crowd")
	if err != nil {
		return err
	}
	if err := grant(ctx, b.binary, url, data); err != nil {
		return err
	}
	p, err := startOurs(ctx, b.binary, url, data, "--bridge=http://"+source)
	if err != nil {
		return err
	}
	st.ends = append(st.ends, p.stop)
	var alone, with, seconds []float64
	for range b.crowds {
		quiet, err := readUntil(ctx, p, func() (bool, error) { return true, nil }, crowdAlone)
		if err != nil {
			return err
		}
		busy, took, err := readBeside(ctx, p)
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

// grant gives the team what the reports cost.
func grant(ctx context.Context, binary, url string, d dataset) error {
	cmd := exec.CommandContext(ctx, binary, "--log-level=warn", "admin", "credits", "grant",
		"--team="+strconv.FormatInt(d.Team, 10), "--credits=1000000", "--reference=bench")
	cmd.Env, cmd.Stderr = environment(binary, url, d.SealingKey), os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("pressroom admin credits grant: %w", err)
	}
	return nil
}

var crowds atomic.Int64 // counts the profiles of this run, so that each is a new one

// readBeside asks for a hundred reports and reads until they are made.
func readBeside(ctx context.Context, p *process) (float64, time.Duration, error) {
	c, err := dial(p.addr)
	if err != nil {
		return 0, 0, err
	}
	defer c.close()
	began := time.Now()
	if err := c.net.SetDeadline(began.Add(crowdWithin)); err != nil {
		return 0, 0, fmt.Errorf("setting a deadline: %w", err)
	}
	for range crowd {
		n := strconv.FormatInt(crowds.Add(1), 10)
		body := `{"type":"profile","subject":"crowd.` + n + `"}`
		status, answer, err := c.do([]byte("POST /api/v1/reports HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer "+p.data.Key+
			"\r\nContent-Type: application/json\r\nContent-Length: "+strconv.Itoa(len(body))+
			"\r\nIdempotency-Key: crowd-"+n+"\r\n\r\n"+body), true)
		if err != nil || status != http.StatusAccepted {
			return 0, 0, fmt.Errorf("asking for a report: %d %s %w", status, answer, err)
		}
	}
	p99, err := readUntil(ctx, p, func() (bool, error) {
		status, answer, err := c.do(get(p, "/api/v1/reports?status=pending&limit=1"), true)
		if err != nil || status != http.StatusOK {
			return false, fmt.Errorf("looking for reports under way: %d %w", status, err)
		}
		return !strings.Contains(string(answer), `"pending"`), nil
	}, 0)
	return p99, time.Since(began), err
}

// readUntil reads pages of posts over some connections, with a rest after each, until enough were read and something
// holds; it gives the p99 in milliseconds.
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
	if err := c.net.SetDeadline(time.Now().Add(crowdWithin)); err != nil {
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
		pause(ctx, crowdRest)
	}
	return took, ctx.Err()
}
