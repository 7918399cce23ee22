package post

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
)

// MaxLookahead is how far ahead the future occurrences of a series are listed.
const MaxLookahead = 400 * 24 * time.Hour

// NextOccurrence is an occurrence that a paused series would have if it resumed now.
type NextOccurrence struct {
	At     time.Time
	PostID string // draft that the series would schedule again; empty if there is none
	ByHand bool   // a person edited the draft, so it keeps its content instead of the template's
}

// NextOccurrences returns the next occurrences of a paused series, up to limit and MaxLookahead.
func (s *Service) NextOccurrences(ctx context.Context, template Record, limit int) ([]NextOccurrence, error) {
	recurring, err := template.Series.recurrence()
	if err != nil {
		return nil, err
	}
	after, until := template.Series.lastAt, s.db.Now().Add(MaxLookahead)
	if now := s.db.Now(); after.Before(now) {
		after = now
	}
	existing, err := s.existingOccurrences(ctx, template, after)
	if err != nil {
		return nil, err
	}
	out := []NextOccurrence{}
	for at := range recurring.After(after) {
		if len(out) == limit || at.After(until) {
			break
		}
		draft, ok := existing[db.Micros(at)]
		if ok && (draft.status != Draft || draft.skipped != 0) {
			continue // the occurrence was sent or skipped
		}
		next := NextOccurrence{At: at, PostID: draft.id}
		if ok {
			if next.ByHand, err = editedByPerson(ctx, s.db, template.TeamID, draft.id); err != nil {
				return nil, err
			}
		}
		out = append(out, next)
	}
	return out, nil
}

// ResumeSummary describes what happens to the existing drafts when a series resumes. It returns "" if there are no
// drafts.
func ResumeSummary(l *locale.Language, list []NextOccurrence) string {
	updated, unchanged := 0, 0
	for _, next := range list {
		switch {
		case next.ByHand:
			unchanged++
		case next.PostID != "":
			updated++
		}
	}
	var out []string
	if updated > 0 {
		out = append(out, l.T("Drafts updated from the template: %d.", updated))
	}
	if unchanged > 0 {
		out = append(out, l.T("Drafts that keep their own changes: %d.", unchanged))
	}
	return strings.Join(out, " ")
}

// occurrence is a post that a series has created.
type occurrence struct {
	id          string
	status      Status
	at, skipped int64
}

// existingOccurrences returns the stored occurrences of a series after a time. The keys are their times in
// microseconds.
func (s *Service) existingOccurrences(ctx context.Context, template Record,
	after time.Time) (map[int64]occurrence, error) {
	rows, err := db.All(ctx, s.db, func(rows *sql.Rows, r *occurrence) error {
		return rows.Scan(&r.id, &r.status, &r.at, &r.skipped)
	},
		`SELECT id, status, occurs_at, skipped FROM posts WHERE series_id = ? AND team_id = ?
			AND occurs_at > ? AND occurs_at > 0`, template.SeriesID, template.TeamID, db.Micros(after))
	if err != nil {
		return nil, fmt.Errorf("listing the occurrences of a paused series: %w", err)
	}
	out := map[int64]occurrence{}
	for _, r := range rows {
		out[r.at] = r
	}
	return out, nil
}

// editedByPerson reports whether a person edited an occurrence or requested its approval individually. Moving the
// occurrence and deleting one of its files are not edits.
func editedByPerson(ctx context.Context, q db.Querier, team int64, id string) (bool, error) {
	type auditEvent struct {
		kind, detail string
		at           int64
	}
	events, err := db.All(ctx, q, func(rows *sql.Rows, e *auditEvent) error { return rows.Scan(&e.kind, &e.detail, &e.at) },
		`SELECT kind, detail, at FROM events WHERE team_id = ? AND kind IN ('post.changed', 'post.returned', '`+
			eventMediaRemoved+`') AND subject = ?`, team, id)
	if err != nil {
		return false, fmt.Errorf("reading the events of an occurrence: %w", err)
	}
	for _, e := range events {
		if e.kind == eventMediaRemoved || slices.ContainsFunc(events, func(other auditEvent) bool {
			return other.kind == eventMediaRemoved && other.at == e.at
		}) {
			continue
		}
		var detail struct {
			Changed []string `json:"changed"`
		}
		if err := json.Unmarshal([]byte(e.detail), &detail); err != nil {
			return false, fmt.Errorf("parsing an event of an occurrence: %w", err)
		}
		if slices.ContainsFunc(detail.Changed, func(field string) bool { return field != "scheduled_at" }) {
			return true, nil
		}
	}
	var round int64
	if err := q.QueryRow(ctx, `SELECT approval_round FROM posts WHERE id = ?`, id).Scan(&round); err != nil {
		return false, fmt.Errorf("reading the approval rounds of an occurrence: %w", err)
	}
	return round > 0, nil
}
