package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/network"
	"pressroom/internal/server"
)

type (
	adminKeys struct {
		Add    adminKeysAdd    `cmd:"" help:"Make an API key of a team's owner and print it; it is shown this once."`
		List   adminKeysList   `cmd:"" help:"List a team's keys and its assistants' connections."`
		Level  adminKeysLevel  `cmd:"" help:"Change what a key may do."`
		Limit  adminKeysLimit  `cmd:"" help:"Change what a key or an assistant may spend in a day."`
		Expire adminKeysExpire `cmd:"" help:"Change until when a key or an assistant's connection works."`
		Revoke adminKeysRevoke `cmd:"" help:"End a key or an assistant's connection for good."`
	}
	adminKeysAdd struct {
		storeFlags
		Team         int64          `required:"" help:"The team's id."`
		Name         string         `default:"key" help:"A name by which people know the key."`
		Level        string         `default:"read_only" enum:"read_only,drafts,full" help:"read_only, drafts or full."`
		Expires      *time.Duration `help:"How long the key works, such as 720h; for ever where not given."`
		DailyCredits *int64         `help:"Credits the key may spend in a day of the team: 0 for none; unlimited where not given."`
	}
	adminKeysList struct{ teamFlags }
	keyFlags      struct {
		storeFlags
		Key int64 `required:"" help:"The id of the key, or of the assistant's connection."`
	}
	adminKeysLevel struct {
		keyFlags
		Level string `required:"" enum:"read_only,drafts,full" help:"read_only, drafts or full."`
	}
	adminKeysLimit struct {
		keyFlags
		DailyCredits int64 `required:"" help:"Credits the key may spend in a day of the team: 0 for none, -1 for unlimited."`
	}
	adminKeysExpire struct {
		keyFlags
		In *time.Duration `help:"How long the key still works, such as 720h; for ever where not given."`
	}
	adminKeysRevoke struct{ keyFlags }
	adminAccounts   struct {
		Connect adminAccountsConnect `cmd:"" help:"Connect a Bluesky account by an app password, read from standard input."`
	}
	adminAccountsConnect struct {
		storeFlags
		Team       int64  `required:"" help:"The team's id."`
		Server     string `default:"https://bsky.social" help:"Address of the account's server."`
		Identifier string `required:"" help:"The account's handle or e-mail address."`

		BlueskyServers []string `help:"What serve is given: a server that it will not call is warned of." env:"PRESSROOM_BLUESKY_SERVERS"`
	}
)

// Run makes a key.
func (c adminKeysAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	type made struct {
		team.Key
		Value   string `json:"key"`
		Warning string `json:"warning,omitempty"`
	}
	end, err := until(c.Expires)
	if err != nil {
		return err
	}
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (made, error) {
		k, value, err := s.Teams.AddKey(ctx, team.NewKey{Team: c.Team, Name: c.Name, Level: access.Level(c.Level), Expires: end, DailyCredits: c.DailyCredits})
		if err != nil {
			return made{}, err
		}
		warning, err := lapsed(ctx, s, c.Team)
		if warning != "" {
			log.WarnContext(ctx, warning, "team", c.Team)
		}
		return made{k, value, warning}, err
	})
}

// lapsed says that the keys of a team do not work, if its plan does not include API keys. The key is made all the same,
// because it works as soon as the team has another plan.
func lapsed(ctx context.Context, s *server.Server, team int64) (string, error) {
	plan, err := s.Teams.Plan(ctx, team)
	if err != nil || plan.APIKeys {
		return "", err
	}
	return "The team's plan does not include API keys. Every call with this key is refused with plan_lapsed until the team has a plan that does: pressroom admin teams plan.", nil
}

// Run lists keys and connections.
func (c adminKeysList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Key, error) { return s.Teams.Keys(ctx, c.Team) })
}

// Run changes a key's level.
func (c adminKeysLevel) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetKeyLevel(ctx, c.Key, access.Level(c.Level)) })
}

// Run changes what a key may spend in a day.
func (c adminKeysLimit) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetKeyLimit(ctx, c.Key, c.DailyCredits) })
}

// Run changes until when a key works.
func (c adminKeysExpire) Run(ctx context.Context, p *program, log *slog.Logger) error {
	end, err := until(c.In)
	if err != nil {
		return err
	}
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetKeyEnd(ctx, c.Key, end) })
}

// Run ends a key or a connection.
func (c adminKeysRevoke) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.RevokeKey(ctx, c.Key) })
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
	why, err := server.BarredServer(ctx, c.Server, c.BlueskyServers)
	if err != nil {
		return err
	}
	if why != "" {
		log.WarnContext(ctx, "posts of this account will not go out unless serve may call its server: "+why, "server", c.Server)
	}
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (connected, error) {
		a, err := s.Accounts.Connect(ctx, c.Team, "bluesky", network.Credentials{Server: c.Server, Identifier: c.Identifier, Password: password})
		return connected{a.ID, a.Platform, a.Username}, err
	})
}
