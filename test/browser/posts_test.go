package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// callAPI calls the API with the full key and returns the data of the response.
func callAPI(t *testing.T, run greeting, method, path string, body any) map[string]any {
	t.Helper()
	raw := must.Get(json.Marshal(body))(t)
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(raw)
	}
	req := must.Get(http.NewRequestWithContext(t.Context(), method, run["base_url"].(string)+path, sent))(t)
	req.Header.Set("Authorization", "Bearer "+run["keys"].(map[string]any)["full"].(string))
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp := must.Get(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	var out struct{ Data map[string]any }
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %v (%v)", method, path, resp.StatusCode, out, err)
	}
	return out.Data
}

// createDraft creates a draft and returns its ID.
func createDraft(t *testing.T, run greeting, caption, at string, accounts ...any) string {
	t.Helper()
	id, _ := callAPI(t, run, http.MethodPost, "/posts", map[string]any{"caption": caption, "account_ids": accounts})["id"].(string)
	if at != "" {
		callAPI(t, run, http.MethodPatch, "/posts/"+id, map[string]any{"scheduled_at": at})
	}
	return id
}

// publish publishes a post and waits until publishing has ended.
func publish(t *testing.T, run greeting, id string) {
	t.Helper()
	callAPI(t, run, http.MethodPost, "/posts/"+id+"/publish", nil)
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(time.Minute); callAPI(t, run, http.MethodGet, "/posts/"+id, nil)["status"] == "processing"; <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("%s is still being published", id)
		}
	}
}

func TestPosts(t *testing.T) {
	t.Parallel()
	world := greeting{"chromium": requireChromium(t)}
	run := quickstart(t)
	accounts := []any{}
	networks := map[any]any{}
	for _, a := range callAPI(t, run, http.MethodGet, "/social-accounts", nil)["social_accounts"].([]any) {
		account := a.(map[string]any)
		networks[account["platform"]] = account["id"]
		accounts = append(accounts, account["id"])
	}
	bluesky := networks["bluesky"]
	soon := time.Now().Add(30 * time.Hour).UTC().Format(time.RFC3339)
	world["draft"] = createDraft(t, run,
		"The new summer menu is here: cold brew, lemon tart, and a very long table by the water.", soon, accounts...)
	world["slow"] = createDraft(t, run, "Slowly [sandbox:slow=3]", "", bluesky)
	world["failed"] = createDraft(t, run, "Half of it [sandbox:reject@bluesky]", "", bluesky, networks["x"])
	publish(t, run, world["failed"].(string))
	world["doubtful"] = createDraft(t, run, "Is it there?", "", bluesky)
	publish(t, run, world["doubtful"].(string))
	world["series"] = createDraft(t, run, "Coffee of the week", soon, bluesky)
	d := must.Get(db.Open(t.Context(), "sqlite:"+filepath.Join(run["data"].(string), "pressroom.db"), db.Options{}))(t)
	t.Cleanup(func() { _ = d.Close() })
	must.NoError(t, d.InTx(t.Context(), "test.doubt", func(ctx context.Context, tx *db.Tx) error {
		return makeUnconfirmed(ctx, tx, world)
	}))
	drive(t, "posts.js", run, world)
}

// makeUnconfirmed changes a published post into an unconfirmed post, and a draft into the template of a series.
func makeUnconfirmed(ctx context.Context, tx *db.Tx, world greeting) error {
	now, later := db.Micros(tx.Now()), db.Micros(tx.Now().Add(time.Hour))
	for _, change := range []struct {
		statement string
		args      []any
	}{
		{`UPDATE deliveries SET phase = 'doubtful', outcome = 'unconfirmed', error_code = 'not_confirmed', permalink
		= '', wake_at = ?, not_before = ? WHERE post_id = ?`, []any{later, later, world["doubtful"]}},
		{`UPDATE post_targets
		SET state = 'unconfirmed', error_code = 'not_confirmed', permalink = '', published_at = 0 WHERE post_id = ?`,
			[]any{world["doubtful"]}},
		{`UPDATE posts SET status = 'failed', published_at = 0 WHERE id = ?`, []any{world["doubtful"]}},
		{`INSERT INTO post_series (team_id, template_id, rule, timezone, starts_at, last_at, wake_at, created_at)
		SELECT team_id, id, 'FREQ=DAILY', 'Europe/Berlin', '2026-01-01T10:00:00', ?, ?, ? FROM posts WHERE id = ?`,
			[]any{now, now, now, world["series"]}},
		{`UPDATE posts SET is_template = 1, status = 'scheduled', slot_at = 0, series_id = (SELECT MAX(id)
		FROM post_series) WHERE id = ?`, []any{world["series"]}},
	} {
		n, err := tx.Exec(ctx, change.statement, change.args...)
		if err == nil && n == 0 {
			err = fmt.Errorf("no row changed by %s", change.statement)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
