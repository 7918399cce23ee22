package calendar_test

import (
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/testkit/must"
)

// dayBounds returns the bounds of n days in Berlin that begin at a date.
func (w *env) dayBounds(year int, month time.Month, day, n int) []time.Time {
	out := make([]time.Time, n+1)
	for i := range out {
		out[i] = time.Date(year, month, day+i, 0, 0, 0, 0, w.Call.Zone)
	}
	return out
}

// formatSpans returns the calendar as text: day, time, status and excerpt of each entry.
func (w *env) formatSpans(t *testing.T, bounds []time.Time, limit int) string {
	t.Helper()
	spans := must.Get(calendar.Spans(t.Context(), w.DB, w.Call.TeamID, calendar.Filter{}, bounds, limit))(t)
	days := []string{}
	for _, span := range spans {
		parts := []string{}
		for _, entry := range span.Entries {
			status := string(entry.Status)
			if entry.IsOccurrence {
				status = "future"
			}
			if len(entry.Accounts) != 1 || entry.Accounts[0].ID != w.Account {
				t.Errorf("%s has accounts %v", entry.PostID, entry.Accounts)
			}
			parts = append(parts, entry.At.In(w.Call.Zone).Format("02 15:04 ")+status+" "+entry.Excerpt)
		}
		if span.More {
			parts = append(parts, "more")
		}
		days = append(days, strings.Join(parts, ", "))
	}
	return strings.Join(days, " | ")
}

func TestSpans(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		zone := w.Call.Zone
		w.Draft(t, "no time", time.Time{})
		w.Draft(t, "with time", time.Date(2026, 11, 23, 0, 0, 0, 0, zone))
		w.Draft(t, "late", time.Date(2026, 11, 22, 23, 59, 59, 0, zone))
		scheduled := w.Draft(t, "planned", time.Time{})
		w.Do(t, "schedule_post", map[string]any{"post_id": scheduled, "scheduled_at": time.Date(2026, 11, 23, 9, 0, 0,
			0, zone).Format(time.RFC3339)})
		published := w.Draft(t, "sent", time.Time{})
		w.Do(t, "publish_post", map[string]any{"post_id": published})
		bounds := w.dayBounds(2026, 11, 21, 3)
		if got, want := w.formatSpans(t, bounds,
			5), "21 12:00 published sent | 22 23:59 draft late | 23 00:00 draft with time, 23 09:00 scheduled "+
			"planned"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got, want := w.formatSpans(t, bounds,
			1), "21 12:00 published sent | 22 23:59 draft late | 23 00:00 draft with time, more"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		spans := must.Get(calendar.Spans(t.Context(), w.DB, w.Call.TeamID+1, calendar.Filter{}, bounds, 5))(t)
		for _, span := range spans {
			if len(span.Entries) > 0 {
				t.Errorf("another team sees %v", span.Entries)
			}
		}
	})
}

// The calendar lists each future occurrence of a running series once, at its wall-clock time, even after a change to
// or from daylight saving time.
func TestCalendarFutureOccurrences(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w *env) {
		first := time.Date(2026, 11, 22, 10, 0, 0, 0, w.Call.Zone)
		template := w.Draft(t, "coffee", first)
		must.Get(w.Repeat(t.Context(), w.Person, template, "FREQ=DAILY", nil))(t)
		if got, want := w.formatSpans(t, w.dayBounds(2026, 11, 21, 3),
			5), " | 22 10:00 scheduled coffee | 23 10:00 future coffee"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got, want := w.formatSpans(t, w.dayBounds(2027, 3, 27, 2),
			5), "27 10:00 future coffee | 28 10:00 future coffee"; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := w.formatSpans(t, w.dayBounds(2029, 1, 1, 2), 5); got != " | " {
			t.Errorf("after MaxLookahead: %s", got)
		}
		p := must.Get(w.Load(t.Context(), w.Call.TeamID, template))(t)
		next := must.Get(calendar.Occurrences(t.Context(), w.DB, w.Call.TeamID, p.SeriesID, 3))(t)
		for i, entry := range next {
			if !entry.At.Equal(first.AddDate(0, 0, i)) || entry.IsOccurrence != (i > 0) {
				t.Errorf("occurrence %d is %+v", i, entry)
			}
		}
		if len(next) != 3 {
			t.Errorf("%d occurrences", len(next))
		}
		if others, err := calendar.Occurrences(t.Context(), w.DB, w.Call.TeamID+1, p.SeriesID, 3); err != nil || len(others) != 0 {
			t.Errorf("another team sees %v, %v", others, err)
		}
		w.Do(t, "cancel_post", map[string]any{"post_id": template})
		if got, want := w.formatSpans(t, w.dayBounds(2026, 11, 22, 2), 5), "22 10:00 draft coffee | "; got != want {
			t.Errorf("paused: %s, want %s", got, want)
		}
	})
}
