package analytics

import (
	"slices"
	"testing"
	"time"
)

// TestBestTimesCompareWithTheAccount checks that a small account counts as much as a large account. New posts and
// accounts with few posts are omitted.
func TestBestTimesCompareWithTheAccount(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, time.November, 27, 10, 30, 0, 0, time.UTC) // a Friday
	monday := time.Date(2026, time.November, 2, 9, 0, 0, 0, time.UTC)
	var posts []PostMetrics
	add := func(account int64, at time.Time, engagement int64) {
		posts = append(posts, PostMetrics{AccountID: account, At: at, Engagement: &engagement})
	}
	for week := range 3 {
		at := monday.AddDate(0, 0, 7*week)
		add(1, at, 1000)
		add(1, at.AddDate(0, 0, 1), 1000)
		add(2, at.AddDate(0, 0, 4), 30) // Fridays
		add(2, at.AddDate(0, 0, 2), 10)
		add(2, at.AddDate(0, 0, 3), 10)
	}
	add(3, monday, 5000)
	add(1, now.Add(-time.Hour), 9000)
	posts = append(posts, PostMetrics{AccountID: 1, At: monday})

	got := ComparePostingTimes(posts, now)
	if got.Posts != 15 {
		t.Errorf("compared %d posts, want 15", got.Posts)
	}
	if len(got.Best) != 1 {
		t.Fatalf("best times: %+v, want one", got.Best)
	}
	best := got.Best[0]
	if best.Day != 4 || best.Hour != 9 || best.Median != 3 || best.Posts != 3 {
		t.Errorf("best time: %+v, want Fridays at 9 with 3 posts of 3 times the usual engagement", best)
	}
	if !slices.Equal(best.Accounts, []int64{2}) {
		t.Errorf("best time of accounts %v, want only 2", best.Accounts)
	}
	if want := time.Date(2026, time.December, 4, 9, 0, 0, 0, time.UTC); !best.Next.Equal(want) {
		t.Errorf("next best time: %s, want %s", best.Next, want)
	}
}
