package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/lastoperator"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminPeople struct {
		Add       adminPeopleAdd       `cmd:"" help:"Add a person."`
		List      adminPeopleList      `cmd:"" help:"List people."`
		Suspend   adminPeopleSuspend   `cmd:"" aliases:"hold" help:"Suspend a person, their assistants, and the keys of teams they own."`
		Unsuspend adminPeopleUnsuspend `cmd:"" aliases:"release" help:"End a suspension."`
		Recover   adminPeopleRecover   `cmd:"" help:"Print or email a link to set a new password. The link works once, within one hour."`
		Unlink    adminPeopleUnlink    `cmd:"" help:"Unlink an account from the directory until the next sign-in through it."`
		Operator  adminPeopleOperator  `cmd:"" help:"Grant or revoke access to the operator pages."`
	}
	adminPeopleAdd struct {
		storeFlags
		Name          string `required:"" help:"Name of the person."`
		Email         string `required:"" help:"Email address of the person."`
		PasswordStdin bool   `help:"Read the password from standard input."`
	}
	adminPeopleList struct{ storeFlags }
	personFlags     struct {
		storeFlags
		Person int64 `required:"" help:"Person ID."`
	}
	adminPeopleSuspend struct {
		personFlags
		forceFlags
	}
	adminPeopleUnsuspend struct{ personFlags }
	adminPeopleRecover   struct {
		storeFlags
		linkFlags
		mailFlags
		Email string `arg:"" help:"Email address of the person."`
	}
	adminPeopleUnlink struct {
		storeFlags
		Email string `arg:"" help:"Email address of the person."`
	}
	// mailFlags are the flags of commands that can email a link.
	mailFlags struct {
		Mail bool `help:"Email the link. This is the default if a mail server is set." xor:"mail"`

		PrintLink bool `help:"Print the link instead of emailing it. Only an emailed link confirms the email address." xor:"mail"`

		SMTP     string `name:"smtp" help:"URL of the mail server, as in serve --smtp." env:"PRESSROOM_SMTP"`
		MailFrom string `name:"mail-from" help:"Sender address of email messages." env:"PRESSROOM_MAIL_FROM"`
	}
	// linkFlags are the flags of commands that print or email a link.
	linkFlags struct {
		PublicURL string `required:"" help:"Public URL of the service." env:"PRESSROOM_PUBLIC_URL"`
	}
	adminPeopleOperator struct {
		storeFlags
		forceFlags
		Email string `arg:"" help:"Email address of the person."`
		On    bool   `help:"Make the person an operator." xor:"on" required:""`
		Off   bool   `help:"Remove operator access." xor:"on" required:""`

		Unconfirmed bool `help:"Allow an account whose email address is not confirmed. The address may belong to somebody else."`
	}
	// forceFlags are the flags of commands that can remove the last operator.
	forceFlags struct {
		Force bool `help:"Proceed even if this leaves no operator who can sign in."`
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
	return runCreating(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) {
		return s.Teams.AddPerson(ctx, c.Name, c.Email, password)
	})
}

// Run lists people.
func (c adminPeopleList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Person, error) { return s.Teams.People(ctx) })
}

// options returns the options for a change that can remove an operator. Unless --force is set, the change fails if it
// leaves no operator who can sign in.
func (f forceFlags) options() []lastoperator.Option {
	if f.Force {
		return nil
	}
	return []lastoperator.Option{lastoperator.Required}
}

// Run suspends a person's account.
func (c adminPeopleSuspend) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetSuspended(ctx, c.Person, true, c.options()...)
	})
}

// Run ends a suspension.
func (c adminPeopleUnsuspend) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetSuspended(ctx, c.Person, false)
	})
}

func (f linkFlags) link(path, token string) string {
	return strings.TrimRight(f.PublicURL, "/") + path + token
}

// cliError rewords an app error for the command line.
func cliError(err error) error {
	switch f := apierr.FromError(err); {
	case err == nil || f.Code == apierr.Internal:
		return err
	case f.Code == apierr.ProviderUnavailable: // the app's text tells people to ask the operator
		return errors.New("the mail server did not accept the message; check PRESSROOM_SMTP (--smtp), " +
			"PRESSROOM_MAIL_FROM (--mail-from) and the mail server's log")
	default:
		return errors.New(f.Detail)
	}
}

// recoveryLink is the output of `pressroom admin people recover`. Link gives access to the account. It is empty if the
// link was emailed.
type recoveryLink struct {
	team.Recovery

	Link   string `json:"link,omitempty"`
	Mailed bool   `json:"mailed,omitempty"`
}

// textOutput returns the output in text form, which identifies the person by name and email address.
func (l recoveryLink) textOutput() any {
	return struct {
		Name      string    `json:"name"`
		Email     string    `json:"email"`
		ExpiresAt time.Time `json:"expires_at"`
		Link      string    `json:"link,omitempty"`
		Mailed    bool      `json:"mailed,omitempty"`
	}{l.Person.Name, l.Person.Email, l.ExpiresAt, l.Link, l.Mailed}
}

// Run prints or emails a link to set a new password.
func (c adminPeopleRecover) Run(ctx context.Context, p *program, log *slog.Logger) error {
	cfg, err := c.linkConfig(c.storeFlags, c.linkFlags, log)
	if err != nil {
		return err
	}
	return runWithConfig(ctx, cfg, p, func(s *server.Server) (any, error) {
		out, err := c.recover(ctx, s)
		if p.Admin.JSON {
			return out, err
		}
		return out.textOutput(), err
	})
}

func (c adminPeopleRecover) recover(ctx context.Context, s *server.Server) (recoveryLink, error) {
	if c.sendsMail() {
		r, err := s.LinkMailer.Recover(ctx, c.Email)
		return recoveryLink{Recovery: r, Mailed: true}, cliError(err)
	}
	r, err := s.Teams.Recover(ctx, c.Email)
	return recoveryLink{Recovery: r, Link: c.link(team.RecoveryPath, r.Token)}, err
}

// sendsMail reports whether the link is sent by email.
func (f mailFlags) sendsMail() bool { return f.Mail || f.SMTP != "" && !f.PrintLink }

// linkConfig returns the configuration of a command that prints or emails a link.
func (f mailFlags) linkConfig(store storeFlags, link linkFlags, log *slog.Logger) (server.Config, error) {
	if !isAddress(link.PublicURL) {
		return server.Config{}, errPublicURL
	}
	if err := store.checkExists(); err != nil {
		return server.Config{}, err
	}
	cfg, err := store.config(log)
	cfg.PublicURL = strings.TrimRight(link.PublicURL, "/")
	if f.sendsMail() {
		if f.SMTP == "" {
			return cfg,
				errors.New("emailing a link needs a mail server: set PRESSROOM_SMTP (--smtp) and PRESSROOM_MAIL_FROM " +
					"(--mail-from)")
		}
		cfg.Mail = notification.Server{URL: f.SMTP, From: f.MailFrom}
	}
	return cfg, err
}

// Run unlinks a person from the directory. Their email address becomes unconfirmed.
func (c adminPeopleUnlink) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) {
		return s.Teams.Unlink(ctx, c.Email)
	})
}

// Run grants or revokes operator access.
func (c adminPeopleOperator) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) {
		if c.On && !c.Unconfirmed {
			return s.Teams.MakeOperator(ctx, c.Email)
		}
		return s.Teams.SetOperator(ctx, c.Email, c.On, c.options()...)
	})
}
