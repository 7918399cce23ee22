package hashtaganalysis

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit/must"
)

// exampleInput is the example in docs/scoring.md.
func exampleInput() Input {
	harbour := func(i int) string {
		if i <= 6 {
			return "#harbour"
		}
		return ""
	}
	f := provider.HashtagMetrics{Hashtag: "planted", MeasuredAt: measuredAt, From: measuredAt.AddDate(0, 0, -1)}
	for i := 1; i <= 40; i++ {
		f.Recent = append(f.Recent, provider.Post{
			ID: "r" + strconv.Itoa(i), TakenAt: measuredAt.Add(-time.Duration(i) * 30 * time.Minute),
			Likes: new(int64(i)), Caption: harbour(i),
		})
	}
	// The nodes of four-point Chebyshev quadrature on [0, 1], in thousands of days.
	nodes := []float64{102.6728, 406.2038, 593.7962, 897.3272}
	for i := 1; i <= 23; i++ {
		age := []float64{1000, 1200, 1500}[i%3]
		if i <= 20 {
			age = nodes[i%4]
		}
		f.Top = append(f.Top, provider.Post{
			ID: "t" + strconv.Itoa(i), TakenAt: measuredAt.Add(-time.Duration(age * 24 * float64(time.Hour))),
			Likes: new(int64(100 * i)), Caption: harbour(i),
		})
	}
	return Input{Metrics: f, Background: Background{Posts: 1000, PostsByHashtag: map[string]int{"harbour": 30}}}
}

// The code reproduces the example in the docs exactly.
func TestDocumentedExample(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../../../docs/scoring.md"))(t)
	_, table, found := strings.Cut(string(text), "### Worked example: a hashtag")
	if !found {
		t.Fatal("the docs have no worked example of a hashtag")
	}
	got := Analyze(exampleInput())
	h, likes, score := got.Hashtag, got.Engagement.Likes, got.Score
	lift := got.TopHashtags[0].Lift
	number := func(value float64) string { return strconv.FormatFloat(value, 'f', -1, 64) }
	whole := func(value int64) string { return strconv.FormatInt(value, 10) }
	for metric, value := range map[string]string{
		"posts per day": number(h.PostsPerDay.Value), "posts per day, from": number(h.PostsPerDay.Low),
		"posts per day, to": number(h.PostsPerDay.High),
		"posts":             whole(h.Posts.Count), "posts, from": whole(*h.Posts.Low),
		"posts, to":    whole(*h.Posts.High),
		"tier":         h.Tier,
		"median likes": number(likes.Median), "lower quartile of likes": number(likes.LowerQuartile),
		"upper quartile of likes": number(likes.UpperQuartile),
		"lift of harbour":         number(lift.Value), "lift of harbour, from": number(lift.Low),
		"lift of harbour, to": number(lift.High),
		"activity":            number(score.Components[0].Value), "reactions": number(score.Components[1].Value),
		"competition": number(score.Components[2].Value),
		"score":       number(score.Value),
	} {
		if !strings.Contains(table, "\n| "+metric+" | "+value+" |\n") {
			t.Errorf("%s is %s, unlike the docs", metric, value)
		}
	}
}
