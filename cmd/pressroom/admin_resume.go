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

	"pressroom/internal/domain/delivery"
	"pressroom/internal/platform/restoreguard"
	"pressroom/internal/server"
)

// lift ends the hold.
func (c adminResume) lift(ctx context.Context, p *program, log *slog.Logger) error {
	if c.Late < 0 {
		return errors.New("--late may not be below 0")
	}
	if err := c.there(); err != nil {
		return err
	}
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	if cfg.Networks, err = networkSettings(c.Networks); err != nil {
		return err
	}
	cfg.LookAtFiles = true
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return err
	}
	var found delivery.ResumeReport
	if err = c.wait(ctx, s); err == nil {
		found, err = s.Resume(ctx, delivery.ResumeOptions{MaxLateness: c.Late, DryRun: c.DryRun, NoWait: c.NoWait, AllowUnreachable: c.Unasked})
	}
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if p.Admin.JSON {
		return show(os.Stdout, true, found)
	}
	return showReckoning(os.Stdout, found)
}

// wait waits until networks list what went out right before the hold.
func (c adminResume) wait(ctx context.Context, s *server.Server) error {
	left, err := s.Delivery.ResumableIn(ctx)
	if err != nil || left <= 0 || c.NoWait || c.DryRun {
		return err
	}
	fmt.Fprintf(os.Stderr, "Waiting for %v, until networks list what went out right before the hold (--no-wait does not).\n", left.Round(time.Second))
	select {
	case <-time.After(left + 100*time.Millisecond):
	case <-ctx.Done():
	}
	return context.Cause(ctx)
}

// fateWords say what becomes of an account of a post.
var fateWords = map[delivery.Fate]string{
	delivery.FateWentOut: "went out", delivery.FateUnconfirmed: "unconfirmed", delivery.FateGoesLate: "is sent now", delivery.FateMissed: "fails, too late", delivery.FateWaits: "waits",
}

// showReckoning prints for people what a resumption found: how much of each kind, then each account of a post on a line.
func showReckoning(w io.Writer, r delivery.ResumeReport) error {
	accounts, series := r.Accounts, r.Series
	err := show(w, false, struct {
		Held    restoreguard.Why `json:"held"`
		Since   string           `json:"since"`
		Resumed bool             `json:"resumed"`
		WentOut int              `json:"went_out"`
		Unsure  int              `json:"unconfirmed"`
		Late    int              `json:"goes_late"`
		Missed  int              `json:"missed"`
		InDoubt int              `json:"waits_in_doubt"`
		Series  int              `json:"series_skipping"`
	}{r.Held, r.Since.Format(shownTime), r.Resumed, r.WentOut, r.Unconfirmed, r.GoesLate, r.Missed, r.WaitsInDoubt, len(series)})
	if err != nil || len(accounts) == 0 {
		return err
	}
	if r.Held != restoreguard.ByHand {
		fmt.Fprintf(w, "\nWhat people changed or cancelled since %s is not known here: it is listed as it stood then.\n", r.Since.Format(shownTime))
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TEAM\tDUE\tACCOUNT\tWHAT BECOMES OF IT\tPOST\tTEXT\tWHY")
	for _, a := range accounts {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", a.TeamID, a.Due.Format(shownTime), a.Platform+" "+a.Username, cmp.Or(fateWords[a.Fate], string(a.Fate)), a.PostID, a.Excerpt, cmp.Or(a.Why, a.Permalink))
	}
	return table.Flush()
}

// shownTime is how a moment is shown to people; all of them are UTC.
const shownTime = "2006-01-02 15:04:05Z"
