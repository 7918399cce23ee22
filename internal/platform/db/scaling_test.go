package db_test

import (
	"database/sql"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit"
)

// The guide to scaling knows every table, and rightly whether it has its team's number.
func TestScalingKnowsTables(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../../docs/scaling.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{} // table -> kind
	for _, row := range regexp.MustCompile(
		`(?m)^\| (of a team, with its number|of a team, by what they belong to|of people|of the service) \| ([^|]+)\|`).
		FindAllStringSubmatch(string(guide), -1) {
		for _, name := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[2], -1) {
			if told[name[1]] != "" {
				t.Errorf("%s is named twice", name[1])
			}
			told[name[1]] = row[1]
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
		kind := told[name]
		delete(told, name)
		if kind == "" || (kind == "of a team, with its number") != hasTeam {
			t.Errorf("docs/scaling.md has %s as %q, and that it has a team_id is %v", name, kind, hasTeam)
		}
	}
	for name := range told {
		t.Errorf("docs/scaling.md names %s, which is no table", name)
	}
}
