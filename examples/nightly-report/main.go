// Command nightly-report brings the report on a public profile up to date and writes its headline figures as a
// Markdown page, night after night. Run it from cron as often as you like: within a day it is charged once.
//
//	PRESSROOM_URL=https://press.example.com PRESSROOM_KEY=prk_… nightly-report -profile harbour.coffee -out reports
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"time"

	"pressroom/client"
)

func main() {
	profile := flag.String("profile", "", "user name of the public profile, or a link to it")
	out := flag.String("out", ".", "folder for the pages")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	ctx, cancel := context.WithTimeout(ctx, 15*time.Minute)
	file, err := nightly(ctx, *profile, *out)
	cancel()
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "nightly-report:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stdout, file)
}

// nightly writes the page of a day and gives its name. Where that cannot be written nothing is asked for, as it may
// cost.
func nightly(ctx context.Context, profile, out string) (string, error) {
	if profile == "" {
		return "", errors.New("name a profile with -profile")
	}
	c, err := client.New(os.Getenv("PRESSROOM_URL"), os.Getenv("PRESSROOM_KEY"), client.WithUserAgent("nightly-report"))
	if err != nil {
		return "", fmt.Errorf("preparing: %w", err)
	}
	page, err := os.CreateTemp(out, ".nightly-report-*")
	if err != nil {
		return "", fmt.Errorf("preparing the page: %w", err)
	}
	name, err := write(ctx, c, profile, page)
	if err = errors.Join(err, page.Close()); err != nil {
		return "", errors.Join(err, os.Remove(page.Name()))
	}
	if !filepath.IsLocal(name) || name != filepath.Base(name) {
		return "", errors.Join(errors.New("the profile's name is no name of a file"), os.Remove(page.Name()))
	}
	file := filepath.Join(out, name)
	if err := os.Rename(page.Name(), file); err != nil { //nolint:gosec // the name is looked at above, the folder is the caller's
		return "", fmt.Errorf("writing the page: %w", err)
	}
	return file, nil
}

// write writes the page and gives the name that it is to have: of the profile, however it was named, and of the team's
// day.
func write(ctx context.Context, c *client.Client, profile string, to io.Writer) (string, error) {
	me, err := c.GetIdentity(ctx)
	if err != nil {
		return "", fmt.Errorf("asking for the team's day: %w", err)
	}
	day := me.Meta.AnsweredAt.Team.Format(time.DateOnly)
	id, err := fresh(ctx, c, profile, day)
	if err != nil {
		return "", err
	}
	report, err := c.GetReport(ctx, client.GetReportInput{Type: client.ReportKindProfile, ID: id})
	if err != nil {
		return "", fmt.Errorf("reading the report: %w", err)
	}
	if _, err := io.WriteString(to, page(report)); err != nil {
		return "", fmt.Errorf("writing the page: %w", err)
	}
	return report.Data.Subject + "-" + day + ".md", nil
}

// fresh makes the report, or brings up to date the one that there is. The keys hold the day: another run of the same
// day, after a crash too, gets the answers of the first and is not charged.
func fresh(ctx context.Context, c *client.Client, profile, day string) (string, error) {
	key := "nightly:" + profile + ":" + day
	made, job, err := finished(ctx, c, key+":create", func(key client.CallOption) (*client.Answer[client.Job], error) {
		return c.CreateReport(ctx, client.CreateReportInput{Type: client.ReportKindProfile, Subject: profile}, key)
	})
	if err != nil {
		return "", fmt.Errorf("making the report: %w", err)
	}
	result, err := client.Result[client.ReportResult](job)
	if err != nil {
		return "", err
	}
	if made.Billing != nil && made.Billing.CreditsCharged > 0 {
		return result.Report.ID, nil // it was made for this call
	}
	_, _, err = finished(ctx, c, key+":refresh", func(key client.CallOption) (*client.Answer[client.Job], error) {
		return c.RefreshReport(ctx, client.RefreshReportInput{Type: client.ReportKindProfile, ID: result.Report.ID},
			key)
	})
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == client.CodeRateLimited &&
		refused.Context.Scope == "connection" {
		return result.Report.ID, nil // somebody has done it a moment ago
	}
	if err != nil {
		return "", fmt.Errorf("refreshing the report: %w", err)
	}
	return result.Report.ID, nil
}

// finished asks for work and waits for its end. Where the day's key gives back what failed in an earlier run, and was
// refunded, it asks anew: with a key made of the job that failed, so that this run's own try is one, too, whenever it
// is repeated.
func finished(
	ctx context.Context, c *client.Client, day string, ask func(client.CallOption) (*client.Answer[client.Job], error),
) (*client.Answer[client.Job], client.Job, error) {
	for key := day; ; {
		asked, err := ask(client.IdempotencyKey(key))
		if err != nil {
			return nil, client.Job{}, err
		}
		job, err := c.Wait(ctx, asked.Data.JobID)
		if err == nil {
			return asked, job.Data, nil
		}
		failed, ok := errors.AsType[*client.JobFailedError](err)
		if !ok || !asked.Replayed {
			return nil, client.Job{}, fmt.Errorf("waiting for it: %w", err)
		}
		key = day + ":" + failed.JobID
	}
}

// page is a report for people. What the profile's owner wrote is not in it.
func page(report *client.Answer[client.ReportSummary]) string {
	r := report.Data
	var text strings.Builder
	fmt.Fprintf(&text, "# %s on %s\n\n", r.Subject, r.Platform)
	if r.MeasuredAt != nil {
		fmt.Fprintf(&text, "Measured %s.\n\n", r.MeasuredAt.Team.Format("Monday, 2 January 2006, 15:04"))
	}
	if r.Score != nil {
		fmt.Fprintf(&text, "Score: %.0f of 100\n\n", r.Score.Value)
		for _, c := range r.Score.Components {
			fmt.Fprintf(&text, "- %s: %.0f\n", c.Name, c.Value)
		}
		text.WriteString("\n")
	}
	if e := r.Engagement; e != nil && e.Likes != nil {
		fmt.Fprintf(&text, "Half of %d posts have more than %.0f likes.\n\n", e.PostsAnalysed, e.Likes.Median)
	}
	if b := r.BestTime; b != nil && b.StandsOut {
		fmt.Fprintf(&text, "Best time: %s, from %d:00 for %d hours.\n\n", b.Days, b.Hour, b.Hours)
	}
	for _, note := range report.Notes {
		fmt.Fprintf(&text, "> %s\n\n", note)
	}
	fmt.Fprintf(&text, "[In the app](%s)\n", report.Meta.AppURL)
	return text.String()
}
