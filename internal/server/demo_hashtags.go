package server

import (
	"context"
	"errors"
	"fmt"

	"pressroom/internal/core/operation"
	"pressroom/internal/domain/hashtag/list"
	"pressroom/internal/platform/db"
)

// demoList is the ready-made list whose figures the demo team finds: that on coffee and baking.
const demoList = int64(2)

// sampleHashtags has hashtags measured that no list of the team holds. The sandbox networks tell of them within
// seconds, as long as there are no more than the operator's accounts may ask for in the background.
func (q *Quickstart) sampleHashtags(ctx context.Context) error {
	out, err := q.ask(ctx, "get_hashtag_list", operation.Arguments{"list_id": demoList})
	if err != nil {
		return err
	}
	opened, ok := out.Data.(list.HashtagList)
	if !ok {
		return errors.New("a ready-made list cannot be read")
	}
	var wanted []string
	for _, h := range opened.Hashtags {
		wanted = append(wanted, h.Hashtag)
	}
	return q.db.InTx(ctx, "quickstart.hashtags", func(ctx context.Context, tx *db.Tx) error {
		if err := q.figures.Enqueue(ctx, tx, "", wanted); err != nil {
			return fmt.Errorf("asking for the demo's hashtags: %w", err)
		}
		return nil
	})
}
