package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"pressroom/internal/fault"
	"pressroom/internal/server"
	"pressroom/internal/team"
)

type (
	adminPeople struct {
		Add      adminPeopleAdd      `cmd:"" help:"Add a person. The password is read from standard input where --password-stdin is given."`
		List     adminPeopleList     `cmd:"" help:"List people."`
		Hold     adminPeopleHold     `cmd:"" help:"Put a person's account on hold: no assistant of the person works, and no key or assistant of the teams that the person owns."`
		Release  adminPeopleRelease  `cmd:"" help:"End a hold."`
		Recover  adminPeopleRecover  `cmd:"" help:"Print a link by which a person sets a new password. It works once, for an hour."`
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
		Email string `arg:"" help:"The person's e-mail address."`
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
	switch f := fault.Of(err); {
	case err == nil || f.Code == fault.Internal:
		return err
	case f.Code == fault.NotFound:
		return errors.New("there is no such team")
	default:
		return errors.New(f.Detail)
	}
}

// recovered is a link for a person; whoever has it can become that person.
type recovered struct {
	team.Recovery

	Link string `json:"link"`
}

// Run prints a link by which a person sets a new password.
func (c adminPeopleRecover) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if !isAddress(c.PublicURL) {
		return errPublicURL
	}
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (recovered, error) {
		r, err := s.Teams.Recover(ctx, c.Email)
		return recovered{r, c.link(team.RecoveryPath, r.Token)}, err
	})
}

// Run says whether a person runs the service.
func (c adminPeopleOperator) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) {
		var changed team.Person
		err := c.change(ctx, s, func(ctx context.Context) error {
			var err error
			changed, err = s.Teams.SetOperator(ctx, c.Email, c.On)
			return err
		})
		return changed, err
	})
}
