package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/domain/hashtag/stats"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
)

// step is a search of a price table, after so much time.
type step struct {
	after           time.Duration
	in              Input
	costs           int64 // in the end
	code            string
	asks            []string // of the source; nil for none
	otherTeam       bool
	hasReport       string        // a hashtag of which the team has a report then
	reportAge       time.Duration // of its figures
	reportIsTracked bool
}

const week = 7 * day

// What a keyword costs, again and again.
func TestPrices(t *testing.T) {
	t.Parallel()
	ig := func(tags ...string) []string {
		for i := range tags {
			tags[i] = provider.Instagram + "/" + tags[i]
		}
		return tags
	}
	phrase := ig("summerbeach", "summer", "beach")
	for name, steps := range map[string][]step{
		"the same words are paid for once": {
			{in: Input{Query: "summer beach"}, costs: price, asks: phrase},
			{in: Input{Query: "summer beach"}}, {in: Input{Query: "beach summer"}}, {in: Input{Query: "Summer  BEACH"}},
			{in: Input{Query: "#summer #beach"}},
			{in: Input{Query: "beach, beach and summer"}, costs: price, asks: ig("beachandsummer")},
		},
		"the sign does not matter": {
			{in: Input{Query: "#harbourlife"}, costs: price, asks: ig("harbourlife")},
			{in: Input{Query: "harbourlife"}},
			{in: Input{Query: "https://www.instagram.com/explore/tags/harbourlife/"}},
		},
		"words as one are another keyword, of which the figures of the day are taken": {
			{in: Input{Query: "summer beach"}, costs: price, asks: phrase},
			{in: Input{Query: "#summerbeach"}, costs: price},
			{in: Input{Query: "beach"}, costs: price},
		},
		"another platform is paid for anew": {
			{in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
			{in: Input{Query: "harbour", Platform: provider.TikTok}, costs: price, asks: []string{"tiktok/harbour"}},
			{in: Input{Query: "harbour"}}, {in: Input{Query: "harbour", Platform: provider.TikTok}},
		},
		"another team pays itself": {
			{in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
			{in: Input{Query: "harbour"}, otherTeam: true, costs: price},
			{in: Input{Query: "harbour"}, otherTeam: true},
		},
		"when the window ends it is paid for and asked for anew": {
			{in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
			{after: week - time.Microsecond, in: Input{Query: "harbour"}},
			{after: time.Microsecond, in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
			{after: week, in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
		},
		"who pays gets figures of a day": {
			{in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
			{after: day - time.Microsecond, in: Input{Query: "harbour"}, otherTeam: true, costs: price},
			{after: time.Microsecond, in: Input{Query: "harbour bar"}, costs: price, asks: ig("harbourbar", "harbour",
				"bar")},
		},
		"nothing found is refunded, and paid for when something is": {
			{in: Input{Query: "missingharbour"}, code: "nothing_found", asks: ig("missingharbour")},
			{in: Input{Query: "missingharbour"}, code: "nothing_found", asks: ig("missingharbour")},
		},
		"a source that fails is refunded": {
			{in: Input{Query: "errorharbour"}, code: "source_unavailable", asks: ig("errorharbour")},
			{in: Input{Query: "errorharbour"}, code: "source_unavailable", asks: ig("errorharbour")},
		},
		"what is there is found beside what is not": {
			{in: Input{Query: "missing harbour"}, costs: price, asks: ig("missingharbour", "missing", "harbour")},
			{in: Input{Query: "harbour missing"}},
		},
		"what a paid search lacks is asked for without charge": {
			{in: Input{Query: "harbour error1"}, costs: price, code: "source_unavailable", asks: ig("harbourerror1",
				"harbour", "error1")},
			{in: Input{Query: "error1 harbour"}, code: "source_unavailable", asks: ig("error1harbour", "error1")},
			{after: week, in: Input{Query: "harbour error1"}, costs: price, code: "source_unavailable",
				asks: ig("harbourerror1", "harbour", "error1")},
		},
		"what is stored answers where the source is silent, without charge": {
			{in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
			{in: Input{Query: "errorbar harbour"}, code: "source_unavailable", asks: ig("errorbarharbour", "errorbar")},
			{in: Input{Query: "errorbar harbour"}, code: "source_unavailable", asks: ig("errorbarharbour", "errorbar")},
		},
		"the team's own report of the hashtag pays for it while its figures are of the window": {
			{in: Input{Query: "#harbour"}, hasReport: "harbour", reportAge: day, asks: ig("harbour")},
			{in: Input{Query: "harbour"}},
			{in: Input{Query: "harbour bar"}, costs: price, asks: ig("harbourbar", "bar")},
			{in: Input{Query: "harbour", Platform: provider.TikTok}, costs: price, asks: []string{"tiktok/harbour"}},
			{in: Input{Query: "harbour"}, otherTeam: true, costs: price},
			{after: week - day, in: Input{Query: "harbour"}, costs: price, asks: ig("harbour")},
		},
		"a report that is too old pays for nothing": {
			{in: Input{Query: "harbour"}, hasReport: "harbour", reportAge: week, reportIsTracked: true, costs: price,
				asks: ig("harbour")},
		},
		"a report of another hashtag pays for nothing": {
			{in: Input{Query: "harbour"}, hasReport: "harbours", reportAge: time.Hour, costs: price,
				asks: ig("harbour")},
		},
		"a number is looked for in what is known": {
			{in: Input{Query: "2024"}, code: "nothing_found"},
			{in: Input{Query: "goals2024"}, costs: price, asks: ig("goals2024")},
			{in: Input{Query: "2024"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, w env) {
				w.script.tell(func(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
					if q.Hashtag == "missing" {
						return provider.HashtagFigures{}, provider.ErrNotFound
					}
					if strings.Contains(q.Hashtag, "error") {
						return provider.HashtagFigures{}, &provider.Unavailable{After: time.Hour,
							Err: errors.New("out of order")}
					}
					return w.answerAny(ctx, q)
				})
				other := w.newTeam(t)
				for i, s := range steps {
					w.runStep(t, fmt.Sprintf("step %d (%s)", i, s.in.Query), s, other)
				}
			})
		})
	}
}

// runStep does one step and checks what it cost and what the source was asked for.
func (w env) runStep(t *testing.T, name string, s step, other env) {
	t.Helper()
	w.clock.Advance(s.after)
	if s.otherTeam {
		w.actor = other.actor
	}
	if s.hasReport != "" {
		w.report(t, s.hasReport, s.reportAge, s.reportIsTracked)
	}
	before := len(w.script.since(0))
	r, cost, paid := w.runSearch(t, s.in)
	if paid != s.costs || r.ErrorCode != s.code {
		t.Errorf("%s: it cost %d in the end (%d at first) and ended with %q; want %d and %q", name, paid, cost,
			r.ErrorCode, s.costs, s.code)
	}
	if asks := w.script.since(before); !slices.Equal(asks, s.asks) {
		t.Errorf("%s: the source was asked for %q, want %q", name, asks, s.asks)
	}
	result, _, _ := w.page(t, r.ID, 50, nil)
	if result.CreditsCharged != s.costs {
		t.Errorf("%s: the result says that it cost %d", name, result.CreditsCharged)
	}
	if (r.State == job.Failed) != (len(result.Hashtags) == 0) {
		t.Errorf("%s: %s with %d hashtags", name, r.State, len(result.Hashtags))
	}
	for _, h := range result.Hashtags {
		if h.Posts == nil || h.PostsPerDay == nil || h.Tier == "" || h.Score == nil || h.MeasuredAt == nil {
			t.Errorf("%s: a hashtag without figures: %+v", name, h)
		}
	}
}

// report gives the team a report whose figures are so old.
func (w env) report(t *testing.T, hashtag string, age time.Duration, tracked bool) {
	t.Helper()
	at, follows := w.clock.Now().Add(-age), 0
	if tracked {
		follows = 1
	}
	w.exec(t, `INSERT INTO reports (id, team_id, kind, platform, subject, status, measured_at, available_until, tracked, created_at) VALUES (?, ?, 'hashtag', 'instagram', ?, 'ready', ?, ?, ?, ?)`,
		fmt.Sprint("report-", w.actor.TeamID, hashtag), w.actor.TeamID, hashtag, db.Micros(at),
		db.Micros(w.clock.Now().Add(30*day)), follows, db.Micros(at))
}

// A source that asks for a short rest gets it, and is asked again for what it did not tell alone.
func TestShortRest(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		fails := 1
		w.script.tell(func(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
			if q.Hashtag == "beach" && fails > 0 {
				fails--
				return provider.HashtagFigures{}, &provider.Unavailable{After: 5 * time.Second,
					Err: errors.New("too often")}
			}
			return w.answerAny(ctx, q)
		})
		id, _ := w.begin(t, "summer beach")
		must(t, w.run(t.Context(), w.claim(t, id)))
		if wake := db.Time(w.number(t, `SELECT wake_at FROM jobs WHERE id = ?`, id)); !wake.Equal(w.clock.Now().
			Add(5 * time.Second)) {
			t.Errorf("it is looked at again at %s", wake)
		}
		r := w.waitFor(t, id)
		if r.State != job.Succeeded || !slices.Equal(w.script.since(3), []string{"instagram/beach"}) {
			t.Errorf("%+v after asking for %q", r, w.script.since(0))
		}
	})
}

// Calls for one keyword at once pay once, for one job.
func TestAtOnce(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		var mu sync.Mutex
		jobs, paid := map[string]bool{}, int64(0)
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				answer, cost, err := w.request(t.Context(),
					Input{Query: []string{"summer beach", "#Beach summer"}[i%2]})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					t.Error(err)
				}
				jobs[answer.Data.JobID] = true
				paid += cost
			})
		}
		wg.Wait()
		if len(jobs) != 1 || paid != price {
			t.Fatalf("%d jobs for %d credits", len(jobs), paid)
		}
		for id := range jobs {
			if r := w.waitFor(t, id); r.State != job.Succeeded {
				t.Errorf("%+v", r)
			}
		}
		if left := w.balance(t); left != granted-price {
			t.Errorf("%d credits are left", left)
		}
	})
}

