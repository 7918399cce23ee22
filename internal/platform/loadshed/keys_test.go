package loadshed_test

import (
	"testing"

	"pressroom.example/pressroom/internal/platform/loadshed"
)

func TestKeyLimiter(t *testing.T) {
	t.Parallel()
	s := loadshed.NewKeyLimiter(2)
	for range 2 {
		if !s.TryAcquire("a") {
			t.Error("fewer than two calls of a key")
		}
	}
	if s.TryAcquire("a") || !s.TryAcquire("b") {
		t.Error("more than two calls of a key, or none of another key")
	}
	s.Release("a")
	if !s.TryAcquire("a") || s.TryAcquire("a") {
		t.Error("not one more call after a release")
	}
}
