package stats_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/hashtag/syntheticrelated"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/platform/db"
)

// model is the expected state: the hashtags of posts and under which they were found.
type model struct{ hashtags, finders map[string][]string }

func (m model) addPost(id, under string, tags []string) provider.Post {
	m.hashtags[id] = tags
	if under != "" && !slices.Contains(m.finders[id], under) {
		m.finders[id] = append(m.finders[id], under)
	}
	return post(id, tags...)
}

func (m model) lines() []string {
	out := []string{}
	for id, tags := range m.hashtags {
		tags = slices.Compact(slices.Sorted(slices.Values(slices.Concat(tags, m.finders[id]))))
		if len(tags) > 0 {
			out = append(out, id+": "+strings.Join(tags, " "))
		}
	}
	slices.Sort(out)
	return out
}

// empty deletes everything.
func (w *env) empty() {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *db.Tx) error {
		for _, text := range []string{`DELETE FROM hashtag_links`, `DELETE FROM hashtag_posts`,
			`DELETE FROM hashtags`} {
			if _, err := tx.Exec(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// Posts are stored once with their current hashtags, and counts are correct after any sequence of changes.
func TestPostsMatchModel(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		tags := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"sea", "lake", "pier", "旅", "a_b"}), rapid.ID)
		ids := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "3", "4"}), 0, 4, rapid.ID)
		rapid.Check(t, func(t *rapid.T) {
			w.empty()
			m := model{map[string][]string{}, map[string][]string{}}
			for range rapid.IntRange(1, 5).Draw(t, "steps") {
				under := rapid.SampledFrom([]string{"", "sea", "harbour"}).Draw(t, "under")
				var posts []provider.Post
				for _, id := range ids.Draw(t, "posts") {
					posts = append(posts, m.addPost(id, under, tags.Draw(t, "tags")))
				}
				if under == "" {
					w.recordPosts(posts...)
				} else {
					w.record(provider.Instagram, provider.HashtagMetrics{Hashtag: under, Recent: posts})
				}
			}
			if diff := cmp.Diff(m.lines(), w.queryLines(`SELECT post || ': ' || hashtags FROM hashtag_posts`)); diff != "" {
				t.Error(diff)
			}
			w.audit()
		})
	})
}

func TestDeleteOldPosts(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.recordPosts(post("1", "sea", "lake"), post("2", "sea"))
		w.enqueue(provider.Instagram, "lake")
		w.clock.Advance(89 * day)
		w.recordPosts(post("2", "sea", "pier"))
		if n, err := w.store.Sweep(t.Context()); n != 0 || err != nil {
			t.Errorf("%d posts were deleted: %v", n, err)
		}
		w.clock.Advance(day)
		if n, err := w.store.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("%d posts were deleted: %v", n, err)
		}
		if diff := cmp.Diff([]string{"lake 0", "pier 1", "sea 1"}, w.queryLines(`SELECT hashtag || ' ' || CAST(seen AS TEXT)
			FROM hashtags`)); diff != "" {
			t.Error(diff)
		}
		w.clock.Advance(89 * day)
		w.mustDelete(w.store.Sweep(t.Context()))
		if diff := cmp.Diff([]string{"lake"}, w.queryLines(`SELECT hashtag FROM hashtags`)); diff != "" {
			t.Error(diff)
		}
		w.audit()
	})
}

func (w *env) mustDelete(_ int64, err error) {
	w.t.Helper()
	w.must(err)
}