// A concurrent search returns the running job. If that fails, nothing is charged, and the next search starts again.
func TestUnderWay(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		id, cost := w.begin(t, "missingharbour")
		same, free := w.begin(t, "#missingharbour")
		if id != same || cost != price || free != 0 {
			t.Errorf("%s for %d, then %s for %d", id, cost, same, free)
		}
		if r := w.waitFor(t, id); r.ErrorCode != "nothing_found" || w.balance(t) != granted {
			t.Errorf("%+v with %d left", r, w.balance(t))
		}
		if next, cost := w.begin(t, "missingharbour"); next == id || cost != price {
			t.Errorf("%s for %d", next, cost)
		}
	})
}

// A refusal, as where no place is left for a job, leaves nothing behind.
func TestRefusedCallLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		for i := range 5 {
			w.begin(t, fmt.Sprint("harbour", i))
		}
		_, _, err := w.request(t.Context(), Input{Query: "harbour"})
		if !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("%v", err)
		}
		if n := w.number(t, `SELECT COUNT(*) FROM hashtag_searches WHERE keyword = 'harbour'`); n != 0 ||
			w.balance(t) != granted-5*price {
			t.Errorf("%d keywords, %d credits", n, w.balance(t))
		}
		if _, _, err := w.request(t.Context(), Input{Query: "##"}); !apierr.Is(err, apierr.ValidationFailed) {
			t.Errorf("%v", err)
		}
	})
}

