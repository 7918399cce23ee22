package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pressroom/internal/domain/team"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/server"
)

type (
	adminAPI struct {
		storeFlags
		Switch string `arg:"" enum:"on,off" help:"on or off."`
	}
	pauseFlags struct {
		storeFlags
		Service bool   `help:"The whole service."`
		Team    int64  `help:"Id of the team."`
		Key     int64  `help:"Id of the key, or of the assistant's connection."`
		Only    string `enum:"everything,spend,publish" default:"everything" help:"everything, spend or publish."`
	}
	adminPause struct {
		pauseFlags
		Reason string `help:"Why, for the operator's own list; callers are not told."`
	}
	adminResume struct {
		pauseFlags
		Late     time.Duration `help:"After a hold: how late a post may still go out. What is later fails, and may be retried by a person." default:"1h"`
		Networks string        `help:"After a hold: the networks' settings, as serve has them." type:"path" env:"PRESSROOM_NETWORKS"`
		Unasked  bool          `help:"After a hold: go on although a network could not be asked for the moment. What is due there becomes unconfirmed; what is to come waits, and goes out twice where a person published it early."`
		NoWait   bool          `help:"After a hold: do not wait until networks list what went out right before it." env:"PRESSROOM_RESUME_NO_WAIT"`
		DryRun   bool          `help:"After a hold: ask the networks and tell what would be done, and change nothing."`
	}
	adminHold struct {
		storeFlags
		Reason string `help:"Why, for the operator's own page; callers are not told."`
		Copied bool   `help:"The database is a physical copy (a base backup, a volume's snapshot), which nothing in it tells: resume asks the networks what went out since its last sign of life."`
	}
	adminPauses struct{ storeFlags }
)

// Run switches the API.
func (c adminAPI) Run(ctx context.Context, p *program, log *slog.Logger) error {
	all := team.Pause{Scope: team.ForService, Action: team.API}
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		if c.Switch == "on" {
			return s.Teams.Resume(ctx, all)
		}
		return s.Teams.Pause(ctx, all)
	})
}

func (c pauseFlags) pause() (team.Pause, error) {
	out := team.Pause{Action: team.Action(c.Only)}
	given := 0
	for scope, id := range map[team.Scope]int64{team.ForTeam: c.Team, team.ForKey: c.Key} {
		if id != 0 {
			out.Scope, out.Target = scope, id
			given++
		}
	}
	if c.Service {
		out.Scope = team.ForService
		given++
	}
	if given != 1 {
		return out, errors.New("say what: one of --service, --team and --key")
	}
	return out, nil
}

// Run pauses something.
func (c adminPause) Run(ctx context.Context, p *program, log *slog.Logger) error {
	what, err := c.pause()
	if err != nil {
		return err
	}
	what.Reason = c.Reason
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Pause(ctx, what) })
}

// Run holds the service.
func (c adminHold) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) (restoreguard.State, error) {
		if c.Copied {
			return s.Hold.HoldCopy(ctx, c.Reason)
		}
		return s.Hold.Hold(ctx, c.Reason)
	})
}

// Run ends a pause, or the hold.
func (c adminResume) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if !c.Service && c.Team == 0 && c.Key == 0 && c.Only == string(team.Everything) {
		return c.lift(ctx, p, log)
	}
	if c.DryRun || c.Unasked {
		return errors.New("--dry-run and --unasked are for the end of a hold: a pause is ended at once")
	}
	what, err := c.pause()
	if err != nil {
		return err
	}
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Resume(ctx, what) })
}

// Run lists what is paused.
func (c adminPauses) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Pause, error) { return s.Teams.Pauses(ctx) })
}
