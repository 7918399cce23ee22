package youtube

import "testing"

func TestRoundSubscribers(t *testing.T) {
	t.Parallel()
	for number, want := range map[int64]int64{0: 0, 7: 7, 999: 999, 1000: 1000, 1234: 1230, 98765: 98700, 1234567: 1230000} {
		if got := roundSubscribers(number); got != want {
			t.Errorf("roundSubscribers(%d) = %d, want %d", number, got, want)
		}
	}
}
