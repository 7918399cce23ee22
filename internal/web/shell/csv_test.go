package shell_test

import (
	"encoding/csv"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/web/shell"
)

// TestCSVText checks that text is not a formula in spreadsheets and is otherwise unchanged.
func TestCSVText(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	s := shell.NewCSVWriter(w, "naïve.csv", "caption", "likes")
	s.WriteRow(`=HYPERLINK("https://evil.example")`, "-5")
	s.WriteRow("@harbour, \"fresh\"\nand hot", "12")
	s.WriteRow("a=b", "\t=1")
	s.WriteRow("\n@sum", "+1+1")
	s.Flush()
	rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
	if err != nil || s.Err() != nil {
		t.Fatal(err, s.Err())
	}
	want := [][]string{
		{"caption", "likes"}, {`'=HYPERLINK("https://evil.example")`, "-5"}, {"'@harbour, \"fresh\"\nand hot", "12"},
		{"a=b", "'\t=1"}, {"'\n@sum", "'+1+1"},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if got := w.Header().Get("Content-Disposition"); got != `attachment; filename*=utf-8''na%C3%AFve.csv` {
		t.Error(got)
	}
}
