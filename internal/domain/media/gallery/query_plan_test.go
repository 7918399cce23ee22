package gallery

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// fill creates a team with 4000 images: 500 in each of seven folders and 500 in none. All but 20 have alt text.
func fill(t *testing.T, d *db.DB) int64 {
	t.Helper()
	var team int64
	must.NoError(t, d.InTx(t.Context(), "fill", func(ctx context.Context, tx *db.Tx) error {
		if err := tx.QueryRow(ctx, `INSERT INTO teams (name, timezone, content_language, plan, created_at)
			VALUES ('Harbour', 'UTC', 'en', 'team', 1) RETURNING id`).Scan(&team); err != nil {
			return err
		}
		for n := range 7 {
			if _, err := tx.Exec(ctx, `INSERT INTO media_folders (id, team_id, name, created_at) VALUES (?, ?, ?, 1)`,
				n+1, team, fmt.Sprint(n)); err != nil {
				return err
			}
		}
		for n := range 4000 {
			alt := "A picture."
			if n%200 == 0 {
				alt = ""
			}
			if _, err := tx.Exec(ctx, `INSERT INTO media (team_id, folder_id, sha256, blob, thumbnail, name, file_name, search, type,
				kind, size_bytes, width, height, alt, created_at)
				VALUES (?, ?, ?, ?, ?, 'n', 'n.png', ?, 'image/png', 'image', 1, 1, 1, ?, 1)`, team, n%8,
				fmt.Appendf(nil, "%032d", n), fmt.Sprint("blob-", n), fmt.Sprint("thumb-", n), fmt.Sprint("name ", n), alt); err != nil {
				return err
			}
		}
		_, err := tx.Exec(ctx, `ANALYZE`)
		return err
	}))
	return team
}

// The queries for lists, counts and folders use an index of the team's items. Lists ordered by the time of addition
// need no sort step.
func TestQueriesUseIndexes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		team, folder := fill(t, d), int64(3)
		for name, f := range map[string]Filter{
			"all": {}, "oldest": {Order: Oldest}, "folder": {Folder: &folder}, "kind": {Kind: "image"}, "text": {Text: "pic"},
			"without alt text": {WithoutAltText: true}, "unused": {Unused: true},
		} {
			text, args, err := listQuery(team, f, "2000", 24)
			must.NoError(t, err)
			check(t, d, name, text, args, "TEMP B-TREE", "Sort")
			text, args = neighborQuery(team, f, 2000, true)
			check(t, d, name+", next", text, args, "TEMP B-TREE", "Sort")
		}
		folder3 := Filter{Folder: &folder}
		for _, c := range []struct {
			filter        Filter
			id            int64
			before, after int64
		}{
			{Filter{}, 4000, 0, 3999}, {Filter{}, 1, 2, 0}, {Filter{Order: Oldest}, 1, 0, 2}, {folder3, 2000, 2004, 1996},
			{Filter{Order: ByName}, 1, 0, 2}, {Filter{Order: ByName}, 2, 1, 11}, {Filter{Unused: true}, 2000, 2001, 1999},
		} {
			before, after, err := Neighbors(t.Context(), d, team, c.filter, c.id)
			must.NoError(t, err)
			if before != c.before || after != c.after {
				t.Errorf("neighbors of %d with %+v: %d and %d, want %d and %d", c.id, c.filter, before, after, c.before, c.after)
			}
		}
		where, args := Filter{WithoutAltText: true}.where(team)
		if plan := testkit.Plan(t, d, `SELECT COUNT(*) FROM media m WHERE `+where, args...); !strings.Contains(plan, "media_undescribed") {
			t.Errorf("images without alt text are not counted by their index\n%s", plan)
		}
		check(t, d, "folders", foldersQuery, []any{team}, "Seq Scan on media m")
		found := must.Get(Folders(t.Context(), d, team))(t)
		if len(found) != 7 || found[0].Files != 500 || fmt.Sprint(found[0].Pictures) != "[3994 3986 3978 3970]" {
			t.Errorf("%d folders, the first %+v", len(found), found[0])
		}
	})
}

func check(t *testing.T, d *db.DB, name, query string, args []any, bad ...string) {
	t.Helper()
	plan := testkit.Plan(t, d, query, args...)
	for _, text := range append(bad, "SCAN m", "Seq Scan on media m") {
		if strings.Contains(plan, text) {
			t.Errorf("%s: %s\n%s", name, text, plan)
		}
	}
}
