package web_test

import (
	"testing"

	"pressroom/internal/web/shell"
)

// TestPagesCanBeParsed parses all pages, which are otherwise parsed on first use.
func TestPagesCanBeParsed(t *testing.T) {
	t.Parallel()
	read := 0
	for name, page := range shell.EachPage {
		if page().Lookup("main") == nil {
			t.Errorf("%s has no block main", name)
		}
		read++
	}
	if read < 50 {
		t.Errorf("only %d pages were named", read)
	}
}
