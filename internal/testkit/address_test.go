package testkit_test

import (
	"net"
	"testing"

	"pressroom/internal/testkit"
	"pressroom/internal/testkit/must"
)

func TestFreeAddr(t *testing.T) {
	t.Parallel()
	given := map[string]bool{}
	for range 250 {
		addr := must.Get(testkit.FreeAddr())(t)
		if given[addr] {
			t.Fatalf("%s was given twice", addr)
		}
		given[addr] = true
		l := must.Get(net.Listen("tcp", addr))(t)
		_ = l.Close()
	}
}
