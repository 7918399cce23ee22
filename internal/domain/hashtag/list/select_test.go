package list

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Select returns the selected hashtags in order with their metrics. It reads no other metrics.
func TestSelect(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		tags := make([]string, 300)
		for i := range tags {
			tags[i] = fmt.Sprintf("tag%03d", i)
		}
		made := w.mustCreate(t, CreateInput{Name: "Long", Platform: "instagram", Hashtags: tags})
		rate := 4.5
		w.metrics.byHashtag["instagram tag299"] = stats.Statistics{Platform: "instagram", Hashtag: "tag299", PostsPerDay: &rate}
		before := w.metrics.hashtagsRead
		got, err := w.Select(t.Context(), w.team, made.ID, func(all []Item) []Item {
			all[0], all[299] = all[299], all[0] // changes the caller's copy only
			return all[:2]
		})
		must.NoError(t, err)
		var names []string
		for _, h := range got.Hashtags {
			names = append(names, h.Hashtag)
		}
		if diff := cmp.Diff([]string{"tag299", "tag001"}, names); diff != "" || got.Size != 300 || got.Name != "Long" {
			t.Errorf("%+v %s", got.HashtagListEntry, diff)
		}
		if p := got.Hashtags[0].PostsPerDay; p == nil || *p != rate || w.metrics.hashtagsRead-before != 2 {
			t.Errorf("%v posts per day; metrics of %d hashtags were read", p, w.metrics.hashtagsRead-before)
		}
		if first := w.hashtags(t, made.ID)[0]; first != "tag000" {
			t.Errorf("the stored list begins with %s", first)
		}
		if _, err := w.Select(t.Context(), w.team+1, made.ID, func(all []Item) []Item { return all }); err == nil {
			t.Error("another team can read the list")
		}
		ready, err := w.Select(t.Context(), w.team, 1, func(all []Item) []Item { return all[:3] })
		if err != nil || !ready.ReadyMade || len(ready.Hashtags) != 3 {
			t.Errorf("%+v (%v)", ready, err)
		}
	})
}
