package postlist

import (
	"context"
	"fmt"

	"pressroom.example/pressroom/internal/platform/db"
)

// ListIDs returns the IDs of the first posts that a filter selects, in the order of the list.
func ListIDs(ctx context.Context, d *db.DB, team int64, f Filter, limit int) ([]string, error) {
	text, args, err := listQuery(team, f, "", limit)
	if err != nil {
		return nil, err
	}
	entries, err := db.All(ctx, d, scanEntry, text, args...)
	if err != nil {
		return nil, fmt.Errorf("listing the IDs of the posts of team %d: %w", team, err)
	}
	entries = entries[:min(limit, len(entries))]
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return ids, nil
}

// ListByID returns a team's posts with the given IDs, in the order of ids. It omits posts of other teams.
func ListByID(ctx context.Context, d *db.DB, team int64, ids []string) ([]Entry, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := db.All(ctx, d, scanEntry, `SELECT p.id, p.status, p.excerpt, p.scheduled_at, p.planned_day, p.published_at, p.updated_at,
		p.series_id, p.slot_at FROM posts p WHERE p.team_id = ? AND p.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading posts of team %d: %w", team, err)
	}
	byID := make(map[string]Entry, len(found))
	for _, e := range found {
		byID[e.ID] = e
	}
	page := make([]Entry, 0, len(ids))
	for _, id := range ids {
		if e, ok := byID[id]; ok {
			page = append(page, e)
		}
	}
	return page, addDetails(ctx, d, team, page)
}
