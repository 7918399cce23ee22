package analysis_test

import (
	"testing"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/analysis"
	"pressroom.example/pressroom/internal/domain/report/synthetic"
)

// BenchmarkAnalyze analyzes a profile with 10,000 posts.
func BenchmarkAnalyze(b *testing.B) {
	in := input(synthetic.Generate(synthetic.Plan{Seed: 1, Posts: 10_000}))
	addWords(in.Posts)
	b.ReportAllocs()
	for b.Loop() {
		analysis.Analyze(in)
	}
}

// addWords adds realistic captions.
func addWords(posts []provider.Post) {
	for i := range posts {
		text := "Early this morning the boats came back and the whole harbour smelled of bread! "
		if i%4 == 0 {
			text += "Thanks to @bakery.corner, more at https://example.com/stories/42 ☀️ "
		}
		posts[i].Caption = text + posts[i].Caption
	}
}
