package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/domain/team"
	"pressroom/internal/server"
)

type (
	adminTeams struct {
		Add          adminTeamsAdd          `cmd:"" help:"Add a team with its owner."`
		List         adminTeamsList         `cmd:"" help:"List teams."`
		Members      adminTeamsMembers      `cmd:"" help:"List the people of a team."`
		Member       adminTeamsMember       `cmd:"" help:"Give a person a role in a team, or take the person out. A new owner takes the place of the one before, whose keys end."`
		Invite       adminTeamsInvite       `cmd:"" help:"Print or mail a link by which the person of an e-mail address joins a team. It works once, for 7 days."`
		Plan         adminTeamsPlan         `cmd:"" help:"Put a team on a plan."`
		Timezone     adminTeamsTimezone     `cmd:"" help:"Move a team to another time zone."`
		DailyCredits adminTeamsDailyCredits `cmd:"" help:"Limit what the team's keys and assistants spend in a day."`
		Access       adminTeamsAccess       `cmd:"" help:"Switch API and tool access of a team on or off, as its owner can."`
		Close        adminTeamsClose        `cmd:"" help:"Close a team: none of its keys works. Nothing is deleted."`
		Reopen       adminTeamsReopen       `cmd:"" help:"Open a closed team again."`
	}
	adminTeamsAdd struct {
		storeFlags
		Name     string `required:"" help:"The team's name."`
		Owner    int64  `required:"" help:"The owner: a person's id."`
		Timezone string `default:"UTC" help:"The team's time zone, an IANA name such as Europe/Berlin."`
		Language string `default:"en" help:"The language the team writes in, BCP 47."`
		Plan     string `default:"team" help:"The team's plan: free, creator, team or agency, or one of the file of --terms."`
	}
	adminTeamsList struct{ storeFlags }
	teamFlags      struct {
		storeFlags
		Team int64 `required:"" help:"The team's id."`
	}
	adminTeamsMembers struct{ teamFlags }
	adminTeamsMember  struct {
		teamFlags
		forceFlags
		Person int64  `required:"" help:"The person's id."`
		Role   string `required:"" enum:"owner,admin,editor,viewer,client,none" help:"owner, admin, editor, viewer or client; none takes the person out."`
	}
	adminTeamsInvite struct {
		teamFlags
		linkFlags
		letterFlags
		Email string `required:"" help:"The person's e-mail address."`
		Role  string `required:"" enum:"admin,editor,viewer,client" help:"admin, editor, viewer or client."`
	}
	adminTeamsPlan struct {
		teamFlags
		Plan  string         `required:"" help:"The plan's id."`
		Lasts *time.Duration `help:"How long until the plan lapses, such as 720h; never where not given."`
	}
	adminTeamsTimezone struct {
		teamFlags
		Timezone string `required:"" help:"An IANA name such as Europe/Berlin."`
	}
	adminTeamsDailyCredits struct {
		teamFlags
		Credits *int64 `help:"Credits a day: 0 for none, -1 for unlimited; what the plan says where not given."`
	}
	adminTeamsAccess struct {
		teamFlags
		Switch string `arg:"" enum:"on,off" help:"on or off."`
	}
	adminTeamsClose  struct{ teamFlags }
	adminTeamsReopen struct{ teamFlags }
)

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

// Run lists the people of a team.
func (c adminTeamsMembers) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return with(ctx, c.storeFlags, p, log, func(s *server.Server) ([]team.Member, error) { return s.Teams.Members(ctx, c.Team) })
}

// Run gives a person a role, or none.
func (c adminTeamsMember) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error {
		if c.Role == "none" {
			return c.change(ctx, s, func(ctx context.Context) error { return s.Teams.RemoveMember(ctx, c.Team, c.Person) })
		}
		return s.Teams.SetMember(ctx, c.Team, c.Person, access.Role(c.Role))
	})
}

// Run puts a team on a plan.
func (c adminTeamsPlan) Run(ctx context.Context, p *program, log *slog.Logger) error {
	end, err := until(c.Lasts)
	if err != nil {
		return err
	}
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetPlan(ctx, c.Team, c.Plan, end) })
}

// until is when a span that begins now ends; never where none was given.
func until(span *time.Duration) (time.Time, error) {
	switch {
	case span == nil:
		return time.Time{}, nil
	case *span <= 0:
		return time.Time{}, errors.New("how long it lasts has to be more than nothing, such as 720h; leave the flag out for ever")
	}
	return time.Now().Add(*span), nil
}

// Run moves a team to another time zone.
func (c adminTeamsTimezone) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetTimezone(ctx, c.Team, c.Timezone) })
}

// Run limits what a team spends in a day.
func (c adminTeamsDailyCredits) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetDailyCredits(ctx, c.Team, c.Credits) })
}

// Run switches a team's access.
func (c adminTeamsAccess) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.SetAccess(ctx, c.Team, c.Switch == "on") })
}

// Run closes a team.
func (c adminTeamsClose) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Close(ctx, c.Team) })
}

// Run opens a team again.
func (c adminTeamsReopen) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return do(ctx, c.storeFlags, p, log, func(s *server.Server) error { return s.Teams.Reopen(ctx, c.Team) })
}

// invited is an invitation with its link, which is shown this once. The link is empty if it was mailed.
type invited struct {
	team.Invitation

	Link string `json:"link,omitempty"`
}

// Run invites a person into a team.
func (c adminTeamsInvite) Run(ctx context.Context, p *program, log *slog.Logger) error {
	cfg, err := c.letters(c.storeFlags, c.linkFlags, log)
	if err != nil {
		return err
	}
	return withConfig(ctx, cfg, p, func(s *server.Server) (invited, error) {
		if c.Mail {
			i, err := s.Letters.Invite(ctx, 0, c.Team, c.Email, access.Role(c.Role))
			return invited{Invitation: i}, plainly(err)
		}
		i, token, err := s.Teams.Invite(ctx, 0, c.Team, c.Email, access.Role(c.Role))
		return invited{i, c.link(team.InvitationPath, token)}, plainly(err)
	})
}
