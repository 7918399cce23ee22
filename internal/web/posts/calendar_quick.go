package posts

import (
	"net/http"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/analytics"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// quickView is the summary of a post that the calendar shows on demand.
type quickView struct {
	event
	analytics.PostSums

	Team       int64
	Caption    string
	Back       string // query of the calendar
	Date, Time string // values of the form's fields
	Planned    string // formatted date if the post has no time; otherwise empty
	Movable    bool
	Approved   bool // whether a move ends the client's approval
	Editable   bool
	Copyable   bool
	Deletable  bool
	Publishes  bool
	Published  []post.Target // accounts on which the post can be viewed
	ClientLink string        // approval link; set only if the post waits for approval
}

// HasMenu reports whether the summary has a menu with further actions.
func (q quickView) HasMenu() bool { return q.Copyable || q.ClientLink != "" || len(q.Published) > 1 }

// maxQuickText is the maximum length of the text in a post's summary, in characters.
const maxQuickText = 280

// quick serves a post's summary to the calendar's script.
func (p *Handlers) quick(w http.ResponseWriter, r *http.Request) {
	stored, err := p.postOf(r)
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	zone := shell.VisitorOf(r.Context()).Zone
	accounts, err := post.ListAccounts(r.Context(), p.DB, stored.TeamID, []string{stored.ID})
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	entry := calendar.Entry{At: stored.Slot(), Day: stored.PlannedDay, PostID: stored.ID, InSeries: stored.SeriesID != 0,
		Status: stored.Status, ClientApproval: stored.Approval, Excerpt: stored.Excerpt,
		Accounts: accounts[stored.ID], Changed: stored.UpdatedAt}
	events, err := p.eventMaker(r, []calendar.Entry{entry}, zone)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	sums, err := p.analytics.SumByPost(r.Context(), stored.TeamID, []string{stored.ID})
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	view, err := p.quickViewOf(r, stored)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	view.event, view.PostSums = events([]calendar.Entry{entry}, false)[0], sums[stored.ID]
	p.ShowPart(w, r, pages["quick"], "live", view)
}

// quickViewOf returns a post's summary, except for the calendar event and the metrics.
func (p *Handlers) quickViewOf(r *http.Request, stored post.Record) (quickView, error) {
	v := shell.VisitorOf(r.Context())
	view := quickView{Team: stored.TeamID,
		Caption: truncate(maxQuickText, stored.Caption),
		Back:    queryOf(r.URL.Query()).Here(), Date: stored.PlannedDay,
		Editable: stored.CheckComposable() == nil && v.Is(shell.Writers)}
	view.Movable = view.Editable && !stored.IsTemplate && (stored.Status == post.Draft || v.Is(shell.Publishers))
	view.Copyable = v.Is(shell.Writers) && !stored.IsTemplate
	view.Deletable = view.Copyable && isDeletable(stored)
	view.Publishes = v.Is(shell.Publishers) && isPublishable(stored)
	view.Published = viewable(stored.Targets)
	if stored.Approval == post.Waiting && v.Is(shell.Writers) {
		var err error
		if view.ClientLink, err = p.approvals.LinkOf(r.Context(), stored.TeamID, stored.ID); err != nil {
			return view, err
		}
	}
	p.addTimes(r, &view, stored)
	return view, nil
}

// viewable returns the targets on which the post is published and has a link.
func viewable(targets []post.Target) []post.Target {
	return slices.DeleteFunc(slices.Clone(targets), func(t post.Target) bool {
		return t.State != post.TargetPublished || webAddress(t.Permalink) == ""
	})
}

// addTimes sets the fields with the planned day or the time of the post.
func (p *Handlers) addTimes(r *http.Request, view *quickView, stored post.Record) {
	view.Approved = stored.Approval == post.Approved && !stored.ScheduledAt.IsZero()
	if day, err := time.Parse(time.DateOnly, stored.PlannedDay); err == nil {
		view.Planned = p.Language(r).Format(day, locale.Date)
	}
	if !stored.ScheduledAt.IsZero() {
		local := stored.ScheduledAt.In(shell.VisitorOf(r.Context()).Zone)
		view.Date, view.Time = local.Format(time.DateOnly), local.Format("15:04")
	}
}
