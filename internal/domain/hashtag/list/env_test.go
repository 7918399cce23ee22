package list

import (
	"context"
	crand "crypto/rand"
	"flag"
	"slices"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// env is a list service on a fresh database with one team.
type env struct {
	*Service

	metrics      *fakeMetrics
	clock        *testkit.Clock
	team, person int64
	plan         string
}

// fakeMetrics returns metrics set by a test and records requests.
type fakeMetrics struct {
	mu           sync.Mutex
	byHashtag    map[string]stats.Statistics // by platform and hashtag, with a space between them
	requested    []string                    // likewise
	batchSizes   []int                       // number of hashtags in each call to EnqueueInBatches
	err          error                       // returned by Enqueue
	version      int64
	hashtagsRead int // number of hashtags for which metrics were read
}

func (k *fakeMetrics) Enqueue(_ context.Context, _ *db.Tx, platform string, tags []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, tag := range tags {
		k.requested = append(k.requested, platform+" "+tag)
	}
	return k.err
}

func (k *fakeMetrics) EnqueueInBatches(_ context.Context, _ string, tags []string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.batchSizes = append(k.batchSizes, len(tags))
	return k.err
}

// Version changes with every call, so nothing is cached.
func (k *fakeMetrics) Version(context.Context, db.Querier, string) (int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.version++
	return k.version, nil
}

func (k *fakeMetrics) Get(_ context.Context, _ db.Querier, platform string,
	tags []string) (map[string]stats.Statistics, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.hashtagsRead += len(tags)
	out := map[string]stats.Statistics{}
	for _, tag := range tags {
		for _, on := range platforms {
			f, found := k.byHashtag[on+" "+tag]
			if _, already := out[tag]; found && !already && (platform == "" || platform == on) {
				out[tag] = f
			}
		}
	}
	return out, nil
}

func TestMain(m *testing.M) {
	// rapid only reads its flags
	for name, value := range map[string]string{"rapid.checks": "25", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
	m.Run()
}

// fatal is common to tests, benchmarks and properties.
type fatal interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

func forEachDatabase(t *testing.T, run func(t *testing.T, w env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 3, 29, 8, 0, 0, 0, time.UTC))
		run(t, newEnv(t, testkit.Open(t, url, clock), clock))
	})
}

func newEnv(t fatal, d *db.DB, clock *testkit.Clock) env {
	t.Helper()
	w := env{metrics: &fakeMetrics{byHashtag: map[string]stats.Statistics{}}, clock: clock}
	offered := plan.Default()
	offered.BannedHashtags = map[string][]string{"instagram": {"#Forbidden", "ＮＯ"}, "tiktok": {"nowhere"}}
	w.Service = must.Get(New(Options{DB: d, Statistics: w.metrics, Catalog: offered}))(t)
	return w.newTeam(t, "creator")
}

// newTeam returns the environment with a new team.
func (w env) newTeam(t fatal, plan string) env {
	t.Helper()
	w.plan = plan
	must.NoError(t, w.db.InTx(t.Context(), "furnish", func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx, `INSERT INTO people (name, email, created_at) VALUES ('Ada', ?, 1) RETURNING id`,
			crand.Text()).Scan(&w.person)
		if err == nil {
			err = tx.QueryRow(ctx, `INSERT INTO teams (name, timezone, content_language, plan, created_at)
				VALUES ('Harbour', 'UTC', 'en', ?, 1) RETURNING id`, plan).Scan(&w.team)
		}
		return err
	}))
	return w
}

// setLimits sets the limits of the plan.
func (w env) setLimits(lists, hashtags int64) {
	w.Catalog.Plans = slices.Clone(w.Catalog.Plans)
	for n := range w.Catalog.Plans {
		w.Catalog.Plans[n].HashtagLists, w.Catalog.Plans[n].HashtagsPerList = lists, hashtags
	}
}

func (w env) call(name string) operation.Call {
	return operation.Call{Actor: &access.Actor{TeamID: w.team, PersonID: w.person, Zone: time.UTC, Plan: w.plan},
		Operation: name, Now: w.clock.Now()}
}

func (w env) actor() auditlog.Actor { return auditlog.Actor{PersonID: w.person} }

func (w env) mustCreate(t fatal, in CreateInput) HashtagListChange {
	t.Helper()
	if in.Name == "" {
		in.Name = "a list"
	}
	answer := must.Get(w.create(t.Context(), w.call("create_hashtag_list"), in))(t)
	return answer.Data
}

func (w env) mustAdd(t fatal, list int64, tags ...string) HashtagListChange {
	t.Helper()
	answer := must.Get(w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: list, Hashtags: tags}))(t)
	return answer.Data
}

func (w env) mustGet(t fatal, list int64) HashtagList {
	t.Helper()
	answer := must.Get(w.get(t.Context(), w.call("get_hashtag_list"), GetInput{list}))(t)
	return answer.Data
}

// hashtags returns the hashtags of a list in order.
func (w env) hashtags(t fatal, list int64) []string {
	t.Helper()
	out := []string{}
	for _, h := range w.mustGet(t, list).Hashtags {
		out = append(out, h.Hashtag)
	}
	return out
}

// listAll returns the IDs of all pages, and the number of pages.
func (w env) listAll(t fatal, in ListInput) ([]int64, int) {
	t.Helper()
	if in.Scope == "" {
		in.Scope = scopeAll
	}
	out := []int64{}
	for pages := 1; ; pages++ {
		answer := must.Get(w.listLists(t.Context(), w.call("list_hashtag_lists"), in))(t)
		if len(answer.Data.HashtagLists) > in.Limit {
			t.Fatalf("%d lists on a page of %d", len(answer.Data.HashtagLists), in.Limit)
		}
		for _, l := range answer.Data.HashtagLists {
			out = append(out, l.ID)
		}
		if answer.Page == nil {
			return out, pages
		}
		in.Cursor = &answer.Page.Cursor
	}
}

func (w env) queryInt(t fatal, query string, args ...any) int64 {
	t.Helper()
	var n int64
	must.NoError(t, w.db.QueryRow(t.Context(), query, args...).Scan(&n))
	return n
}

// events returns the kinds of the team's audit events in order.
func (w env) events(t fatal) []string {
	t.Helper()
	rows := must.Get(w.db.Query(t.Context(), `SELECT kind FROM events WHERE team_id = ? ORDER BY id`, w.team))(t)
	defer rows.Close()
	out := []string{}
	for rows.Next() {
		var kind string
		must.NoError(t, rows.Scan(&kind))
		out = append(out, kind)
	}
	must.NoError(t, rows.Err())
	return out
}

// checkRejected fails unless an error has the code and, for a validation error, the reason.
func checkRejected(t fatal, err error, code apierr.Code, reason string) {
	t.Helper()
	got := apierr.FromError(err)
	if err == nil || got.Code != code {
		t.Fatalf("%v instead of %s", err, code)
	}
	if told, _ := got.Context["reason"].(string); told != reason {
		t.Fatalf("%q instead of %q", told, reason)
	}
}
