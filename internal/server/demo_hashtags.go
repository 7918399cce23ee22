package server

import (
	"context"
	"errors"
	"fmt"

	"pressroom/internal/db"
	"pressroom/internal/hashtag/list"
	"pressroom/internal/operation"
)

// demoLists are the ready-made lists whose figures the demo team finds: those on coffee and on food.
var demoLists = []int64{2, 1}

// sampleHashtags has hashtags measured that no list of the team holds. The sandbox networks tell of some of them each second,
// of as many as the operator's accounts may ask for.
func (q *Quickstart) sampleHashtags(ctx context.Context) error {
	var wanted []string
	for _, id := range demoLists {
		out, err := q.ask(ctx, "get_hashtag_list", operation.Arguments{"list_id": id})
		if err != nil {
			return err
		}
		opened, ok := out.Data.(list.Opened)
		if !ok {
			return errors.New("a ready-made list cannot be read")
		}
		for _, h := range opened.Hashtags {
			wanted = append(wanted, h.Hashtag)
		}
	}
	return q.db.Write(ctx, "quickstart.hashtags", func(ctx context.Context, tx *db.Tx) error {
		if err := q.figures.Want(ctx, tx, "", wanted); err != nil {
			return fmt.Errorf("asking for the demo's hashtags: %w", err)
		}
		return nil
	})
}
