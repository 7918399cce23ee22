package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"pressroom/internal/access"
	"pressroom/internal/network"
	"pressroom/internal/seal"
	"pressroom/internal/server"
	"pressroom/internal/team"
)

// adminCmd is the operator's. It works on the database itself; a running service sees a change within a second.
type adminCmd struct {
	JSON bool `help:"Print JSON."`

	SealingKey adminSealingKey `cmd:"" help:"Print a new sealing key."`
	People     struct {
		Add  adminPeopleAdd  `cmd:"" help:"Add a person. The password is read from standard input where --password-stdin is given."`
		List adminPeopleList `cmd:"" help:"List people."`
	} `cmd:"" help:"People."`
	Teams struct {
		Add    adminTeamsAdd    `cmd:"" help:"Add a team with its owner."`
		List   adminTeamsList   `cmd:"" help:"List teams."`
		Member adminTeamsMember `cmd:"" help:"Give a person a role in a team."`
	} `cmd:"" help:"Teams."`
	Keys struct {
		Add    adminKeysAdd    `cmd:"" help:"Make an API key of a team's owner and print it; it is shown this once."`
		List   adminKeysList   `cmd:"" help:"List a team's keys."`
		Level  adminKeysLevel  `cmd:"" help:"Change what a key may do."`
		Revoke adminKeysRevoke `cmd:"" help:"End a key for good."`
	} `cmd:"" help:"API keys."`
	Accounts struct {
		Connect adminAccountsConnect `cmd:"" help:"Connect a Bluesky account by an app password, read from standard input."`
	} `cmd:"" help:"Social accounts."`
}

type (
	adminSealingKey struct{}
	adminPeopleAdd  struct {
		storeFlags
		Name          string `required:"" help:"The person's name."`
		Email         string `required:"" help:"The person's e-mail address."`
		PasswordStdin bool   `help:"Read a password from standard input."`
	}
	adminPeopleList struct{ storeFlags }
	adminTeamsAdd   struct {
		storeFlags
		Name     string `required:"" help:"The team's name."`
		Owner    int64  `required:"" help:"The owner: a person's id."`
		Timezone string `default:"UTC" help:"The team's time zone, an IANA name such as Europe/Berlin."`
		Language string `default:"en" help:"The language the team writes in, BCP 47."`
		Plan     string `default:"team" help:"The team's plan: free, creator, team or agency."`
	}
	adminTeamsList   struct{ storeFlags }
	adminTeamsMember struct {
		storeFlags
		Team   int64  `required:"" help:"The team's id."`
		Person int64  `required:"" help:"The person's id."`
		Role   string `required:"" enum:"owner,admin,editor,viewer,client" help:"owner, admin, editor, viewer or client."`
	}
	adminKeysAdd struct {
		storeFlags
		Team    int64         `required:"" help:"The team's id."`
		Name    string        `default:"key" help:"A name by which people know the key."`
		Level   string        `default:"read_only" enum:"read_only,drafts,full" help:"read_only, drafts or full."`
		Expires time.Duration `help:"How long the key works, such as 720h; for ever where not given."`
	}
	adminKeysList struct {
		storeFlags
		Team int64 `required:"" help:"The team's id."`
	}
	adminKeysLevel struct {
		storeFlags
		Key   int64  `required:"" help:"The key's id."`
		Level string `required:"" enum:"read_only,drafts,full" help:"read_only, drafts or full."`
	}
	adminKeysRevoke struct {
		storeFlags
		Key int64 `required:"" help:"The key's id."`
	}
	adminAccountsConnect struct {
		storeFlags
		Team       int64  `required:"" help:"The team's id."`
		Server     string `default:"https://bsky.social" help:"Address of the account's server."`
		Identifier string `required:"" help:"The account's handle or e-mail address."`
	}
)

// open opens the service without serving.
func (f storeFlags) open(ctx context.Context, log *slog.Logger) (*server.Server, error) {
	cfg, err := f.config(log)
	if err != nil {
		return nil, err
	}
	return server.Open(ctx, cfg)
}

// with runs some work on an opened service and prints what it returns.
func with[T any](ctx context.Context, f storeFlags, a *program, log *slog.Logger, work func(*server.Server) (T, error)) error {
	s, err := f.open(ctx, log)
	if err != nil {
		return err
	}
	out, err := work(s)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	return show(os.Stdout, a.Admin.JSON, out)
}

// show prints a record or a list of them: as JSON, or as name=value a line.
func show(w io.Writer, asJSON bool, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if asJSON {
		_, err = fmt.Fprintln(w, string(raw))
		return err
	}
	return showPlain(w, raw)
}

type done struct {
	Done bool `json:"done"`
}

// Run prints a new sealing key.
func (adminSealingKey) Run() error {
	key, err := seal.NewKey()
	if err != nil {
		return err
	}
	_, err = fmt.Println(key)
	return err
}

// Run adds a person.
func (c adminPeopleAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	password := ""
	if c.PasswordStdin {
		var err error
		if password, err = readSecret(os.Stdin); err != nil {
			return err
		}
	}
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Person, error) { return s.Teams.AddPerson(ctx, c.Name, c.Email, password) })
}

// Run lists people.
func (c adminPeopleList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Person, error) { return s.Teams.People(ctx) })
}

// Run adds a team.
func (c adminTeamsAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Team, error) {
		return s.Teams.AddTeam(ctx, team.Team{Name: c.Name, Timezone: c.Timezone, Language: c.Language, Plan: c.Plan}, c.Owner)
	})
}

// Run lists teams.
func (c adminTeamsList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Team, error) { return s.Teams.Teams(ctx) })
}

// Run gives a person a role.
func (c adminTeamsMember) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (done, error) {
		return done{true}, s.Teams.SetMember(ctx, c.Team, c.Person, access.Role(c.Role))
	})
}

// Run makes a key.
func (c adminKeysAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	type made struct {
		team.Key
		Value string `json:"key"`
	}
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (made, error) {
		var expires time.Time
		if c.Expires > 0 {
			expires = time.Now().Add(c.Expires)
		}
		k, value, err := s.Teams.AddKey(ctx, c.Team, c.Name, access.Level(c.Level), expires)
		return made{k, value}, err
	})
}

// Run lists keys.
func (c adminKeysList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Key, error) { return s.Teams.Keys(ctx, c.Team) })
}

// Run changes a key's level.
func (c adminKeysLevel) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (done, error) {
		return done{true}, s.Teams.SetKeyLevel(ctx, c.Key, access.Level(c.Level))
	})
}

// Run revokes a key.
func (c adminKeysRevoke) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (done, error) { return done{true}, s.Teams.RevokeKey(ctx, c.Key) })
}

// Run connects a Bluesky account.
func (c adminAccountsConnect) Run(ctx context.Context, p *program, log *slog.Logger) error {
	type connected struct {
		ID       int64  `json:"id"`
		Platform string `json:"platform"`
		Username string `json:"username"`
	}
	password, err := readSecret(os.Stdin)
	if err != nil {
		return err
	}
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (connected, error) {
		a, err := s.Accounts.Connect(ctx, c.Team, "bluesky", network.Credentials{Server: c.Server, Identifier: c.Identifier, Password: password})
		return connected{a.ID, a.Platform, a.Username}, err
	})
}

// readSecret reads one line, so that a secret stands neither in the command line nor in its history.
func readSecret(r io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, 4096))
	if err != nil {
		return "", fmt.Errorf("reading the password from standard input: %w", err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", errors.New("no password came on standard input; send it as one line")
	}
	return line, nil
}
