package backup

import (
	"context"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// holdCause opens an installation as serve does and returns the cause of its hold, if any.
func (w *env) holdCause(cfg server.Config) restoreguard.Cause {
	w.t.Helper()
	s := must.Get(server.Open(context.Background(), cfg))(w.t)
	defer func() { must.NoError(w.t, s.Close()) }()
	state := must.Get(s.Hold.State(context.Background()))(w.t)
	return state.Cause
}

// copyFile copies the content of a file into another. An existing file is overwritten and keeps its inode.
func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw := must.Get(os.ReadFile(from))(t)
	must.NoError(t, os.WriteFile(to, raw, 0o600))
}

// A copy of an SQLite file starts on hold, and so does an older copy that replaces the file. The original file does
// not, even after a move within its file system.
func TestCopiedSQLite(t *testing.T) {
	t.Parallel()
	w := newEnv(t)
	cfg := w.config(testkit.SQLite(t), testkit.Blobs(t))
	path := strings.TrimPrefix(cfg.Database, "sqlite:")
	for range 2 {
		w.start(cfg).stop()
	}
	if why := w.holdCause(cfg); why != "" {
		t.Errorf("a restart is held: %s", why)
	}
	copyFile(t, path, path+".copy")
	other := cfg
	other.Database += ".copy"
	for range 2 {
		if why := w.holdCause(other); why != restoreguard.Copied {
			t.Errorf("a copy is held for %q", why)
		}
	}
	copyFile(t, path, path+".yesterday")
	w.start(cfg).stop()
	copyFile(t, path+".yesterday", path)
	if why := w.holdCause(cfg); why != restoreguard.RolledBack {
		t.Errorf("an older copy that replaces the file is held for %q", why)
	}
	s := must.Get(server.Open(t.Context(), cfg))(t)
	if done, err := s.Resume(t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Hour}); err != nil || !done.Resumed {
		t.Errorf("resuming: %v %v", done, err)
	}
	must.NoError(t, s.Close())
	must.NoError(t, os.Rename(path, path+".moved"))
	must.NoError(t, os.Rename(path+".served", path+".moved.served"))
	cfg.Database += ".moved"
	if why := w.holdCause(cfg); why != "" {
		t.Errorf("a file that was moved is held: %s", why)
	}
}

// A PostgreSQL database copied within its server starts on hold, and so does a failover to an untrusted replica. The
// original does not.
func TestCopiedPostgres(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	w := newEnv(t)
	cfg := w.config(testkit.Postgres(t), testkit.Blobs(t))
	for range 2 {
		w.start(cfg).stop()
		if why := w.holdCause(cfg); why != "" {
			t.Errorf("a restart is held: %s", why)
		}
	}
	copied := cfg
	copied.Database = testkit.EmptyPostgres(t)
	server := testkit.OpenPostgres(t, os.Getenv(testkit.PostgresVariable))
	must.Get(server.ExecContext(t.Context(), "DROP DATABASE "+nameOf(t, copied.Database)))(t)
	must.Get(server.ExecContext(t.Context(), "CREATE DATABASE "+nameOf(t, copied.Database)+" TEMPLATE "+nameOf(t, cfg.Database)))(t)
	if why := w.holdCause(copied); why != restoreguard.Copied {
		t.Errorf("a copy is held for %q", why)
	}
	conn := testkit.OpenPostgres(t, cfg.Database)
	must.Get(conn.ExecContext(t.Context(), `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9') WHERE id = 1`))(t)
	trusting := cfg
	trusting.TrustReplica = true
	if why := w.holdCause(trusting); why != "" {
		t.Errorf("a failover to a trusted replica is held: %s", why)
	}
	must.Get(conn.ExecContext(t.Context(), `UPDATE hold SET place = replace(place, '"timeline":', '"timeline":9') WHERE id = 1`))(t)
	if why := w.holdCause(cfg); why != restoreguard.FailedOver {
		t.Errorf("a failover is held for %q", why)
	}
}

func nameOf(t *testing.T, database string) string {
	t.Helper()
	u := must.Get(url.Parse(database))(t)
	return strings.TrimPrefix(u.Path, "/")
}

// An installation works even if its role has no permission to read the cluster's identifier. A copy within the server
// is still detected.
func TestRoleWithoutControlData(t *testing.T) {
	t.Parallel()
	if os.Getenv(testkit.PostgresVariable) == "" {
		t.Skip("needs PostgreSQL: scripts/with-postgres")
	}
	w := newEnv(t)
	cfg := w.config(testkit.EmptyPostgres(t), testkit.Blobs(t))
	conn := testkit.OpenPostgres(t, cfg.Database)
	role := nameOf(t, cfg.Database) + "_role"
	for _, statement := range []string{
		"CREATE ROLE " + role + " LOGIN PASSWORD 'open-sesame'", "GRANT ALL ON SCHEMA public TO " + role,
		"REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC", "REVOKE EXECUTE ON FUNCTION pg_walfile_name(pg_lsn) FROM PUBLIC",
	} {
		must.Get(conn.ExecContext(t.Context(), statement))(t)
	}
	t.Cleanup(func() {
		for _, statement := range []string{"DROP OWNED BY " + role + " CASCADE", "DROP ROLE " + role} {
			if _, err := conn.ExecContext(context.Background(), statement); err != nil {
				t.Errorf("%s: %v", statement, err)
			}
		}
	})
	u := must.Get(url.Parse(cfg.Database))(t)
	u.User = url.UserPassword(role, "open-sesame")
	cfg.Database = u.String()
	for range 2 {
		if why := w.holdCause(cfg); why != "" {
			t.Errorf("an installation with this role is held: %s", why)
		}
	}
	must.Get(conn.ExecContext(t.Context(), `UPDATE hold SET place = '{"database": 1}' WHERE id = 1`))(t)
	if why := w.holdCause(cfg); why != restoreguard.Copied {
		t.Errorf("a copy is held for %q", why)
	}
}

// Lifting a manual hold queries no network and publishes the due posts.
func TestManualHold(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		h := w.start(w.config(url, testkit.Blobs(t)))
		of := h.home("bluesky")
		id := h.schedule(of, "bluesky", "Held by hand", 10*time.Minute)
		paused := h.home("bluesky")
		waits := h.schedule(paused, "bluesky", "Held by a pause too", 10*time.Minute)
		must.NoError(t, h.Teams.Pause(t.Context(), team.Pause{Scope: team.ForTeam, Target: paused.id, Action: access.PausePublishing}))
		state := must.Get(h.Hold.Hold(t.Context(), "the cellar is wet"))(t)
		if state.Cause != restoreguard.Manual || state.Reason != "the cellar is wet" {
			t.Errorf("held: %+v", state)
		}
		w.clock.Advance(20 * time.Minute)
		h.checkHeld(of, day{soon: map[string]string{"bluesky": id}})
		done := must.Get(h.Resume(t.Context(), delivery.ResumeOptions{NoWait: true, MaxLateness: time.Hour}))(t)
		if done.Late != 1 || done.Published+done.Unconfirmed+done.Missed != 0 {
			t.Errorf("resuming: %+v", done)
		}
		h.awaitStatus(of, id, "published")
		h.wantPosts("bluesky", "Held by hand", 1)
		if is := h.status(paused, waits); is != "scheduled" {
			t.Errorf("status of the post during the pause = %s", is)
		}
	})
}
