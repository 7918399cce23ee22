package passwords

import (
	"strings"
	"testing"

	"pressroom/internal/testkit/must"
)

// The hash for unknown people costs as much as real ones.
func TestUnknownPersonHashCost(t *testing.T) {
	t.Parallel()
	own := must.Get(Hash("any"))(t)
	a, b := strings.Split(own, "$"), strings.Split(Nobodys, "$")
	if strings.Join(a[:4], "$") != strings.Join(b[:4], "$") || len(a[4]) != len(b[4]) || len(a[5]) != len(b[5]) {
		t.Errorf("%s, and nobody's is %s", own, Nobodys)
	}
}
