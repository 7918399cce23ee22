package post

import (
	"context"
	"fmt"
)

// ListAwaitingApproval returns a team's posts that wait for the client, the newest first, including those whose
// time has passed. A post without a time has a zero At.
func (s *Service) ListAwaitingApproval(ctx context.Context, team int64, most int) ([]Slot, error) {
	slots, err := s.slotsOf(ctx, team, awaitingApprovalQuery, codeMissedApproval, most)
	if err != nil {
		return nil, fmt.Errorf("listing posts that await approval in team %d: %w", team, err)
	}
	return slots, nil
}

// awaitingApprovalQuery walks the index of states. Of the failed posts it selects only those that were not
// approved in time.
const awaitingApprovalQuery = `SELECT ` + slotColumns + ` FROM posts p WHERE p.team_id = ?
	AND p.status IN ('draft', 'scheduled', 'failed')
	AND p.approval = 'waiting' AND p.is_template = 0
	AND (p.status <> 'failed' OR EXISTS (SELECT 1 FROM post_targets t WHERE t.post_id = p.id AND t.error_code = ?))
	ORDER BY p.id DESC LIMIT ?`
