package compose

import (
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post/calendar"
)

// minLeadTime is the minimum time from now to a free slot.
const minLeadTime = 10 * time.Minute

var errNoFreeSlot = apierr.Invalid(apierr.NotAllowedValue, "date",
	"Every hour from 9:00 to 18:00 in the next 60 days has a post. Choose a time yourself.")

// useNextFreeSlot sets the form's time to the first free slot on or after the form's date. If that date is missing or
// not in the future, it searches from now.
func (p *Handlers) useNextFreeSlot(r *http.Request, s *formData) error {
	actor, err := p.actor(r)
	if err != nil {
		return err
	}
	now := p.DB.Now()
	day := now.In(actor.PersonZone)
	day = s.When.dayFrom(day)
	at, err := calendar.FreeHour(r.Context(), p.DB, actor.TeamID, day, now.Add(minLeadTime))
	if err != nil {
		return err
	}
	if at.IsZero() {
		return errNoFreeSlot
	}
	s.When = whenOf(at, actor.PersonZone)
	return nil
}
