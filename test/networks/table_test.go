package networks

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the table of docs/networks.md")

const (
	guide      = "../../docs/networks.md"
	tableBegin = "<!-- what every network was seen to do: go test ./test/networks -update -->\n"
	tableEnd   = "<!-- end -->\n"
)

// table has the results: a row for each case, a column for each network.
type table struct {
	networks []string
	rows     []string
	cells    map[string]map[string]string
}

func newTable(networks []string) *table {
	return &table{networks: networks, cells: map[string]map[string]string{}}
}

func (b *table) set(row, network, cell string) {
	if b.cells[row] == nil {
		b.rows = append(b.rows, row)
		b.cells[row] = map[string]string{}
	}
	b.cells[row][network] = cell
}

func (b *table) markdown() string {
	var out strings.Builder
	out.WriteString("| | " + strings.Join(b.networks, " | ") + " |\n|---" + strings.Repeat("|---", len(b.networks)) + "|\n")
	for _, row := range b.rows {
		cells := []string{row}
		for _, network := range b.networks {
			cells = append(cells, b.cells[row][network])
		}
		out.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	return out.String()
}

// check compares the table with the guide, or writes it to the guide with -update.
func (b *table) check(t *testing.T) {
	t.Helper()
	raw := must.Get(os.ReadFile(guide))(t)
	before, rest, found := strings.Cut(string(raw), tableBegin)
	old, after, closed := strings.Cut(rest, tableEnd)
	if !found || !closed {
		t.Fatalf("%s has no place for the table", guide)
	}
	if *update && !t.Failed() {
		must.NoError(t, os.WriteFile(guide, []byte(before+tableBegin+b.markdown()+tableEnd+after), 0o600))
		return
	}
	if diff := cmp.Diff(strings.Split(old, "\n"), strings.Split(b.markdown(), "\n")); diff != "" {
		t.Errorf("the table in %s is out of date; run go test ./test/networks -update:\n%s", guide, diff)
	}
	slices.Sort(b.rows)
	if len(slices.Compact(b.rows)) != len(b.cells) {
		t.Error("duplicate row")
	}
}
