package post

import (
	"context"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/platform/db"
)

// CodeMissedApproval is the error code of accounts whose post was not approved in time.
const CodeMissedApproval = "missed_waiting_approval"

// MissedApproval reports whether the post was due before its client approved it. Such a post is never sent
// automatically.
func (p Record) MissedApproval() bool {
	return slices.ContainsFunc(p.Targets, func(t Target) bool {
		return t.State == TargetFailed && t.ErrorCode == CodeMissedApproval
	})
}

// OpenRound starts a new approval round for the current version of the post. The caller stores the post.
func OpenRound(ctx context.Context, tx *db.Tx, p *Record) error {
	p.Approval, p.Round = Waiting, p.Round+1
	if _, err := tx.Exec(ctx, `INSERT INTO post_approvals (post_id, round, opened_at) VALUES (?, ?, ?)`, p.ID,
		p.Round, db.Micros(tx.Now())); err != nil {
		return fmt.Errorf("opening an approval round: %w", err)
	}
	if _, err := tx.Exec(ctx, `UPDATE posts SET approval_sent = 0 WHERE id = ? AND team_id = ?`, p.ID,
		p.TeamID); err != nil {
		return fmt.Errorf("resetting approval links: %w", err)
	}
	return nil
}

// reopenApproval starts a new approval round for a changed post if it was sent to a client. It returns the kind of the
// audit event for the change. The caller stores the post.
func reopenApproval(ctx context.Context, tx *db.Tx, p *Record) (string, error) {
	kind := "post.changed"
	switch p.Approval {
	case NotNeeded:
		return kind, nil
	case Approved, Rejected:
		kind = "post.returned"
	case Waiting:
	}
	return kind, OpenRound(ctx, tx, p)
}
