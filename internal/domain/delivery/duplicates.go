package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom/internal/network"
	"pressroom/internal/platform/db"
)

var errAlike = &network.Error{Class: network.Uncertain, Err: errors.New("looking back: another publication of the account shows the same, and what was found may be that one")}

// anothers tells whether what a look has found by what it shows may be another post's of the same words, which has put it there since
// the look began, or is about to be told so: taken for ours, ours would be said to stand and would never be sent.
func (f *flight) anothers(ctx context.Context, r network.Receipt) bool {
	// In this order: what ends between the two has its id by the second. Where the database does not tell it may be another's.
	if rival, err := f.s.rival(ctx, f.d); err != nil || rival {
		return true
	}
	shown, err := others(ctx, f.s.db, f.d)
	return err != nil || (network.Tried{Others: shown}).Another(r.ID, r.Permalink)
}

// rival tells whether another post with the same words was sent to the account and has no end yet.
func (s *Service) rival(ctx context.Context, d delivery) (bool, error) {
	posts, err := db.All(ctx, s.db, func(rows *sql.Rows, post *string) error { return rows.Scan(post) },
		`SELECT DISTINCT d.post_id FROM deliveries d WHERE d.team_id = ? AND d.phase IN ('committing', 'doubtful') AND d.account_id = ? AND d.post_id <> ?`, d.TeamID, d.AccountID, d.PostID)
	if err != nil {
		return false, fmt.Errorf("listing what else went to account %d: %w", d.AccountID, err)
	}
	if len(posts) == 0 {
		return false, nil
	}
	ours, err := s.posts.Shown(ctx, d.TeamID, d.PostID, d.AccountID)
	if err != nil {
		return false, fmt.Errorf("reading what post %s shows: %w", d.PostID, err)
	}
	return slices.ContainsFunc(posts, func(post string) bool {
		theirs, err := s.posts.Shown(ctx, d.TeamID, post, d.AccountID)
		return err != nil || sameWords(ours, theirs) // what cannot be read could be anything
	}), nil
}
