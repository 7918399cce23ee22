package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"text/tabwriter"
	"time"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/server"
)

// endHold ends the hold and prints what happens to each delivery.
func (c adminResume) endHold(ctx context.Context, p *program, log *slog.Logger) error {
	if c.Late < 0 {
		return errors.New("--late must not be negative")
	}
	if err := c.checkExists(); err != nil {
		return err
	}
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	if cfg.Networks, err = networkSettings(c.Networks); err != nil {
		return err
	}
	cfg.ReadOnlyFiles = true
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return err
	}
	var found delivery.ResumeReport
	if err = c.wait(ctx, s); err == nil {
		found, err = s.Resume(ctx, delivery.ResumeOptions{
			MaxLateness: c.Late, DryRun: c.DryRun, NoWait: c.NoWait, AllowUnreachable: c.Unasked,
		})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if p.Admin.JSON {
		return printResult(os.Stdout, true, found)
	}
	return printResumption(os.Stdout, found)
}

// wait waits until networks list posts that were published just before the hold.
func (c adminResume) wait(ctx context.Context, s *server.Server) error {
	left, err := s.Delivery.ResumableIn(ctx)
	if err != nil || left <= 0 || c.NoWait || c.DryRun {
		return err
	}
	fmt.Fprintf(os.Stderr, "Waiting %v until the networks list recent posts. Skip this with --no-wait.\n",
		left.Round(time.Second))
	select {
	case <-time.After(left + 100*time.Millisecond):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// outcomeTexts describes what happens to a delivery after a hold.
var outcomeTexts = map[delivery.Outcome]string{
	delivery.OutcomeWentOut: "already published", delivery.OutcomeUnconfirmed: "unconfirmed",
	delivery.OutcomeGoesLate: "publish now", delivery.OutcomeMissed: "too late", delivery.OutcomeWaits: "publish later",
}

// printResumption prints the number of deliveries with each outcome, then a table of deliveries.
func printResumption(w io.Writer, r delivery.ResumeReport) error {
	accounts, series := r.Accounts, r.Series
	err := printResult(w, false, struct {
		Held    restoreguard.Cause `json:"held"`
		Since   string             `json:"since"`
		Resumed bool               `json:"resumed"`
		WentOut int                `json:"went_out"`
		Unsure  int                `json:"unconfirmed"`
		Late    int                `json:"goes_late"`
		Missed  int                `json:"missed"`
		InDoubt int                `json:"waits_in_doubt"`
		Series  int                `json:"series_skipping"`
	}{
		r.Held, r.Since.Format(timeFormat), r.Resumed, r.WentOut, r.Unconfirmed, r.GoesLate, r.Missed, r.UncertainFuture,
		len(series),
	})
	if err != nil || len(accounts) == 0 {
		return err
	}
	if r.Held != restoreguard.Manual {
		fmt.Fprintf(w,
			"\nChanges and cancellations after %s are not in this database. Posts are listed as they were at that time.\n",
			r.Since.Format(timeFormat))
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TEAM\tDUE\tACCOUNT\tOUTCOME\tPOST\tTEXT\tDETAIL")
	for _, a := range accounts {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", a.TeamID, a.Due.Format(timeFormat),
			a.Platform+" "+a.Username, cmp.Or(outcomeTexts[a.Outcome], string(a.Outcome)), a.PostID, a.Excerpt,
			cmp.Or(a.Reason, a.Permalink))
	}
	return table.Flush()
}

// timeFormat is the layout of times in UTC.
const timeFormat = "2006-01-02 15:04:05Z"
