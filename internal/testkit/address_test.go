package testkit_test

import (
	"net"
	"testing"

	"pressroom.example/pressroom/internal/testkit"
)

func TestFreeAddr(t *testing.T) {
	t.Parallel()
	returned := map[string]bool{}
	for range 250 {
		addr, err := testkit.FreeAddr()
		if err != nil {
			t.Fatal(err)
		}
		if returned[addr] {
			t.Fatalf("%s was returned twice", addr)
		}
		returned[addr] = true
		l, err := net.Listen("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
	}
}
