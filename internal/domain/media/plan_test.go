package media

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
)

// insertItems inserts 3,000 items of two teams in seven folders, every fifth a video.
func insertItems(t *testing.T, w fixture, other int64) {
	t.Helper()
	must(t, w.db.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
		for n := range 7 {
			if _, err := tx.Exec(ctx, `INSERT INTO media_folders (id, team_id, name, created_at) VALUES (?, ?, ?, 1)`,
				n+1, w.team, fmt.Sprint(n)); err != nil {
				return err
			}
		}
		for n := range 3000 {
			kind, team := Image, w.team
			if n%5 == 0 {
				kind = Video
			}
			if n%3 == 0 {
				team = other
			}
			_, err := tx.Exec(ctx,
				`INSERT INTO media (team_id, folder_id, sha256, blob, name, file_name, search, type, kind,
		size_bytes, width, height, created_at) VALUES (?, ?, ?, ?, 'n', 'n.png', ?, 'image/png', ?, 1, 1, 1, 1)`,
				team, n%8, fmt.Appendf(nil, "%032d", n), fmt.Sprint("blob-", n), fmt.Sprint("name ", n), kind)
			if err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `ANALYZE`)
		return err
	}))
}

// TestListsUseIndexes checks that lists do not sort and do not read other teams' items.
func TestListsUseIndexes(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		other := w.newTeam(t)
		insertItems(t, w, other.team)
		folder, cursor := int64(3), w.call("list_media").Cursor("1500")
		for name, in := range map[string]ListInput{
			"all": {}, "folder": {FolderID: &folder}, "kind": {Kind: Video}, "query": {Query: "NAME 1"},
			"folder and kind": {FolderID: &folder, Kind: Image},
			"on":              {Cursor: &cursor}, "folder, on": {FolderID: &folder, Cursor: &cursor},
			"kind, on": {Kind: Video, Cursor: &cursor}, "query, on": {Query: "1", Cursor: &cursor},
		} {
			where, args, err := w.filters(t.Context(), w.call("list_media"), in)
			must(t, err)
			w.checkPlan(t, name, `SELECT `+columns+` FROM media m WHERE `+where+` ORDER BY m.id DESC LIMIT ?`, append(args, 21)...)
		}
		w.checkPlan(t, "by digest", digestQuery, w.team, []byte("x"), w.team, []byte("x"))
		if plan := testkit.Plan(t, w.db, digestQuery, w.team, []byte("x"), w.team, []byte("x")); !strings.Contains(plan, "media_original") {
			t.Errorf("the query for an original's digest uses no index\n%s", plan)
		}
		w.checkPlan(t, "a blob's item", `SELECT COUNT(*) FROM media m WHERE m.thumbnail = ? AND m.thumbnail <> ''`, "x")
		w.checkPlan(t, "a blob's thumbnail", `SELECT COUNT(*) FROM media m WHERE m.blob = ?`, "x")
	})
}

func (w fixture) checkPlan(t *testing.T, name, query string, args ...any) {
	t.Helper()
	plan := testkit.Plan(t, w.db, query, args...)
	for _, bad := range []string{"SCAN m", "SCAN f", "TEMP B-TREE", "Seq Scan on media m", "Sort"} {
		if strings.Contains(plan, bad) {
			t.Errorf("%s: %s\n%s", name, bad, plan)
		}
	}
	if !strings.Contains(plan, "media_") {
		t.Errorf("%s does not scan in index order\n%s", name, plan)
	}
}
