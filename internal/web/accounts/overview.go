package accounts

import (
	"net/http"
	"time"

	"pressroom/internal/domain/analytics"
	"pressroom/internal/web/shell"
)

// overviewView compares the last seven days of all accounts with the seven days before.
type overviewView struct {
	Accounts []analytics.AccountWeeks
	ZoneName string
	Manages  bool

	Followers, Change *int64 // sums of what is known; nil if nothing is
	Now, Past         analytics.Week
}

// overview shows the figures of all accounts.
func (p *Handlers) overview(w http.ResponseWriter, r *http.Request) {
	v := shell.VisitorOf(r.Context())
	zone, err := time.LoadLocation(v.Team.Timezone)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	out := overviewView{ZoneName: v.Team.Timezone, Manages: v.Is(shell.Managers)}
	if out.Accounts, err = p.insight.CompareWeeks(r.Context(), v.Team.ID, zone); err != nil {
		p.ShowError(w, r, err)
		return
	}
	for _, a := range out.Accounts {
		addTo(&out.Followers, a.Followers)
		addTo(&out.Change, a.Change)
		addWeek(&out.Now, a.Now)
		addWeek(&out.Past, a.Past)
	}
	p.Show(w, r, http.StatusOK, pages["overview"], "Analytics", out)
}

func addWeek(sum *analytics.Week, w analytics.Week) {
	sum.Posts += w.Posts
	addTo(&sum.Views, w.Views)
	addTo(&sum.Engagement, w.Engagement)
}

// addTo adds a figure to a sum, if it is known.
func addTo(sum **int64, n *int64) {
	if n == nil {
		return
	}
	if *sum == nil {
		*sum = new(int64)
	}
	**sum += *n
}
