package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminTeams struct {
		Add          adminTeamsAdd          `cmd:"" help:"Add a team."`
		List         adminTeamsList         `cmd:"" help:"List teams."`
		Members      adminTeamsMembers      `cmd:"" help:"List the members of a team."`
		Member       adminTeamsMember       `cmd:"" help:"Set or remove a person's role in a team. A new owner replaces the current owner."`
		Invite       adminTeamsInvite       `cmd:"" help:"Print or email a link to join a team. The link works once, within 7 days."`
		Plan         adminTeamsPlan         `cmd:"" help:"Change a team's plan."`
		Timezone     adminTeamsTimezone     `cmd:"" help:"Change a team's time zone."`
		DailyCredits adminTeamsDailyCredits `cmd:"" help:"Set a team's daily credit limit."`
		Access       adminTeamsAccess       `cmd:"" help:"Turn a team's API and tool access on or off."`
		Close        adminTeamsClose        `cmd:"" help:"Close a team. Its keys stop working, but nothing is deleted."`
		Reopen       adminTeamsReopen       `cmd:"" help:"Reopen a closed team."`
	}
	adminTeamsAdd struct {
		storeFlags
		Name     string `required:"" help:"Name of the team."`
		Owner    int64  `required:"" help:"Person ID of the owner."`
		Timezone string `default:"UTC" help:"IANA time zone, such as Europe/Berlin."`
		Language string `default:"en" help:"Language of the team's posts, a BCP 47 tag such as en."`
		Plan     string `default:"team" help:"Plan: free, creator, team, agency, or a plan in the --plans file."`
	}
	adminTeamsList struct{ storeFlags }
	teamFlags      struct {
		storeFlags
		Team int64 `required:"" help:"Team ID."`
	}
	adminTeamsMembers struct{ teamFlags }
	adminTeamsMember  struct {
		teamFlags
		forceFlags
		Person int64  `required:"" help:"Person ID."`
		Role   string `required:"" enum:"owner,admin,editor,viewer,client,none" help:"Role, or none to remove the person."`
	}
	adminTeamsInvite struct {
		teamFlags
		linkFlags
		mailFlags
		Email string `required:"" help:"Email address of the person."`
		Role  string `required:"" enum:"admin,editor,viewer,client" help:"Role: admin, editor, viewer or client."`
	}
	adminTeamsPlan struct {
		teamFlags
		Plan  string         `required:"" help:"Plan ID."`
		Lasts *time.Duration `help:"Duration of the plan, such as 720h; unlimited if omitted."`
	}
	adminTeamsTimezone struct {
		teamFlags
		Timezone string `required:"" help:"IANA time zone, such as Europe/Berlin."`
	}
	adminTeamsDailyCredits struct {
		teamFlags
		Credits *int64 `help:"Credits that can be spent per day; -1 for unlimited; the plan's limit if omitted."`
	}
	adminTeamsAccess struct {
		teamFlags
		Switch string `arg:"" enum:"on,off" help:"Whether API keys and assistants can access the team: on or off."`
	}
	adminTeamsClose  struct{ teamFlags }
	adminTeamsReopen struct{ teamFlags }
)

// Run adds a team.
func (c adminTeamsAdd) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (team.Team, error) {
		return s.Teams.AddTeam(ctx, team.Team{Name: c.Name, Timezone: c.Timezone, Language: c.Language, Plan: c.Plan},
			c.Owner)
	})
}

// Run lists teams.
func (c adminTeamsList) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Team, error) { return s.Teams.Teams(ctx) })
}

// Run lists the members of a team.
func (c adminTeamsMembers) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Member, error) {
		return s.Teams.Members(ctx, c.Team)
	})
}

// Run sets or removes a person's role.
func (c adminTeamsMember) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		if c.Role == "none" {
			return s.Teams.RemoveMember(ctx, c.Team, c.Person, c.options()...)
		}
		return s.Teams.SetMember(ctx, c.Team, c.Person, access.Role(c.Role))
	})
}

// Run changes a team's plan.
func (c adminTeamsPlan) Run(ctx context.Context, p *program, log *slog.Logger) error {
	end, err := expiry(c.Lasts)
	if err != nil {
		return err
	}
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetPlan(ctx, c.Team, c.Plan, end)
	})
}

// expiry returns the time at which a span ends that begins now, or the zero time if span is nil.
func expiry(span *time.Duration) (time.Time, error) {
	switch {
	case span == nil:
		return time.Time{}, nil
	case *span <= 0:
		return time.Time{}, errors.New("the duration must be positive, such as 720h; omit the flag for an unlimited duration")
	}
	return time.Now().Add(*span), nil
}

// Run changes a team's time zone.
func (c adminTeamsTimezone) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetTimezone(ctx, c.Team, c.Timezone)
	})
}

// Run sets a team's daily limit.
func (c adminTeamsDailyCredits) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetDailyCredits(ctx, c.Team, c.Credits)
	})
}

// Run turns a team's access on or off.
func (c adminTeamsAccess) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		return s.Teams.SetAccess(ctx, c.Team, c.Switch == "on")
	})
}

// Run closes a team.
func (c adminTeamsClose) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Close(ctx, c.Team) })
}

// Run reopens a team.
func (c adminTeamsReopen) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return runSilent(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Reopen(ctx, c.Team) })
}

// invitationLink is an invitation with its link, which is shown only once. Link is empty if the link was emailed.
type invitationLink struct {
	team.Invitation

	Link string `json:"link,omitempty"`
}

// inviteError rewords an error about an invitation for the command line.
func inviteError(err error) error {
	if apierr.Is(err, apierr.NotFound) {
		return errors.New("team not found")
	}
	return cliError(err)
}

// Run invites a person to a team.
func (c adminTeamsInvite) Run(ctx context.Context, p *program, log *slog.Logger) error {
	cfg, err := c.linkConfig(c.storeFlags, c.linkFlags, log)
	if err != nil {
		return err
	}
	return runWithConfig(ctx, cfg, p, func(s *server.Server) (invitationLink, error) {
		if c.sendsMail() {
			i, err := s.LinkMailer.Invite(ctx, 0, c.Team, c.Email, access.Role(c.Role))
			return invitationLink{Invitation: i}, inviteError(err)
		}
		i, token, err := s.Teams.Invite(ctx, 0, c.Team, c.Email, access.Role(c.Role))
		return invitationLink{i, c.link(team.InvitationPath, token)}, inviteError(err)
	})
}
