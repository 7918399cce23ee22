package mcp

import (
	"fmt"
	"testing"
)

// Equal bodies share memory, and the cache is bounded.
func TestListCache(t *testing.T) {
	t.Parallel()
	c := newListCache()
	first := c.intern([]byte("the list"))
	for range 2 {
		again := c.intern([]byte("the list"))
		if &again[0] != &c.bodies[0][0] || string(first) != string(again) {
			t.Errorf("%q is not the cached %q", again, c.bodies)
		}
	}
	for n := range 3 * maxCachedLists {
		if got := c.intern(fmt.Append(nil, n)); string(got) != fmt.Sprint(n) {
			t.Errorf("got %s for %d", got, n)
		}
	}
	if len(c.bodies) != maxCachedLists {
		t.Errorf("%d bodies are cached", len(c.bodies))
	}
}
