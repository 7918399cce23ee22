package server

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/provider/instagramgraph"
	"pressroom.example/pressroom/internal/domain/provider/tiktokresearch"
	"pressroom.example/pressroom/internal/domain/report"
)

// demoOperators is the number of the operator's accounts on the sandbox's Instagram. Each may query 30 hashtags a week,
// a third of them in the background.
const demoOperators = 6

// sandboxSources returns the settings of official providers in the sandbox.
func (q *Quickstart) sandboxSources(ctx context.Context) (SourceSettings, error) {
	accounts, err := q.sandbox.Operator(ctx, demoOperators)
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

// demoSubject is the profile of the sample report: one in the same trade, with a time of the week that stands out.
const demoSubject = "north.cafe"

// addSampleReport creates a report free of charge. It is made once the service runs.
func (q *Quickstart) addSampleReport(ctx context.Context, team int64) error {
	if err := q.Reports.CreateFree(ctx, team,
		report.CreateInput{Type: report.Profile, Platform: "instagram", Subject: demoSubject}); err != nil {
		return fmt.Errorf("creating the demo report: %w", err)
	}
	return nil
}

const (
	reportTimeout      = 15 * time.Second
	reportPollInterval = 50 * time.Millisecond
)

// waitForReport waits until the sample report is finished, but not longer than reportTimeout.
func (q *Quickstart) waitForReport(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reportTimeout)
	defer cancel()
	tick := time.NewTicker(reportPollInterval)
	defer tick.Stop()
	for {
		var pending int
		err := q.db.QueryRow(ctx, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND subject = ? AND status = ?`,
			q.Greeting.Team.ID, demoSubject, string(report.Pending)).Scan(&pending)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("reading the demo report: %w", err)
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
