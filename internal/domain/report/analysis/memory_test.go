//go:build !race

package analysis_test

import (
	"runtime"
	"testing"

	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/domain/report/synthetic"
)

// Analyzing a profile with 10,000 posts allocates less than 64 MB. The race detector drops pooled buffers of regular
// expressions, which would distort the measurement.
func TestMemory(t *testing.T) { // not parallel: allocations of other tests would count
	in := input(synthetic.Generate(synthetic.Plan{Seed: 1, Posts: 10_000}))
	addWords(in.Posts)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	analysis.Analyze(in)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MB were allocated", used>>20)
	}
}
