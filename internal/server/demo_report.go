package server

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/domain/provider/instagramgraph"
	"pressroom.example/pressroom/internal/domain/provider/tiktokresearch"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/sandbox"
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

// demoSubject is the profile of the first sample report: one in the same trade, with a time of the week that stands out.
const demoSubject = "north.cafe"

// demoReports are the sample reports, the last at the top of the list.
var demoReports = []report.CreateInput{
	{Type: report.Profile, Platform: "tiktok", Subject: "quay.roasters"},
	{Type: report.Profile, Platform: "instagram", Subject: "harbour.bread"},
	{Type: report.Profile, Platform: "instagram", Subject: demoSubject},
}

// demoMeasurements is the number of earlier measurements of each sample report, a week apart.
const demoMeasurements = 6

// addSampleReports creates reports free of charge. They are made once the service runs.
func (q *Quickstart) addSampleReports(ctx context.Context, team int64) error {
	for _, in := range demoReports {
		if err := q.addMeasurements(ctx, team, in); err != nil {
			return err
		}
		if err := q.Reports.CreateFree(ctx, team, in); err != nil {
			return fmt.Errorf("creating a demo report: %w", err)
		}
	}
	return nil
}

// addMeasurements stores the sizes that a profile of the sandbox had in earlier weeks, so that its report shows growth.
func (q *Quickstart) addMeasurements(ctx context.Context, team int64, in report.CreateInput) error {
	id := uuid.Must(uuid.NewV7()).String()
	return q.db.InTx(ctx, "quickstart.measurements", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO reports (id, team_id, kind, platform, subject, status, created_at)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			id, team, in.Type, in.Platform, in.Subject, string(report.Pending), db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("inserting a demo report: %w", err)
		}
		for week := demoMeasurements; week > 0; week-- {
			at := tx.Now().AddDate(0, 0, -7*week)
			if _, err := tx.Exec(ctx, `INSERT INTO report_samples (report_id, measured_at, sample) VALUES (?, ?, ?)`,
				id, db.Micros(at), fmt.Sprintf(`{"followers": %d}`, sandbox.FollowersAt(in.Platform, in.Subject, at))); err != nil {
				return fmt.Errorf("inserting a measurement of a demo report: %w", err)
			}
		}
		return nil
	})
}

const (
	reportTimeout      = 15 * time.Second
	reportPollInterval = 50 * time.Millisecond
)

// addRates gives the earlier measurements of the sample reports an engagement that rises or falls a little to the newest.
func (q *Quickstart) addRates(ctx context.Context) error {
	for i, in := range demoReports {
		var id, newest string
		err := q.db.QueryRow(ctx, `SELECT r.id, s.sample FROM reports r JOIN report_samples s ON s.report_id = r.id
			WHERE r.team_id = ? AND r.subject = ? ORDER BY s.measured_at DESC LIMIT 1`,
			q.Greeting.Team.ID, in.Subject).Scan(&id, &newest)
		if err != nil {
			return fmt.Errorf("reading the newest measurement of a demo report: %w", err)
		}
		var now struct {
			Engagement float64 `json:"Engagement"` //nolint:tagliatelle // as stored
		}
		if err := json.Unmarshal([]byte(newest), &now); err != nil {
			return fmt.Errorf("decoding the newest measurement of a demo report: %w", err)
		}
		if now.Engagement == 0 {
			continue // it was not measured in time
		}
		rate := now.Engagement * []float64{1.034, 0.962, 0.971}[i]
		err = q.db.InTx(ctx, "quickstart.rates", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE report_samples SET sample = REPLACE(sample, '}', ?) WHERE report_id = ? AND sample <> ?`,
				fmt.Sprintf(`, "engagement": %.5f}`, rate), id, newest)
			return err
		})
		if err != nil {
			return fmt.Errorf("storing the engagement of a demo report: %w", err)
		}
	}
	return nil
}

// waitForReports waits until the sample reports are finished, but not longer than reportTimeout.
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
