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
		young, old := Count(p, start.Add(age)), Count(p, start.Add(2*age))
		if young != Count(p, start.Add(age)) {
			t.Fatal("the same moment has two tallies")
		}
		if young.Views > old.Views || young.Likes > old.Likes || young.Saves > old.Saves || young.Clicks > old.Clicks {
			t.Fatalf("%+v, later %+v", young, old)
		}
		if young.Reach > young.Views || young.Likes > young.Views || young.Comments < 0 || young.Shares < 0 {
			t.Fatalf("%+v", young)
		}
		if first, later := Followers(p.Platform, p.Account, start), Followers(p.Platform, p.Account,
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
		p := store.Post{Platform: "x", Account: "1", ID: strconv.Itoa(i), At: start}
		views := float64(Count(p, start.Add(60*24*time.Hour)).Views)
		logged := math.Log(views + 1)
		sum, squares = sum+logged, squares+logged*logged
		early += float64(Count(p, start.Add(72*time.Hour)).Views) / (views + 1)
	}
	middle := sum / posts
	if spread := math.Sqrt(squares/posts - middle*middle); spread < 0.75 || spread > 0.85 {
		t.Errorf("the logarithms spread by %f", spread)
	}
	if early /= posts; early < 0.88 || early > 0.93 {
		t.Errorf("of what it will ever have, a post has %f after three days", early)
	}
	if got := Count(store.Post{Platform: "x", ID: "1", At: start}, start); got != (Counts{}) {
		t.Errorf("at once: %+v", got)
	}
}