// A search that is cut off anywhere and begun again asks for nothing twice, is paid for once and finds the same; who
// was overtaken writes nothing.
func TestBegunAgainAnywhere(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		want := []string{"summerbeach", "summer", "beach"}
		for cut := range want {
			w.clock.Advance(2 * week)
			before := len(w.script.since(0))
			ctx, stop := context.WithCancel(t.Context())
			w.script.tell(func(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
				if q.Hashtag == want[cut] && ctx.Err() == nil && len(w.script.since(before)) == cut+1 {
					stop()
					return provider.HashtagFigures{}, ctx.Err()
				}
				return w.answerAny(ctx, q)
			})
			id, _ := w.begin(t, "summer beach")
			first := w.claim(t, id)
			if err := w.run(ctx, first); !errors.Is(err, context.Canceled) {
				t.Fatalf("cut off at %d: %v", cut, err)
			}
			second := w.claim(t, id)
			if err := w.run(t.Context(), first); !errors.Is(err, job.ErrLeaseLost) {
				t.Errorf("who was overtaken goes on: %v", err)
			}
			must(t, w.run(t.Context(), second))
			result, _, _ := w.page(t, id, 50, nil)
			if diff := cmp.Diff(want, names(result.Hashtags)); diff != "" || result.CreditsCharged != price {
				t.Errorf("cut off at %d: for %d %s", cut, result.CreditsCharged, diff)
			}
			if err := w.run(t.Context(), second); !errors.Is(err, job.ErrLeaseLost) {
				t.Errorf("a job that has ended goes on: %v", err)
			}
		}
		if left := w.balance(t); left != granted-int64(len(want))*price {
			t.Errorf("%d credits are left", left)
		}
	})
}

