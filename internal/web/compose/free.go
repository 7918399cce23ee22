package compose

import (
	"context"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post/calendar"
)

// Bounds of the search for a free slot, in the visitor's time zone.
const (
	firstHour   = 9
	lastHour    = 18 // start of the last slot
	maxFreeDays = 60
	minLeadTime = 10 * time.Minute // minimum time from now to the slot
)

var errNoFreeSlot = apierr.Invalid(apierr.NotAllowedValue, "date",
	"Every hour from 9:00 to 18:00 in the next 60 days has a post. Choose a time yourself.")

// useNextFreeSlot sets the form's time to the first free slot on or after the form's date, or from today if that date
// is missing or not in the future.
func (p *Handlers) useNextFreeSlot(r *http.Request, s *formData) error {
	actor, err := p.actor(r)
	if err != nil {
		return err
	}
	now := p.DB.Now()
	day := now.In(actor.PersonZone)
	day = s.When.dayFrom(day)
	at, err := p.nextFreeHour(r.Context(), actor.TeamID, day, now.Add(minLeadTime))
	if err != nil {
		return err
	}
	s.When = whenOf(at, actor.PersonZone)
	return nil
}

// nextFreeHour returns the first hour, from firstHour to lastHour, that is on or after day, later than after, and has
// no posts.
func (p *Handlers) nextFreeHour(ctx context.Context, team int64, day, after time.Time) (time.Time, error) {
	for range maxFreeDays {
		hours := make([]time.Time, 0, lastHour-firstHour+2)
		for hour := firstHour; hour <= lastHour+1; hour++ {
			hours = append(hours, time.Date(day.Year(), day.Month(), day.Day(), hour, 0, 0, 0, day.Location()))
		}
		spans, err := calendar.Spans(ctx, p.DB, team, calendar.Filter{}, hours, 1)
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
	return time.Time{}, errNoFreeSlot
}
