package analysis_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/domain/report/synthetic"
	"pressroom.example/pressroom/internal/testkit/must"
)

var update = flag.Bool("update", false, "update the tables of docs/scoring.md (takes minutes)")

const (
	scoring = "../../../../docs/scoring.md"
	// profilesPerRow is the number of profiles per row of the tables.
	profilesPerRow = 4000
)

// row is a row of the tables in the docs.
type row struct {
	name  string
	plan  synthetic.Plan
	cells func(surveyResult) []rate
}

// The tables of the docs with their headers.
var tables = []struct {
	head string
	rows []row
}{
	{"| posts | best block claimed | wrong block claimed | effective hashtags ranked 1 to 3 | a hashtag claimed to work | " +
		"coverage of the block's interval | coverage of hashtags' intervals |", curveRows()},
	{"| profiles | best time claimed, wrongly | any effect claimed, wrongly | " +
		"coverage, blocks | coverage, hashtags | coverage, formats | coverage, growth |", kindRows()},
}

func curveRows() []row {
	var rows []row
	for _, posts := range []int{30, 50, 75, 100, 150, 200, 300, 500} {
		rows = append(rows, row{strconv.Itoa(posts), synthetic.Plan{Posts: posts}, func(f surveyResult) []rate {
			return []rate{f.named, f.misnamed, f.ranked, f.claimed, f.better, f.hashtag}
		}})
	}
	return rows
}

func kindRows() []row {
	cells := func(f surveyResult) []rate {
		return []rate{f.misnamed, f.wrong, f.block, f.hashtag, f.format, f.growth}
	}
	return []row{
		{"50 posts, no effect at all", synthetic.Plan{Posts: 50, NoEffects: true}, cells},
		{"100 posts, no effect at all", synthetic.Plan{Posts: 100, NoEffects: true}, cells},
		{"200 posts, no effect at all", synthetic.Plan{Posts: 200, NoEffects: true}, cells},
		{"500 posts, no effect at all", synthetic.Plan{Posts: 500, NoEffects: true}, cells},
		{"200 posts, no effect, seven tenths of the posts in two blocks", synthetic.Plan{Posts: 200, NoEffects: true,
			Uneven: true}, cells},
		{"200 posts, all effects", synthetic.Plan{Posts: 200}, cells},
		{"200 posts, all effects, seven tenths of the posts in two blocks", synthetic.Plan{Posts: 200, Uneven: true},
			cells},
		{"200 posts, all effects, working hashtags mostly in the best block", synthetic.Plan{Posts: 200, Confounded: true},
			cells},
		{"200 posts, hashtags work, no block does better", synthetic.Plan{Posts: 200, NoBestBlock: true}, cells},
		{"200 posts, a block does better, no hashtag works", synthetic.Plan{Posts: 200, NoHashtagEffects: true}, cells},
	}
}

// The tables in the docs match the analysis of a small number of profiles, up to sampling error.
func TestDocsTables(t *testing.T) {
	t.Parallel()
	for _, table := range tables {
		if *update {
			rewrite(t, table.head, table.rows)
			continue
		}
		for i, line := range docsLines(t, table.head) {
			if i < len(table.rows) {
				table.rows[i].check(t, line)
			}
		}
	}
}

// docsLines returns the rows of a table in the docs.
func docsLines(t *testing.T, head string) []string {
	t.Helper()
	_, rest := splitDocs(t, head)
	var lines []string
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") {
			break
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines[1:]
}

func (r row) check(t *testing.T, line string) {
	t.Helper()
	const profiles = 16
	cells := strings.Split(strings.Trim(line, "| "), " | ")
	if cells[0] != r.name {
		t.Errorf("a row is %q, want %q", cells[0], r.name)
		return
	}
	for i, cell := range r.cells(survey(r.plan, profiles)) {
		want, err := strconv.ParseFloat(strings.TrimSuffix(cells[i+1], "%"), 64)
		if err != nil && cell.all > 0 {
			t.Errorf("%s: %q is not a percentage", r.name, cells[i+1])
		}
		// Five standard errors, based on the number of profiles, plus one profile.
		p := want / 100
		if slack := 500*math.Sqrt(p*(1-p)/profiles) + 100.0/profiles; err == nil &&
			math.Abs(cell.percent()-want) > slack {
			t.Errorf("%s, column %d: %.1f%%, the docs say %.1f", r.name, i+1, cell.percent(), want)
		}
	}
}

// splitDocs returns the docs before a table and from its header on.
func splitDocs(t *testing.T, head string) (string, string) {
	t.Helper()
	docs := must.Get(os.ReadFile(scoring))(t)
	before, rest, found := strings.Cut(string(docs), head+"\n")
	if !found {
		t.Fatalf("the docs have no table %q", head)
	}
	return before, rest
}

// rewrite updates a table in the docs.
func rewrite(t *testing.T, head string, rows []row) {
	t.Helper()
	lines := head + "\n|" + strings.Repeat("---|", strings.Count(head, "|")-1) + "\n"
	for _, r := range rows {
		lines += "| " + r.name
		for _, cell := range r.cells(survey(r.plan, profilesPerRow)) {
			if cell.all == 0 {
				lines += " | –"
				continue
			}
			lines += fmt.Sprintf(" | %.1f%%", cell.percent())
		}
		lines += " |\n"
	}
	before, rest := splitDocs(t, head)
	for strings.HasPrefix(rest, "|") {
		_, rest, _ = strings.Cut(rest, "\n")
	}
	must.NoError(t, os.WriteFile(scoring, []byte(before+lines+rest), 0o600))
}
