package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkReadsBesideReports measures the p99 latency of reading a list, in milliseconds, on an idle server and
// during the creation of a hundred reports. It also reports their ratio.
func BenchmarkReadsBesideReports(b *testing.B) {
	for range b.N {
		alone, beside := readsBesideReports(b)
		b.ReportMetric(float64(alone.Microseconds())/1000, "alone-p99-ms")
		b.ReportMetric(float64(beside.Microseconds())/1000, "beside-p99-ms")
		b.ReportMetric(float64(beside)/float64(alone), "times")
	}
}

const crowd = 100

// serveOneProfile makes the provider return the same metrics for every profile, because generating metrics would use
// CPU time.
func (w *env) serveOneProfile(t *testing.T) {
	t.Helper()
	var pages sync.Map // by query
	serve := func(rw http.ResponseWriter, r *http.Request) bool {
		if !strings.HasPrefix(r.URL.Path, "/vendor/v1/instagram/profiles/crowd.") {
			return false
		}
		query := r.URL.Query()
		query.Del("since")
		key := query.Encode()
		kept, known := pages.Load(key)
		if !known {
			out := httptest.NewRecorder()
			r.URL.Path = "/vendor/v1/instagram/profiles/crowd.1"
			w.box.Handler().ServeHTTP(out, r)
			kept, _ = pages.LoadOrStore(key, out.Body.Bytes())
		}
		rw.Header().Set("Content-Type", "application/json")
		_, _ = rw.Write(kept.([]byte))
		return true
	}
	w.inject.Store(&serve)
	w.report(map[string]any{"subject": "crowd.1"})
}

func readsBesideReports(b *testing.B) (time.Duration, time.Duration) {
	b.Helper()
	var alone, beside time.Duration
	done := testing.RunTests(func(string, string) (bool, error) {
		return true, nil
	}, []testing.InternalTest{{Name: "crowd", F: func(t *testing.T) {
		withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
			w.grant(10_000)
			w.draft("read me")
			read := func(until func() bool) time.Duration {
				var took []time.Duration
				for !until() || len(took) < 500 {
					began := time.Now()
					w.rest(full(w), "list_posts", nil, "").mustBe(t, http.StatusOK)
					took = append(took, time.Since(began))
				}
				slices.Sort(took)
				return took[len(took)*99/100]
			}
			w.serveOneProfile(t)
			read(func() bool { return true }) // warm
			alone = read(func() bool { return true })
			for i := range crowd + 1 {
				w.rest(full(w), "create_report", reportArgs(map[string]any{"subject": fmt.Sprint("crowd.", i)})(w),
					fmt.Sprint(i)).mustBe(t, http.StatusAccepted)
			}
			beside = read(func() bool { return w.count(unfinishedJobs, w.team) == 0 })
		})
	}}})
	if !done {
		b.Fatal("the reports were not created")
	}
	return alone, beside
}
