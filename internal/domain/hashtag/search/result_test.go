package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A paged result has each hashtag once, the keyword's own hashtags first, then by score. The other parts are complete
// on each page.
func TestPages(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		var want []string
		for i := range 23 {
			name := fmt.Sprintf("harbourlife%02d", i)
			known := w.metrics(name, int64(90_000-i))
			for p := range known.Recent {
				known.Recent[p].Likes = new(int64(1 + i*7%23*50)) // so that all scores differ
			}
			learned := stats.Analyze(provider.Instagram, known, w.clock.Now())
			w.write(t, func(ctx context.Context, tx *db.Tx) error { return w.Statistics.Record(ctx, tx, learned) })
			want = append(want, name)
		}
		r, _, _ := w.runSearch(t, Input{Query: "harbourlife"})
		found, _, _ := w.page(t, r.ID, 50, nil)
		want = append([]string{"harbourlife"}, want...)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(names(found.Hashtags)))); diff != "" {
			t.Error(diff)
		}
		if own, rest := found.Hashtags[0], found.Hashtags[1:]; own.Hashtag != "harbourlife" ||
			!slices.IsSortedFunc(rest, func(a, b FoundHashtag) int { return int(math.Round(1000 * (*b.Score - *a.Score))) }) ||
			*rest[0].Score == *rest[len(rest)-1].Score {
			t.Errorf("the hashtags after the keyword's own are not sorted by score: %+v", found.Hashtags)
		}
		want = names(found.Hashtags)
		again, _, paid := w.runSearch(t, Input{Query: "#HarbourLife"})
		if paid != 0 {
			t.Errorf("the team paid again: %d", paid)
		}
		for _, id := range []string{r.ID, again.ID} {
			var got []string
			var cursor *string
			pages := 0
			for {
				result, page, _ := w.page(t, id, 7, cursor)
				got, pages = append(got, names(result.Hashtags)...), pages+1
				if page == nil {
					break
				}
				cursor = &page.Cursor
			}
			if diff := cmp.Diff(want, got); diff != "" || pages != 4 {
				t.Errorf("%d pages %s", pages, diff)
			}
		}
		answer, _, err := w.request(t.Context(), Input{Query: "harbourlife"})
		must.NoError(t, err)
		if whole, is := answer.Data.Result.(SearchResult); !is || !cmp.Equal(want, names(whole.Hashtags)) ||
			answer.Page != nil {
			t.Errorf("the response to the team that paid has the result %+v", answer.Data.Result)
		}
		call := operation.Call{Actor: w.actor, Operation: "get_job", Now: w.clock.Now(), Filters: []byte("another")}
		if _, err := w.Jobs.View(t.Context(), w.db, call, r, job.GetInput{JobID: r.ID, Limit: 7,
			Cursor: new(call.Cursor("x"))}); err == nil {
			t.Error("a cursor that is not a number was accepted")
		}
	})
}

// Unknown metrics are omitted, and hashtags without size or rate are listed separately.
func TestUnknownMetricsOmitted(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.script.answerWith(func(_ context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			f := w.metrics(q.Hashtag, 120_000)
			if q.Hashtag == "beach" {
				f.Size, f.Recent = nil, f.Recent[:3]
			}
			return f, nil
		})
		r, _, paid := w.runSearch(t, Input{Query: "summer beach"})
		result, _, notes := w.page(t, r.ID, 50, nil)
		if paid != price || !slices.Equal(names(result.Hashtags), []string{"summerbeach", "summer"}) ||
			!slices.Equal(names(result.Incomplete), []string{"beach"}) {
			t.Errorf("%+v", result)
		}
		if beach := result.Incomplete[0]; beach.Posts != nil || beach.Tier != "" || beach.PostsPerDay == nil {
			t.Errorf("%+v", beach)
		}
		if !slices.Equal(notes, []string{IncompleteNote}) {
			t.Errorf("%q", notes)
		}
	})
}

// Without a provider, nothing is requested.
func TestSearchWithoutProvider(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		w.Source = nil
		if r, _, paid := w.runSearch(t, Input{Query: "harbour"}); r.ErrorCode != "not_offered" || paid != 0 {
			t.Errorf("%+v for %d", r, paid)
		}
	})
}

