package bluesky

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/testkit/must"
)

func TestRecordKeyValidTID(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.StringN(1, -1, -1).Draw(t, "seed")
		second := rapid.Int64Range(1, maxTIDMicros/microsPerSecond-1).Draw(t, "second")
		nanosecond := rapid.Int64Range(0, 999_999_999).Draw(t, "nanosecond")
		key, err := recordKey(seed, time.Unix(second, nanosecond))
		if err != nil || !validTID.MatchString(key) {
			t.Fatalf("recordKey(%q, %d) = %q, %v", seed, second, key, err)
		}
		again, _ := recordKey(seed, time.Unix(second, nanosecond))
		if again != key {
			t.Fatalf("two keys for one seed: %q, %q", key, again)
		}
		if later, _ := recordKey("another", time.Unix(second+1, 0)); second+1 < maxTIDMicros/microsPerSecond && later <= key {
			t.Fatalf("the key of a later second, %q, does not come after %q", later, key)
		}
	})
}

func TestRecordKeyDependsOnSeed(t *testing.T) {
	at := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	seen := map[string]bool{}
	for i := range 2000 {
		key := must.Get(recordKey(string(rune('a'+i)), at))(t)
		seen[key] = true
	}
	if len(seen) != 2000 {
		t.Errorf("%d keys of 2000 seeds in one second", len(seen))
	}
}

func TestRecordKeyRejections(t *testing.T) {
	for _, at := range []time.Time{
		{}, time.Unix(0, 0), time.Date(1969, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC),
	} {
		if key, err := recordKey("seed", at); err == nil {
			t.Errorf("recordKey at %v = %q", at, key)
		}
	}
	if key, err := recordKey("", time.Unix(1, 0)); err == nil {
		t.Errorf("recordKey without a seed = %q", key)
	}
}

func TestEncodeTID(t *testing.T) {
	if got := encodeTID(0); got != "2222222222222" {
		t.Errorf("encodeTID(0) = %q", got)
	}
	if got := encodeTID(1<<63 - 1); got != "bzzzzzzzzzzzz" {
		t.Errorf("encodeTID(max) = %q", got)
	}
}
