package tokencrypt_test

import (
	"bytes"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Invalid keys and sealed texts are rejected without being quoted. Valid keys open only what they sealed for the
// same purpose.
func FuzzKeys(f *testing.F) {
	key, err := tokencrypt.NewKey()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(key, []byte("a token"))
	f.Add(key+","+key, []byte(""))
	f.Add(key[:len(key)-1], []byte{0, 1, 2})
	f.Add("\n"+key+"\n#", []byte{0xff})
	f.Fuzz(func(t *testing.T, keys string, text []byte) {
		s, err := tokencrypt.New(keys)
		if err != nil {
			if len(keys) > 20 && strings.Contains(err.Error(), keys) {
				t.Fatalf("the error contains the keys: %v", err)
			}
			return
		}
		if _, err := s.Open(text, "a bond"); err == nil {
			t.Fatal("a text that was not sealed was opened")
		}
		sealed := must.Get(s.Seal(text, "a bond"))(t)
		if opened, err := s.Open(sealed, "a bond"); err != nil || !bytes.Equal(opened, text) {
			t.Fatalf("%q came back as %q (%v)", text, opened, err)
		}
		if _, err := s.Open(sealed, "another bond"); err == nil {
			t.Fatal("it was opened for another purpose")
		}
		signer := s.Signer("links")
		if signer.Verify(text, text) || !signer.Verify(text, signer.Sign(text)) {
			t.Fatal("the signature is wrong")
		}
	})
}
