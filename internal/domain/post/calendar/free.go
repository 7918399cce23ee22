package calendar

import (
	"context"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

// Bounds of the search for free times.
const (
	firstHour    = 9
	lastHour     = 18 // start of the last hour of a day that is searched
	maxFreeDays  = 60
	maxFreeWeeks = 4
	daysOfWeek   = 7
)

// FreeHour returns the start of the first full hour in which a team has no posts. It searches the hours that start from
// 9:00 to 18:00, on or after day and later than after. It returns the zero time if there is none in 60 days.
func FreeHour(ctx context.Context, d *db.DB, team int64, day, after time.Time) (time.Time, error) {
	for range maxFreeDays {
		hours := make([]time.Time, 0, lastHour-firstHour+2)
		for hour := firstHour; hour <= lastHour+1; hour++ {
			hours = append(hours, time.Date(day.Year(), day.Month(), day.Day(), hour, 0, 0, 0, day.Location()))
		}
		spans, err := Spans(ctx, d, team, Filter{}, hours, 1)
		if err != nil {
			return time.Time{}, err
		}
		for _, span := range spans {
			if len(span.Entries) == 0 && span.From.After(after) {
				return span.From, nil
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, nil
}

// FreeWeek returns at, or the same time one to three weeks later. It returns the first of these times that is later
// than after and that starts an hour in which a team has no posts. It returns the zero time if there is none.
func FreeWeek(ctx context.Context, d *db.DB, team int64, at, after time.Time) (time.Time, error) {
	for range maxFreeWeeks {
		if at.After(after) {
			spans, err := Spans(ctx, d, team, Filter{}, []time.Time{at, at.Add(time.Hour)}, 1)
			if err != nil {
				return time.Time{}, err
			}
			if len(spans[0].Entries) == 0 {
				return at, nil
			}
		}
		at = at.AddDate(0, 0, daysOfWeek)
	}
	return time.Time{}, nil
}
