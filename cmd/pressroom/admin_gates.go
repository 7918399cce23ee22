package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminAPI struct {
		storeFlags
		Switch string `arg:"" enum:"on,off" help:"Whether the API and the tools accept calls: on or off."`
	}
	pauseFlags struct {
		storeFlags
		Service bool  `help:"Apply to the entire service."`
		Team    int64 `help:"Apply to the team with this ID."`
		Key     int64 `help:"Apply to the key or assistant connection with this ID."`

		Action string `name:"only" enum:"everything,spend,publish" default:"everything" help:"Action to pause or resume: everything, spend or publish."`
	}
	adminPause struct {
		pauseFlags
		Reason string `help:"Reason, shown to operators only."`
	}
	adminResume struct {
		pauseFlags
		MaxLateness time.Duration `name:"late" help:"When ending a hold: publish posts that are overdue by no more than this duration; fail the others." default:"1h"`

		Networks string `help:"When ending a hold: JSON network settings, as in serve --networks." type:"path" env:"PRESSROOM_NETWORKS"`

		AllowUnreachable bool `name:"unasked" help:"When ending a hold: continue even if a network is unreachable. Its due posts become unconfirmed."`

		NoWait bool `help:"When ending a hold: skip the wait of up to 3 minutes for the networks." env:"PRESSROOM_RESUME_NO_WAIT"`
		DryRun bool `help:"When ending a hold: report what would happen, without changing anything."`
	}
	adminHold struct {
		storeFlags
		Reason string `help:"Reason, shown to operators only."`
		Copied bool   `help:"The database is a physical copy, such as a volume snapshot."`
	}
	adminPauses struct{ storeFlags }
)

// Run turns the API on or off.
func (c adminAPI) Run(ctx context.Context, p *program, log *slog.Logger) error {
	apiPause := team.Pause{Scope: team.ForService, Action: access.PauseAPI}
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		if c.Switch == "on" {
			return s.Teams.Resume(ctx, apiPause)
		}
		return s.Teams.Pause(ctx, apiPause)
	})
}

func (c pauseFlags) pause() (team.Pause, error) {
	out := team.Pause{Action: access.PauseAction(c.Action)}
	scopeCount := 0
	for scope, id := range map[team.Scope]int64{team.ForTeam: c.Team, team.ForKey: c.Key} {
		if id != 0 {
			out.Scope, out.Target = scope, id
			scopeCount++
		}
	}
	if c.Service {
		out.Scope = team.ForService
		scopeCount++
	}
	if scopeCount != 1 {
		return out, errors.New("specify exactly one of --service, --team and --key")
	}
	return out, nil
}

// Run adds a pause for the service, a team or a key.
func (c adminPause) Run(ctx context.Context, p *program, log *slog.Logger) error {
	pause, err := c.pause()
	if err != nil {
		return err
	}
	pause.Reason = c.Reason
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Pause(ctx, pause) })
}

// Run puts the service on hold.
func (c adminHold) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (restoreguard.State, error) {
		if c.Copied {
			return s.Hold.HoldCopy(ctx, c.Reason)
		}
		return s.Hold.Hold(ctx, c.Reason)
	})
}

// Run ends a pause or, if no scope is given, the hold.
func (c adminResume) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if !c.Service && c.Team == 0 && c.Key == 0 && c.Action == string(access.PauseEverything) {
		return c.endHold(ctx, p, log)
	}
	if c.DryRun || c.AllowUnreachable {
		return errors.New("--dry-run and --unasked can be used only to end a hold; do not combine them with --service, " +
			"--team, --key or --only")
	}
	pause, err := c.pause()
	if err != nil {
		return err
	}
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Resume(ctx, pause) })
}

// Run lists pauses.
func (c adminPauses) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Pause, error) { return s.Teams.Pauses(ctx) })
}