// Job results come a page at a time: each hashtag once and by score over all pages, behind the keyword's own; the rest
// whole on each page.
func TestPages(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		var want []string
		for i := range 23 {
			name := fmt.Sprintf("harbourlife%02d", i)
			known := w.figures(name, int64(90_000-i))
			for p := range known.Recent {
				known.Recent[p].Likes = new(int64(1 + i*7%23*50)) // so that each has a score of its own
			}
			learned := stats.Analyze(provider.Instagram, known, w.clock.Now())
			w.write(t, func(ctx context.Context, tx *db.Tx) error { return w.Figures.Record(ctx, tx, learned) })
			want = append(want, name)
		}
		r, _, _ := w.runSearch(t, Input{Query: "harbourlife"})
		found, _, _ := w.page(t, r.ID, 50, nil)
		want = append([]string{"harbourlife"}, want...)
		if diff := cmp.Diff(want, slices.Sorted(slices.Values(names(found.Hashtags)))); diff != "" {
			t.Error(diff)
		}
		if own, rest := found.Hashtags[0], found.Hashtags[1:]; own.Hashtag != "harbourlife" ||
			!slices.IsSortedFunc(rest, func(a, b Found) int { return int(math.Round(1000 * (*b.Score - *a.Score))) }) ||
			*rest[0].Score == *rest[len(rest)-1].Score {
			t.Errorf("not by score behind the keyword's own: %+v", found.Hashtags)
		}
		want = names(found.Hashtags)
		again, _, paid := w.runSearch(t, Input{Query: "#HarbourLife"})
		if paid != 0 {
			t.Errorf("it was paid for again: %d", paid)
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
		must(t, err)
		if whole, is := answer.Data.Result.(Result); !is || !cmp.Equal(want, names(whole.Hashtags)) ||
			answer.Page != nil {
			t.Errorf("the answer to who has paid holds %+v", answer.Data.Result)
		}
		call := operation.Call{Actor: w.actor, Operation: "get_job", Now: w.clock.Now(), Filters: []byte("another")}
		if _, err := w.ReadResult(t.Context(), call, r, job.GetInput{JobID: r.ID, Limit: 7,
			Cursor: new(call.Cursor("x"))}); err == nil {
			t.Error("a position that is no number was read")
		}
	})
}

// Figures that are not known are left out, and a hashtag without a size or a rate stands apart.
func TestNothingIsInvented(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.script.tell(func(_ context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
			f := w.figures(q.Hashtag, 120_000)
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
		if !slices.Equal(notes, []string{incompleteNote}) {
			t.Errorf("%q", notes)
		}
	})
}

// Nothing is asked for where the operator has joined no source.
func TestWithoutASource(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		w.Source = nil
		if r, _, paid := w.runSearch(t, Input{Query: "harbour"}); r.ErrorCode != "not_offered" || paid != 0 {
			t.Errorf("%+v for %d", r, paid)
		}
	})
}

