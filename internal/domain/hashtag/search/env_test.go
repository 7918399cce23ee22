package search

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil { // rapid can be configured by flags only
		panic(err)
	}
	m.Run()
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

const (
	price          = 3
	initialCredits = 1000 // credits of a team
)

// script is a provider that records requests and returns the responses of a test.
type script struct {
	mu       sync.Mutex
	tells    func(context.Context, provider.HashtagQuery) (provider.HashtagMetrics, error)
	requests []string
}

func (s *script) Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	s.mu.Lock()
	s.requests = append(s.requests, q.Platform+"/"+q.Hashtag)
	tells := s.tells
	s.mu.Unlock()
	return tells(ctx, q)
}

func (s *script) answerWith(tells func(context.Context, provider.HashtagQuery) (provider.HashtagMetrics, error)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tells = tells
}

// since returns the hashtags requested after the first n.
func (s *script) since(n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests[n:])
}

// env is a search service on a fresh database with one team.
type env struct {
	*Service

	clock  *testkit.Clock
	script *script
	wallet *credit.Service
	actor  *access.Actor
	keys   *atomic.Int64
}

func forEachDatabase(t *testing.T, run func(t *testing.T, w env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock, log := testkit.NewClock(noon), slog.New(slog.DiscardHandler)
		d := testkit.Open(t, url, clock)
		must.NoError(t, job.MigrateQueue(t.Context(), d, log))
		queue := must.Get(job.NewQueue(d, 1, log))(t)
		w := env{clock: clock, script: &script{}, wallet: credit.New(d, credit.Options{}), keys: &atomic.Int64{}}
		w.script.answerWith(w.answerAny)
		results := map[job.Type]job.Result{job.HashtagSearch: ResultReader(w.wallet.ChargedCredits)}
		jobs, worker := job.NewStore(d, results, 5), job.NewWorker(d, queue, log)
		reports := report.New(report.Options{DB: d, Jobs: jobs, Worker: worker, Credits: w.wallet, Catalog: plan.Default(),
			Log: log})
		w.Service = New(Options{DB: d, Jobs: jobs, Worker: worker, Credits: w.wallet, Reports: reports,
			Statistics: stats.New(d), Catalog: plan.Default(), Source: w.script, Log: log})
		run(t, w.newTeam(t))
	})
}

// newTeam returns the environment with another team that has credits.
func (w env) newTeam(t *testing.T) env {
	t.Helper()
	var id int64
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx, `INSERT INTO teams (name, timezone, content_language, plan, created_at)
			VALUES ('Harbour', 'UTC', 'en', 'team', 1) RETURNING id`).Scan(&id)
	})
	w.actor = &access.Actor{TeamID: id, PersonID: 7, KeyID: id * 10, Role: access.Owner, Zone: time.UTC, Plan: "team",
		Daily: access.Daily{KeyCredits: -1, TeamCredits: -1}}
	must.Get(w.wallet.Grant(t.Context(), id, initialCredits, "start", ""))(t)
	return w
}

func (w env) write(t *testing.T, work func(context.Context, *db.Tx) error) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test", work))
}

func (w env) exec(t *testing.T, statement string, args ...any) {
	t.Helper()
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	})
}

