package report

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func berlin(t *testing.T) *time.Location {
	t.Helper()
	zone := must.Get(time.LoadLocation("Europe/Berlin"))(t)
	return zone
}

func TestHistory(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	post := func(day, hour int, likes, comments int64) provider.Post {
		return provider.Post{TakenAt: time.Date(2026, 3, day, hour, 30, 0, 0, zone), Likes: &likes, Comments: &comments}
	}
	untold := post(30, 9, 5, 0)
	untold.Likes = nil
	// Daylight saving time begins on the 29th. One week has no posts.
	got := buildHistory([]provider.Post{untold, post(30, 9, 10, 2), post(29, 23, 1, 1), post(16, 9, 6, 0),
		post(15, 9, 3, 0)}, []string{"likes", "comments"})
	if got.Posts != 4 || got.Monthly || len(got.Spans) != 4 {
		t.Fatalf("%+v", got)
	}
	var from []string
	for _, s := range got.Spans {
		from = append(from, s.From.Format(time.DateOnly))
	}
	if diff := cmp.Diff([]string{"2026-03-09", "2026-03-16", "2026-03-23", "2026-03-30"}, from); diff != "" {
		t.Error(diff)
	}
	if got.Spans[2].Engagement.Median != 2 || got.Spans[3].Engagement.Median != 12 ||
		got.Spans[3].Engagement.Low != nil {
		t.Errorf("%+v %+v", got.Spans[2].Engagement, got.Spans[3].Engagement)
	}
	if monday := got.Week[0][9]; monday != (Hour{2, 9}) {
		t.Errorf("mondays at 9: %+v", monday)
	}
	if sunday := got.Week[6][23]; sunday != (Hour{1, 2}) {
		t.Errorf("sundays at 23: %+v", sunday)
	}
	var best []float64
	for _, b := range got.Best {
		best = append(best, b.Engagement)
	}
	if diff := cmp.Diff([]float64{12, 6, 3, 2}, best); diff != "" {
		t.Error(diff)
	}
}

// Spans without posts are included. Without posts, the history is empty.
func TestHistoryWithGaps(t *testing.T) {
	t.Parallel()
	one := int64(1)
	at := func(year int, month time.Month) provider.Post {
		return provider.Post{TakenAt: time.Date(year, month, 15, 12, 0, 0, 0, time.UTC), Likes: &one}
	}
	got := buildHistory([]provider.Post{at(2026, 3), at(2025, 6)}, []string{"likes"})
	if !got.Monthly || len(got.Spans) != 10 || got.Spans[4].Engagement != nil || got.Spans[9].Engagement == nil {
		t.Errorf("%+v", got)
	}
	for _, counts := range [][]string{nil, {"shares"}} {
		if got := buildHistory([]provider.Post{at(2026, 3)}, counts); got.Posts != 0 || len(got.Spans) != 0 {
			t.Errorf("%v: %+v", counts, got)
		}
	}
}

// Every counted post is in exactly one span and one hour.
func TestHistoryCountsPostsOnce(t *testing.T) {
	t.Parallel()
	zone := berlin(t)
	rapid.Check(t, func(t *rapid.T) {
		ages := rapid.SliceOfN(rapid.IntRange(0, 800*24), 1, 60).Draw(t, "hours")
		var posts []provider.Post
		newest := time.Date(2026, 11, 20, 10, 0, 0, 0, zone)
		for _, age := range ages {
			likes := int64(age)
			posts = append(posts, provider.Post{TakenAt: newest.Add(-time.Duration(age) * time.Hour), Likes: &likes})
		}
		slices.SortFunc(posts, func(a, b provider.Post) int { return b.TakenAt.Compare(a.TakenAt) })
		got := buildHistory(posts, []string{"likes"})
		inSpans, inHours := 0, 0
		for _, s := range got.Spans {
			if s.Engagement != nil {
				inSpans += s.Engagement.Posts
			}
		}
		for _, day := range got.Week {
			for _, hour := range day {
				inHours += hour.Posts
			}
		}
		if inSpans != len(posts) || inHours != len(posts) || got.Posts != len(posts) {
			t.Fatalf("%d posts: %d in spans, %d in hours, %d in total", len(posts), inSpans, inHours, got.Posts)
		}
	})
}

// Earlier measurements are stored by their time. They add no second report.
func TestAddMeasurements(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		must.Get(d.Writer().ExecContext(t.Context(), `INSERT INTO teams (name, timezone, content_language, plan, created_at)
			VALUES ('Harbour', 'UTC', 'en', 'team', 1)`))(t)
		s := &Service{db: d}
		in := CreateInput{Type: Profile, Platform: "instagram", Subject: "north.cafe"}
		now := d.Now().UTC().Truncate(time.Microsecond)
		want := []FollowerSample{{At: now.Add(-2 * day), Followers: 10}, {At: now.Add(-day), Followers: 12}}
		must.NoError(t, s.AddMeasurements(t.Context(), 1, in, want))
		want[0].Engagement = new(0.25)
		must.NoError(t, s.AddMeasurements(t.Context(), 1, in, want[:1]))
		var id string
		must.NoError(t, d.QueryRow(t.Context(), `SELECT id FROM reports`).Scan(&id))
		got := must.Get(s.Trends(t.Context(), 1, []string{id}))(t)[id]
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}
