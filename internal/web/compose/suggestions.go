package compose

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	maxBestTimes = 3
	maxFreeTimes = 3
)

// PostingTimes provides the hours of the week when posts on an account get more engagement than usual.
type PostingTimes interface {
	BestTimes(ctx context.Context, team int64, accounts []int64, zone *time.Location) ([]analytics.BestTime, error)
}

// suggestions are times that the form offers: the best times for the selected accounts, and other free times. The team
// has no post at any of these times.
type suggestions struct {
	Path   string // URL path to which the form is sent
	Chosen time.Time
	Best   []bestTime
	Free   []time.Time
}

// bestTime is the next free occurrence of one of the best hours of the week for the selected accounts.
type bestTime struct {
	analytics.BestTime

	At time.Time // in the visitor's time zone
	Of []account.SocialAccount
}

// suggest returns the times that the form offers. accounts are the team's accounts.
func (p *Handlers) suggest(r *http.Request, s *formData, accounts []account.SocialAccount) (suggestions, error) {
	out := suggestions{Path: "/posts/new"}
	actor, err := p.actor(r)
	if err != nil {
		return out, err
	}
	now := p.DB.Now().In(actor.PersonZone)
	if at, _, err := s.When.instant(actor.PersonZone); err == nil {
		out.Chosen = at
	}
	if out.Best, err = p.bestTimes(r, s.Accounts, accounts, now); err != nil {
		return out, err
	}
	day := s.When.dayFrom(now)
	for len(out.Free) < maxFreeTimes {
		at, err := calendar.FreeHour(r.Context(), p.DB, actor.TeamID, day, now.Add(minLeadTime))
		if err != nil {
			return out, err
		}
		if at.IsZero() {
			break
		}
		out.Free = append(out.Free, at.In(now.Location()))
		day = at.AddDate(0, 0, 1)
	}
	return out, nil
}

// bestTimes returns the next free best times for the selected accounts, best first.
func (p *Handlers) bestTimes(
	r *http.Request, selected []int64, accounts []account.SocialAccount, now time.Time,
) ([]bestTime, error) {
	team := shell.VisitorOf(r.Context()).Team
	zone, err := time.LoadLocation(team.Timezone) // as on the analytics pages
	if err != nil {
		return nil, fmt.Errorf("loading the team's time zone: %w", err)
	}
	found, err := p.times.BestTimes(r.Context(), team.ID, selected, zone)
	if err != nil {
		return nil, err
	}
	out := []bestTime{}
	for _, best := range found {
		at, err := calendar.FreeWeek(r.Context(), p.DB, team.ID, best.Next, now.Add(minLeadTime))
		if err != nil {
			return nil, err
		}
		if at.IsZero() {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(accounts), func(a account.SocialAccount) bool {
			return !slices.Contains(best.Accounts, a.ID)
		})
		if out = append(out, bestTime{best, at.In(now.Location()), of}); len(out) == maxBestTimes {
			break
		}
	}
	return out, nil
}

// showTimes serves the suggested times for the accounts and the date in the query to the page's script.
func (p *Handlers) showTimes(w http.ResponseWriter, r *http.Request) {
	accounts, err := p.accounts(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	s := parseForm(r.URL.Query())
	out, err := p.suggest(r, &s, accounts)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.ShowPart(w, r, pages["compose"], "suggestions", out)
}

// errSuggestedTime is the error for a suggested time that cannot be read.
var errSuggestedTime = apierr.Invalid(apierr.Malformed, "date", "The date or time is invalid. Enter them as 2026-03-29 and 10:15.")

// useTime sets the form's time to a suggested time.
func (p *Handlers) useTime(r *http.Request, s *formData, text string) error {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return errSuggestedTime.Wrap(err)
	}
	s.When = whenOf(at, shell.VisitorOf(r.Context()).Zone)
	return nil
}
