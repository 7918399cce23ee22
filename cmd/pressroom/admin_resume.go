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
	if c.MaxLateness < 0 {
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
	var report delivery.ResumeReport
	if err = c.wait(ctx, s); err == nil {
		report, err = s.Resume(ctx, delivery.ResumeOptions{
			MaxLateness: c.MaxLateness, DryRun: c.DryRun, NoWait: c.NoWait, AllowUnreachable: c.AllowUnreachable,
		})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if p.Admin.JSON {
		return printResult(os.Stdout, true, report)
	}
	return printResumption(os.Stdout, report)
}

// wait waits until the networks list posts that were published just before the hold.
func (c adminResume) wait(ctx context.Context, s *server.Server) error {
	remaining, err := s.Delivery.ResumableIn(ctx)
	if err != nil || remaining <= 0 || c.NoWait || c.DryRun {
		return err
	}
	fmt.Fprintf(os.Stderr, "Waiting %v until the networks list recent posts. Skip this with --no-wait.\n",
		remaining.Round(time.Second))
	select {
	case <-time.After(remaining + 100*time.Millisecond):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// outcomeTexts describes what happens to a delivery when a hold ends.
var outcomeTexts = map[delivery.Outcome]string{
	delivery.OutcomePublished: "already published", delivery.OutcomeUnconfirmed: "unconfirmed",
	delivery.OutcomeSendLate: "publish now", delivery.OutcomeMissed: "too late", delivery.OutcomePending: "publish later",
}

// printResumption prints the number of deliveries with each outcome, then a table of deliveries.
func printResumption(w io.Writer, r delivery.ResumeReport) error {
	accounts, series := r.Accounts, r.Series
	err := printResult(w, false, struct {
		Held             restoreguard.Cause `json:"held"`
		Since            string             `json:"since"`
		Resumed          bool               `json:"resumed"`
		AlreadyPublished int                `json:"went_out"`
		Unconfirmed      int                `json:"unconfirmed"`
		PublishNow       int                `json:"goes_late"`
		Missed           int                `json:"missed"`
		UncertainFuture  int                `json:"waits_in_doubt"`
		SkippedSeries    int                `json:"series_skipping"`
	}{
		r.Cause, r.Since.Format(timeFormat), r.Resumed, r.Published, r.Unconfirmed, r.Late, r.Missed, r.UncertainFuture,
		len(series),
	})
	if err != nil || len(accounts) == 0 {
		return err
	}
	if r.Cause != restoreguard.Manual {
		fmt.Fprintf(w,
			"\nChanges and cancellations after %s are missing from this database. Posts are listed as they were at that time.\n",
			r.Since.Format(timeFormat))
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TEAM\tDUE\tACCOUNT\tOUTCOME\tPOST\tTEXT\tDETAIL")
	for _, a := range accounts {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", a.TeamID, a.DueAt.Format(timeFormat),
			a.Platform+" "+a.Username, cmp.Or(outcomeTexts[a.Outcome], string(a.Outcome)), a.PostID, a.Excerpt,
			cmp.Or(a.Reason, a.Permalink))
	}
	return table.Flush()
}

// timeFormat is the layout for printing times in UTC.
const timeFormat = "2006-01-02 15:04:05Z"
