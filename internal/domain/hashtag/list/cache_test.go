package list

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/stats"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/hashtaganalysis"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

var _ operation.JSONEncoder = HashtagList{}

// A cached list equals a list read from the database after a change to its hashtags, its name, or
// the metrics of its hashtags.
func TestCache(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w env) {
		metrics := stats.New(w.db)
		w.Statistics = metrics
		l := w.mustCreate(t, CreateInput{Name: "Coffee <&>", Platform: "instagram", Hashtags: []string{"coffee", "latte"}})
		fresh := *w.Service
		look := func() string {
			t.Helper()
			fresh.cache = &listCache{lists: map[int64]cacheEntry{}}
			var first string
			for _, s := range []*Service{&fresh, w.Service, w.Service} {
				answer := must.Get(s.get(t.Context(), w.call("get_hashtag_list"), GetInput{ListID: l.ID}))(t)
				quick := must.Get(answer.Data.JSON())(t)
				slow := must.Get(operation.JSON(struct {
					HashtagListEntry
					Hashtags []ListedHashtag `json:"hashtags"`
				}{answer.Data.HashtagListEntry, answer.Data.Hashtags}))(t)
				if first == "" {
					first = string(quick)
				}
				if string(quick) != string(slow) || string(quick) != first || !json.Valid(quick) {
					t.Fatalf("opened: %s and %s, at first %s", quick, slow, first)
				}
			}
			return first
		}
		var before string
		for i, change := range []func() error{
			func() error { return nil },
			func() error {
				_, err := w.add(t.Context(), w.call("add_hashtags"), AddInput{ListID: l.ID,
					Hashtags: []string{"espresso"}})
				return err
			},
			func() error { return w.Remove(t.Context(), w.team, auditlog.Actor{}, l.ID, "latte") },
			func() error {
				_, err := w.Change(t.Context(), w.team, auditlog.Actor{}, l.ID, Change{Name: new("Tea")})
				return err
			},
			func() error {
				learned := stats.Observation{Statistics: stats.Statistics{Platform: provider.Instagram, Hashtag: "coffee",
					Posts: &hashtaganalysis.TagPosts{Count: 7, Basis: hashtaganalysis.Measured}, MeasuredAt: w.db.Now()}}
				return w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
					return metrics.Record(ctx, tx, learned)
				})
			},
		} {
			must.NoError(t, change())
			now := look()
			if now == before {
				t.Errorf("change %d is missing from the cached list: %s", i, now)
			}
			before = now
		}
	})
}

// The size of the cache is limited.
func TestCacheSize(t *testing.T) {
	t.Parallel()
	o := &listCache{lists: map[int64]cacheEntry{}}
	for id := range int64(200) {
		o.put(List{ID: id % 150}, 1, cacheEntry{json: make([]byte, 1<<20)})
		total := 0
		for _, e := range o.lists {
			total += len(e.json)
		}
		if total != o.bytes || total > maxCacheBytes {
			t.Fatal(fmt.Sprint(total, " bytes, counted ", o.bytes))
		}
	}
}

// ignoreEncodedJSON drops the encoded JSON for comparisons.
var ignoreEncodedJSON = cmpopts.IgnoreUnexported(HashtagList{})
