// Package media is a team's library: images and videos, the folders they lie in, and the ways by which they arrive.
package media

import "pressroom/internal/db"

// Service does what the operations say.
type Service struct {
	db *db.DB
}

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d} }
