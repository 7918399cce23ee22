package report

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
)

// GetShared returns a team's report with the requested sections, for people outside the team. The caller must check
// access.
func (s *Service) GetShared(
	ctx context.Context, team int64, zone *time.Location, in GetInput,
) (operation.Response[ReportSummary], error) {
	return s.get(ctx, operation.Call{Actor: &access.Actor{TeamID: team, Zone: zone}, Operation: "get_report",
		Now: s.db.Now()}, in)
}
