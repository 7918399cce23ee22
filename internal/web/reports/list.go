package reports

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/report"
	"pressroom.example/pressroom/internal/web/shell"
)

// expiryNotice is how long before a report expires the list starts to warn about it.
const expiryNotice = 30 * 24 * time.Hour

// listView is the page that lists reports.
type listView struct {
	Reports     []entry
	Filters     url.Values
	Filtered    bool
	First, Next string // paths of other pages; "" if there is none
	MaySpend    bool
	Comparable  int64 // number of reports that the plan can compare; less than 2 if it cannot compare any
	Error       string
}

// entry is a report in the list. Summary contains the key metrics if the report is ready.
type entry struct {
	report.ReportEntry

	Summary *report.ReportSummary
	Trend   []report.FollowerSample // measurements, oldest first
	Ending  bool                    // the report expires soon
}

// HasProfile reports whether the list contains a profile report with key metrics.
func (v listView) HasProfile() bool {
	return slices.ContainsFunc(v.Reports, func(e entry) bool { return e.Summary != nil && e.Summary.Profile != nil })
}

// Line returns the followers at each measurement.
func (e entry) Line() []int64 {
	var out []int64
	for _, m := range e.Trend {
		out = append(out, m.Followers)
	}
	return out
}

// Previous returns the second newest measurement, or nil if there is none.
func (e entry) Previous() *report.FollowerSample {
	if n := len(e.Trend); n > 1 {
		return &e.Trend[n-2]
	}
	return nil
}

// Growth returns the percentage by which the followers have changed since the previous measurement, or nil if it is
// unknown.
func (e entry) Growth() *float64 {
	previous := e.Previous()
	if previous == nil {
		return nil
	}
	return new(100 * float64(e.Trend[len(e.Trend)-1].Followers-previous.Followers) / float64(previous.Followers))
}

// EngagementGrowth returns the percentage by which the engagement per follower has changed since the previous
// measurement, or nil if it is unknown.
func (e entry) EngagementGrowth() *float64 {
	previous := e.Previous()
	if previous == nil || previous.Engagement == nil || *previous.Engagement <= 0 || e.Trend[len(e.Trend)-1].Engagement == nil {
		return nil
	}
	return new(100 * (*e.Trend[len(e.Trend)-1].Engagement - *previous.Engagement) / *previous.Engagement)
}

// addTrends adds the measurements of profile reports.
func (h *Handlers) addTrends(r *http.Request, entries []entry) error {
	var ids []string
	for _, e := range entries {
		if e.Summary != nil && e.Kind == report.Profile {
			ids = append(ids, e.ID)
		}
	}
	trends, err := h.reports.Trends(r.Context(), shell.VisitorOf(r.Context()).Team.ID, ids)
	for i := range entries {
		entries[i].Trend = trends[entries[i].ID]
	}
	return err
}

// expiresSoon reports whether a report expires soon.
func (h *Handlers) expiresSoon(e report.ReportEntry) bool {
	if e.AvailableUntil == nil {
		return false
	}
	at, err := time.Parse(time.RFC3339, e.AvailableUntil.UTC)
	return err == nil && at.Before(h.DB.Now().Add(expiryNotice))
}

// withSummaries returns list entries, with the key metrics of ready reports.
func (h *Handlers) withSummaries(r *http.Request, entries []report.ReportEntry) ([]entry, error) {
	out := make([]entry, len(entries))
	for i, e := range entries {
		out[i].ReportEntry = e
		out[i].Ending = h.expiresSoon(e)
		if e.Status != report.Ready {
			continue
		}
		summary, _, err := shell.Run[report.ReportSummary](h.Shell, r, "get_report",
			operation.Arguments{"type": e.Kind, "id": e.ID})
		if err != nil && !apierr.Is(err, apierr.NotFound) {
			return nil, err
		}
		if err == nil {
			out[i].Summary = &summary
		}
	}
	return out, nil
}

