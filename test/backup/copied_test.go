package backup

import (
	"context"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/team"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

// held opens an installation as serve does, and tells what it is held for.
func (w *world) held(cfg server.Config) restoreguard.Why {
	w.t.Helper()
	s, err := server.Open(context.Background(), cfg)
	must(w.t, err)
	defer func() { must(w.t, s.Close()) }()
	state, err := s.Hold.State(context.Background())
	must(w.t, err)
	return state.Why
}

// copyFile copies a file's bytes into another, which stays the same file where it is there.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, raw, 0o600))
}

// A copy of an SQLite file starts held, and so does an older copy that is put in the place of the file; the file itself
// never does, however often it is served or moved within its file system.
func TestCopiedSQLite(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	cfg := w.config(testkit.SQLite(t), testkit.Blobs(t))
	path := strings.TrimPrefix(cfg.Database, "sqlite:")
	for range 2 {
		w.start(cfg).stop()
	}
	if why := w.held(cfg); why != "" {
		t.Errorf("a restart is held: %s", why)
	}
	copyFile(t, path, path+".copy")
	other := cfg
	other.Database += ".copy"
	for range 2 {
		if why := w.held(other); why != restoreguard.Copied {
			t.Errorf("a copy is held for %q", why)
		}
	}
	copyFile(t, path, path+".yesterday")
	w.start(cfg).stop()
	copyFile(t, path+".yesterday", path)
	if why := w.held(cfg); why != restoreguard.WentBack {
		t.Errorf("an older file in the place of the newer is held for %q", why)
	}
	s, err := server.Open(t.Context(), cfg)
	must(t, err)
	if done, err := s.Resume(t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Hour}); err != nil || !done.Resumed {
		t.Errorf("resuming: %v %v", done, err)
	}
	must(t, s.Close())
	must(t, os.Rename(path, path+".moved"))
	must(t, os.Rename(path+".served", path+".moved.served"))
	cfg.Database += ".moved"
	if why := w.held(cfg); why != "" {
		t.Errorf("a file that was moved is held: %s", why)
	}
}

// A PostgreSQL database that was copied within its server starts held, the original does not, and neither does one
// whose role may not ask for the cluster's identifier.
func TestCopiedPostgres(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	w := newWorld(t)
	cfg := w.config(testkit.Postgres(t), testkit.Blobs(t))
	for range 2 {
		w.start(cfg).stop()
		if why := w.held(cfg); why != "" {
			t.Errorf("a restart is held: %s", why)
		}
	}
	copied := cfg
	copied.Database = testkit.EmptyPostgres(t)
	server, err := sql.Open("pgx", os.Getenv(testkit.PostgresVariable))
	must(t, err)
	defer server.Close()
	_, err = server.ExecContext(t.Context(), "DROP DATABASE "+nameOf(t, copied.Database))
	must(t, err)
	_, err = server.ExecContext(t.Context(), "CREATE DATABASE "+nameOf(t, copied.Database)+" TEMPLATE "+nameOf(t, cfg.Database))
	must(t, err)
	if why := w.held(copied); why != restoreguard.Copied {
		t.Errorf("a copy is held for %q", why)
	}
	looks, err := sql.Open("pgx", cfg.Database)
	must(t, err)
	defer looks.Close()
	_, err = looks.ExecContext(t.Context(), `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9') WHERE id = 1`)
	must(t, err)
	trusting := cfg
	trusting.TrustReplica = true
	if why := w.held(trusting); why != "" {
		t.Errorf("a failover to a trusted replica is held: %s", why)
	}
	_, err = looks.ExecContext(t.Context(), `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9') WHERE id = 1`)
	must(t, err)
	if why := w.held(cfg); why != restoreguard.FailedOver {
		t.Errorf("a failover is held for %q", why)
	}
}

func nameOf(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(database)
	must(t, err)
	return strings.TrimPrefix(u.Path, "/")
}

// A role that may not ask for the cluster's identifier is served, and a copy within the server is noticed all the same.
func TestRoleWithoutControlData(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	w := newWorld(t)
	cfg := w.config(testkit.EmptyPostgres(t), testkit.Blobs(t))
	looks, err := sql.Open("pgx", cfg.Database)
	must(t, err)
	t.Cleanup(func() { _ = looks.Close() })
	role := nameOf(t, cfg.Database) + "_role"
	for _, statement := range []string{
		"CREATE ROLE " + role + " LOGIN PASSWORD 'open-sesame'", "GRANT ALL ON SCHEMA public TO " + role,
		"REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC", "REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC",
	} {
		_, err := looks.ExecContext(t.Context(), statement)
		must(t, err)
	}
	t.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY " + role + " CASCADE", "DROP ROLE " + role} {
			if _, err := looks.ExecContext(context.Background(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
	u, err := url.Parse(cfg.Database)
	must(t, err)
	u.User = url.UserPassword(role, "open-sesame")
	cfg.Database = u.String()
	for range 2 {
		if why := w.held(cfg); why != "" {
			t.Errorf("such a role is held: %s", why)
		}
	}
	_, err = looks.ExecContext(t.Context(), `UPDATE hold SET place = '{"database": 1}' WHERE id = 1`)
	must(t, err)
	if why := w.held(cfg); why != restoreguard.Copied {
		t.Errorf("a copy is held for %q", why)
	}
}

// A hold by hand asks nobody at its end, and lets what was due go out.
func TestHeldByHand(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newWorld(t)
		h := w.start(w.config(url, testkit.Blobs(t)))
		of := h.home("bluesky")
		id := h.schedule(of, "bluesky", "Held by hand", 10*time.Minute)
		paused := h.home("bluesky")
		waits := h.schedule(paused, "bluesky", "Held by a pause too", 10*time.Minute)
		must(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: paused.id, Action: team.Publishing}))
		state, err := h.Hold.Hold(t.Context(), "the cellar is wet")
		must(t, err)
		if state.Why != restoreguard.ByHand || state.Reason != "the cellar is wet" {
			t.Errorf("held: %+v", state)
		}
		w.clock.advance(20 * time.Minute)
		h.rests(of, day{soon: map[string]string{"bluesky": id}})
		done, err := h.Resume(t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Hour})
		must(t, err)
		if done.GoesLate != 1 || done.WentOut+done.Unconfirmed+done.Missed != 0 {
			t.Errorf("resuming: %+v", done)
		}
		h.becomes(of, id, "published")
		h.once("bluesky", "Held by hand", 1)
		if is := h.status(paused, waits); is != "scheduled" {
			t.Errorf("what a pause keeps is %s", is)
		}
	})
}
