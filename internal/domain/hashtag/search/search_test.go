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

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// step is a search at a time with its expected price.
type step struct {
	after           time.Duration
	in              Input
	price           int64 // after refunds
	code            string
	requests        []string // to the provider; nil for none
	otherTeam       bool
	hasReport       string        // a hashtag for which the team has a report
	reportAge       time.Duration // of its metrics
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
		"repeated search is free": {
			{in: Input{Query: "summer beach"}, price: price, requests: phrase},
			{in: Input{Query: "summer beach"}}, {in: Input{Query: "beach summer"}}, {in: Input{Query: "Summer  BEACH"}},
			{in: Input{Query: "#summer #beach"}},
			{in: Input{Query: "beach, beach and summer"}, price: price, requests: ig("beachandsummer")},
		},
		"with and without #": {
			{in: Input{Query: "#harbourlife"}, price: price, requests: ig("harbourlife")},
			{in: Input{Query: "harbourlife"}},
			{in: Input{Query: "https://www.instagram.com/explore/tags/harbourlife/"}},
		},
		"joined words are another keyword and reuse metrics of the same day": {
			{in: Input{Query: "summer beach"}, price: price, requests: phrase},
			{in: Input{Query: "#summerbeach"}, price: price},
			{in: Input{Query: "beach"}, price: price},
		},
		"another platform is charged": {
			{in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
			{in: Input{Query: "harbour", Platform: provider.TikTok}, price: price, requests: []string{"tiktok/harbour"}},
			{in: Input{Query: "harbour"}}, {in: Input{Query: "harbour", Platform: provider.TikTok}},
		},
		"another team is charged": {
			{in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
			{in: Input{Query: "harbour"}, otherTeam: true, price: price},
			{in: Input{Query: "harbour"}, otherTeam: true},
		},
		"search after the data window is charged": {
			{in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
			{after: week - time.Microsecond, in: Input{Query: "harbour"}},
			{after: time.Microsecond, in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
			{after: week, in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
		},
		"paid search returns metrics at most a day old": {
			{in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
			{after: day - time.Microsecond, in: Input{Query: "harbour"}, otherTeam: true, price: price},
			{after: time.Microsecond, in: Input{Query: "harbour bar"}, price: price, requests: ig("harbourbar", "harbour",
				"bar")},
		},
		"search without results is refunded and later charged": {
			{in: Input{Query: "missingharbour"}, code: "nothing_found", requests: ig("missingharbour")},
			{in: Input{Query: "missingharbour"}, code: "nothing_found", requests: ig("missingharbour")},
		},
		"provider failure is refunded": {
			{in: Input{Query: "errorharbour"}, code: "source_unavailable", requests: ig("errorharbour")},
			{in: Input{Query: "errorharbour"}, code: "source_unavailable", requests: ig("errorharbour")},
		},
		"partial result": {
			{in: Input{Query: "missing harbour"}, price: price, requests: ig("missingharbour", "missing", "harbour")},
			{in: Input{Query: "harbour missing"}},
		},
		"missing metrics of a paid search are free": {
			{in: Input{Query: "harbour error1"}, price: price, code: "source_unavailable", requests: ig("harbourerror1",
				"harbour", "error1")},
			{in: Input{Query: "error1 harbour"}, code: "source_unavailable", requests: ig("error1harbour", "error1")},
			{after: week, in: Input{Query: "harbour error1"}, price: price, code: "source_unavailable",
				requests: ig("harbourerror1", "harbour", "error1")},
		},
		"stored metrics are free if the provider fails": {
			{in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
			{in: Input{Query: "errorbar harbour"}, code: "source_unavailable", requests: ig("errorbarharbour", "errorbar")},
			{in: Input{Query: "errorbar harbour"}, code: "source_unavailable", requests: ig("errorbarharbour", "errorbar")},
		},
		"report on the hashtag covers the search within the data window": {
			{in: Input{Query: "#harbour"}, hasReport: "harbour", reportAge: day, requests: ig("harbour")},
			{in: Input{Query: "harbour"}},
			{in: Input{Query: "harbour bar"}, price: price, requests: ig("harbourbar", "bar")},
			{in: Input{Query: "harbour", Platform: provider.TikTok}, price: price, requests: []string{"tiktok/harbour"}},
			{in: Input{Query: "harbour"}, otherTeam: true, price: price},
			{after: week - day, in: Input{Query: "harbour"}, price: price, requests: ig("harbour")},
		},
		"old report does not cover the search": {
			{in: Input{Query: "harbour"}, hasReport: "harbour", reportAge: week, reportIsTracked: true, price: price,
				requests: ig("harbour")},
		},
		"report on another hashtag does not cover the search": {
			{in: Input{Query: "harbour"}, hasReport: "harbours", reportAge: time.Hour, price: price,
				requests: ig("harbour")},
		},
		"number matches known hashtags": {
			{in: Input{Query: "2024"}, code: "nothing_found"},
			{in: Input{Query: "goals2024"}, price: price, requests: ig("goals2024")},
			{in: Input{Query: "2024"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			forEachDatabase(t, func(t *testing.T, w env) {
				w.script.answerWith(func(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
					if q.Hashtag == "missing" {
						return provider.HashtagMetrics{}, provider.ErrNotFound
					}
					if strings.Contains(q.Hashtag, "error") {
						return provider.HashtagMetrics{}, &provider.UnavailableError{After: time.Hour,
							Err: errors.New("provider down")}
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
	if paid != s.price || r.ErrorCode != s.code {
		t.Errorf("%s: cost %d (%d reserved), error code %q; want %d and %q", name, paid, cost,
			r.ErrorCode, s.price, s.code)
	}
	if asks := w.script.since(before); !slices.Equal(asks, s.requests) {
		t.Errorf("%s: requested %q from the provider, want %q", name, asks, s.requests)
	}
	result, _, _ := w.page(t, r.ID, 50, nil)
	if result.CreditsCharged != s.price {
		t.Errorf("%s: the result has credits_charged %d", name, result.CreditsCharged)
	}
	if (r.State == job.Failed) != (len(result.Hashtags) == 0) {
		t.Errorf("%s: %s with %d hashtags", name, r.State, len(result.Hashtags))
	}
	for _, h := range result.Hashtags {
		if h.Posts == nil || h.PostsPerDay == nil || h.Tier == "" || h.Score == nil || h.MeasuredAt == nil {
			t.Errorf("%s: a hashtag without metrics: %+v", name, h)
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

// A request to a provider that is unavailable for a short time is retried only for unanswered hashtags.
func TestRetryAfterShortOutage(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		fails := 1
		w.script.answerWith(func(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
			if q.Hashtag == "beach" && fails > 0 {
				fails--
				return provider.HashtagMetrics{}, &provider.UnavailableError{After: 5 * time.Second,
					Err: errors.New("too often")}
			}
			return w.answerAny(ctx, q)
		})
		id, _ := w.start(t, "summer beach")
		must.NoError(t, w.run(t.Context(), w.claim(t, id)))
		if wake := db.Time(w.queryInt(t, `SELECT wake_at FROM jobs WHERE id = ?`, id)); !wake.Equal(w.clock.Now().
			Add(5 * time.Second)) {
			t.Errorf("the retry is scheduled for %s", wake)
		}
		r := w.waitFor(t, id)
		if r.State != job.Succeeded || !slices.Equal(w.script.since(3), []string{"instagram/beach"}) {
			t.Errorf("%+v after requests for %q", r, w.script.since(0))
		}
	})
}

// Concurrent calls for a keyword share one job and pay once.
func TestConcurrentCalls(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
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
			t.Fatalf("%d jobs were charged %d credits", len(jobs), paid)
		}
		for id := range jobs {
			if r := w.waitFor(t, id); r.State != job.Succeeded {
				t.Errorf("%+v", r)
			}
		}
		if left := w.balance(t); left != initialCredits-price {
			t.Errorf("the balance is %d credits", left)
		}
	})
}

// A concurrent search returns the running job. If that fails, nothing is charged, and the next search starts again.
func TestConcurrentSearchReturnsRunningJob(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		id, cost := w.start(t, "missingharbour")
		same, free := w.start(t, "#missingharbour")
		if id != same || cost != price || free != 0 {
			t.Errorf("%s for %d, then %s for %d", id, cost, same, free)
		}
		if r := w.waitFor(t, id); r.ErrorCode != "nothing_found" || w.balance(t) != initialCredits {
			t.Errorf("%+v with %d left", r, w.balance(t))
		}
		if next, cost := w.start(t, "missingharbour"); next == id || cost != price {
			t.Errorf("%s for %d", next, cost)
		}
	})
}

// A call that is rejected, for example at the job limit, changes nothing.
func TestRejectedCallRollsBack(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		for i := range 5 {
			w.start(t, fmt.Sprint("harbour", i))
		}
		_, _, err := w.request(t.Context(), Input{Query: "harbour"})
		if !apierr.Is(err, apierr.RateLimited) {
			t.Errorf("%v", err)
		}
		if n := w.queryInt(t, `SELECT COUNT(*) FROM hashtag_searches WHERE keyword = 'harbour'`); n != 0 ||
			w.balance(t) != initialCredits-5*price {
			t.Errorf("%d keywords, %d credits", n, w.balance(t))
		}
		if _, _, err := w.request(t.Context(), Input{Query: "##"}); !apierr.Is(err, apierr.ValidationFailed) {
			t.Errorf("%v", err)
		}
	})
}

// A search that is interrupted at any point and restarted repeats no request, is charged once and has the same result.
// A worker that lost its lease writes nothing.
func TestRestartAnywhere(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		want := []string{"summerbeach", "summer", "beach"}
		for cut := range want {
			w.clock.Advance(2 * week)
			before := len(w.script.since(0))
			ctx, stop := context.WithCancel(t.Context())
			w.script.answerWith(func(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
				if q.Hashtag == want[cut] && ctx.Err() == nil && len(w.script.since(before)) == cut+1 {
					stop()
					return provider.HashtagMetrics{}, ctx.Err()
				}
				return w.answerAny(ctx, q)
			})
			id, _ := w.start(t, "summer beach")
			first := w.claim(t, id)
			if err := w.run(ctx, first); !errors.Is(err, context.Canceled) {
				t.Fatalf("interrupted at step %d: %v", cut, err)
			}
			second := w.claim(t, id)
			if err := w.run(t.Context(), first); !errors.Is(err, job.ErrLeaseLost) {
				t.Errorf("a worker without a lease continued: %v", err)
			}
			must.NoError(t, w.run(t.Context(), second))
			result, _, _ := w.page(t, id, 50, nil)
			if diff := cmp.Diff(want, names(result.Hashtags)); diff != "" || result.CreditsCharged != price {
				t.Errorf("interrupted at step %d: charged %d %s", cut, result.CreditsCharged, diff)
			}
			if err := w.run(t.Context(), second); !errors.Is(err, job.ErrLeaseLost) {
				t.Errorf("a finished job continued: %v", err)
			}
		}
		if left := w.balance(t); left != initialCredits-int64(len(want))*price {
			t.Errorf("the balance is %d credits", left)
		}
	})
}
