package server

import (
	"context"
	"time"

	"pressroom/internal/delivery"
)

// LateByDefault is how late a post may still go out after a hold.
const LateByDefault = time.Hour

// Resume lifts the hold of a database that was restored or copied, see delivery.Service.Resume. With try it only tells what
// it would do.
func (s *Server) Resume(ctx context.Context, late time.Duration, try bool) (delivery.Reckoning, error) {
	return s.Delivery.Resume(ctx, delivery.ResumeOptions{Late: late, Try: try, Mail: s.Notices.Forgo})
}
