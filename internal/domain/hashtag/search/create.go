package search

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// price returns the price of a search. It is 0 if the team has paid for the keyword, if a search for it is running, if
// the team has a report on the same hashtag, or if no provider is configured. It locks the keyword's row.
func (s *Service) price(ctx context.Context, call operation.Call, in Input) (int64, error) {
	k, err := in.keyword()
	if err != nil {
		return 0, err
	}
	cost := s.Catalog.Prices.HashtagSearch
	err = call.InTx(ctx, s.db, "search.claim", func(ctx context.Context, tx *db.Tx) error {
		r, err := lockKeyword(ctx, tx, call.TeamID, in.Platform, k)
		if err != nil {
			return err
		}
		paidUntil, err := s.paidUntil(ctx, tx, call, in.Platform, k, r)
		if r.jobID != "" || !paidUntil.IsZero() || s.Source == nil {
			cost = 0
		}
		return err
	})
	return cost, err
}

// paidUntil returns the time until which the team has paid for a keyword, with a search or a report. It returns the
// zero time if the team has not paid.
func (s *Service) paidUntil(ctx context.Context, q db.Querier, call operation.Call, platform string, k keyword,
	r search) (time.Time, error) {
	if r.isPaid(call.Now) {
		return r.paidUntil, nil
	}
	hashtags := k.hashtags()
	if len(k) != 1 || len(hashtags) != 1 {
		return time.Time{}, nil
	}
	measured, err := s.Reports.MeasuredAt(ctx, q, call.TeamID, platform, hashtags[0])
	if until := measured.Add(s.window()); err == nil && !measured.IsZero() && call.Now.Before(until) {
		return until, nil
	}
	return time.Time{}, err
}

const (
	paidNote = "The team has already paid for this keyword with a search or a report on the hashtag. Nothing is " +
		"charged."
	runningNote = "A search for this keyword is already running. Nothing was charged again."
)

// search starts a search, or returns the running search or the stored result of an earlier search. Its response
// contains the complete result, while get_job returns the result in pages.
func (s *Service) search(ctx context.Context, call operation.Call, in Input) (operation.Response[job.Job], error) {
	var out operation.Response[job.Job]
	k, err := in.keyword()
	if err != nil {
		return out, err
	}
	err = call.InTx(ctx, s.db, "search.begin", func(ctx context.Context, tx *db.Tx) error {
		r, err := lockKeyword(ctx, tx, call.TeamID, in.Platform, k)
		if err != nil {
			return err
		}
		var record job.Record
		switch {
		case r.jobID != "":
			out.Notes = []string{runningNote}
			record, err = job.Get(ctx, tx, call.TeamID, r.jobID)
		case call.Reservation == 0 && r.isPaid(call.Now) && r.resultOf != "":
			out.Notes = []string{paidNote}
			record, err = s.serveStored(ctx, tx, call, r)
		default:
			record, out.Notes, err = s.startJob(ctx, tx, call, in.Platform, k, r)
		}
		if err != nil {
			return err
		}
		view, err := s.Jobs.View(ctx, tx, call, record, job.GetInput{JobID: record.ID, Limit: maxHashtags})
		out.Data, out.Location, out.App = view.Data, job.Location(record.ID), appPath(record.ID)
		out.Notes = append(out.Notes, view.Notes...)
		return err
	})
	return out, err
}

// startJob starts a search. If an earlier payment covers the search, the job measures only the keyword's own hashtags,
// and only those without current statistics.
func (s *Service) startJob(ctx context.Context, tx *db.Tx, call operation.Call, platform string, k keyword,
	r search) (job.Record, []string, error) {
	t := task{search: r.id, team: call.TeamID, platform: platform, words: k}
	var notes []string
	if call.Reservation == 0 {
		var err error
		if t.paidUntil, err = s.paidUntil(ctx, tx, call, platform, k, r); err != nil {
			return job.Record{}, nil, err
		}
		if !t.paidUntil.IsZero() {
			notes = []string{paidNote}
		}
	}
	record, err := s.Jobs.Start(ctx, tx, job.Params{TeamID: t.team, Type: job.HashtagSearch, Subject: platform,
		Total: max(1, len(k.hashtags())), Reservation: call.Reservation})
	if err != nil {
		return record, nil, err
	}
	if err := t.insert(ctx, tx, record.ID); err != nil {
		return record, nil, err
	}
	if err := recordEvent(ctx, tx, call, record, platform); err != nil {
		return record, nil, err
	}
	return record, notes, s.Worker.Submit(ctx, tx, record.ID)
}

func recordEvent(ctx context.Context, tx *db.Tx, call operation.Call, record job.Record, platform string) error {
	return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "hashtag.search", record.ID,
		map[string]any{"platform": platform})
}

// serveStored creates a finished job with the result of an earlier search.
func (s *Service) serveStored(ctx context.Context, tx *db.Tx, call operation.Call, r search) (job.Record, error) {
	previous, err := job.Get(ctx, tx, call.TeamID, r.resultOf)
	if err != nil {
		return previous, err
	}
	record, err := s.Jobs.Create(ctx, tx, job.Params{TeamID: call.TeamID, Type: job.HashtagSearch, Subject: previous.Subject,
		Total: 1})
	if err != nil {
		return record, err
	}
	if err := copyResult(ctx, tx, previous.ID, record.ID); err != nil {
		return record, err
	}
	if err := job.Finish(ctx, tx, record.ID, job.Succeeded, ""); err != nil {
		return record, err
	}
	if err := recordEvent(ctx, tx, call, record, previous.Subject); err != nil {
		return record, err
	}
	return job.Get(ctx, tx, call.TeamID, record.ID)
}
