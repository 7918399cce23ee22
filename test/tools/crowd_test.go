package tools

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	sessions   = 1000
	processors = 2   // processors of the program
	maxMemory  = 200 // maximum memory of the program in MB
)

// member is one of many assistants. Each has its own connection, and all share a key.
type member struct {
	client http.Client
	url    string
	key    string
	id     int
}

// send sends a message and returns the response. If the rate limit is exceeded or the node is at capacity, it waits and
// retries.
func (m *member) send(ctx context.Context, method, params string) ([]byte, error) {
	m.id++
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.url,
			strings.NewReader(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, m.id, method, params)))
		if err != nil {
			return nil, err
		}
		r.Header = http.Header{
			"Authorization": {"Bearer " + m.key}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"},
		}
		resp, err := m.client.Do(r)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		switch {
		case err != nil:
			return nil, err
		case mustWait(resp.StatusCode, body):
			if err := wait(ctx, time.Second); err != nil {
				return nil, err
			}
		case resp.StatusCode != http.StatusOK || bytes.Contains(body, []byte(`"isError":true`)) || bytes.Contains(body,
			[]byte(`"error":{"code":`)):
			return nil, fmt.Errorf("%s: HTTP %d %.300s", method, resp.StatusCode, body)
		default:
			return body, nil
		}
	}
}

// mustWait reports whether the program rejected a request, without effects, because of too many requests.
func mustWait(status int, body []byte) bool {
	return status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable ||
		bytes.Contains(body, []byte(`\"code\":\"rate_limited\"`)) ||
		bytes.Contains(body, []byte(`\"code\":\"service_unavailable\"`))
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// runSession initializes a session, lists tools and prompts, and calls tools. If waits is set, it also waits for a job.
func (m *member) runSession(ctx context.Context, job string, waits bool) error {
	calls := [][2]string{
		{"initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"crowd","version":"1"}}`},
		{"tools/list", `{}`}, {"prompts/list", `{}`},
		{"tools/call", `{"name":"get_identity"}`}, {"tools/call", `{"name":"list_posts","arguments":{"limit":20}}`},
	}
	if waits {
		calls = append(calls,
			[2]string{
				"tools/call", fmt.Sprintf(`{"name":"get_job","arguments":{"job_id":%q,"wait_seconds":2},"_meta":{"progressToken":1}}`, job),
			})
	}
	for _, c := range calls {
		if _, err := m.send(ctx, c[0], c[1]); err != nil {
			return err
		}
	}
	return nil
}

// crowd runs all sessions concurrently and returns the program's peak memory in MB.
func crowd(tb testing.TB, run greeting) float64 {
	tb.Helper()
	keys := []string{run.Keys.Full, run.Keys.Drafts, run.Keys.ReadOnly}
	first := &member{url: run.MCPURL, key: run.Keys.Full}
	opened, err := first.send(tb.Context(), "tools/call", `{"name":"create_uploads"}`) // The job ends when files arrive.
	must.NoError(tb, err)
	var job struct {
		Result struct {
			StructuredContent struct {
				Data struct {
					JobID string `json:"job_id"`
				}
			}
		}
	}
	must.NoError(tb, json.Unmarshal(opened, &job))
	var all sync.WaitGroup
	start := make(chan struct{})
	for n := range sessions {
		all.Go(func() {
			transport := &http.Transport{MaxConnsPerHost: 1}
			defer transport.CloseIdleConnections()
			m := &member{client: http.Client{Transport: transport}, url: run.MCPURL, key: keys[n%len(keys)]}
			<-start
			if err := m.runSession(tb.Context(), job.Result.StructuredContent.Data.JobID, n%4 == 0); err != nil {
				tb.Errorf("session %d: %v", n, err)
			}
		})
	}
	close(start)
	all.Wait()
	return peak(tb, run.PID)
}

// peak returns the peak resident memory of a process in MB.
func peak(tb testing.TB, pid int) float64 {
	tb.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		tb.Skipf("this system does not report the memory of a process: %v", err)
	}
	scanner := bufio.NewScanner(bytes.NewReader(raw))
	for scanner.Scan() {
		if text, found := strings.CutPrefix(scanner.Text(), "VmHWM:"); found {
			kib := must.Get(strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), " kB")))(tb)
			return float64(kib) / 1024
		}
	}
	tb.Fatalf("no VmHWM in %s", raw)
	return 0
}

// A thousand concurrent assistants need little memory.
func TestCrowd(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand sessions are slow")
	}
	if used := crowd(t, quickstart(t)); used > maxMemory {
		t.Errorf("the program used %.0f MB, want at most %d", used, maxMemory)
	}
}

// BenchmarkCrowd measures the time and the peak memory of a thousand sessions with five or six requests each.
func BenchmarkCrowd(b *testing.B) {
	run := quickstart(b)
	for b.Loop() {
		b.ReportMetric(crowd(b, run), "peak-MB")
	}
}
