package team

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/auth/passwords"
	"pressroom.example/pressroom/internal/auth/throttle"
	"pressroom.example/pressroom/internal/domain/team/knownbrowser"
	"pressroom.example/pressroom/internal/platform/db"
)

// KnownFor reports whether a browser is known for a person.
func (s *Service) KnownFor(ctx context.Context, d *db.DB, person int64, browser string) bool {
	known, err := knownbrowser.Tokens(ctx, d, browser, d.Now())
	return err == nil && known[person] != ""
}

// HoldHashes occupies all slots for hashing passwords of strangers until the returned function is called. Waiting
// requests do not time out.
func (s *SignIns) HoldHashes() func() {
	s.hashQueue = passwords.NewQueue(time.Hour)
	return s.hashQueue.Hold()
}

// ChargeSite counts wrong passwords for a site until only one more is allowed.
func (s *SignIns) ChargeSite(site string) {
	for range sitePolicy.FreeAttempts - 1 {
		s.bySite.Charge(throttle.NewKey("site %s", site))
	}
}
