package server

import (
	"context"
	"time"

	"pressroom/internal/domain/delivery"
)

// LateByDefault is how late a post may still go out after a hold.
const LateByDefault = time.Hour

// Resume lifts the hold of a database that was restored or copied, see delivery.Service.Resume. The options' mail
// is filled in.
func (s *Server) Resume(ctx context.Context, opts delivery.ResumeOptions) (delivery.ResumeReport, error) {
	opts.SuppressMail = s.Notices.DiscardMail
	return s.Delivery.Resume(ctx, opts)
}
