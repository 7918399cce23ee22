// Command nightly-report refreshes the report on a public profile and writes its main figures to a Markdown page. Run
// it from cron as often as you like: it is charged once a day.
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

	"pressroom.example/pressroom/client"
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

// nightly writes the page of a day and returns its name. It creates the page before any call that may cost credits.
func nightly(ctx context.Context, profile, out string) (string, error) {
	if profile == "" {
		return "", errors.New("-profile is missing")
	}
	c, err := client.New(os.Getenv("PRESSROOM_URL"), os.Getenv("PRESSROOM_KEY"), client.WithUserAgent("nightly-report"))
	if err != nil {
		return "", fmt.Errorf("creating the client: %w", err)
	}
	page, err := os.CreateTemp(out, ".nightly-report-*")
	if err != nil {
		return "", fmt.Errorf("creating the page: %w", err)
	}
	name, err := write(ctx, c, profile, page)
	if err = errors.Join(err, page.Close()); err != nil {
		return "", errors.Join(err, os.Remove(page.Name()))
	}
	if !filepath.IsLocal(name) || name != filepath.Base(name) {
		return "", errors.Join(errors.New("the profile's name is not a valid file name"), os.Remove(page.Name()))
	}
	file := filepath.Join(out, name)
	if err := os.Rename(page.Name(), file); err != nil { //nolint:gosec // the name is checked above
		return "", fmt.Errorf("writing the page: %w", err)
	}
	return file, nil
}

// write writes the page and returns its name: the profile's user name and the date in the team's time zone.
func write(ctx context.Context, c *client.Client, profile string, to io.Writer) (string, error) {
	me, err := c.GetIdentity(ctx)
	if err != nil {
		return "", fmt.Errorf("reading the team's date: %w", err)
	}
	day := me.Meta.AnsweredAt.Team.Format(time.DateOnly)
	id, err := refresh(ctx, c, profile, day)
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

// refresh creates the report or refreshes the existing one. The keys contain the date, so another run on the same
// day, even after a crash, gets the responses of the first run at no charge.
func refresh(ctx context.Context, c *client.Client, profile, day string) (string, error) {
	key := "nightly:" + profile + ":" + day
	created, job, err := runJob(ctx, c, key+":create", func(key client.CallOption) (*client.Answer[client.Job], error) {
		return c.CreateReport(ctx, client.CreateReportInput{Type: client.ReportKindProfile, Subject: profile}, key)
	})
	if err != nil {
		return "", fmt.Errorf("creating the report: %w", err)
	}
	result, err := client.Result[client.ReportResult](job)
	if err != nil {
		return "", err
	}
	if created.Billing != nil && created.Billing.CreditsCharged > 0 {
		return result.Report.ID, nil // this call created it
	}
	_, _, err = runJob(ctx, c, key+":refresh", func(key client.CallOption) (*client.Answer[client.Job], error) {
		return c.RefreshReport(ctx, client.RefreshReportInput{Type: client.ReportKindProfile, ID: result.Report.ID},
			key)
	})
	if e, ok := errors.AsType[*client.Error](err); ok && e.Code == client.CodeRateLimited &&
		e.Context.Scope == "connection" {
		return result.Report.ID, nil // it was refreshed a moment ago
	}
	if err != nil {
		return "", fmt.Errorf("refreshing the report: %w", err)
	}
	return result.Report.ID, nil
}

// runJob starts a job and waits for it. If the day's key returns a refunded job that failed in an earlier run,
// runJob tries again with a key derived from that job.
func runJob(
	ctx context.Context, c *client.Client, day string, start func(client.CallOption) (*client.Answer[client.Job], error),
) (*client.Answer[client.Job], client.Job, error) {
	for key := day; ; {
		started, err := start(client.IdempotencyKey(key))
		if err != nil {
			return nil, client.Job{}, err
		}
		job, err := c.Wait(ctx, started.Data.JobID)
		if err == nil {
			return started, job.Data, nil
		}
		failed, ok := errors.AsType[*client.JobFailedError](err)
		if !ok || !started.Replayed {
			return nil, client.Job{}, fmt.Errorf("waiting for the job: %w", err)
		}
		key = day + ":" + failed.JobID
	}
}

// page returns a report as Markdown, without text of the profile's owner.
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