// A thousand posts of a crowded hashtag are kept. Posts found under other hashtags are deleted first, then the oldest.
func TestTrimCrowdedHashtags(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		var own, others []provider.Post
		for i := range 900 {
			own = append(own, post(fmt.Sprint("own", i)))
		}
		for i := range 700 {
			others = append(others, post(fmt.Sprintf("other%03d", i), "love"))
		}
		for i := range 50 {
			others[i].Hashtags = append(others[i].Hashtags, "rare")
		}
		w.record(provider.Instagram, provider.HashtagMetrics{Hashtag: "love", Recent: own})
		w.recordPosts(others...)
		w.audit()
		for gone := int64(1); gone > 0; {
			var err error
			gone, err = w.store.Sweep(t.Context())
			w.must(err)
		}
		w.audit()
		got := w.queryLines(`SELECT hashtag || ' ' || CAST(seen AS TEXT) FROM hashtags`)
		if diff := cmp.Diff([]string{"love 1000", "rare 50"}, got); diff != "" {
			t.Error(diff)
		}
		if n := w.count(`SELECT COUNT(*) FROM hashtag_posts`); n != 1050 {
			t.Errorf("%d posts are stored", n)
		}
		// A post that is found again is updated, but not linked with the hashtag again.
		w.recordPosts(post("other000", "love", "fresh"))
		got = w.queryLines(`SELECT hashtag || ' ' || CAST(seen AS TEXT) FROM hashtags`)
		if diff := cmp.Diff([]string{"fresh 1", "love 1000", "rare 49"}, got); diff != "" {
			t.Error(diff)
		}
		w.audit()
	})
}

func TestRelatedToOfSyntheticPosts(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		n := syntheticrelated.RandomNetwork(3, true)
		asked := syntheticrelated.SubjectTag(0)
		beside := func(most int, tags ...string) []stats.RelatedHashtag {
			t.Helper()
			found, err := w.store.RelatedTo(t.Context(), provider.Instagram, tags, most)
			w.must(err)
			return found
		}
		w.record(provider.Instagram, provider.HashtagMetrics{Hashtag: asked, Recent: n.PostsUnder(0, 150)})
		if found := beside(50, asked); len(found) != 0 || found == nil {
			t.Errorf("hashtags are related without a reference sample: %+v", found)
		}
		for i := 1; i < n.Subjects; i++ {
			w.record(provider.Instagram, provider.HashtagMetrics{Hashtag: syntheticrelated.SubjectTag(i),
				Recent: n.PostsUnder(i, 100)})
		}
		w.recordPosts(n.PostsAnywhere(100)...)
		w.record(provider.Instagram, w.metrics(syntheticrelated.CompanionTag(2), 4000))
		names := map[string]bool{}
		for _, r := range beside(4, asked) {
			names[r.Hashtag] = true
			if r.Support < 5 || r.Share <= 0 || r.Share > 1 || r.Lift <= 1 || r.Platform != provider.Instagram ||
				(r.Posts != nil) != (r.Hashtag == syntheticrelated.CompanionTag(2)) {
				t.Errorf("%+v", r)
			}
		}
		if want := []string{"companion0", "companion1", "companion2", "companion3"}; !slices.Equal(
			slices.Sorted(maps.Keys(names)), want) {
			t.Errorf("related: %v", names)
		}
		if found := beside(1, asked); len(found) != 1 {
			t.Errorf("%d related hashtags", len(found))
		}
		for _, tags := range [][]string{{"absent"}, {}, nil} {
			if found := beside(50, tags...); len(found) != 0 {
				t.Errorf("%v has related hashtags: %v", tags, found)
			}
		}
	})
}

// Concurrent nodes with the same posts arrive at the same counts.
func TestConcurrentPosts(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		n := syntheticrelated.RandomNetwork(5, true)
		done := make(chan error, 8)
		for i := range 8 {
			go func() {
				posts := n.PostsUnder(i%2, 60)
				slices.Reverse(posts)
				learned := stats.Analyze(provider.Instagram, provider.HashtagMetrics{Hashtag: syntheticrelated.SubjectTag(
					i % 2), Recent: posts, MeasuredAt: began}, began)
				done <- w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
					if i%3 == 0 {
						return w.store.RecordPosts(ctx, tx, provider.Instagram, posts[:30])
					}
					return w.store.Record(ctx, tx, learned)
				})
			}()
		}
		for range 8 {
			w.must(<-done)
		}
		if n := w.count(`SELECT COUNT(*) FROM hashtag_posts`); n != 120 {
			t.Errorf("%d posts are stored", n)
		}
		w.audit()
	})
}
