package passwords

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/testkit/must"
)

// DummyHash has the same parameters as real hashes.
func TestUnknownPersonHashCost(t *testing.T) {
	t.Parallel()
	own := must.Get(Hash("any"))(t)
	a, b := strings.Split(own, "$"), strings.Split(DummyHash, "$")
	if strings.Join(a[:4], "$") != strings.Join(b[:4], "$") || len(a[4]) != len(b[4]) || len(a[5]) != len(b[5]) {
		t.Errorf("%s, and DummyHash is %s", own, DummyHash)
	}
}
