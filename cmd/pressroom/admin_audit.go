package main

import (
	"context"
	"errors"
	"log/slog"

	"pressroom/internal/domain/credit"
	"pressroom/internal/domain/media"
	"pressroom/internal/server"
)

type adminAudit struct{ storeFlags }

// audited is what the audit found: of the ledger, and of the media library.
type audited struct {
	credit.Report

	Library []media.Finding `json:"library_complaints"`
}

// Run audits the ledger and the library and prints what it found.
func (c adminAudit) Run(ctx context.Context, p *program, log *slog.Logger) error {
	var found audited
	err := with(ctx, c.storeFlags, p, log, func(s *server.Server) (audited, error) {
		var err error
		if found.Report, err = s.Credits.Audit(ctx); err != nil {
			return found, err
		}
		found.Library, err = s.Media.Audit(ctx)
		return found, err
	})
	switch {
	case err == nil && !found.Sound():
		return errors.New("the ledger does not add up: see the complaints")
	case err == nil && len(found.Library) > 0:
		return errors.New("the media library and its files do not agree: see the complaints")
	}
	return err
}
