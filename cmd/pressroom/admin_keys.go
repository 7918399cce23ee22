package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminKeys struct {
		Add    adminKeysAdd    `cmd:"" help:"Create an API key and print it. It is shown only once."`
		List   adminKeysList   `cmd:"" help:"List a team's keys and assistant connections."`
		Level  adminKeysLevel  `cmd:"" help:"Change a key's level."`
		Limit  adminKeysLimit  `cmd:"" help:"Change the daily credit limit of a key or assistant connection."`
		Expire adminKeysExpire `cmd:"" help:"Change when a key or assistant connection expires."`
		Revoke adminKeysRevoke `cmd:"" help:"Revoke a key or assistant connection."`
	}
	adminKeysAdd struct {
		storeFlags
		Team         int64          `required:"" help:"Team ID."`
		Name         string         `default:"key" help:"Name of the key."`
		Level        string         `default:"read_only" enum:"read_only,drafts,full" help:"Level: read_only, drafts or full."`
		Expires      *time.Duration `help:"Lifetime, such as 720h; unlimited if omitted."`
		DailyCredits *int64         `help:"Credits that the key can spend per day; unlimited if omitted."`
	}
	adminKeysList struct{ teamFlags }
	keyFlags      struct {
		storeFlags
		Key int64 `required:"" help:"ID of a key or an assistant connection."`
	}
	adminKeysLevel struct {
		keyFlags
		Level string `required:"" enum:"read_only,drafts,full" help:"Level: read_only, drafts or full."`
	}
	adminKeysLimit struct {
		keyFlags
		DailyCredits int64 `required:"" help:"Credits that can be spent per day; -1 for unlimited."`
	}
	adminKeysExpire struct {
		keyFlags
		In *time.Duration `help:"Lifetime from now, such as 720h; unlimited if omitted."`
	}
	adminKeysRevoke struct{ keyFlags }
	adminAccounts   struct {
		Connect adminAccountsConnect `cmd:"" help:"Connect a Bluesky account with an app password from standard input."`
	}
	adminAccountsConnect struct {
		storeFlags
		Team       int64  `required:"" help:"Team ID."`
		Server     string `default:"https://bsky.social" help:"URL of the account's server."`
		Identifier string `required:"" help:"Handle or email address of the account."`

		BlueskyServers []string `help:"Bluesky servers that pressroom serve allows." env:"PRESSROOM_BLUESKY_SERVERS"`
	}
)

// Run creates a key.
func (c adminKeysAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	type createdKey struct {
		team.Key
		Value   string `json:"key"`
		Warning string `json:"warning,omitempty"`
	}
	end, err := expiry(c.Expires)
	if err != nil {
		return err
	}
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (createdKey, error) {
		k, value, err := s.Teams.AddKey(ctx,
			team.NewKey{
				Team: c.Team, Name: c.Name, Level: access.Level(c.Level), Expires: end, DailyCredits: c.DailyCredits,
			})
		if err != nil {
			return createdKey{}, err
		}
		warning, err := keyWarning(ctx, s, c.Team)
		if warning != "" {
			log.WarnContext(ctx, warning, "team", c.Team)
		}
		return createdKey{k, value, warning}, err
	})
}

// keyWarning returns a warning if the team's plan does not include API keys. The key is created anyway, because it
// works as soon as the plan is changed to one that includes API keys.
func keyWarning(ctx context.Context, s *server.Server, team int64) (string, error) {
	plan, err := s.Teams.Plan(ctx, team)
	if err != nil || plan.APIKeys {
		return "", err
	}
	return "The team's plan does not include API keys. Calls with this key fail with plan_lapsed until you " +
		"change the " +
		"plan: pressroom admin teams plan", nil
}

// Run lists keys and connections.
func (c adminKeysList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Key, error) {
		return s.Teams.Keys(ctx, c.Team)
	})
}

// Run changes a key's level.
func (c adminKeysLevel) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetKeyLevel(ctx, c.Key, access.Level(c.Level))
	})
}

// Run changes the daily credit limit of a key or connection.
func (c adminKeysLimit) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetKeyLimit(ctx, c.Key, c.DailyCredits)
	})
}

// Run changes when a key or connection expires.
func (c adminKeysExpire) Run(ctx context.Context, p *program, log *slog.Logger) error {
	end, err := expiry(c.In)
	if err != nil {
		return err
	}
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetKeyEnd(ctx, c.Key, end)
	})
}

// Run revokes a key or a connection.
func (c adminKeysRevoke) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.RevokeKey(ctx, c.Key) })
}

// Run connects a Bluesky account.
func (c adminAccountsConnect) Run(ctx context.Context, p *program, log *slog.Logger) error {
	type connectedAccount struct {
		ID       int64  `json:"id"`
		Platform string `json:"platform"`
		Username string `json:"username"`
	}
	password, err := readSecret(os.Stdin)
	if err != nil {
		return err
	}
	reason, err := server.BlockedReason(ctx, c.Server, c.BlueskyServers)
	if err != nil {
		return err
	}
	if reason != "" {
		log.WarnContext(ctx, "this account's posts will not be published unless pressroom serve allows its server: "+reason,
			"server", c.Server)
	}
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (connectedAccount, error) {
		a, err := s.Accounts.Connect(ctx, c.Team, "bluesky",
			network.Credentials{Server: c.Server, Identifier: c.Identifier, Password: password})
		return connectedAccount{a.ID, a.Platform, a.Username}, err
	})
}
