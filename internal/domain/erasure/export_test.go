package erasure

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// env is a service with two teams and a person in a new database.
type env struct {
	*Service

	team, other, person int64
}

const manyPosts = 2000

// onEachDatabase runs a test with an env on each database.
func onEachDatabase(t *testing.T, run func(t *testing.T, w env)) {
	t.Helper()
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, testkit.NewClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)))
		w := env{Service: New(Options{DB: d})}
		must.NoError(t, d.InTx(t.Context(), "test.create", func(ctx context.Context, tx *db.Tx) error {
			for _, row := range []struct {
				into      *int64
				statement string
			}{
				{&w.person, `INSERT INTO people (name, email, password_hash, created_at)
		VALUES ('Ada', 'ada@example.com', 'secret-password-hash', 1) RETURNING id`},
				{&w.team, `INSERT INTO teams (name, timezone, content_language, plan, created_at)
		VALUES ('Harbour', 'Europe/Berlin', 'en', 'team', 1) RETURNING id`},
				{&w.other, `INSERT INTO teams (name, timezone, content_language, plan, created_at)
		VALUES ('Elsewhere', 'UTC', 'en', 'team', 1) RETURNING id`},
			} {
				if err := tx.QueryRow(ctx, row.statement).Scan(row.into); err != nil {
					return err
				}
			}
			return nil
		}))
		run(t, w)
	})
}

