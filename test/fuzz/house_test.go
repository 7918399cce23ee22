// Package fuzz sends the whole program requests that its own description and chance make up, and holds every answer
// against what all of them have to keep.
package fuzz

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/team"
	"pressroom/internal/domain/voice"
	"pressroom/internal/network"
	"pressroom/internal/platform/db"
	"pressroom/internal/sandbox"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
	_ "pressroom/internal/testkit/whole"
)

const appPassword = "open-sesame-1234"

// house is the program on a database. The node that is asked does nothing in the background, so that what changes
// between two looks into the database is the request's doing; another one works between the rounds.
type house struct {
	*server.Server

	t      *testing.T
	cfg    server.Config
	db     *db.DB
	tables []string
	counts string // one query that counts the rows of every table
	ours   crew
	theirs crew
}

// crew is a team with what it takes to ask.
type crew struct {
	team     int64
	keys     map[access.Level]string
	accounts []int64
}

func newHouse(t *testing.T, url string) *house {
	t.Helper()
	dir := filepath.Dir(strings.TrimPrefix(testkit.SQLite(t), "sqlite:"))
	box, err := sandbox.Open(dir, sandbox.Options{})
	must(t, err)
	networks := httptest.NewServer(box.Handler())
	t.Cleanup(func() {
		networks.Close()
		_ = box.Close()
	})
	sealing, err := tokencrypt.NewKey()
	must(t, err)
	h := &house{t: t, cfg: server.Config{
		Version: "test", PublicURL: "http://127.0.0.1:1", Database: url, Blobs: testkit.Blobs(t), SealingKey: sealing,
		Role: server.RoleAPI, Workers: 8,
		Terms: boundless(), ImportAllow: []string{"127.0.0.1"}, BridgeURL: networks.URL + "/vendor",
		BlueskyServers: []string{networks.URL + "/bluesky"},
		Networks:       server.SandboxNetworks(networks.URL), Log: slog.New(slog.DiscardHandler),
	}}
	h.Server, err = server.Open(t.Context(), h.cfg)
	must(t, err)
	t.Cleanup(func() { must(t, h.Close()) })
	h.db = testkit.Open(t, url, nil)
	h.findTables()
	h.ours, h.theirs = h.newCrew(box, networks.URL, "harbour"), h.newCrew(box, networks.URL, "quay")
	return h
}

// boundless are terms that let requests through to what they ask for.
func boundless() *plan.Terms {
	t := plan.Default().ScaleRates(100_000)
	t.Limits.JobsInFlight, t.Limits.OpenUploadBatches, t.Limits.OpenUploadLinks = 1_000_000, 1_000_000, 1_000_000
	for i := range t.Plans {
		if t.Plans[i].ID == "agency" {
			t.Plans[i].DailyCredits, t.Plans[i].FreeCallsPerDay = plan.Unlimited, plan.Unlimited
		}
	}
	return &t
}

func (h *house) newCrew(box *sandbox.Server, networks, name string) crew {
	t, ctx := h.t, h.t.Context()
	owner, err := h.Teams.AddPerson(ctx, "Ada Okafor", name+"@harbour.example", "")
	must(t, err)
	made, err := h.Teams.AddTeam(ctx, team.Team{Name: "Team " + name, Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, owner.ID)
	must(t, err)
	c := crew{team: made.ID, keys: map[access.Level]string{}}
	for _, level := range access.Levels() {
		_, c.keys[level], err = h.Teams.AddKey(ctx, team.NewKey{Team: made.ID, Name: string(level), Level: level})
		must(t, err)
	}
	_, err = h.Credits.Grant(ctx, made.ID, 1_000_000, name, "")
	must(t, err)
	for _, handle := range []string{name + ".test", name + "-two.test"} {
		must(t, box.EnsureBlueskyAccount(handle, handle, appPassword))
		a, err := h.Accounts.Connect(ctx, made.ID, "bluesky",
			network.Credentials{Server: networks + "/bluesky", Identifier: handle, Password: appPassword})
		must(t, err)
		c.accounts = append(c.accounts, a.ID)
	}
	actor, err := h.Teams.InApp(ctx, owner.ID, made.ID)
	must(t, err)
	// no operation makes one
	_, err = h.Voices.Create(ctx, operation.Call{Actor: actor, Now: time.Now()}, voice.Draft{Name: "Voice of " + name})
	must(t, err)
	return c
}

// passing are the tables that move without anything being changed: what is leased or noted on the way.
var passing = []string{"free_calls", "goose_db_version"}

func (h *house) findTables() {
	query := `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
	if h.db.Postgres() {
		query = `SELECT table_name FROM information_schema.tables
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY table_name`
	}
	rows, err := h.db.Query(h.t.Context(), query)
	must(h.t, err)
	defer rows.Close()
	var each []string
	for rows.Next() {
		var name string
		must(h.t, rows.Scan(&name))
		if slices.Contains(passing, name) {
			continue
		}
		h.tables = append(h.tables, name)
		each = append(each, "(SELECT COUNT(*) FROM "+name+")")
	}
	must(h.t, rows.Err())
	if len(h.tables) < 40 {
		h.t.Fatalf("only %d tables were found: %v", len(h.tables), h.tables)
	}
	h.counts = "SELECT " + strings.Join(each, ", ")
}

// rows counts the rows of every table.
func (h *house) rows() ([]int64, error) {
	counts := make([]int64, len(h.tables))
	into := make([]any, len(counts))
	for i := range counts {
		into[i] = &counts[i]
	}
	err := h.db.QueryRow(h.t.Context(), h.counts).Scan(into...)
	return counts, err
}

// since names the tables whose rows are more or fewer than before.
func (h *house) since(before, now []int64) []string {
	var out []string
	for i, name := range h.tables {
		if before[i] != now[i] {
			out = append(out, fmt.Sprintf("%s %+d", name, now[i]-before[i]))
		}
	}
	return out
}

// How long the work between two rounds may take, and for how long nothing has to end until it is taken to wait.
const (
	settled = 4 * time.Second
	quiet   = 400 * time.Millisecond
)

// work lets another node do what the requests left to be done, so that the next ones meet it.
func (h *house) work() {
	h.t.Helper()
	cfg := h.cfg
	cfg.Role = server.RoleWorker
	node, err := server.Open(h.t.Context(), cfg)
	must(h.t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(h.t, err)
	ctx, stop := context.WithCancel(h.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx, listener) }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(settled)
	left, since := h.unfinished(), time.Now()
	for left > 0 && time.Since(since) < quiet {
		select {
		case <-tick.C:
			if now := h.unfinished(); now != left {
				left, since = now, time.Now()
			}
		case <-deadline:
			since = time.Time{}
		}
	}
	stop()
	must(h.t, errors.Join(<-ended, node.Close()))
}

func (h *house) unfinished() int {
	var n int
	must(h.t, h.db.QueryRow(h.t.Context(), "SELECT COUNT(*) FROM jobs WHERE finished_at = 0 AND type <> 'media_import'").Scan(&n))
	return n
}

// mustAddUp proves the ledger and the library.
func (h *house) mustAddUp() {
	h.t.Helper()
	report, err := h.Credits.Audit(h.t.Context())
	must(h.t, err)
	if !report.Sound() {
		h.t.Errorf("the ledger does not add up: %+v", report)
	}
	if report.Figures.Reservations == 0 {
		h.t.Error("nothing was paid for: the requests do not get deep")
	}
	findings, err := h.Media.Audit(h.t.Context())
	must(h.t, err)
	if len(findings) > 0 {
		h.t.Errorf("the library does not add up: %+v", findings)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
