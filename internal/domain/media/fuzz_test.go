package media

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/network"
)

// FuzzToken checks that arbitrary tokens grant nothing.
func FuzzToken(f *testing.F) {
	key, err := tokencrypt.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	sealer, err := tokencrypt.New(key)
	if err != nil {
		f.Fatal(err)
	}
	s := &Service{links: sealer.Signer("public links to media")}
	other := &Service{links: sealer.Signer("something else")}
	f.Add("")
	f.Add(other.signToken(linkClaims{item: 1, expiresAt: time.Unix(1<<31, 0), limits: network.FileLimits{MaxBytes: 1}}))
	f.Fuzz(func(t *testing.T, token string) {
		if g, ok := s.parseToken(token); ok {
			t.Fatalf("%q grants %+v", token, g)
		}
	})
}
