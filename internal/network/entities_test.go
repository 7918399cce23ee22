package network_test

import (
	"testing"

	"pressroom.example/pressroom/internal/network"
)

// Texts are the same if they differ only in white space or in the Unicode form.
func TestSameWords(t *testing.T) {
	t.Parallel()
	for other, want := range map[string]bool{
		"Caf\u00e9 au lait": true, " Cafe\u0301\r\nau\u00a0 lait\n": true, "Cafe au lait": false, "Caf\u00e9 aulait": false,
		"caf\u00e9 au lait": false, "": false,
	} {
		if got := network.SameWords("Caf\u00e9 au lait", other); got != want {
			t.Errorf("%q: %v", other, got)
		}
	}
}
