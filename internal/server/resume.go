package server

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/domain/delivery"
)

// DefaultMaxLateness is the default for how late a post may be published when a hold ends.
const DefaultMaxLateness = time.Hour

// Resume ends the hold of a restored or copied database; see delivery.Service.Resume. It sets opts.SuppressMail.
func (s *Server) Resume(ctx context.Context, opts delivery.ResumeOptions) (delivery.ResumeReport, error) {
	opts.SuppressMail = s.Notifications.DiscardMail
	return s.Delivery.Resume(ctx, opts)
}
