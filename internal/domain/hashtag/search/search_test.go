package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/job"
	"pressroom/internal/domain/provider"
	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/must"
)

// step is a search at a time with its expected price.
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

// Prices of repeated searches.
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

// runStep runs a step and checks price and requests.
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

// report creates a report of the given age.
func (w env) report(t *testing.T, hashtag string, age time.Duration, tracked bool) {
	t.Helper()
	at, follows := w.clock.Now().Add(-age), 0
	if tracked {
		follows = 1
	}
	w.exec(t,
		`INSERT INTO reports (id, team_id, kind, platform, subject, status, measured_at, available_until, tracked,
		created_at) VALUES (?, ?, 'hashtag', 'instagram', ?, 'ready', ?, ?, ?, ?)`,
		fmt.Sprint("report-", w.actor.TeamID, hashtag), w.actor.TeamID, hashtag, db.Micros(at),
		db.Micros(w.clock.Now().Add(30*day)), follows, db.Micros(at))
}

// A briefly unavailable provider is retried, only for unanswered hashtags.
func TestRetryAfterShortOutage(t *testing.T) {
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
		must.NoError(t, w.run(t.Context(), w.claim(t, id)))
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

// Concurrent calls for a keyword share one job and pay once.
func TestConcurrentCalls(t *testing.T) {
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
func TestConcurrentSearchReturnsRunningJob(t *testing.T) {
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

// A refused call, such as at the job limit, leaves no trace.
func TestRefusedCallRollsBack(t *testing.T) {
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

// A search interrupted at any point and restarted repeats no request, is charged once and has the same result; a worker
// that lost its lease writes nothing.
func TestRestartAnywhere(t *testing.T) {
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
			must.NoError(t, w.run(t.Context(), second))
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
