package postlist

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/platform/db"
)

// FamilyMember is another post of a post's family: the original post or an edited copy.
type FamilyMember struct {
	ID      string
	Status  post.Status
	Excerpt string
	First   bool // whether this is the original post
}

// Family returns the other posts of a post's family, oldest first.
func Family(ctx context.Context, d *db.DB, p post.Record) ([]FamilyMember, error) {
	out, err := db.All(ctx, d, func(rows *sql.Rows, r *FamilyMember) error {
		err := rows.Scan(&r.ID, &r.Status, &r.Excerpt)
		r.First = r.ID == p.FamilyID()
		return err
	}, familyQuery, p.TeamID, p.FamilyID(), p.ID, p.TeamID, p.FamilyID(), p.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the family of a post: %w", err)
	}
	return out, nil
}

const familyQuery = `SELECT id, status, excerpt FROM posts WHERE team_id = ? AND id = ? AND id <> ? UNION ALL
	SELECT id, status, excerpt FROM posts WHERE team_id = ? AND replaces = ? AND replaces <> '' AND id <> ? ORDER BY id`
