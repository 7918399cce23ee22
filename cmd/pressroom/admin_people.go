package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/notification"
	"pressroom/internal/domain/team"
	"pressroom/internal/server"
)

type (
	adminPeople struct {
		Add      adminPeopleAdd      `cmd:"" help:"Add a person. The password is read from standard input where --password-stdin is given."`
		List     adminPeopleList     `cmd:"" help:"List people."`
		Hold     adminPeopleHold     `cmd:"" help:"Put a person's account on hold: no assistant of the person works, and no key or assistant of the teams that the person owns."`
		Release  adminPeopleRelease  `cmd:"" help:"End a hold."`
		Recover  adminPeopleRecover  `cmd:"" help:"Print or mail a link to set a new password. It works once, for an hour."`
		Unlink   adminPeopleUnlink   `cmd:"" help:"Forget who a person is in the directory. The next sign-in by the directory with this e-mail address links the account again and removes its password, passkeys, authenticator app and assistants, because the address may belong to another person now. Teams, roles and API keys stay."`
		Operator adminPeopleOperator `cmd:"" help:"Say who runs the service: the operator's page is for them alone."`
	}
	adminPeopleAdd struct {
		storeFlags
		Name          string `required:"" help:"The person's name."`
		Email         string `required:"" help:"The person's e-mail address."`
		PasswordStdin bool   `help:"Read a password from standard input."`
	}
	adminPeopleList struct{ storeFlags }
	personFlags     struct {
		storeFlags
		Person int64 `required:"" help:"The person's id."`
	}
	adminPeopleHold struct {
		personFlags
		forceFlags
	}
	adminPeopleRelease struct{ personFlags }
	adminPeopleRecover struct {
		storeFlags
		linkFlags
		letterFlags
		Email string `arg:"" help:"The person's e-mail address."`
	}
	adminPeopleUnlink struct {
		storeFlags
		Email string `arg:"" help:"The person's e-mail address."`
	}
	// letterFlags are what a command needs that can mail its link.
	letterFlags struct {
		Mail     bool   `help:"Mail the link instead of printing it. Using it then proves the e-mail address."`
		SMTP     string `name:"smtp" help:"Mail server, as for serve." env:"PRESSROOM_SMTP"`
		MailFrom string `name:"mail-from" help:"The sender's address of mails." env:"PRESSROOM_MAIL_FROM"`
	}
	// linkFlags are what a command needs that prints a link.
	linkFlags struct {
		PublicURL string `required:"" help:"Address by which people reach the service: the link begins with it." env:"PRESSROOM_PUBLIC_URL"`
	}
	adminPeopleOperator struct {
		storeFlags
		forceFlags
		Email string `arg:"" help:"The person's e-mail address."`
		On    bool   `help:"The person runs the service." xor:"on" required:""`
		Off   bool   `help:"The person does not." xor:"on" required:""`

		Unconfirmed bool `help:"Also if nobody has proved that the e-mail address belongs to the person. Without it such an account is refused: somebody else may have made it."`
	}
	// forceFlags are what a command has that can leave nobody who runs the service in the app.
	forceFlags struct {
		Force bool `help:"Also where nobody is left then who runs the service and can sign in."`
	}
)

// Run adds a person.
func (c adminPeopleAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	password := ""
	if c.PasswordStdin {
		var err error
		if password, err = readSecret(os.Stdin); err != nil {
			return err
		}
	}
	return withNew(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) { return s.Teams.AddPerson(ctx, c.Name, c.Email, password) })
}

// Run lists people.
func (c adminPeopleList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Person, error) { return s.Teams.People(ctx) })
}

// change makes a change that is refused, unless it is forced, where it leaves nobody who runs the service in the app.
func (f forceFlags) change(ctx context.Context, s *server.Server, do func(context.Context) error) error {
	if f.Force {
		return do(ctx)
	}
	return s.Teams.KeepingOperator(ctx, do)
}

// Run puts a person's account on hold.
func (c adminPeopleHold) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return c.change(ctx, s, func(ctx context.Context) error { return s.Teams.SetHold(ctx, c.Person, true) })
	})
}

// Run ends a hold.
func (c adminPeopleRelease) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetHold(ctx, c.Person, false) })
}

func (f linkFlags) link(path, token string) string {
	return strings.TrimRight(f.PublicURL, "/") + path + token
}

// plainly is what a refusal of the app's tells on the command line.
func plainly(err error) error {
	switch f := apierr.Of(err); {
	case err == nil || f.Code == apierr.Internal:
		return err
	case f.Code == apierr.NotFound:
		return errors.New("there is no such team")
	case f.Code == apierr.ProviderUnavailable: // the app's text names the person who reads this
		return errors.New("the mail server did not accept the mail, so nothing was sent: check PRESSROOM_SMTP (--smtp), PRESSROOM_MAIL_FROM (--mail-from) and the mail server's log")
	default:
		return errors.New(f.Detail)
	}
}

// recovered is a link for a person, which gives access to the account. It is empty if it was mailed.
type recovered struct {
	team.Recovery

	Link   string `json:"link,omitempty"`
	Mailed bool   `json:"mailed,omitempty"`
}

// Run prints or mails a link to set a new password.
func (c adminPeopleRecover) Run(ctx context.Context, p *program, log *slog.Logger) error {
	cfg, err := c.letters(c.storeFlags, c.linkFlags, log)
	if err != nil {
		return err
	}
	return withConfig(ctx, cfg, p, func(s *server.Server) (recovered, error) {
		if c.Mail {
			r, err := s.Letters.Recover(ctx, c.Email)
			return recovered{Recovery: r, Mailed: true}, plainly(err)
		}
		r, err := s.Teams.Recover(ctx, c.Email)
		return recovered{Recovery: r, Link: c.link(team.RecoveryPath, r.Token)}, err
	})
}

// letters is the configuration of a command that prints or mails a link.
func (f letterFlags) letters(store storeFlags, link linkFlags, log *slog.Logger) (server.Config, error) {
	if !isAddress(link.PublicURL) {
		return server.Config{}, errPublicURL
	}
	if err := store.there(); err != nil {
		return server.Config{}, err
	}
	cfg, err := store.config(log)
	cfg.PublicURL = strings.TrimRight(link.PublicURL, "/")
	if f.Mail {
		if f.SMTP == "" {
			return cfg, errors.New("to mail a link, say by which mail server: PRESSROOM_SMTP (--smtp) and PRESSROOM_MAIL_FROM (--mail-from)")
		}
		cfg.Mail = notification.Server{URL: f.SMTP, From: f.MailFrom}
	}
	return cfg, err
}

// Run forgets who a person is in the directory, and that the e-mail address is confirmed.
func (c adminPeopleUnlink) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) { return s.Teams.Unlink(ctx, c.Email) })
}

// Run says whether a person runs the service.
func (c adminPeopleOperator) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) {
		var changed team.Person
		err := c.change(ctx, s, func(ctx context.Context) error {
			var err error
			if c.On && !c.Unconfirmed {
				changed, err = s.Teams.MakeOperator(ctx, c.Email)
			} else {
				changed, err = s.Teams.SetOperator(ctx, c.Email, c.On)
			}
			return err
		})
		return changed, err
	})
}