func (h *Handlers) list(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	view := listView{Filters: q, MaySpend: maySpend(r)}
	args := operation.Arguments{"limit": int64(20)}
	for _, name := range []string{"type", "platform", "status", "query", "cursor"} {
		if value := strings.TrimSpace(q.Get(name)); value != "" {
			args[name] = value
			view.Filtered = view.Filtered || name != "cursor"
		}
	}
	if q.Get("tracked") != "" {
		args["tracked_only"], view.Filtered = true, true
	}
	limits, err := h.plan(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	view.Comparable = limits.ProfilesComparable
	list, outcome, err := shell.Run[report.ReportList](h.Shell, r, "list_reports", args)
	status := http.StatusOK
	if err != nil {
		formErr, ok := h.formError(w, r, err)
		if !ok {
			return
		}
		view.Error, status = formErr, shell.StatusOf(err)
	}
	if view.Reports, err = h.withSummaries(r, list.Reports); err == nil {
		err = h.addTrends(r, view.Reports)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	if q.Get("cursor") != "" {
		view.First = pageOf(r.URL, "cursor", "")
	}
	if outcome.Page != nil {
		view.Next = pageOf(r.URL, "cursor", outcome.Page.Cursor)
	}
	h.Show(w, r, status, pages["list"], "Reports", view)
}

// pageOf returns the URL with another cursor in the parameter name, or without that parameter if cursor is empty.
func pageOf(u *url.URL, name, cursor string) string {
	next := url.Values{}
	for key, values := range u.Query() {
		if values[0] != "" && key != name {
			next[key] = values
		}
	}
	if cursor != "" {
		next.Set(name, cursor)
	}
	return (&url.URL{Path: u.Path, RawQuery: next.Encode()}).String()
}

// newView is the form for a new report.
type newView struct {
	budget

	Type, Platform, Subject string
	Error, Field            string
	Preview                 *report.Preview // nil if the subject is missing or invalid
	Own                     []ownProfile    // the team's accounts that a report can be about
}

// ownProfile is one of the team's accounts that a report can be about.
type ownProfile struct{ report.OwnProfile }

// NewPath returns the path of the form, filled in with the profile.
func (o ownProfile) NewPath() string {
	q := url.Values{"type": {report.Profile}, "platform": {o.Platform}, "subject": {o.Username}}
	return "/reports/new?" + q.Encode()
}

// Price returns the price of the report.
func (v newView) Price() int64 {
	if v.Type == report.Hashtag {
		return v.Prices.Hashtag
	}
	return v.Prices.Profile
}

// Left returns the balance that is left after paying for the report, or nil if the balance is unknown.
func (v newView) Left() *int64 {
	if v.Balance == nil {
		return nil
	}
	return new(*v.Balance - v.Price())
}

// Short reports whether the team has too few credits for the report.
func (v newView) Short() bool { return v.Balance != nil && *v.Balance < v.Price() }

// Network returns the network of the report.
func (v newView) Network() string {
	if v.Type == report.Hashtag || v.Platform == "" {
		return "instagram" // the only network with hashtag reports
	}
	return v.Platform
}

func (h *Handlers) newPage(w http.ResponseWriter, r *http.Request) {
	q := h.SavedForm(r)
	if q == nil {
		q = r.URL.Query()
	}
	h.showNew(w, r, http.StatusOK, newView{Type: q.Get("type"), Platform: q.Get("platform"), Subject: q.Get("subject")})
}

// newPreview serves the part of the form that shows the price and the known data about the subject.
func (h *Handlers) newPreview(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	view := newView{Type: q.Get("type"), Platform: q.Get("platform"), Subject: q.Get("subject")}
	if err := h.addPreview(r, &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	h.ShowPart(w, r, pages["new"], "preview", view)
}

func (h *Handlers) showNew(w http.ResponseWriter, r *http.Request, status int, view newView) {
	if err := h.addPreview(r, &view); err != nil {
		h.ShowError(w, r, err)
		return
	}
	profiles, err := h.reports.OwnProfiles(r.Context(), shell.VisitorOf(r.Context()).Team.ID)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	for _, o := range profiles {
		view.Own = append(view.Own, ownProfile{o})
	}
	h.Show(w, r, status, pages["new"], "New report", view)
}

// addPreview adds the prices and, if the subject is valid, the known data about it.
func (h *Handlers) addPreview(r *http.Request, view *newView) error {
	var err error
	if view.budget, err = h.budget(r); err != nil {
		return err
	}
	if view.Type != report.Hashtag {
		view.Type = report.Profile
	}
	team := shell.VisitorOf(r.Context()).Team
	preview, err := h.reports.Preview(r.Context(), team.ID,
		report.CreateInput{Type: view.Type, Platform: view.Network(), Subject: view.Subject})
	switch {
	case err == nil:
		if zone, err := time.LoadLocation(team.Timezone); err == nil {
			preview.MeasuredAt = preview.MeasuredAt.In(zone)
		}
		view.Preview = &preview
	case apierr.FromError(err).IsServerError():
		return err
	}
	return nil
}

func (h *Handlers) create(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	view := newView{
		Type: r.PostForm.Get("type"), Platform: r.PostForm.Get("platform"), Subject: r.PostForm.Get("subject"),
	}
	if view.Type == report.Hashtag {
		view.Platform = view.Network()
	}
	_, outcome, err := shell.Run[job.Job](h.Shell, r, "create_report",
		operation.Arguments{"type": view.Type, "platform": view.Platform, "subject": view.Subject})
	if err != nil {
		formErr, ok := h.formError(w, r, err)
		if ok {
			view.Error, view.Field = formErr, fieldOf(err)
			h.showNew(w, r, shell.StatusOf(err), view)
		}
		return
	}
	if len(outcome.Notes) > 0 { // otherwise the report's page shows the progress
		h.FlashText(r, strings.Join(notes.Translate(h.Language(r), outcome.Notes), " "))
	}
	shell.Redirect(w, r, outcome.App)
}

// fieldOf returns the form field that an error is about, or "".
func fieldOf(err error) string {
	field, _ := apierr.FromError(err).Context["argument"].(string)
	return field
}
