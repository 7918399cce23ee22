package server

import (
	"context"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/hashtag/list"
	"pressroom.example/pressroom/internal/platform/db"
)

// demoList is the ID of the ready-made list about coffee and baking. Its hashtags are measured for the demo team.
const demoList = int64(2)

// demoLists are the demo team's own lists.
var demoLists = []operation.Arguments{
	{
		"name": "Café days", "platform": "instagram", "color": "#c9752b", "icon": "ri-cup-line",
		"hashtags": []any{
			"coffee", "coffeetime", "coffeeshop", "cafe", "latteart", "espresso", "baristalife", "morningcoffee",
			"coffeelover", "specialtycoffee", "flatwhite",
		},
	},
	{
		"name": "On the quay", "color": "#2f7dc4", "icon": "ri-map-pin-line",
		"hashtags": []any{"harbour", "waterfront", "quay", "harbourlife", "goldenhour", "sailing", "weekendvibes", "seaside"},
	},
	{
		"name": "Winter market", "color": "#cf4a3c", "icon": "ri-gift-line",
		"hashtags": []any{"wintermarket", "christmasmarket", "wintercoffee", "hotchocolate", "mulledwine", "giftideas", "shoplocal"},
	},
}

// addSampleLists creates the demo team's own hashtag lists.
func (q *Quickstart) addSampleLists(ctx context.Context) error {
	for _, l := range demoLists {
		if _, err := q.call(ctx, "create_hashtag_list", l); err != nil {
			return fmt.Errorf("creating a demo hashtag list: %w", err)
		}
	}
	return nil
}

// addSampleHashtags enqueues measurements of the hashtags in demoList. Measurements within the weekly hashtag quota of
// the operator's accounts take only seconds.
func (q *Quickstart) addSampleHashtags(ctx context.Context) error {
	out, err := q.call(ctx, "get_hashtag_list", operation.Arguments{"list_id": demoList})
	if err != nil {
		return err
	}
	hashtags, ok := out.Data.(list.HashtagList)
	if !ok {
		return errors.New("reading a ready-made list: unexpected result")
	}
	var names []string
	for _, h := range hashtags.Hashtags {
		names = append(names, h.Hashtag)
	}
	return q.db.InTx(ctx, "quickstart.hashtags", func(ctx context.Context, tx *db.Tx) error {
		if err := q.hashtagStats.Enqueue(ctx, tx, "", names); err != nil {
			return fmt.Errorf("enqueuing the demo hashtags: %w", err)
		}
		return nil
	})
}
