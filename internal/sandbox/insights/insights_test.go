package insights

import (
	"math"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// Counts depend on the post and the time, and never decrease.
func TestCount(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		p := store.Post{Platform: "x", Account: rapid.String().Draw(t, "account"), ID: rapid.String().Draw(t, "id"), At: start}
		age := time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "age"))
		earlier, later := Count(p, start.Add(age)), Count(p, start.Add(2*age))
		if earlier != Count(p, start.Add(age)) {
			t.Fatal("counts at the same time differ")
		}
		if earlier.Views > later.Views || earlier.Likes > later.Likes || earlier.Saves > later.Saves || earlier.Clicks > later.Clicks {
			t.Fatalf("%+v, later %+v", earlier, later)
		}
		if earlier.Reach > earlier.Views || earlier.Likes > earlier.Views || earlier.Comments < 0 || earlier.Shares < 0 {
			t.Fatalf("%+v", earlier)
		}
		if first, last := Followers(p.Platform, p.Account, start), Followers(p.Platform, p.Account,
			start.Add(age)); first < 1 || last < first {
			t.Fatalf("%d followers, later %d", first, last)
		}
	})
}

// Final counts are log-normal, and most of a post's counts are reached in the first days.
func TestCountDistribution(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	var sum, squares, early float64
	const posts = 2000
	for i := range posts {
		p := store.Post{Platform: "x", Account: "1", ID: strconv.Itoa(i), At: start}
		views := float64(Count(p, start.Add(60*24*time.Hour)).Views)
		logViews := math.Log(views + 1)
		sum, squares = sum+logViews, squares+logViews*logViews
		early += float64(Count(p, start.Add(72*time.Hour)).Views) / (views + 1)
	}
	mean := sum / posts
	if deviation := math.Sqrt(squares/posts - mean*mean); deviation < 0.75 || deviation > 0.85 {
		t.Errorf("standard deviation of the logarithms: %f", deviation)
	}
	if early /= posts; early < 0.88 || early > 0.93 {
		t.Errorf("share of the final views after three days: %f", early)
	}
	if got := Count(store.Post{Platform: "x", ID: "1", At: start}, start); got != (Counts{}) {
		t.Errorf("counts of a new post: %+v", got)
	}
}
