package sandbox

import (
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Counts depend on the post and the time, and never fall.
func TestCount(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		p := post{platform: "x", account: rapid.String().Draw(t, "account"), id: rapid.String().Draw(t, "id"), at: start}
		age := time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "age"))
		young, old := count(p, start.Add(age)), count(p, start.Add(2*age))
		if young != count(p, start.Add(age)) {
			t.Fatal("the same moment has two tallies")
		}
		if young.views > old.views || young.likes > old.likes || young.saves > old.saves || young.clicks > old.clicks {
			t.Fatalf("%+v, later %+v", young, old)
		}
		if young.reach > young.views || young.likes > young.views || young.comments < 0 || young.shares < 0 {
			t.Fatalf("%+v", young)
		}
		if first, later := followers(p.platform, p.account, start), followers(p.platform, p.account,
			start.Add(age)); first < 1 || later < first {
			t.Fatalf("%d followers, later %d", first, later)
		}
	})
}

// Final counts are log-normal, and most of them are reached in the first days.
func TestCountSpreads(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var sum, squares, early float64
	const posts = 2000
	for i := range posts {
		p := post{platform: "x", account: "1", id: strconv.Itoa(i), at: start}
		views := float64(count(p, start.Add(60*24*time.Hour)).views)
		logged := math.Log(views + 1)
		sum, squares = sum+logged, squares+logged*logged
		early += float64(count(p, start.Add(72*time.Hour)).views) / (views + 1)
	}
	middle := sum / posts
	if spread := math.Sqrt(squares/posts - middle*middle); spread < 0.75 || spread > 0.85 {
		t.Errorf("the logarithms spread by %f", spread)
	}
	if early /= posts; early < 0.88 || early > 0.93 {
		t.Errorf("of what it will ever have, a post has %f after three days", early)
	}
	if got := count(post{platform: "x", id: "1", at: start}, start); got != (tally{}) {
		t.Errorf("at once: %+v", got)
	}
}
