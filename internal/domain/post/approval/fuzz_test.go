package approval

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
)

// parse returns not_found for any text without a valid signature.
func FuzzApprovalLink(f *testing.F) {
	key, err := tokencrypt.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	sealer, err := tokencrypt.New(key)
	if err != nil {
		f.Fatal(err)
	}
	a := &Service{links: sealer.Signer("approval links")}
	other := &Service{links: sealer.Signer("something else")}
	f.Add("")
	for generation := range int64(2) {
		f.Add(other.LegacyToken("01a204db-e9eb-7e4a-9942-d7519a4ef749", 1, time.Unix(1<<31, 0), generation))
	}
	f.Add(other.token("01a204db-e9eb-7e4a-9942-d7519a4ef749"))
	f.Fuzz(func(t *testing.T, token string) {
		if _, err := a.parse(token); !apierr.Is(err, apierr.NotFound) {
			t.Fatalf("%q: %v", token, err)
		}
	})
}
