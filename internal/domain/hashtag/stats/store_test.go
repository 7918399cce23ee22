package stats_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestEnqueueInBatches(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		var tags []string
		for i := range 1234 {
			tags = append(tags, fmt.Sprintf("tag%d", i*541%1234))
		}
		w.enqueue(provider.TikTok, tags...)
		at := w.clock.Now()
		must.NoError(t, w.store.EnqueueInBatches(t.Context(), provider.Instagram, tags))
		const rows = `SELECT hashtag || ' ' || wanted_at || ' ' || due_at || ' ' || turn FROM hashtags
			WHERE platform = `
		ahead := w.queryLines(rows + `'instagram'`)
		if diff := cmp.Diff(w.queryLines(rows+`'tiktok'`), ahead); diff != "" || len(ahead) != 1234 ||
			!at.Equal(w.clock.Now()) {
			t.Errorf("%d hashtags %s", len(ahead), diff)
		}
		w.clock.Advance(time.Hour)
		w.enqueue("", tags...)
		if diff := cmp.Diff(ahead, w.queryLines(rows+`'instagram'`)); diff != "" {
			t.Errorf("wanted again: %s", diff)
		}
	})
}

func TestEnqueueAddsHashtags(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.enqueue(provider.TikTok, "tea")
		w.enqueue("", "sea", "größe", "旅行", "sea")
		w.enqueue(provider.Instagram)
		got := w.queryLines(`SELECT platform || '/' || hashtag FROM hashtags WHERE due_at > 0 AND wanted_at > 0`)
		want := []string{"instagram/größe", "instagram/sea", "instagram/旅行", "tiktok/größe", "tiktok/sea", "tiktok/tea",
			"tiktok/旅行"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if found := w.get("", "sea", "tea"); len(found) != 0 {
			t.Errorf("unmeasured hashtags have metrics: %v", found)
		}
	})
}

// The hashtags of the largest list are requested and read with few statements.
func TestManyHashtags(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		tags := numberTags("tag", 5000)
		w.enqueue("", tags...)
		w.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE hashtags SET measured_at = 7, posts_per_day = 3`)
			return err
		})
		if found := w.get("", tags...); len(found) != 5000 || *found["tag4999"].PostsPerDay != 3 ||
			found["tag17"].Platform != provider.Instagram {
			t.Errorf("%d hashtags were found", len(found))
		}
		if found := w.get(provider.TikTok, tags...); len(found) != 5000 || found["tag17"].Platform != provider.TikTok {
			t.Errorf("%d hashtags were found", len(found))
		}
	})
}

// Without a platform, metrics of Instagram are preferred.
func TestMetricsPreferInstagram(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.record(provider.Instagram, w.metrics("both", 10))
		w.record(provider.TikTok, w.metrics("both", 20))
		w.record(provider.TikTok, w.metrics("one", 30))
		w.enqueue(provider.Instagram, "one", "none")
		got := map[string]int64{}
		for name, f := range w.get("", "both", "one", "none", "absent") {
			got[f.Platform+"/"+name] = f.Posts.Count
		}
		if diff := cmp.Diff(map[string]int64{"instagram/both": 10, "tiktok/one": 30}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRecord(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		f := w.metrics("sea", 123)
		for i := range 8 {
			f.Recent = append(f.Recent, provider.Post{ID: string(rune('a' + i)), TakenAt: w.db.Now().Add(-day / 2),
				Likes: new(int64(10))})
		}
		w.record(provider.Instagram, f)
		want := stats.Analyze(provider.Instagram, f, w.db.Now()).Statistics
		if want.Score == nil || want.PostsPerDay == nil || *want.PostsPerDay != 9 ||
			*want.Posts != (hashtaganalysis.TagPosts{Count: 123, Basis: hashtaganalysis.Measured}) {
			t.Errorf("read: %+v", want)
		}
		if diff := cmp.Diff(map[string]stats.Statistics{"sea": want}, w.get(provider.Instagram, "sea",
			"lake")); diff != "" {
			t.Error(diff)
		}
		// Missing metrics stay unknown.
		w.record(provider.TikTok, provider.HashtagMetrics{Hashtag: "sea"})
		if diff := cmp.Diff(stats.Statistics{Platform: provider.TikTok, Hashtag: "sea", MeasuredAt: began},
			w.get(provider.TikTok, "sea")["sea"]); diff != "" {
			t.Error(diff)
		}
		w.audit()
	})
}

// Concurrent requests for the same hashtags in different orders all succeed.
func TestConcurrentEnqueue(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		var all sync.WaitGroup
		for n := range 12 {
			all.Go(func() {
				tags := numberTags("tag", 300)
				rand.New(rand.NewPCG(uint64(n), 1)).Shuffle(len(tags), func(i, j int) {
					tags[i], tags[j] = tags[j],
						tags[i]
				})
				err := w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
					if n%3 == 0 {
						return w.store.RecordPosts(ctx, tx, provider.Instagram, []provider.Post{post("1", tags[:30]...),
							post("2", tags[30:60]...), post("3", tags[60:90]...)})
					}
					return w.store.Enqueue(ctx, tx, "", tags)
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if n := w.count(`SELECT COUNT(*) FROM hashtags`); n != 600 {
			t.Errorf("there are %d hashtags", n)
		}
		w.audit()
	})
}

// The first hashtags of each list come before the last hashtags of a long list.
func TestQueueFairness(t *testing.T) {
	forEachDatabase(t, func(w *env) {
		w.enqueue(provider.Instagram, numberTags("long", 20)...)
		w.clock.Advance(3*day + tick)
		w.enqueue(provider.Instagram, "short0", "short1")
		asked := w.measureAll(w.background())
		if i := slices.Index(asked, "instagram/short0"); i != 4 || asked[6] != "instagram/short1" || len(asked) != 22 {
			t.Errorf("requested in this order: %v", asked)
		}
	})
}
