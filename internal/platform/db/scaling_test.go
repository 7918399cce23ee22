package db_test

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// docs/scaling.md lists every table and marks the tables with a team_id.
func TestScalingGuide(t *testing.T) {
	t.Parallel()
	guide := must.Get(os.ReadFile("../../../docs/scaling.md"))(t)
	kinds := map[string]string{} // by table
	for _, row := range regexp.MustCompile(
		`(?m)^\| (belong to a team and have its ID|belong to a team through a parent row|of people|of the service) \| ([^|]+)\|`).
		FindAllStringSubmatch(string(guide), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[2], -1) {
			if kinds[name[1]] != "" {
				t.Errorf("%s is listed twice", name[1])
			}
			kinds[name[1]] = row[1]
		}
	}
	d := testkit.Open(t, testkit.SQLite(t), nil)
	tables, err := db.All(t.Context(), d, func(rows *sql.Rows, r *[2]string) error { return rows.Scan(&r[0], &r[1]) },
		`SELECT m.name, CASE WHEN EXISTS (SELECT 1 FROM pragma_table_info(m.name) c
		WHERE c.name = 'team_id') THEN 'yes' ELSE '' END FROM sqlite_master m WHERE m.type = 'table'`)
	if err != nil || len(tables) < 50 {
		t.Fatalf("%d tables: %v", len(tables), err)
	}
	for _, table := range tables {
		name, hasTeam := table[0], table[1] == "yes"
		if strings.HasPrefix(name, "river_") || slices.Contains([]string{"goose_db_version", "sqlite_sequence"}, name) {
			continue
		}
		kind := kinds[name]
		delete(kinds, name)
		if kind == "" || (kind == "belong to a team and have its ID") != hasTeam {
			t.Errorf("docs/scaling.md lists %s as %q, but it has a team_id: %v", name, kind, hasTeam)
		}
	}
	for name := range kinds {
		t.Errorf("docs/scaling.md lists %s, which is not a table", name)
	}
}