// A search with repeated internal failures is given up and refunded.
func TestRepeatedFailures(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		id, _ := w.start(t, "harbour")
		w.exec(t, `UPDATE jobs SET epoch = ? WHERE id = ?`, maxAttempts+maxWaits, id)
		if r := w.waitFor(t, id); r.ErrorCode != "internal_error" || w.balance(t) != initialCredits ||
			len(w.script.since(0)) != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// Expired keywords are deleted. Results are kept with their jobs.
func TestSweep(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		r, _, _ := w.runSearch(t, Input{Query: "harbour"})
		w.runSearch(t, Input{Query: "missingharbour"})
		running, _ := w.start(t, "bar")
		sweep := func(want int64) {
			t.Helper()
			if n, err := w.Sweep(t.Context()); err != nil || n != want {
				t.Errorf("%d swept, want %d (%v)", n, want, err)
			}
		}
		sweep(1) // a keyword without results is not paid for
		w.clock.Advance(week - time.Microsecond)
		sweep(0)
		w.clock.Advance(time.Microsecond)
		sweep(1)
		if result, _, _ := w.page(t, r.ID, 50, nil); len(result.Hashtags) != 1 {
			t.Errorf("%+v", result)
		}
		must.Get(w.Jobs.Sweep(t.Context()))(t)
		w.clock.Advance(job.RecordLifetime)
		must.Get(w.Jobs.Sweep(t.Context()))(t)
		for _, table := range []string{"hashtag_search_results", "hashtag_search_answers"} {
			if n := w.queryInt(t, `SELECT COUNT(*) FROM `+table); n != 0 {
				t.Errorf("%d rows are left of %s", n, table)
			}
		}
		if r := w.waitFor(t, running); r.State != job.Succeeded {
			t.Errorf("a running search was deleted: %+v", r)
		}
	})
}

// A search also measures a few related hashtags while the provider has quota. It returns those that are significantly
// related.
func TestFurtherHashtags(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		beside := map[string][]string{"summer": {"sunset", "shore", "swim", "sand", "surf", "seaside", "shells",
			"sail"}}
		for _, tag := range []string{"office", "coffee", "print"} { // a common hashtag and an unrelated one
			beside[tag] = []string{"love", "desk"}
		}
		full := false
		w.script.answerWith(func(_ context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			if own := slices.Contains([]string{"office", "coffee", "print", "summer"}, q.Hashtag); own == q.Background {
				t.Errorf("%+v used quota reserved for others", q)
			}
			if full && q.Hashtag == "shells" {
				return provider.HashtagMetrics{}, &provider.UnavailableError{After: week,
					Err: errors.New("no quota is left")}
			}
			return w.metrics(q.Hashtag, 5_000, append([]string{"love"}, beside[q.Hashtag]...)...), nil
		})
		for _, tag := range []string{"office", "coffee", "print"} {
			w.runSearch(t, Input{Query: tag})
		}
		before := len(w.script.since(0))
		full = true
		r, _, paid := w.runSearch(t, Input{Query: "summer"})
		if asked := w.script.since(before); len(asked) != 5 || asked[0] != "instagram/summer" ||
			asked[4] != "instagram/shells" || paid != price || r.State != job.Succeeded {
			t.Errorf("%q was requested for %d credits: %+v", asked, paid, r)
		}
		result, _, _ := w.page(t, r.ID, 50, nil)
		if got := names(result.Hashtags); len(got) < 4 || got[0] != "summer" || !slices.Contains(got, "sand") ||
			slices.Contains(got, "shells") {
			t.Errorf("%q", got)
		}
		checkRelated(t, result.Related)
		if n := w.queryInt(t, `SELECT COUNT(*) FROM hashtags WHERE hashtag = 'surf' AND wanted_at > 0`); n != 1 {
			t.Error("hashtags without metrics are not measured in the background")
		}
		if _, _, paid := w.runSearch(t, Input{Query: "summer"}); paid != 0 || len(w.script.since(before)) != 5 {
			t.Errorf("a repeated search cost %d and requested %q", paid, w.script.since(before))
		}
	})
}

// checkRelated checks that a hashtag specific to summer is related, and a common hashtag is not.
func checkRelated(t *testing.T, all []RelatedHashtag) {
	t.Helper()
	var names []string
	for _, h := range all {
		names = append(names, h.Hashtag)
		if h.Lift <= 1 || h.Support < minPosts || h.Share <= 0 || h.Share > 1 || h.Hashtag == "sand" &&
			(h.Posts == nil || h.MeasuredAt == nil) {
			t.Errorf("%+v", h)
		}
	}
	for name, want := range map[string]bool{"surf": true, "sand": true, "love": false, "desk": false, "summer": false} {
		if slices.Contains(names, name) != want {
			t.Errorf("%s: %q", name, names)
		}
	}
}
