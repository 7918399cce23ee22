package server

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/provider/instagramgraph"
	"pressroom.example/pressroom/internal/domain/provider/tiktokresearch"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/sandbox"
)

// demoOperators is the number of the operator's accounts on the sandbox's Instagram. Each may query 30 hashtags a week,
// a third of them in the background.
const demoOperators = 6

// sandboxSources returns the settings of official providers in the sandbox.
func (q *Quickstart) sandboxSources(ctx context.Context) (SourceSettings, error) {
	accounts, err := q.sandbox.Operators(ctx, demoOperators)
	if err != nil {
		return SourceSettings{}, fmt.Errorf("creating the operator's accounts: %w", err)
	}
	graph := &instagramgraph.Options{URL: q.Greeting.SandboxURL + "/instagram/facebook", Hashtags: true}
	for _, a := range accounts {
		graph.Accounts = append(graph.Accounts, instagramgraph.Account{ID: a.ID, Token: a.Token})
	}
	research := &tiktokresearch.Options{
		Eligible: true, URL: q.Greeting.SandboxURL + "/tiktok", ClientKey: "quickstart", ClientSecret: "quickstart",
	}
	return SourceSettings{InstagramGraph: graph, TikTokResearch: research}, nil
}

// demoSubject is the profile of the sample report at the top of the list: a business in the same trade whose posts do
// best at one time of the week.
const demoSubject = "north.cafe"

// demoReport is a sample report. earlierFactor is the engagement rate of its earlier measurements, as a multiple of the
// rate in the newest measurement.
type demoReport struct {
	report.CreateInput

	earlierFactor float64
}

// demoReports lists the sample reports. The last report is at the top of the list in the app.
var demoReports = []demoReport{
	{report.CreateInput{Type: report.Profile, Platform: "tiktok", Subject: "quay.roasters"}, 1.034},
	{report.CreateInput{Type: report.Profile, Platform: "instagram", Subject: "harbour.bread"}, 0.962},
	{report.CreateInput{Type: report.Profile, Platform: "instagram", Subject: demoSubject}, 0.971},
}

// demoMeasurements is the number of earlier measurements of each sample report. They are one week apart.
const demoMeasurements = 6

// addSampleReports requests the sample reports free of charge. It adds the numbers of followers in earlier weeks, so
// that the reports show growth. The reports are created once the service runs.
func (q *Quickstart) addSampleReports(ctx context.Context, team int64) error {
	for _, d := range demoReports {
		var samples []report.FollowerSample
		for week := demoMeasurements; week > 0; week-- {
			at := q.db.Now().AddDate(0, 0, -7*week)
			samples = append(samples, report.FollowerSample{At: at, Followers: sandbox.FollowersAt(d.Platform, d.Subject, at)})
		}
		if err := q.Reports.AddMeasurements(ctx, team, d.CreateInput, samples); err != nil {
			return fmt.Errorf("adding measurements to a demo report: %w", err)
		}
		if err := q.Reports.CreateFree(ctx, team, d.CreateInput); err != nil {
			return fmt.Errorf("creating a demo report: %w", err)
		}
	}
	return nil
}

const (
	reportTimeout      = 15 * time.Second
	reportPollInterval = 50 * time.Millisecond
)

// addEngagementRates sets the engagement rate of the earlier measurements of the sample reports. It is slightly above
// or below the newest rate.
func (q *Quickstart) addEngagementRates(ctx context.Context) error {
	team := q.Greeting.Team.ID
	for _, d := range demoReports {
		preview, err := q.Reports.Preview(ctx, team, d.CreateInput)
		if err != nil {
			return fmt.Errorf("reading a demo report: %w", err)
		}
		trends, err := q.Reports.Trends(ctx, team, []string{preview.ID})
		if err != nil {
			return fmt.Errorf("reading the measurements of a demo report: %w", err)
		}
		samples := trends[preview.ID]
		newestIndex := len(samples) - 1
		if newestIndex < 0 || samples[newestIndex].Engagement == nil {
			continue // the report was not ready in time
		}
		for i := range samples[:newestIndex] {
			samples[i].Engagement = new(*samples[newestIndex].Engagement * d.earlierFactor)
		}
		if err := q.Reports.AddMeasurements(ctx, team, d.CreateInput, samples[:newestIndex]); err != nil {
			return fmt.Errorf("storing the engagement of a demo report: %w", err)
		}
	}
	return nil
}

// waitForReports waits for the sample reports, but no longer than reportTimeout.
func (q *Quickstart) waitForReports(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	tick := time.NewTicker(reportPollInterval)
	defer tick.Stop()
	for {
		var pending int
		err := q.db.QueryRow(ctx, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND status = ?`,
			q.Greeting.Team.ID, string(report.Pending)).Scan(&pending)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("reading the demo reports: %w", err)
		case pending == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}
