package result

import (
	"math"
	"math/rand/v2"
	"testing"
)

// For six or more values, the interval contains the median. It becomes narrower with more values.
func TestMedianInterval(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 5; n++ {
		if _, _, ok := medianInterval(upTo(n)); ok {
			t.Errorf("%d values are too few, but have an interval", n)
		}
	}
	last := 2.0
	for n := 6; n < 2000; n += 1 + n/10 {
		values := upTo(n)
		low, high, ok := medianInterval(values)
		middle := Quantile(values, 0.5)
		if !ok || low < 0 || low > middle || high < middle || math.Abs(low+high-2*middle) > 1e-9*float64(n) {
			t.Fatalf("%d values: %v from %v to %v", n, ok, low, high)
		}
		width := (high - low) / float64(n)
		if width > last+0.01 {
			t.Errorf("%d values: the interval spans %v of them, %v for fewer values", n, width, last)
		}
		last = width
	}
	// For many values, the interval equals the normal approximation. The rank has standard deviation sqrt(n)/2.
	low, high, _ := medianInterval(upTo(10_000))
	if got := (high - low) / 2; math.Abs(got-98) > 0.7 {
		t.Errorf("10,000 values: the interval extends %v ranks to either side", got)
	}
}

// upTo returns the numbers from 0 to n-1.
func upTo(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = float64(i)
	}
	return values
}

func TestRound4(t *testing.T) {
	t.Parallel()
	for value, want := range map[float64]float64{0: 0, 0.123456: 0.1235, 123456: 123500, -1.99996: -2, 0.1 + 0.2: 0.3} {
		if got := Round4(value); got != want {
			t.Errorf("%v became %v, want %v", value, got, want)
		}
	}
}

// The interval has its nominal coverage.
func TestMedianIntervalCoverage(t *testing.T) {
	t.Parallel()
	for _, posts := range []int{8, 20, 75, 200} {
		const times = 3000
		held := 0
		for seed := range uint64(times) {
			dice := rand.New(rand.NewPCG(seed, uint64(posts)))
			values := make([]float64, posts)
			for i := range values {
				values[i] = 100 * math.Exp(1.2*dice.NormFloat64())
			}
			if m := NewMedian(values); *m.Low <= 100 && 100 <= *m.High {
				held++
			}
		}
		if share := float64(held) / times; share < 0.935 || share > 0.965 {
			t.Errorf("for %d posts the interval contains the median in %.3f of cases", posts, share)
		}
	}
}
