package server

import (
	"context"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/report/sharelink"
	"pressroom.example/pressroom/internal/domain/report/subscription"
	"pressroom.example/pressroom/internal/locale"
)

// buildReportMails builds the services for share links of reports and for report emails.
func (s *Server) buildReportMails(sealer *tokencrypt.Sealer) {
	s.ReportLinks = sharelink.New(s.db, s.cfg.PublicURL)
	opts := subscription.Options{
		DB: s.db, Sealer: sealer, PublicURL: s.cfg.PublicURL, Links: s.ReportLinks, Log: s.cfg.Log,
		Summarize: func(ctx context.Context, l *locale.Language, team int64, report string) (subscription.Summary, error) {
			return s.app.SummarizeReport(ctx, l, team, report)
		},
	}
	if s.Notifications.Mails() {
		opts.Send = func(ctx context.Context, m subscription.Mail) error {
			return s.Notifications.Send(ctx, notification.Mail{
				ID: m.ID, To: m.To, Subject: m.Subject, Text: m.Text, HTML: m.HTML, Unsubscribe: m.Unsubscribe,
			})
		}
	}
	s.ReportMails = subscription.New(opts)
}
