package main

import (
	"context"
	"errors"
	"log/slog"

	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/media"
	"pressroom.example/pressroom/internal/server"
)

type adminAudit struct{ storeFlags }

// auditReport is the result of auditing the ledger and the media library.
type auditReport struct {
	credit.Report

	LibraryFindings []media.Finding `json:"library_complaints"`
}

// Run audits the ledger and the media library.
func (c adminAudit) Run(ctx context.Context, p *program, log *slog.Logger) error {
	var report auditReport
	err := run(ctx, c.storeFlags, p, log, func(s *server.Server) (auditReport, error) {
		var err error
		if report.Report, err = s.Credits.Audit(ctx); err != nil {
			return report, err
		}
		report.LibraryFindings, err = s.Media.Audit(ctx)
		return report, err
	})
	switch {
	case err == nil && !report.OK():
		return errors.New("the credit ledger is inconsistent: see \"complaints\" in the output")
	case err == nil && len(report.LibraryFindings) > 0:
		return errors.New("the media library and the file store do not match: see \"library_complaints\" in the output")
	}
	return err
}
