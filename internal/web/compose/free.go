package compose

import (
	"context"
	"net/http"
	"time"

	"pressroom/internal/apierr"
)

// A free hour is looked for between these hours of the team's clocks, so many days ahead.
const (
	firstHour = 9
	lastHour  = 18 // the last at which a post begins
	freeDays  = 60
	freeAhead = 10 * time.Minute // before it somebody can still change the mind
)

var errNoneFree = apierr.Invalid(apierr.NotAllowedValue, "date",
	"Of the 60 days from then on every hour between 9:00 and 18:00 has a post. Choose a time yourself.")

// takeFree puts the next free hour into a form: from the day on that stands there, where it is to come.
func (p *Part) takeFree(r *http.Request, s *sheet) error {
	actor, err := p.actor(r)
	if err != nil {
		return err
	}
	now := p.DB.Now()
	day := now.In(actor.Zone)
	if chosen, err := time.ParseInLocation(dateOnly, s.When.Date, actor.Zone); err == nil && chosen.After(now) {
		day = chosen
	}
	at, err := p.free(r.Context(), actor.TeamID, day, now.Add(freeAhead))
	if err != nil {
		return err
	}
	s.When = whenOf(at, actor.Zone)
	return nil
}

// free is the first full hour from a day on, and behind an instant, in which nothing of a team stands in the calendar.
func (p *Part) free(ctx context.Context, team int64, day, behind time.Time) (time.Time, error) {
	for range freeDays {
		hours := make([]time.Time, 0, lastHour-firstHour+2)
		for hour := firstHour; hour <= lastHour+1; hour++ {
			hours = append(hours, time.Date(day.Year(), day.Month(), day.Day(), hour, 0, 0, 0, day.Location()))
		}
		spans, err := p.posts.Calendar(ctx, team, 0, hours, 1)
		if err != nil {
			return time.Time{}, err
		}
		for _, span := range spans {
			if len(span.Slots) == 0 && span.From.After(behind) {
				return span.From, nil
			}
		}
		day = day.AddDate(0, 0, 1)
	}
	return time.Time{}, errNoneFree
}
