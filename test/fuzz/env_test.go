// Package fuzz sends random requests, generated from the API description, to a server and checks the rules that apply
// to every response.
package fuzz

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/voice"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// env is a server on a database. The tested node runs no background jobs, so that all changes result from requests.
// Between rounds, another node runs the jobs.
type env struct {
	*server.Server

	t      *testing.T
	cfg    server.Config
	db     *db.DB
	tables []string
	counts string // sendRandom query that counts the rows of every table
	ours   crew
	theirs crew
}

// crew is a team with its credentials.
type crew struct {
	team     int64
	keys     map[access.Level]string
	accounts []int64
}

func newEnv(t *testing.T, url string) *env {
	t.Helper()
	box := fixture.OpenSandbox(t, sandbox.Options{}, nil)
	h := &env{t: t, cfg: box.Config(t, url)}
	h.cfg.PublicURL, h.cfg.Role, h.cfg.Catalog = "http://127.0.0.1:1", server.RoleAPI, generousPlans()
	h.Server = must.Get(server.Open(t.Context(), h.cfg))(t)
	t.Cleanup(func() { must.NoError(t, h.Close()) })
	h.db = testkit.Open(t, url, nil)
	h.findTables()
	h.ours, h.theirs = h.newCrew(box, "harbour"), h.newCrew(box, "quay")
	return h
}

// generousPlans returns plans whose limits rarely reject a request.
func generousPlans() *plan.Catalog {
	t := plan.Default().ScaleRates(100_000)
	t.Limits.JobsInFlight, t.Limits.OpenUploadBatches, t.Limits.OpenUploadLinks = 1_000_000, 1_000_000, 1_000_000
	for i := range t.Plans {
		if t.Plans[i].ID == "agency" {
			t.Plans[i].DailyCredits, t.Plans[i].FreeCallsPerDay = plan.Unlimited, plan.Unlimited
		}
	}
	return &t
}

func (h *env) newCrew(box *fixture.Sandbox, name string) crew {
	t, ctx := h.t, h.t.Context()
	id, owner := fixture.AddTeam(t, h.Server, team.Team{Name: "Team " + name})
	c := crew{team: id, keys: map[access.Level]string{}}
	for _, level := range access.Levels() {
		_, c.keys[level] = fixture.AddKey(t, h.Server, team.NewKey{Team: id, Level: level})
	}
	must.Get(h.Credits.Grant(ctx, id, 1_000_000, name, ""))(t)
	for _, handle := range []string{name + ".test", name + "-two.test"} {
		account := must.Get(box.ConnectBluesky(ctx, h.Server, id, handle))(t)
		c.accounts = append(c.accounts, account)
	}
	actor := must.Get(h.Teams.InApp(ctx, owner, id))(t)
	// No operation creates a brand voice.
	must.Get(h.Voices.Create(ctx, operation.Call{Actor: actor, Now: time.Now()}, voice.Draft{Name: "Voice of " + name}))(t)
	return c
}

// volatileTables lists the tables that may change after a failed request, such as leases.
var volatileTables = []string{"free_calls", "goose_db_version"}

func (h *env) findTables() {
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
	if h.db.Postgres() {
		query = `SELECT table_name FROM information_schema.tables
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name`
	}
	rows := must.Get(h.db.Query(h.t.Context(), query))(h.t)
	defer rows.Close()
	var each []string
	for rows.Next() {
		var name string
		must.NoError(h.t, rows.Scan(&name))
		if slices.Contains(volatileTables, name) {
			continue
		}
		h.tables = append(h.tables, name)
		each = append(each, "(SELECT COUNT(*) FROM "+name+")")
	}
	must.NoError(h.t, rows.Err())
	if len(h.tables) < 40 {
		h.t.Fatalf("only %d tables were found: %v", len(h.tables), h.tables)
	}
	h.counts = "SELECT " + strings.Join(each, ", ")
}

// rows counts the rows of every table.
func (h *env) rows() ([]int64, error) {
	counts := make([]int64, len(h.tables))
	into := make([]any, len(counts))
	for i := range counts {
		into[i] = &counts[i]
	}
	err := h.db.QueryRow(h.t.Context(), h.counts).Scan(into...)
	return counts, err
}

// since returns the tables whose number of rows has changed.
func (h *env) since(before, now []int64) []string {
	var out []string
	for i, name := range h.tables {
		if before[i] != now[i] {
			out = append(out, fmt.Sprintf("%s %+d", name, now[i]-before[i]))
		}
	}
	return out
}

// The time limit for jobs between two rounds, and the time without progress after which they are considered waiting.
const (
	settled = 4 * time.Second
	quiet   = 400 * time.Millisecond
)

// work runs another node until the requests' background jobs have finished.
func (h *env) work() {
	h.t.Helper()
	cfg := h.cfg
	cfg.Role = server.RoleWorker
	node := fixture.Serve(h.t, cfg)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(settled)
	left, since := h.countUnfinished(), time.Now()
	for left > 0 && time.Since(since) < quiet {
		select {
		case <-tick.C:
			if now := h.countUnfinished(); now != left {
				left, since = now, time.Now()
			}
		case <-deadline:
			since = time.Time{}
		}
	}
	must.NoError(h.t, node.Stop())
}

func (h *env) countUnfinished() int {
	var n int
	must.NoError(h.t, h.db.QueryRow(h.t.Context(), "SELECT COUNT(*) FROM jobs WHERE finished_at = 0 AND type <> 'media_import'").Scan(&n))
	return n
}

// mustBeConsistent audits the ledger and the library.
func (h *env) mustBeConsistent() {
	h.t.Helper()
	report := must.Get(h.Credits.Audit(h.t.Context()))(h.t)
	if !report.OK() {
		h.t.Errorf("ledger audit: %+v", report)
	}
	if report.Totals.Reservations == 0 {
		h.t.Error("no call was charged: the generated requests are too shallow")
	}
	findings := must.Get(h.Media.Audit(h.t.Context()))(h.t)
	if len(findings) > 0 {
		h.t.Errorf("library audit: %+v", findings)
	}
}
