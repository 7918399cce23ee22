package restoreguard

import "context"

// LogChange exports logChange.
func (s *Service) LogChange(ctx context.Context) error { return s.logChange(ctx) }
