package mcp

import (
	"fmt"
	"testing"
)

// What was said before is said from the same memory, and what is new each time fills none.
func TestShelf(t *testing.T) {
	t.Parallel()
	s := newShelf()
	first := s.share([]byte("the list"))
	for range 2 {
		again := s.share([]byte("the list"))
		if &again[0] != &s.kept[0][0] || string(first) != string(again) {
			t.Errorf("%q is not what is kept, %q", again, s.kept)
		}
	}
	for n := range 3 * variants {
		if got := s.share(fmt.Append(nil, n)); string(got) != fmt.Sprint(n) {
			t.Errorf("got %s for %d", got, n)
		}
	}
	if len(s.kept) != variants {
		t.Errorf("%d texts are kept", len(s.kept))
	}
}