// A search that fails on our side again and again is given up and refunded.
func TestGivenUp(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		id, _ := w.begin(t, "harbour")
		w.exec(t, `UPDATE jobs SET epoch = ? WHERE id = ?`, maxAttempts+maxWaits, id)
		if r := w.waitFor(t, id); r.ErrorCode != "internal_error" || w.balance(t) != granted ||
			len(w.script.since(0)) != 0 {
			t.Errorf("%+v", r)
		}
	})
}

// Keywords whose time is over are forgotten, what was found only with the record of its job.
func TestSweep(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		r, _, _ := w.runSearch(t, Input{Query: "harbour"})
		w.runSearch(t, Input{Query: "missingharbour"})
		running, _ := w.begin(t, "bar")
		sweep := func(want int64) {
			t.Helper()
			if n, err := w.Sweep(t.Context()); err != nil || n != want {
				t.Errorf("%d swept, want %d (%v)", n, want, err)
			}
		}
		sweep(1) // what was not found is paid for by nobody
		w.clock.Advance(week - time.Microsecond)
		sweep(0)
		w.clock.Advance(time.Microsecond)
		sweep(1)
		if result, _, _ := w.page(t, r.ID, 50, nil); len(result.Hashtags) != 1 {
			t.Errorf("%+v", result)
		}
		if _, err := w.Jobs.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(job.RecordLifetime)
		if _, err := w.Jobs.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"hashtag_search_results", "hashtag_search_answers"} {
			if n := w.number(t, `SELECT COUNT(*) FROM `+table); n != 0 {
				t.Errorf("%d rows are left of %s", n, table)
			}
		}
		if r := w.waitFor(t, running); r.State != job.Succeeded {
			t.Errorf("a search under way was swept: %+v", r)
		}
	})
}

// A search asks for what belongs to its own hashtags too, a few at most and only as long as the source answers. What
// then can be claimed to belong to them is told.
func TestFurtherHashtags(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		beside := map[string][]string{"summer": {"sunset", "shore", "swim", "sand", "surf", "seaside", "shells",
			"sail"}}
		for _, tag := range []string{"office", "coffee", "print"} { // what stands everywhere, and what does elsewhere
			beside[tag] = []string{"love", "desk"}
		}
		full := false
		w.script.tell(func(_ context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
			if own := slices.Contains([]string{"office", "coffee", "print", "summer"}, q.Hashtag); own == q.Background {
				t.Errorf("%+v takes another's place", q)
			}
			if full && q.Hashtag == "shells" {
				return provider.HashtagFigures{}, &provider.Unavailable{After: week,
					Err: errors.New("no place is left")}
			}
			return w.figures(q.Hashtag, 5_000, append([]string{"love"}, beside[q.Hashtag]...)...), nil
		})
		for _, tag := range []string{"office", "coffee", "print"} {
			w.runSearch(t, Input{Query: tag})
		}
		before := len(w.script.since(0))
		full = true
		r, _, paid := w.runSearch(t, Input{Query: "summer"})
		if asked := w.script.since(before); len(asked) != 5 || asked[0] != "instagram/summer" ||
			asked[4] != "instagram/shells" || paid != price || r.State != job.Succeeded {
			t.Errorf("%q was asked for %d credits: %+v", asked, paid, r)
		}
		result, _, _ := w.page(t, r.ID, 50, nil)
		if got := names(result.Hashtags); len(got) < 4 || got[0] != "summer" || !slices.Contains(got, "sand") ||
			slices.Contains(got, "shells") {
			t.Errorf("%q", got)
		}
		checkRelated(t, result.Related)
		if n := w.number(t, `SELECT COUNT(*) FROM hashtags WHERE hashtag = 'surf' AND wanted_at > 0`); n != 1 {
			t.Error("what has no figures is not measured in the background")
		}
		if _, _, paid := w.runSearch(t, Input{Query: "summer"}); paid != 0 || len(w.script.since(before)) != 5 {
			t.Errorf("%d for asking again: %q", paid, w.script.since(before))
		}
	})
}

// checkRelated holds that what stands with summer alone is told to belong to it, and what stands everywhere is not.
func checkRelated(t *testing.T, all []Related) {
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
