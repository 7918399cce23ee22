package e2e

import (
	"context"
	"database/sql"
	"log/slog"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit/must"
)

// newerVersion is a schema version that no server knows. A restarted node does not change it.
const newerVersion = 9_000

// A node works and can be restarted after a newer version has migrated its database.
func TestNodeOnNewerSchema(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1}, func(t *testing.T, h *instance) {
		w := h.newEnv(t, options{accounts: 1})
		w.grant(100)
		use := func(words string) {
			id := w.draft(words)
			w.full("update_post", map[string]any{"id": id, "caption": words + ", changed"})
			w.publish(id).mustHave(t, map[string]any{"data.state": "succeeded"})
			w.full("cancel_post", map[string]any{"post_id": w.schedulePost("planned "+words, 48*time.Hour)})
			job := w.rest(full(w), "create_report",
				map[string]any{"type": "profile", "platform": "instagram", "subject": "harbour"}, words).text("data.job_id")
			w.awaitJob(job)
			w.rest(full(w), "search_hashtags", map[string]any{"query": words}, words).mustBe(t, 202)
			f := aPNG(words + ".png")
			_, to := w.openUpload(f)
			w.put(to, f).mustBe(t, 201)
			for _, tool := range []string{
				"list_posts", "list_media", "list_reports", "list_hashtag_lists", "get_credits", "get_limits", "list_brand_voices",
			} {
				w.full(tool, nil)
			}
			if held := w.accountsWith(words); len(held) != 1 {
				t.Errorf("%s: published on %v", words, held)
			}
		}
		use("before")
		w.migrateFurther()
		use("after")

		restarted := must.Get(server.OpenDatabase(t.Context(),
			server.Config{Database: w.url, Catalog: new(plan.Default()), Log: slog.New(slog.DiscardHandler)}))(t)
		must.NoError(t, restarted.Close())
	})
}

// migrateFurther adds a column to every table, as later migrations may.
func (w *env) migrateFurther() {
	w.t.Helper()
	list := `SELECT name FROM sqlite_master WHERE type = 'table'`
	if w.db.Postgres() {
		list = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
	}
	names := must.Get(db.All(w.t.Context(), w.db, func(rows *sql.Rows, name *string) error { return rows.Scan(name) }, list))(w.t)
	changed := 0
	for _, name := range names {
		if strings.HasPrefix(name, "river_") || strings.HasPrefix(name, "sqlite_") || strings.HasPrefix(name, "goose_") {
			continue
		}
		changed++
		must.NoError(w.t, w.db.InTx(w.t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			for _, column := range []string{"newer_a BIGINT NOT NULL DEFAULT 0", "newer_b TEXT"} {
				if _, err := tx.Exec(ctx, "ALTER TABLE "+name+" ADD COLUMN "+column); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	if changed < 30 {
		w.t.Errorf("only %d tables were changed: %v", changed, names)
	}
	w.exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, ?)`, newerVersion, true)
}
