package restoreguard

import "context"

// Warn is what Watch does each time.
func (s *Service) Warn(ctx context.Context) error { return s.warn(ctx) }
