package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/bench/floor"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit/must"
)

// fixture is pressroom and the floor on one database.
type fixture struct {
	t           *testing.T
	data        dataset
	db          *sql.DB
	ours, floor http.Handler
}

const seededPosts = 30 // more than a page

func newFixture(t *testing.T) *fixture {
	t.Helper()
	ctx := t.Context()
	b := &fixture{t: t, data: dataset{posts: seededPosts}}
	url := "sqlite:" + filepath.Join(t.TempDir(), "bench.db")
	key, err := tokencrypt.NewKey()
	b.must(err)
	offered := plan.Default().ScaleRates(1000)
	s, err := server.Open(ctx, server.Config{Version: "test", PublicURL: publicURL, Database: url, SealingKey: key,
		Role: server.RoleAPI, Blobs: "file:" + filepath.Join(t.TempDir(), "media"),
		Catalog: &offered, Log: slog.New(slog.DiscardHandler)})
	b.must(err)
	t.Cleanup(func() { _ = s.Close() })
	owner, err := s.Teams.AddPerson(ctx, "Ada Okafor", "ada@harbour.example", "")
	b.must(err)
	made, err := s.Teams.AddTeam(ctx,
		team.Team{Name: "Harbour <Coffee>", Timezone: "Europe/Berlin", Language: "en", Plan: "agency"}, owner.ID)
	b.must(err)
	entry, value, err := s.Teams.AddKey(ctx, team.NewKey{Team: made.ID, Name: "bench", Level: access.Full})
	b.must(err)
	b.data.Person, b.data.Team, b.data.KeyID, b.data.Key = owner.ID, made.ID, entry.ID, value
	b.db, err = openBulk(ctx, url)
	b.must(err)
	t.Cleanup(func() { _ = b.db.Close() })
	b.must(b.data.fill(ctx, b.db, url))
	f, err := floor.Open(ctx, floor.Options{Database: url, PublicURL: publicURL})
	b.must(err)
	t.Cleanup(func() { _ = f.Close() })
	b.ours, b.floor = s.Handler(), f.Handler()
	return b
}

func (b *fixture) must(err error) {
	b.t.Helper()
	must.NoError(b.t, err)
}

// ask sends a request to a handler and returns the decoded response.
func (b *fixture) ask(h http.Handler, method, path, key, body string) (*httptest.ResponseRecorder, map[string]any) {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+b.data.Key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		b.t.Fatalf("%s %s: status %d %q: %v", method, path, w.Code, w.Body, err)
	}
	return w, out
}

// compareResponses compares responses. It ignores members that differ between requests, and the members of data in
// ignored.
func (b *fixture) compareResponses(ours, floor map[string]any, ignored ...string) {
	b.t.Helper()
	for _, answer := range []map[string]any{ours, floor} {
		meta := answer["meta"].(map[string]any)
		for _, name := range []string{"request_id", "answered_at"} {
			if meta[name] == nil {
				b.t.Errorf("meta has no %s", name)
			}
			delete(meta, name)
		}
		for _, name := range ignored {
			delete(answer["data"].(map[string]any), name)
			delete(meta, "app_url") // contains the ID
		}
	}
	if diff := cmp.Diff(ours, floor); diff != "" {
		b.t.Errorf("the responses differ (-ours +floor):\n%s", diff)
	}
}

func TestFloorEquality(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	paths := []string{"/api/v1/me", "/api/v1/posts?limit=20"}
	for i := range seededPosts {
		paths = append(paths, "/api/v1/posts/"+postID(i))
	}
	for _, path := range paths {
		ours, mine := b.ask(b.ours, "GET", path, "", "")
		theirs, its := b.ask(b.floor, "GET", path, "", "")
		if ours.Code != http.StatusOK || theirs.Code != http.StatusOK {
			t.Fatalf("GET %s: %d and %d", path, ours.Code, theirs.Code)
		}
		for _, name := range []string{"Content-Type", "Cache-Control", "Link"} {
			if ours.Header().Get(name) != theirs.Header().Get(name) {
				t.Errorf("GET %s: %s is %q and %q", path, name, ours.Header().Get(name), theirs.Header().Get(name))
			}
		}
		b.compareResponses(mine, its)
	}
}