func (w env) queryInt(t *testing.T, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must.NoError(t, w.db.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// answerAny answers for every hashtag except those with the prefix missing, and fails for those with the prefix error.
func (w env) answerAny(_ context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	switch {
	case len(q.Hashtag) > 7 && q.Hashtag[:7] == "missing":
		return provider.HashtagMetrics{}, provider.ErrNotFound
	case len(q.Hashtag) > 5 && q.Hashtag[:5] == "error":
		return provider.HashtagMetrics{}, &provider.UnavailableError{After: time.Hour, Err: errors.New("provider down")}
	}
	return w.metrics(q.Hashtag, 120_000), nil
}

// metrics returns complete metrics of a hashtag. Its posts also have the related hashtags.
func (w env) metrics(tag string, size int64, related ...string) provider.HashtagMetrics {
	now := w.clock.Now()
	f := provider.HashtagMetrics{Hashtag: tag, Size: &size, From: now.Add(-day), MeasuredAt: now}
	for i := range 30 {
		p := provider.Post{ID: fmt.Sprint(tag, "-", i), TakenAt: now.Add(-time.Duration(i) * 47 * time.Minute),
			Hashtags: append([]string{tag}, related...), Likes: new(int64(100 + i))}
		p.Caption = "Down by the water"
		for _, h := range p.Hashtags {
			p.Caption += " #" + h
		}
		f.Recent = append(f.Recent, p)
	}
	return f
}

// request calls the operation as the pipeline does, with its price reserved.
func (w env) request(ctx context.Context, in Input) (operation.Response[job.Job], int64, error) {
	if in.Platform == "" {
		in.Platform = provider.Instagram
	}
	var out operation.Response[job.Job]
	var cost int64
	call := operation.Call{Actor: w.actor, Operation: "search_hashtags", Now: w.clock.Now()}
	claim := pipeline.Claim{APIKey: w.actor.KeyID, Key: fmt.Sprint(w.keys.Add(1)), Operation: call.Operation,
		Arguments: []byte(in.Query), Paid: true}
	err := w.db.InTx(ctx, "call", func(ctx context.Context, tx *db.Tx) error {
		var err error
		call := call
		call.Tx = tx
		if cost, err = w.price(ctx, call, in); err != nil {
			return err
		}
		if cost > 0 {
			if call.Reservation, err = w.wallet.Reserve(ctx, tx, pipeline.Charge{Call: call, Claim: claim,
				Amount: cost}); err != nil {
				return err
			}
		}
		out, err = w.search(ctx, call, in)
		return err
	})
	return out, cost, err
}

// start starts a search.
func (w env) start(t *testing.T, query string) (string, int64) {
	t.Helper()
	answer, cost, err := w.request(t.Context(), Input{Query: query})
	must.NoError(t, err)
	if answer.Location != job.Location(answer.Data.JobID) {
		t.Errorf("Location is %s", answer.Location)
	}
	return answer.Data.JobID, cost
}

// claim leases a job as a worker does.
func (w env) claim(t *testing.T, id string) job.LeasedJob {
	t.Helper()
	h := job.LeasedJob{}
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `UPDATE jobs SET epoch = epoch + 1 WHERE id = ? RETURNING epoch`, id).Scan(&h.Epoch)
		if err == nil {
			h.Record, err = job.Get(ctx, tx, w.actor.TeamID, id)
		}
		return err
	})
	return h
}

// waitFor runs a job until it is finished.
func (w env) waitFor(t *testing.T, id string) job.Record {
	t.Helper()
	for range maxAttempts + maxWaits + 2 {
		r := must.Get(job.Get(t.Context(), w.db, w.actor.TeamID, id))(t)
		if r.IsFinished() {
			return r
		}
		must.NoError(t, w.run(t.Context(), w.claim(t, id)))
	}
	t.Fatalf("job %s did not finish", id)
	return job.Record{}
}

// runSearch runs a search and returns its prices before and after.
func (w env) runSearch(t *testing.T, in Input) (job.Record, int64, int64) {
	t.Helper()
	before := w.balance(t)
	answer, cost, err := w.request(t.Context(), in)
	must.NoError(t, err)
	r := w.waitFor(t, answer.Data.JobID)
	return r, cost, before - w.balance(t)
}

func (w env) balance(t *testing.T) int64 {
	t.Helper()
	u := must.Get(w.wallet.DailyUsage(t.Context(), w.db, w.actor, w.clock.Now()))(t)
	return u.Balance
}

// page returns a page of a finished search.
func (w env) page(t *testing.T, id string, limit int, cursor *string) (SearchResult, *operation.Page, []string) {
	t.Helper()
	call := operation.Call{Actor: w.actor, Operation: "get_job", Now: w.clock.Now(), Filters: []byte(id)}
	r := must.Get(job.Get(t.Context(), w.db, w.actor.TeamID, id))(t)
	view := must.Get(w.Jobs.View(t.Context(), w.db, call, r, job.GetInput{JobID: id, Limit: limit, Cursor: cursor}))(t)
	result, ok := view.Data.Result.(SearchResult)
	if !ok {
		t.Fatalf("the job has no result: %+v", view.Data)
	}
	return result, view.Page, view.Notes
}

func names(all []FoundHashtag) []string {
	out := []string{}
	for _, f := range all {
		out = append(out, f.Hashtag)
	}
	return out
}
