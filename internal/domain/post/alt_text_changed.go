package post

import (
	"context"
	"database/sql"
	"fmt"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// RequestReapprovalForMedia requests approval again for unsent posts that use a file whose alternative text changes.
// Clients approve the alternative text too, because it is published with the post. RequestReapprovalForMedia runs in
// the transaction that changes the text.
func RequestReapprovalForMedia(ctx context.Context, tx *db.Tx, person, team, media int64) error {
	posts, err := db.All(ctx, tx, func(rows *sql.Rows, p *Record) error {
		p.TeamID = team
		return rows.Scan(&p.ID, &p.Approval, &p.Round)
	}, `UPDATE posts SET updated_at = ?
		WHERE team_id = ? AND status IN ('draft', 'scheduled') AND approval <> 'not_needed'
		AND id IN (SELECT post_id FROM post_media WHERE media_id = ? UNION SELECT post_id FROM post_target_media
		WHERE media_id = ?)
		RETURNING id, approval, approval_round`, db.Micros(tx.Now()), team, media, media)
	if err != nil {
		return fmt.Errorf("finding posts with file %d: %w", media, err)
	}
	for i := range posts {
		p := &posts[i]
		kind, err := reopenApproval(ctx, tx, p)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `UPDATE posts SET approval = ?, approval_round = ? WHERE id = ?`, string(p.Approval),
			p.Round, p.ID)
		if err != nil {
			return fmt.Errorf("requesting approval again: %w", err)
		}
		detail := map[string]any{"changed": []string{"alt_text"}, "approval": p.Approval}
		if err := auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, kind, p.ID, detail); err != nil {
			return err
		}
	}
	return nil
}