func TestFloorWritesTheSame(t *testing.T) {
	t.Parallel()
	b := newFixture(t)
	body := fmt.Sprintf(`{"caption":"Open <late> \"today\"","account_ids":[%d,%d]}`, b.data.Accounts[1], b.data.Accounts[0])
	first, mine := b.ask(b.ours, "POST", "/api/v1/posts", "ours", body)
	second, its := b.ask(b.floor, "POST", "/api/v1/posts", "floor", body)
	if first.Code != http.StatusCreated || second.Code != http.StatusCreated {
		t.Fatalf("status %d and %d", first.Code, second.Code)
	}
	ids := []string{mine["data"].(map[string]any)["id"].(string), its["data"].(map[string]any)["id"].(string)}
	for i, w := range []*httptest.ResponseRecorder{first, second} {
		if got, want := w.Header().Get("Location"), publicURL+"/api/v1/posts/"+ids[i]; got != want {
			t.Errorf("Location = %q, want %q", got, want)
		}
	}
	b.compareResponses(mine, its, "id", "created_at", "updated_at")
	if diff := cmp.Diff(b.writtenRows(ids[0], "ours"), b.writtenRows(ids[1], "floor")); diff != "" {
		t.Errorf("the written rows differ (-ours +floor):\n%s", diff)
	}
	_, again := b.ask(b.floor, "POST", "/api/v1/posts", "floor", body)
	if got := again["data"].(map[string]any)["id"]; got != ids[1] {
		t.Errorf("a repeat created a second post: %v", got)
	}
}

// writes lists the tables into which creating a draft inserts rows, and the column that identifies the rows.
var writes = []struct{ table, by, columns string }{
	{"posts", "id", "id, team_id, person_id, key_id, status, caption, excerpt, approval, series_id, is_template, " +
		"scheduled_at, submitted_at, published_at, slot_at, job_id, created_at, updated_at"},
	{"post_targets", "post_id", "post_id, account_id, position, state, caption, published_at, permalink, error_code, " +
		"network_text, retries_used, retried_at"},
	{"events", "subject", "id, team_id, at, person_id, key_id, request_id, kind, subject, detail"},
	{"idempotency_records", "key", "key_id, key, operation, request_hash, answer, created_at, expires_at"},
}

// writtenRows returns the rows that creating a draft inserted, without IDs, keys and times.
func (b *fixture) writtenRows(id, key string) map[string]any {
	b.t.Helper()
	out := map[string]any{}
	for _, w := range writes {
		value := id
		if w.by == "key" {
			value = key
		}
		out[w.table] = b.rows("SELECT "+w.columns+" FROM "+w.table+" WHERE "+w.by+" = ?", value, id)
	}
	return out
}

func (b *fixture) rows(query, value, id string) []map[string]any {
	b.t.Helper()
	rows, err := b.db.QueryContext(context.WithoutCancel(b.t.Context()), query, value)
	b.must(err)
	defer rows.Close()
	names, err := rows.Columns()
	b.must(err)
	var out []map[string]any
	for rows.Next() {
		values, row := make([]any, len(names)), map[string]any{}
		for i := range values {
			values[i] = new(any)
		}
		b.must(rows.Scan(values...))
		for i, name := range names {
			row[name] = plain(name, *values[i].(*any), value, id)
		}
		out = append(out, row)
	}
	b.must(rows.Err())
	return out
}

// varyingColumns are the columns whose values differ between drafts.
var varyingColumns = []string{"request_id", "at", "created_at", "updated_at", "expires_at", "request_hash"}

func plain(name string, value any, key, id string) any {
	if slices.Contains(varyingColumns, name) || name == "id" {
		return value != nil
	}
	if raw, ok := value.([]byte); ok {
		var answer map[string]any
		if json.Unmarshal(bytes.ReplaceAll(raw, []byte(id), []byte("ID")), &answer) == nil {
			data := answer["data"].(map[string]any)
			delete(data, "created_at")
			delete(data, "updated_at")
			return answer
		}
		value = string(raw)
	}
	if text, ok := value.(string); ok && (text == key || text == id) {
		return "its own"
	}
	return value
}
