package team

import (
	"context"
	"time"

	"pressroom/internal/auth/passwords"
	"pressroom/internal/auth/throttle"
	"pressroom/internal/platform/db"
)

// KnownFor reports whether a browser is known for a person.
func (s *Service) KnownFor(ctx context.Context, d *db.DB, person int64, browser string) bool {
	known, err := knownTokens(ctx, d, browser, d.Now())
	return err == nil && known[person] != ""
}

// HoldHashes takes every hash that strangers can wait for, until the function that it returns is called. Requests wait
// for as long as the test runs.
func (s *SignIns) HoldHashes() func() {
	s.hashing = passwords.NewQueue(time.Hour)
	return s.hashing.Hold()
}

// ChargeSite counts wrong passwords of a site until only one more is free.
func (s *SignIns) ChargeSite(site string) {
	for range sitePace.Free - 1 {
		s.sites.Charge(throttle.KeyOf("site %s", site))
	}
}
