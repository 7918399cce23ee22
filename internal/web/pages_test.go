package web_test

import (
	"testing"

	"pressroom/internal/web/shell"
)

// Pages are read when they are first shown, so that one that cannot be read would panic only then.
func TestPagesCanBeRead(t *testing.T) {
	t.Parallel()
	read := 0
	for name, page := range shell.Every {
		if page().Lookup("main") == nil {
			t.Errorf("%s has no block main", name)
		}
		read++
	}
	if read < 50 {
		t.Errorf("only %d pages were named", read)
	}
}
