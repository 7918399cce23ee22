package main

import (
	"math"
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values []float64
		want   float64
	}{
		{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1, 5}, 5}, {[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
	values := []float64{3, 1, 2}
	median(values)
	if values[0] != 3 {
		t.Error("median sorts what it was given")
	}
}

func TestPercentile(t *testing.T) {
	t.Parallel()
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i + 1)
	}
	for _, c := range []struct {
		sorted []time.Duration
		share  float64
		want   time.Duration
	}{
		{nil, 0.99, 0}, {hundred[:1], 0.5, 1}, {hundred, 0.5, 50}, {hundred, 0.99, 99}, {hundred, 1, 100},
		{hundred, 0, 1}, {hundred[:10], 0.99, 10},
	} {
		if got := percentile(c.sorted, c.share); got != c.want {
			t.Errorf("percentile of %d at %v = %v, want %v", len(c.sorted), c.share, got, c.want)
		}
	}
}

func TestSpreadAndRatios(t *testing.T) {
	t.Parallel()
	if got := spread([]float64{90, 100, 120}); math.Abs(got-0.3) > 1e-9 {
		t.Errorf("spread = %v", got)
	}
	if got := spread(nil); got != 0 {
		t.Errorf("spread of nothing = %v", got)
	}
	got := ratios([]float64{2, 3, 5}, []float64{1, 0})
	if len(got) != 2 || got[0] != 2 || got[1] != 0 {
		t.Errorf("ratios = %v", got)
	}
}

func TestAssertions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		entry entry
		holds bool
	}{
		{"as fast as asked", newRelativeEntry("x", higherIsBetter, 60, 100, 0.6), true},
		{"too slow", newRelativeEntry("x", higherIsBetter, 59, 100, 0.6), false},
		{"nothing is asked", newRelativeEntry("x", lowerIsBetter, 300, 100, 0), true},
		{"less is better", newRelativeEntry("x", lowerIsBetter, 130, 100, 1.25), false},
		{"a floor that did nothing", newRelativeEntry("x", higherIsBetter, 60, 0, 0.6), false},
		{"below a figure", newAbsoluteEntry("x", 0.4, 0.5), true},
		{"above a figure", newAbsoluteEntry("x", 61, 60), false},
	} {
		if c.entry.Met != c.holds {
			t.Errorf("%s: holds is %v", c.name, c.entry.Met)
		}
	}
}

func TestSeededIDs(t *testing.T) {
	t.Parallel()
	before := ""
	for i := range 5000 {
		id := postID(i)
		if len(id) != 36 || id[14] != '7' || id[19] < '8' || id[19] > 'b' {
			t.Fatalf("%s is no UUIDv7", id)
		}
		if id <= before {
			t.Fatalf("%s does not follow %s", id, before)
		}
		before = id
	}
}
