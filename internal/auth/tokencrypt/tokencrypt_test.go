package tokencrypt_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/testkit/must"
)

func key(t *testing.T) string {
	t.Helper()
	key := must.Get(tokencrypt.NewKey())(t)
	return key
}

func sealer(t *testing.T, keys ...string) *tokencrypt.Sealer {
	t.Helper()
	s := must.Get(tokencrypt.New(strings.Join(keys, ",")))(t)
	return s
}

func TestChangingKeys(t *testing.T) {
	t.Parallel()
	old, next := key(t), key(t)
	before, both, after := sealer(t, old), sealer(t, next, old), sealer(t, next)
	sealed := must.Get(before.Seal([]byte("token"), "account 1"))(t)
	if plain, err := both.Open(sealed, "account 1"); err != nil || string(plain) != "token" {
		t.Errorf("with both keys: %q, %v", plain, err)
	}
	if _, err := both.Open(sealed, "account 2"); err == nil {
		t.Error("a token opened for another account")
	}
	if _, err := after.Open(sealed, "account 1"); err == nil {
		t.Error("a token opened without its key")
	}
	anew := must.Get(both.Seal([]byte("token"), "account 1"))(t)
	if _, err := after.Open(anew, "account 1"); err != nil {
		t.Errorf("the first key did not seal: %v", err)
	}
}

func TestMarksIdentifyKeys(t *testing.T) {
	t.Parallel()
	old, next := key(t), key(t)
	before, both, after := sealer(t, old), sealer(t, next, old), sealer(t, next)
	sealed := must.Get(before.Seal([]byte("token"), ""))(t)
	mark := sealed[:len(before.Mark())]
	if !bytes.Equal(mark, before.Mark()) || bytes.Equal(mark, both.Mark()) {
		t.Errorf("marks: sealed with %x, that of its key %x, that of the first of two %x", mark, before.Mark(),
			both.Mark())
	}
	if !before.Knows(mark) || !both.Knows(mark) || after.Knows(mark) {
		t.Errorf("known: %t, %t, %t; want only the last one unknown", before.Knows(mark), both.Knows(mark),
			after.Knows(mark))
	}
}

func TestSignaturesAfterKeyRotation(t *testing.T) {
	t.Parallel()
	old, next := key(t), key(t)
	before, both, after := sealer(t, old).Signer("links"), sealer(t, next, old).Signer("links"),
		sealer(t, next).Signer("links")
	body := []byte("team 1")
	signature := before.Sign(body)
	if !both.Verify(body, signature) || !both.Verify(body, signature[:16]) || after.Verify(body, signature) {
		t.Error("a signature of the old key is rejected although the key is configured")
	}
	if !after.Verify(body, both.Sign(body)) {
		t.Error("the first key does not sign")
	}
	for _, wrong := range [][]byte{nil, {}, signature[:15], append(bytes.Clone(signature), 0)} {
		if both.Verify(body, wrong) {
			t.Errorf("a signature of %d bytes is accepted", len(wrong))
		}
	}
	if both.Verify([]byte("team 2"), signature) || sealer(t, old).Signer("other").Verify(body, signature) {
		t.Error("a signature is accepted for another body or purpose")
	}
}

func TestInvalidKeys(t *testing.T) {
	t.Parallel()
	good := key(t)
	for _, text := range []string{"", " ", ",", "x", "AAAA", good + ",x", good[:len(good)-4]} {
		if _, err := tokencrypt.New(text); !errors.Is(err, tokencrypt.ErrInvalidKey) {
			t.Errorf("%d characters accepted as a key: %v", len(text), err)
		}
	}
	if _, err := tokencrypt.New(" " + good + ",\n" + key(t) + "\n"); err != nil {
		t.Errorf("keys with white space: %v", err)
	}
}

func TestKeyIDs(t *testing.T) {
	t.Parallel()
	old, next := key(t), key(t)
	both := sealer(t, next, old)
	if both.ID() != sealer(t, next).ID() || both.ID() == sealer(t, old).ID() {
		t.Error("the name is not that of the first key")
	}
	if !both.Has(sealer(t, old).ID()) || sealer(t, next).Has(sealer(t, old).ID()) {
		t.Error("a key is known by its name where it is one of the keys, and nowhere else")
	}
}
