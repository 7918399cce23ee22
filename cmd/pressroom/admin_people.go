package main

import (
	"context"
	"log/slog"
	"os"

	"pressroom/internal/server"
	"pressroom/internal/team"
)

type (
	adminPeople struct {
		Add     adminPeopleAdd     `cmd:"" help:"Add a person. The password is read from standard input where --password-stdin is given."`
		List    adminPeopleList    `cmd:"" help:"List people."`
		Hold    adminPeopleHold    `cmd:"" help:"Put a person's account on hold: no key of the teams that the person owns works."`
		Release adminPeopleRelease `cmd:"" help:"End a hold."`
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
	adminPeopleHold    struct{ personFlags }
	adminPeopleRelease struct{ personFlags }
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

// Run puts a person's account on hold.
func (c adminPeopleHold) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetHold(ctx, c.Person, true) })
}

// Run ends a hold.
func (c adminPeopleRelease) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetHold(ctx, c.Person, false) })
}
