package server

import (
	"context"
	"fmt"
	"time"

	"pressroom/internal/domain/provider/instagramgraph"
	"pressroom/internal/domain/provider/tiktokresearch"
	"pressroom/internal/domain/report"
)

// demoOperators is by how many accounts the sandbox's Instagram is asked: each may ask for 30 hashtags in a week, a
// third of them in the background.
const demoOperators = 6

// sandboxSources are the official sources, as the sandbox networks speak them.
func (q *Quickstart) sandboxSources(ctx context.Context) (SourceSettings, error) {
	operated, err := q.box.Operator(ctx, demoOperators)
	if err != nil {
		return SourceSettings{}, fmt.Errorf("making the operator's accounts: %w", err)
	}
	graph := &instagramgraph.Options{URL: q.Greeting.SandboxURL + "/instagram/facebook", Hashtags: true}
	for _, one := range operated {
		graph.Accounts = append(graph.Accounts, instagramgraph.Account{ID: one.ID, Token: one.Token})
	}
	research := &tiktokresearch.Options{
		Eligible: true, URL: q.Greeting.SandboxURL + "/tiktok", ClientKey: "quickstart", ClientSecret: "quickstart",
	}
	return SourceSettings{InstagramGraph: graph, TikTokResearch: research}, nil
}

// demoSubject is the profile of the report that the demo team finds.
const demoSubject = "studio.north"

// sampleReport has a report made that costs nothing: in the background, once the service runs.
func (q *Quickstart) sampleReport(ctx context.Context, team int64) error {
	if err := q.Reports.CreateFree(ctx, team,
		report.CreateInput{Type: report.Profile, Platform: "instagram", Subject: demoSubject}); err != nil {
		return fmt.Errorf("making the demo report: %w", err)
	}
	return nil
}

const (
	samplesWithin = 15 * time.Second // for what the demo team finds to be finished
	samplesEvery  = 50 * time.Millisecond
)

// Finished waits until the report is made that the demo team finds. A service that runs slowly is not waited for
// without end.
func (q *Quickstart) Finished(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, samplesWithin)
	defer cancel()
	tick := time.NewTicker(samplesEvery)
	defer tick.Stop()
	for {
		var pending int
		err := q.db.QueryRow(ctx, `SELECT COUNT(*) FROM reports WHERE team_id = ? AND subject = ? AND status = ?`,
			q.Greeting.Team.ID, demoSubject, string(report.Pending)).Scan(&pending)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("looking for the demo report: %w", err)
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
