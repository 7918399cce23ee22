package loadshed_test

import (
	"testing"

	"pressroom/internal/platform/loadshed"
)

// A key has so many calls under way and no more; others have theirs, and a call that ends makes room.
func TestSharesBoundEachKey(t *testing.T) {
	t.Parallel()
	s := loadshed.NewShares(2)
	for range 2 {
		if !s.Enter("a") {
			t.Error("a key has fewer calls than two")
		}
	}
	if s.Enter("a") || !s.Enter("b") {
		t.Error("a key has more calls than two, or takes those of another")
	}
	s.Leave("a")
	if !s.Enter("a") || s.Enter("a") {
		t.Error("a call that ended did not make room for one")
	}
}
