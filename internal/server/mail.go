package server

import (
	"context"

	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/post/approval"
	"pressroom.example/pressroom/internal/domain/team"
)

// linkEmailSender returns a function that emails links, or nil if no mail server is configured.
func (s *Server) linkEmailSender() func(context.Context, team.LinkEmail) error {
	if !s.Notifications.Mails() {
		return nil
	}
	return func(ctx context.Context, l team.LinkEmail) error {
		err := s.Notifications.Send(ctx, notification.Mail{ID: l.ID, To: l.To, Subject: l.Subject, Text: l.Text})
		if err != nil {
			s.cfg.Log.WarnContext(ctx, "sending an email with a link failed", "mail", l.ID, "error", err)
		}
		return err
	}
}

// approvalEmailSender returns a function that emails approval links to clients, or nil if no mail server is configured.
func (s *Server) approvalEmailSender() func(context.Context, approval.Email) error {
	send := s.linkEmailSender()
	if send == nil {
		return nil
	}
	return func(ctx context.Context, e approval.Email) error { return send(ctx, team.LinkEmail(e)) }
}
