package db

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// firstRelease is the newest migration of the first release. Nodes of an older release keep running while a newer
// release migrates their database, so later migrations may only add tables, columns and indexes. Never increase this
// number.
const firstRelease = 17

// breaking lists statements that a migration must not apply to existing tables, because older programs still use the
// tables.
var breaking = []struct{ pattern, why string }{
	{`\bDROP\s+(TABLE|COLUMN|VIEW|FUNCTION|CONSTRAINT)\b`, "an older program still uses it"},
	{`\bALTER\s+TABLE\s+\S+\s+DROP\b`, "an older program still uses it"},
	{`\bRENAME\b`, "an older program knows it by its old name"},
	{`\bADD\s+(COLUMN\s+)?(IF NOT EXISTS\s+)?\w+[^;]*\bNOT\s+NULL\b[^;]*`, "an older program leaves the column out " +
		"when it writes a row: give it a DEFAULT"},
	{`\bALTER\s+(COLUMN\s+)?\w+\s+(SET\s+(NOT\s+NULL|DATA)|TYPE|DROP\s+DEFAULT)\b`,
		"an older program writes values that the column accepted before"},
	{`\bADD\s+(CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\b`, "an older program may write values that it rejects"},
	{`\bCREATE\s+UNIQUE\s+INDEX\b`, "an older program may write values that it rejects"},
	{`\bCREATE\s+(OR\s+REPLACE\s+)?TRIGGER\b`, "an older program may make changes that it rejects"},
}

var (
	breakingPatterns = func() []*regexp.Regexp {
		out := make([]*regexp.Regexp, len(breaking))
		for i, b := range breaking {
			out[i] = regexp.MustCompile(`(?i)` + b.pattern)
		}
		return out
	}()
	comment      = regexp.MustCompile(`--[^\n]*`)
	newTable     = regexp.MustCompile(`(?i)\bCREATE\s+TABLE\s+(\w+)`)
	changedTable = regexp.MustCompile(`(?i)\b(?:ON|TABLE)\s+(\w+)`)
)

// breakingChanges returns the changes in a migration that would break an older program.
func breakingChanges(migration string) []string {
	up, _, _ := strings.Cut(migration, "-- +goose Down")
	up = comment.ReplaceAllString(up, "")
	created := map[string]bool{}
	for _, table := range newTable.FindAllStringSubmatch(up, -1) {
		created[table[1]] = true
	}
	var out []string
	for statement := range strings.SplitSeq(up, ";") {
		if table := changedTable.FindStringSubmatch(statement); table != nil && created[table[1]] {
			continue // older programs do not use the table
		}
		for i, pattern := range breakingPatterns {
			found := pattern.FindString(statement)
			if found != "" && !strings.Contains(strings.ToUpper(found), "DEFAULT ") {
				out = append(out, fmt.Sprintf("%q: %s", strings.Join(strings.Fields(found), " "), breaking[i].why))
			}
		}
	}
	return out
}

// Migrations since the first release do not break older programs.
func TestMigrationsOnlyAdd(t *testing.T) {
	t.Parallel()
	for _, types := range []typeNames{sqliteTypes, postgresTypes} {
		for name, text := range sinceRelease(t, types) {
			if found := breakingChanges(text); len(found) > 0 {
				t.Errorf("%s breaks older programs: %s", name, strings.Join(found, "; "))
			}
		}
	}
}

// sinceRelease returns the migrations since the first release by file name.
func sinceRelease(t *testing.T, types typeNames) map[string]string {
	t.Helper()
	files := must.Get(render(types))(t)
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) < firstRelease {
		t.Fatalf("%d migrations were found: %v", len(names), err)
	}
	out := map[string]string{}
	for _, name := range names {
		var number int
		if _, err := fmt.Sscanf(name, "%d_", &number); err != nil {
			t.Fatalf("%s has no number: %v", name, err)
		}
		text := must.Get(fs.ReadFile(files, name))(t)
		if number > firstRelease {
			out[name] = string(text)
		}
	}
	return out
}

var usedTable = regexp.MustCompile(`(?i)\b(?:ON|TABLE|UPDATE|INTO|FROM)\s+(\w+)`)

// lockedTables returns the existing tables that a migration locks until its end.
func lockedTables(migration string) []string {
	up, _, _ := strings.Cut(migration, "-- +goose Down")
	up = comment.ReplaceAllString(up, "")
	var out, created []string
	for _, table := range newTable.FindAllStringSubmatch(up, -1) {
		created = append(created, table[1])
	}
	for _, table := range usedTable.FindAllStringSubmatch(up, -1) {
		if !slices.Contains(created, table[1]) && !slices.Contains(out, table[1]) {
			out = append(out, table[1])
		}
	}
	return out
}

// A migration is one transaction. If it locks two tables, it may deadlock with nodes that lock the tables in another
// order.
func TestMigrationsLockOneTable(t *testing.T) {
	t.Parallel()
	for name, text := range sinceRelease(t, postgresTypes) {
		if found := lockedTables(text); len(found) > 1 {
			t.Errorf("%s locks %s: use a separate file for each", name, strings.Join(found, " and "))
		}
	}
	if found := lockedTables("ALTER TABLE a ADD b TEXT; CREATE TABLE c (d TEXT); CREATE INDEX e ON c (d); CREATE INDEX " +
		"g ON f (h);"); !slices.Equal(found, []string{"a", "f"}) {
		t.Errorf("it locks %v", found)
	}
}

func TestBreakingChanges(t *testing.T) {
	t.Parallel()
	for statement, breaking := range map[string]bool{
		"DROP TABLE posts;":                                      true,
		"ALTER TABLE posts DROP COLUMN caption;":                 true,
		"ALTER TABLE posts DROP caption;":                        true,
		"ALTER TABLE posts RENAME COLUMN a TO b;":                true,
		"alter table posts\n rename to drafts;":                  true,
		"ALTER TABLE posts ADD COLUMN a BIGINT NOT NULL;":        true,
		"ALTER TABLE posts ADD a BIGINT NOT NULL;":               true,
		"ALTER TABLE posts ALTER COLUMN a SET NOT NULL;":         true,
		"ALTER TABLE posts ALTER COLUMN a TYPE BIGINT;":          true,
		"ALTER TABLE posts ADD CONSTRAINT c CHECK (a > 0);":      true,
		"CREATE UNIQUE INDEX i ON posts (a);":                    true,
		"CREATE TRIGGER t BEFORE UPDATE ON posts BEGIN SELECT 1": true,

		"ALTER TABLE posts ADD COLUMN a BIGINT NOT NULL DEFAULT 0;":                     false,
		"ALTER TABLE posts ADD COLUMN a TEXT NOT NULL DEFAULT '';":                      false,
		"ALTER TABLE posts ADD COLUMN a BIGINT;":                                        false,
		"CREATE TABLE new (a BIGINT NOT NULL); CREATE UNIQUE INDEX i ON new (a);":       false,
		"CREATE INDEX i ON posts (a); DROP INDEX j;":                                    false,
		"UPDATE posts SET a = 1; -- DROP TABLE posts would be wrong":                    false,
		"CREATE INDEX i ON posts (a);\n-- +goose Down\nDROP INDEX i; DROP TABLE posts;": false,
	} {
		if found := breakingChanges("-- +goose Up\n" + statement); len(found) > 0 != breaking {
			t.Errorf("%s: found %v", statement, found)
		}
	}
}