// exec runs statements in a transaction, in the order of their first word.
func (w env) exec(t *testing.T, statements map[string][]any) {
	t.Helper()
	must.NoError(t, w.DB.InTx(t.Context(), "test.exec", func(ctx context.Context, tx *db.Tx) error {
		for _, statement := range slices.Sorted(maps.Keys(statements)) {
			if _, err := tx.Exec(ctx, statement[strings.IndexByte(statement, ' ')+1:],
				statements[statement]...); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	}))
}

// createPosts creates n posts of a team, each with a delivery and an attempt.
func (w env) createPosts(t *testing.T, team, account int64, n int) {
	t.Helper()
	must.NoError(t, w.DB.InTx(t.Context(), "test.posts", func(ctx context.Context, tx *db.Tx) error {
		for i := range n {
			id := fmt.Sprintf("post-%d-%05d", team, i)
			for _, row := range []struct {
				statement string
				args      []any
			}{
				{`INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, created_at,
		updated_at) VALUES (?, ?, ?, 0, 'published', ?, '', 1, 1)`, []any{id, team, w.person, "Caption of " + id}},
				{`INSERT INTO post_targets (post_id, account_id, position, state, permalink)
		VALUES (?, ?, 0, 'published', 'https://example.com/p')`, []any{id, account}},
				{`INSERT INTO post_labels (post_id, position, label) VALUES (?, 0, 'menu')`, []any{id}},
				{`INSERT INTO deliveries (id, team_id, post_id, account_id, job_id, phase, first_at, created_at)
		VALUES (?, ?, ?, ?, 'j', 'ended', 1, 1)`, []any{"d" + id, team, id, account}},
				{`INSERT INTO delivery_attempts (delivery_id, epoch, call, started_at, ended_at, result)
		VALUES (?, 1, 'commit', 1000000, 2000000, 'published')`, []any{"d" + id}},
			} {
				if _, err := tx.Exec(ctx, row.statement, row.args...); err != nil {
					return err
				}
			}
		}
		return nil
	}))
}

// createAccount connects an account of a team.
func (w env) createAccount(t *testing.T, team int64) int64 {
	t.Helper()
	var id int64
	must.NoError(t, w.DB.InTx(t.Context(), "test.account", func(ctx context.Context, tx *db.Tx) error {
		return tx.QueryRow(ctx,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, created_at, updated_at)
			VALUES (?, 'bluesky', 'did:test', 'harbour', 'Harbour', 'connected', ?, 1, 1) RETURNING id`, team,
			[]byte("sealed-grant")).Scan(&id)
	}))
	return id
}

// largeFile generates a file while it is read, so that it needs no memory.
type largeFile struct{ left int64 }

func (f *largeFile) Read(p []byte) (int, error) {
	if f.left == 0 {
		return 0, io.EOF
	}
	n := int(min(f.left, int64(len(p))))
	for i := range p[:n] {
		p[i] = byte(f.left)
	}
	f.left -= int64(n)
	return n, nil
}

const largeFileSize = 96 << 20

// An export contains the team's data, without secrets and without other teams' data. It needs little memory. Missing
// files are listed.
func TestExport(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w env) {
		account, otherAccount := w.createAccount(t, w.team), w.createAccount(t, w.other)
		w.createPosts(t, w.team, account, manyPosts)
		w.createPosts(t, w.other, otherAccount, 3)
		w.exec(t, map[string][]any{
			`1 INSERT INTO memberships (team_id, person_id, role, created_at) VALUES (?, ?, 'owner', 1)`: {w.team, w.person},
			`2 INSERT INTO api_keys (id, team_id, person_id, name, level, hash, created_at) VALUES (7, ?, ?, ` +
				`'Script', 'full', ?, 1)`: {w.team, w.person, []byte("secret-key-hash")},
			`2 INSERT INTO api_keys (id, team_id, person_id, kind, name, level, capabilities, client_host, hash, ` +
				`created_at) VALUES (8, ?, ?, 'assistant', 'Helper', 'drafts', 'read,write', 'helper.example', ?, 1)`: {
				w.team, w.person, []byte("secret-key-hash of an assistant")},
			`3 INSERT INTO media (id, team_id, sha256, blob, name, file_name, search, type, kind, size_bytes, width,` +
				` height, created_at) VALUES (1, ?, 'a', 'a', 'film', '../film.mp4', '', 'video/mp4', 'video', 1, 1,` +
				` 1, 1790000000000000), (2, ?, 'b', 'b', 'film', 'film.mp4', '', 'video/mp4', 'video', 1, 1, 1, 1), ` +
				`(3, ?, 'c', 'c', 'lost', 'lost.png', '', 'image/png', 'image', 1, 1, 1, 1)`: {w.team, w.team, w.team},
			`4 INSERT INTO media (id, team_id, sha256, blob, name, file_name, search, type, kind, size_bytes, width,` +
				` height, created_at, deleted_at, deleted_by) VALUES (4, ?, 'd', 'd', 'gone', 'gone.png', '', ` +
				`'image/png', 'image', 1, 1, 1, 1, 1000000, ?)`: {w.team, w.person},
			`5 INSERT INTO post_media (post_id, position, media_id) VALUES (?, 0, 4)`: {
				fmt.Sprintf("post-%d-%05d", w.team, 0),
			},
			`6 INSERT INTO account_pictures (account_id, source, type, image, fetched_at) VALUES ` +
				`(?, ?, 'image/png', ?, 1790000000000000), (?, ?, 'image/jpeg', ?, 1)`: {
				account, []byte("s"), []byte("picture"), otherAccount, []byte("s"), []byte("their picture"),
			},
		})
		w.Open = func(_ context.Context, team, id int64) (io.ReadCloser, error) {
			if team != w.team || id == 3 {
				return nil, apierr.ItemNotFound()
			}
			return io.NopCloser(&largeFile{largeFileSize}), nil
		}
		to := must.Get(os.Create(filepath.Join(t.TempDir(), "export.zip")))(t)
		defer to.Close()
		peak, calls := uint64(0), 0
		must.NoError(t, w.Export(t.Context(), w.team, to, func() {
			if calls++; calls%500 == 0 {
				runtime.GC() // so that only live memory is counted
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
		}))
		if most := uint64(64 << 20); peak == 0 || peak > most {
			t.Errorf("peak %d MB, want at most %d", peak>>20, most>>20)
		}
		size := must.Get(to.Seek(0, io.SeekEnd))(t)
		archive := must.Get(zip.NewReader(to, size))(t)
		w.checkArchive(t, archive)
	})
}

// checkArchive checks the export of the first team.
func (w env) checkArchive(t *testing.T, archive *zip.Reader) {
	t.Helper()
	lines := map[string][]map[string]any{}
	var media, pictures []string
	for _, f := range archive.File {
		if f.Name == "media/1-film.mp4" && f.Modified.UTC() != time.Unix(1_790_000_000, 0).UTC() ||
			!strings.HasPrefix(f.Name, "media/") && f.Modified.Year() < 2000 {
			t.Errorf("%s has the time %s", f.Name, f.Modified)
		}
		if strings.HasPrefix(f.Name, "account_pictures/") {
			pictures = append(pictures, fmt.Sprintf("%s %d", f.Name, f.UncompressedSize64))
			continue
		}
		if name, ok := strings.CutPrefix(f.Name, "media/"); ok {
			media = append(media, fmt.Sprintf("%s %d", name, f.UncompressedSize64))
			continue
		}
		lines[f.Name] = readLines(t, f)
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("1-film.mp4 %d", largeFileSize), fmt.Sprintf("2-film.mp4 %d", largeFileSize)},
		media); diff != "" {
		t.Errorf("media files (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"account_pictures/1.png 7"}, pictures); diff != "" {
		t.Errorf("pictures (-want +got):\n%s", diff)
	}
	for name, want := range map[string]int{
		"team.jsonl": 1, "members.jsonl": 1, "posts.jsonl": manyPosts, "post_accounts.jsonl": manyPosts,
		"post_attempts.jsonl": manyPosts, "accounts.jsonl": 1, "keys.jsonl": 2, "media.jsonl": 4,
		"media_missing.jsonl": 1, "post_labels.jsonl": manyPosts,
	} {
		if got := len(lines[name]); got != want {
			t.Errorf("%s has %d lines, want %d", name, got, want)
		}
	}
	if diff := cmp.Diff(map[string]any{
		"person_id": float64(w.person), "role": "owner", "name": "Ada", "email": "ada@example.com",
		"joined_at": "1970-01-01T00:00:00.000001Z",
	}, lines["members.jsonl"][0]); diff != "" {
		t.Errorf("member (-want +got):\n%s", diff)
	}
	byKind := map[any]map[string]any{}
	for _, line := range lines["keys.jsonl"] {
		byKind[line["kind"]] = line
	}
	if key := byKind["key"]; key["name"] != "Script" || key["level"] != "full" || key["hash"] != nil {
		t.Errorf("key: %v", key)
	}
	if a := byKind["assistant"]; a["name"] != "Helper" || a["capabilities"] != "read,write" ||
		a["client_host"] != "helper.example" || a["hash"] != nil {
		t.Errorf("assistant: %v", a)
	}
	if deleted := lines["media.jsonl"][3]; deleted["name"] != "gone" || deleted["deleted_at"] != "1970-01-01T00:00:01Z" {
		t.Errorf("deleted file: %v", deleted)
	}
	if lost := lines["media_missing.jsonl"][0]; lost["id"] != float64(3) {
		t.Errorf("missing file: %v", lost)
	}
}

// readLines parses a file of JSON lines and checks that it contains no secrets or other teams' data.
func readLines(t *testing.T, f *zip.File) []map[string]any {
	t.Helper()
	in := must.Get(f.Open())(t)
	defer in.Close()
	var out []map[string]any
	for scan := bufio.NewScanner(in); scan.Scan(); {
		for _, secret := range []string{"secret-", "sealed", "c2VhbGVk", "Elsewhere"} {
			if bytes.Contains(scan.Bytes(), []byte(secret)) {
				t.Errorf("%s contains %q: %.200s", f.Name, secret, scan.Text())
			}
		}
		line := map[string]any{}
		must.NoError(t, json.Unmarshal(scan.Bytes(), &line))
		out = append(out, line)
	}
	return out
}
