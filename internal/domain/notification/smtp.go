package notification

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"net/url"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"
)

// Server describes the mail server that pressroom uses to send emails.
type Server struct {
	// URL is smtp://USER:PASSWORD@HOST:PORT for a server with STARTTLS, or smtps:// for a server with implicit TLS. The
	// query ?tls=none disables encryption, for a server on the same machine. If URL is empty, no emails are sent.
	URL  string
	From string // the sender's address
}

const sendTimeout = 30 * time.Second

// Sender returns a function that sends an email, or nil if no server is configured.
func (s Server) Sender() (func(context.Context, Mail) error, error) {
	if s.URL == "" {
		return nil, nil //nolint:nilnil // mail is optional
	}
	from, err := netmail.ParseAddress(s.From)
	if err != nil {
		return nil, fmt.Errorf("invalid sender's address (--mail-from): %w", err)
	}
	client, err := s.newClient()
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, m Mail) error {
		msg := mail.NewMsg()
		if err := errors.Join(msg.FromFormat(from.Name, from.Address), msg.To(m.To)); err != nil {
			return fmt.Errorf("addressing an email: %w", err)
		}
		msg.Subject(m.Subject)
		msg.SetMessageIDWithValue(m.ID + "." + from.Address)
		msg.SetDate()
		msg.SetGenHeader("Auto-Submitted", "auto-generated")
		msg.SetBodyString(mail.TypeTextPlain, m.Text)
		if m.HTML != "" {
			msg.AddAlternativeString(mail.TypeTextHTML, m.HTML)
		}
		if m.Unsubscribe != "" {
			msg.SetGenHeader("List-Unsubscribe", "<"+m.Unsubscribe+">")
			msg.SetGenHeader("List-Unsubscribe-Post", "List-Unsubscribe=One-Click")
		}
		if err := client.DialAndSendWithContext(ctx, msg); err != nil {
			return fmt.Errorf("sending an email: %w", err)
		}
		return nil
	}, nil
}

func (s Server) newClient() (*mail.Client, error) {
	u, err := url.Parse(s.URL)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("the mail server (--smtp) must be smtp://USER:PASSWORD@HOST:PORT or smtps://…")
	}
	opts := []mail.Option{mail.WithTimeout(sendTimeout), mail.WithTLSPortPolicy(mail.TLSMandatory)}
	switch {
	case u.Scheme == "smtps":
		opts = append(opts, mail.WithSSLPort(false))
	case u.Query().Get("tls") == "none":
		opts = append(opts, mail.WithTLSPortPolicy(mail.NoTLS))
	}
	if port := u.Port(); port != "" {
		n, err := strconv.Atoi(port)
		if err != nil {
			return nil, fmt.Errorf("invalid port of the mail server (--smtp): %w", err)
		}
		opts = append(opts, mail.WithPort(n))
	}
	if u.User != nil {
		password, _ := u.User.Password()
		kind := mail.SMTPAuthAutoDiscover
		if u.Query().Get("tls") == "none" {
			kind = mail.SMTPAuthPlainNoEnc
		}
		opts = append(opts, mail.WithSMTPAuth(kind), mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	client, err := mail.NewClient(u.Hostname(), opts...)
	if err != nil {
		return nil, fmt.Errorf("invalid mail server (--smtp): %w", err)
	}
	return client, nil
}
