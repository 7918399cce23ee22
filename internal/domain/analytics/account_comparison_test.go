package analytics_test

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/testkit/must"
)

func (w *env) weeks() []analytics.AccountComparison {
	w.t.Helper()
	return must.Get(w.service.CompareWeeks(w.t.Context(), w.team, w.zone))(w.t)
}

func countOrMinusOne(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// Followers and engagement are compared with the previous week.
func TestCompareWeeks(t *testing.T) {
	onEachDatabase(t, func(w *env) {
		if got := w.weeks(); len(got) != 0 {
			w.t.Fatalf("without accounts: %+v", got)
		}
		quiet, id := w.connect(w.team, "threads", "quiet"), w.connectHarbour()
		w.setMetrics(100, post("old", start.Add(-20*day), 7), post("past", start.Add(-2*day), 5))
		w.collectAfter(0, 1)
		got := w.weeks()
		if len(got) != 2 || got[0].ID != id || got[1].ID != quiet {
			w.t.Fatalf("accounts %+v", got)
		}
		if a := got[0]; countOrMinusOne(a.Followers) != 100 || a.Change != nil || len(a.Line) != 1 || a.Now.Posts != 1 ||
			countOrMinusOne(a.Now.Engagement) != 5 || a.Now.Views != nil || a.Past.Posts != 0 || a.Past.Engagement != nil {
			w.t.Errorf("first week: %+v", a)
		}
		if a := got[1]; a.Followers != nil || a.Now.Posts != 0 || a.Platform != "threads" {
			w.t.Errorf("without metrics: %+v", a)
		}
		w.setMetrics(112, post("past", start.Add(-2*day), 5), post("now", start.Add(6*day), 3), post("also", start.Add(7*day), 4))
		w.collectAfter(7*day, 2)
		w.collectAfter(time.Second, 2)
		if a := w.weeks()[0]; countOrMinusOne(a.Followers) != 112 || countOrMinusOne(a.Change) != 12 ||
			len(a.Line) != 2 || a.Line[0] != 100 || a.Now.Posts != 2 || countOrMinusOne(a.Now.Engagement) != 7 ||
			a.Past.Posts != 1 || countOrMinusOne(a.Past.Engagement) != 5 {
			w.t.Errorf("a week later: %+v", a)
		}
		w.clock.Advance(30 * day)
		if a := w.weeks()[0]; a.Followers != nil || a.Line != nil || a.Now.Posts != 0 {
			w.t.Errorf("much later: %+v", a)
		}
	})
}
