package post

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom/internal/platform/db"
)

// NextOccurrence is a time at which a series that stands would occur next, if it went on now.
type NextOccurrence struct {
	Slot

	ByHand bool // a draft that somebody has changed: it keeps what it shows, where others show what the template shows by then
}

// NextOccurrences are the next times of a series that stands, most at the most. At some of them a draft is waiting that pausing
// has made, and that the series takes up again.
func (s *Service) NextOccurrences(ctx context.Context, template Post, most int) ([]NextOccurrence, error) {
	recurring, err := template.Series.recurrence()
	if err != nil {
		return nil, err
	}
	behind, until := template.Series.last, s.db.Now().Add(maxLookahead)
	if now := s.db.Now(); behind.Before(now) {
		behind = now
	}
	made, err := s.existingOccurrences(ctx, template, behind)
	if err != nil {
		return nil, err
	}
	out := []NextOccurrence{}
	for at := range recurring.after(behind) {
		if len(out) == most || at.After(until) {
			break
		}
		found, ok := made[db.Micros(at)]
		one := found.Slot
		switch {
		case !ok:
			one = Slot{PostID: template.ID, ToCome: true, Excerpt: template.Excerpt}
		case one.Status != Draft || found.skipped != 0:
			continue // it has gone out meanwhile, or was skipped
		}
		one.At, one.InSeries = at, true
		byHand := false
		if !one.ToCome {
			if byHand, err = changedByHand(ctx, s.db, template.TeamID, one.PostID); err != nil {
				return nil, err
			}
		}
		out = append(out, NextOccurrence{one, byHand})
	}
	return out, nil
}

// ResumeSummary says what becomes of the drafts that a series takes up again; empty where there are none.
func ResumeSummary(list []NextOccurrence) string {
	follow, keep := 0, 0
	for _, one := range list {
		switch {
		case one.ByHand:
			keep++
		case !one.ToCome:
			follow++
		}
	}
	var out []string
	if follow > 0 {
		out = append(out, fmt.Sprintf("Drafts that take over what the series is made from: %d.", follow))
	}
	if keep > 0 {
		out = append(out, fmt.Sprintf("Drafts that keep what was changed by hand: %d.", keep))
	}
	return strings.Join(out, " ")
}

// occurrence is one that a series has made.
type occurrence struct {
	Slot

	at, skipped int64
}

// existingOccurrences are the occurrences of a series that are there behind a time, by their own times in microseconds.
func (s *Service) existingOccurrences(ctx context.Context, template Post, behind time.Time) (map[int64]occurrence, error) {
	rows, err := db.All(ctx, s.db, func(rows *sql.Rows, r *occurrence) error {
		return rows.Scan(&r.PostID, &r.Status, &r.Excerpt, &r.at, &r.skipped)
	},
		`SELECT id, status, excerpt, occurs_at, skipped FROM posts WHERE series_id = ? AND team_id = ? AND occurs_at > ? AND occurs_at > 0`, template.SeriesID, template.TeamID, db.Micros(behind))
	if err != nil {
		return nil, fmt.Errorf("reading what is made of a series that stands: %w", err)
	}
	out := map[int64]occurrence{}
	for _, r := range rows {
		out[r.at] = r
	}
	return out, nil
}

// changedByHand tells whether somebody has changed what an occurrence shows, or has asked the client about it alone. To
// move it, or to delete a file that it showed, is not to change it so.
func changedByHand(ctx context.Context, q db.Querier, team int64, id string) (bool, error) {
	type told struct {
		kind, detail string
		at           int64
	}
	events, err := db.All(ctx, q, func(rows *sql.Rows, e *told) error { return rows.Scan(&e.kind, &e.detail, &e.at) },
		`SELECT kind, detail, at FROM events WHERE team_id = ? AND kind IN ('post.changed', 'post.returned', '`+eventMediaRemoved+`') AND subject = ?`, team, id)
	if err != nil {
		return false, fmt.Errorf("reading what became of an occurrence: %w", err)
	}
	for _, e := range events {
		if e.kind == eventMediaRemoved || slices.ContainsFunc(events, func(other told) bool { return other.kind == eventMediaRemoved && other.at == e.at }) {
			continue
		}
		var detail struct {
			Changed []string `json:"changed"`
		}
		if err := json.Unmarshal([]byte(e.detail), &detail); err != nil {
			return false, fmt.Errorf("reading what was changed of an occurrence: %w", err)
		}
		if slices.ContainsFunc(detail.Changed, func(what string) bool { return what != "scheduled_at" }) {
			return true, nil
		}
	}
	var round int64
	if err := q.QueryRow(ctx, `SELECT approval_round FROM posts WHERE id = ?`, id).Scan(&round); err != nil {
		return false, fmt.Errorf("reading whether the client was asked about an occurrence: %w", err)
	}
	return round > 0, nil
}
