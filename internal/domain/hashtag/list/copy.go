package list

import (
	"context"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// CopyHashtags adds the hashtags of a list, with their subcategories, to one of the team's lists. It does not change
// hashtags that are already in that list, so the call is idempotent.
func (s *Service) CopyHashtags(ctx context.Context, call operation.Call, sourceID, targetID int64) (HashtagListChange, error) {
	if err := call.Require(access.Write); err != nil {
		return HashtagListChange{}, err
	}
	source, items, err := s.findWithItems(ctx, call.TeamID, sourceID)
	if err == nil && !source.isReadyMade() {
		items, err = s.queryItems(ctx, source)
	}
	if err != nil {
		return HashtagListChange{}, err
	}
	var out HashtagListChange
	err = s.db.InTx(ctx, "hashtags.fill", func(ctx context.Context, tx *db.Tx) error {
		l, err := s.lock(ctx, tx, call.TeamID, targetID)
		if err != nil {
			return err
		}
		out = HashtagListChange{
			HashtagListEntry: newEntry(l), Added: []string{}, AlreadyPresent: []string{},
			Refused: []HashtagListChangeRefused{},
		}
		for _, group := range groupBySubcategory(items) {
			c, err := s.addHashtags(ctx, tx, call, &l, group.tags, group.name)
			if err != nil {
				return err
			}
			out = HashtagListChange{c.HashtagListEntry, append(out.Added, c.Added...),
				append(out.AlreadyPresent, c.AlreadyPresent...),
				append(out.Refused, c.Refused...)}
		}
		if len(out.Added) == 0 {
			return nil
		}
		return auditlog.Record(ctx, tx, l.TeamID, auditlog.NewActor(call), "hashtag_list.added_to", formatID(l.ID),
			map[string]any{"hashtags": len(out.Added)})
	})
	return out, err
}

// group holds the hashtags of a subcategory.
type group struct {
	name string
	tags []string
}

// groupBySubcategory groups hashtags by subcategory, in order of first appearance.
func groupBySubcategory(items []Item) []group {
	var out []group
	indexByName := map[string]int{}
	for _, i := range items {
		n, ok := indexByName[i.Subcategory]
		if !ok {
			n = len(out)
			indexByName[i.Subcategory], out = n, append(out, group{name: i.Subcategory})
		}
		out[n].tags = append(out[n].tags, i.Hashtag)
	}
	return out
}
