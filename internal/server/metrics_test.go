package server

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func openServer(t *testing.T, url string, now func() time.Time) *Server {
	t.Helper()
	key := must.Get(tokencrypt.NewKey())(t)
	lines := slog.New(slog.NewTextHandler(io.Discard, nil)) //nolint:sloglint // slog.DiscardHandler would not count lines
	s := must.Get(Open(t.Context(),
		Config{Version: "test", Database: url, SealingKey: key, Role: RoleWorker, Blobs: testkit.Blobs(t), Log: lines, Now: now}))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// docs/running.md lists exactly the metrics that exist.
func TestMetricsDocumented(t *testing.T) {
	t.Parallel()
	s := openServer(t, testkit.SQLite(t), nil)
	descs := make(chan *prometheus.Desc)
	go func() {
		s.metrics.registry.Describe(descs)
		close(descs)
	}()
	have, named := map[string]bool{}, regexp.MustCompile(`fqName: "(pressroom_[a-z_]+)"`)
	for desc := range descs {
		if found := named.FindStringSubmatch(desc.String()); found != nil {
			have[found[1]] = true
		}
	}
	guide := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "running.md")))(t)
	listed := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(pressroom_[a-z_]+)` \\|").FindAllStringSubmatch(string(guide), -1) {
		listed[row[1]] = true
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(have)), slices.Sorted(maps.Keys(listed))); diff != "" || len(have) < 30 {
		t.Errorf("%d metrics; docs/running.md differs (-metrics +listed):\n%s", len(have), diff)
	}
}

// scrape returns the values in /metrics by name and labels.
func scrape(t *testing.T, s *Server) map[string]float64 {
	t.Helper()
	w := httptest.NewRecorder()
	s.MetricsHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	out := map[string]float64{}
	for line := range strings.Lines(w.Body.String()) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
		if !strings.Contains(line, "{") {
			name, value, _ = strings.Cut(strings.TrimSpace(line), " ")
		}
		if n, err := strconv.ParseFloat(value, 64); err == nil {
			out[strings.TrimSuffix(name, "}")] = n
		}
	}
	return out
}

// waitingWork inserts waiting work of each kind, created at 12:00.
var waitingWork = []string{
	`INSERT INTO people (id, name, email, created_at) VALUES (1, 'Ada', 'ada@example.com', 1)`,
	`INSERT INTO teams (id, name, timezone, content_language, plan, created_at)
		VALUES (1, 'A', 'UTC', 'en', 'team', 1), (2, 'B', 'UTC', 'en', 'team', 1)`,
	`INSERT INTO posts (id, team_id, person_id, status, caption, excerpt, scheduled_at, created_at, updated_at)
		VALUES ('p1', 1, 1, 'scheduled', '', '', @, 1, 1), ('p2', 1, 1, 'scheduled', '', '', @, 1, 1), ('p3', 2, 1,
		'scheduled', '', '', @, 1, 1)`,
	`INSERT INTO social_accounts (id, team_id, platform, network_id, username, display_name, connection_state,
		account_status, sealed_grant, created_at, updated_at, disconnected_at)
		VALUES (1, 1, 'bluesky', 'a', 'a', 'a', 'lost', 'needs_reauth', '', 1, 1, 0), (2, 1, 'bluesky', 'b', 'b',
		'b', 'active', '', '', 1, 1, 0), (3, 1, 'bluesky', 'c', 'c', 'c', 'lost', 'needs_reauth', '', 1, 1, 5)`,
	`INSERT INTO jobs (id, team_id, type, state, subject, created_at) VALUES ('social_post:1', 1, 'social_post', 'running', 'p1', @)`,
	`INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, created_at, outcome,
		ended_at)
		VALUES ('d1', 1, 'p1', 1, 'social_post:1', 'committing', @, @, '', 0), ('d2', 1, 'p2', 2, 'social_post:1',
		'doubtful', @, @, 'unconfirmed', @)`,
	`INSERT INTO reservations (id, team_id, person_id, key_id, operation, idempotency_key, request_hash, state,
		amount, charged, created_at) VALUES (1, 1, 1, 0, 'x', '', '', 'open', 5, 5, @), (2, 1, 1, 0, 'x', '', '', 'settled', 5, 5, @)`,
	`INSERT INTO pauses (scope, target, action, created_at) VALUES ('team', 2, 'publish', 1)`,
}

// Waiting work is counted with its age. All other metrics are 0. The audit reports a reservation without transfers.
func TestClusterMetrics(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		s := openServer(t, url, clock.Now)
		must.NoError(t, s.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			for _, text := range waitingWork {
				if _, err := tx.Exec(ctx, strings.ReplaceAll(text, "@", strconv.FormatInt(db.Micros(clock.Now()), 10))); err != nil {
					return err
				}
			}
			return nil
		}))
		clock.Advance(10 * time.Minute)
		must.NoError(t, s.clusterStats.Once(t.Context(), true))
		s.dependencies.check(t.Context())
		clock.Advance(time.Minute)
		got := scrape(t, s)
		for name, want := range map[string]float64{
			`pressroom_posts_due{held="false"`: 2, `pressroom_posts_due{held="true"`: 1,
			`pressroom_posts_due_oldest_age_seconds{held="false"`: 660,
			`pressroom_deliveries{phase="committing"`:             1, `pressroom_deliveries_oldest_age_seconds{phase="committing"`: 660,
			`pressroom_deliveries{phase="planned"`: 0, `pressroom_deliveries_oldest_age_seconds{phase="planned"`: 0,
			`pressroom_posts_unconfirmed`: 1, `pressroom_posts_unconfirmed_oldest_age_seconds`: 660,
			`pressroom_jobs{state="running",type="social_post"`: 1, `pressroom_jobs{state="pending",type="media_import"`: 0,
			`pressroom_reservations_open`: 1, `pressroom_reservations_open_credits`: 5,
			`pressroom_reservations_open_oldest_age_seconds`:             660,
			`pressroom_accounts_needing_reconnection{platform="bluesky"`: 1,
			`pressroom_pauses{action="publish",scope="team"`:             1, `pressroom_pauses{action="everything",scope="service"`: 0,
			`pressroom_measured_age_seconds{measure="loads"`: 60, `pressroom_dependency_up{dependency="database"`: 1,
			`pressroom_dependency_up{dependency="files"`:                                        1,
			`pressroom_network_calls_total{call="commit",platform="bluesky",result="uncertain"`: 0,
		} {
			if value, found := got[name]; !found || value != want {
				t.Errorf("%s} is %v (found: %t), want %v", name, value, found, want)
			}
		}
		if got["pressroom_ledger_audit_mismatches"] < 1 || got[`pressroom_log_lines_total{level="error"`] != 1 {
			t.Errorf("complaints about a reservation without transfers: %v, errors in the log: %v",
				got["pressroom_ledger_audit_mismatches"], got[`pressroom_log_lines_total{level="error"`])
		}
	})
}

// A dependency that is down does not delay the others.
func TestDependencies(t *testing.T) {
	t.Parallel()
	s := openServer(t, testkit.SQLite(t), nil)
	s.dependencies.checks["files"] = func(context.Context) error { return errNoResponse }
	s.dependencies.check(t.Context())
	got := scrape(t, s)
	if got[`pressroom_dependency_up{dependency="files"`] != 0 || got[`pressroom_dependency_up{dependency="database"`] != 1 {
		t.Errorf("%v", got)
	}
	if got[`pressroom_database_connections_max{pool="writer"`] != 1 {
		t.Error("the writer's pool has no metric")
	}
}
