package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminCredits struct {
		Grant     adminCreditsGrant     `cmd:"" help:"Grant credits to a team."`
		Withdraw  adminCreditsWithdraw  `cmd:"" help:"Withdraw credits from a team."`
		Statement adminCreditsStatement `cmd:"" help:"List a team's credit transactions, newest first."`
	}
	adjustmentFlags struct {
		teamFlags
		Credits   int64  `required:"" help:"Number of credits."`
		Reference string `required:"" help:"Your reference, such as an invoice number. Repeating the command with it has no effect."`
		Note      string `help:"Note to show in the statement."`
	}
	adminCreditsGrant     struct{ adjustmentFlags }
	adminCreditsWithdraw  struct{ adjustmentFlags }
	adminCreditsStatement struct {
		teamFlags
		Limit int `default:"50" help:"Number of transactions, at most 1000."`
	}
	adminPlans struct{ storeFlags }
)

// Run grants credits to a team.
func (c adminCreditsGrant) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (credit.AdjustmentResult, error) {
		return s.Credits.Grant(ctx, c.Team, c.Credits, c.Reference, c.Note)
	})
}

// Run withdraws credits from a team.
func (c adminCreditsWithdraw) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) (credit.AdjustmentResult, error) {
		return s.Credits.Withdraw(ctx, c.Team, c.Credits, c.Reference, c.Note)
	})
}

// Run lists the team's credit transactions.
func (c adminCreditsStatement) Run(ctx context.Context, p *program, log *slog.Logger) error {
	return run(ctx, c.storeFlags, p, log, func(s *server.Server) ([]credit.Line, error) {
		return s.Credits.Statement(ctx, c.Team, c.Limit)
	})
}

// Run prints the plans, prices and limits, always as JSON, because that is the format of --plans.
func (c adminPlans) Run() error {
	plans, err := c.readPlans()
	if err != nil {
		return err
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", "  ")
	if err := enc.Encode(plans); err != nil {
		return fmt.Errorf("printing the plans: %w", err)
	}
	return nil
}
