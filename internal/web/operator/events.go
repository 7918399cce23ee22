package operator

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
)

// eventsView is a page of the audit log.
type eventsView struct {
	eventsFilter

	TeamName string
	Typed    string      // team filter, as entered
	Who      string      // person filter, as entered
	Kinds    []kindGroup // offered kinds
	Teams    []team.Team // offered teams
	Error    string
	Days     []eventDay
	Pages    *shell.LogPager
	File     string // path of the file with all selected events
	Ranges   []eventRange
}

// eventRange is a link to the events in a date range.
type eventRange struct {
	Name    locale.Key
	Path    string
	Current bool
}

// rangesOf returns links to the offered date ranges. The links keep the other filters.
func rangesOf(f eventsFilter, now time.Time) []eventRange {
	out := []eventRange{{Name: "All time"}, {Name: "Today"}, {Name: "Last 7 days"}, {Name: "Last 30 days"}}
	for i, days := range []int{0, 1, 7, 30} {
		other := f
		other.From, other.To = "", ""
		if days > 0 {
			other.From = now.UTC().AddDate(0, 0, 1-days).Format(time.DateOnly)
		}
		out[i].Path, out[i].Current = other.path("/operator/events", 0), other == f
	}
	return out
}

// WithoutItem returns the path of the page without the filter for an item.
func (f eventsFilter) WithoutItem() string {
	f.Item = ""
	return f.path("/operator/events", 0)
}

// eventsFilter is the filter in the form. From and To are the first and last day in UTC, such as 2026-11-30.
type eventsFilter struct {
	Team, Person   int64
	Kind, From, To string
	Item           string // ID of the item that the events are about
}

// Filters reports whether any filter is set.
func (f eventsFilter) Filters() bool { return f != eventsFilter{} }

// eventsFilterOf returns the filter of a request. Team and Person are 0 if they were not entered as IDs.
func eventsFilterOf(r *http.Request) eventsFilter {
	query := r.URL.Query()
	f := eventsFilter{
		Team: queryNumber(r, "team"), Person: queryNumber(r, "person"), Kind: query.Get("kind"), From: query.Get("from"),
		To: query.Get("to"), Item: strings.TrimSpace(query.Get("item")),
	}
	for _, day := range []*string{&f.From, &f.To} {
		if _, err := time.Parse(time.DateOnly, *day); err != nil {
			*day = ""
		}
	}
	return f
}

// selection returns the filter as an auditlog.Filter.
func (f eventsFilter) selection() auditlog.Filter {
	out := auditlog.Filter{Team: f.Team, Person: f.Person, Kind: f.Kind, Subject: f.Item}
	if from, err := time.Parse(time.DateOnly, f.From); err == nil {
		out.Since = from
	}
	if to, err := time.Parse(time.DateOnly, f.To); err == nil {
		out.Until = to.AddDate(0, 0, 1)
	}
	return out
}

// path returns a path with the filter as its query. The page shows the events before an ID, or the newest events if
// before is 0.
func (f eventsFilter) path(basePath string, before int64) string {
	query := url.Values{}
	for name, value := range map[string]string{
		"team": strconv.FormatInt(f.Team, 10), "person": strconv.FormatInt(f.Person, 10), "kind": f.Kind, "from": f.From,
		"to": f.To, "item": f.Item, "before": strconv.FormatInt(before, 10),
	} {
		if value != "" && value != "0" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return basePath
	}
	return basePath + "?" + query.Encode()
}

// kindGroup is a group of event kinds in the form.
type kindGroup struct {
	Name  locale.Key
	Kinds []settings.EventKind
}

// offeredKinds returns the kinds of events that the form offers.
func offeredKinds() []kindGroup {
	var out []kindGroup
	for _, k := range settings.EventKinds() {
		if len(out) == 0 || out[len(out)-1].Name != k.Group {
			out = append(out, kindGroup{Name: k.Group})
		}
		last := &out[len(out)-1]
		last.Kinds = append(last.Kinds, k)
	}
	return out
}

// eventDay holds the events of a day in UTC, newest first.
type eventDay struct {
	At    time.Time
	Lines []eventLine
}

// eventLine is an event with the names of its team, person and key.
type eventLine struct {
	auditlog.Entry

	Label, Icon                   string
	Reason                        string // why or how it happened
	TeamName, PersonName, KeyName string
}

// OfPost reports whether the event is about a post.
func (l eventLine) OfPost() bool { return strings.HasPrefix(l.Kind, "post.") && l.Subject != "" }

func (h *Handlers) eventsPage(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	view := eventsView{
		eventsFilter: eventsFilterOf(r), Typed: strings.TrimSpace(query.Get("team")), Who: strings.TrimSpace(query.Get("person")),
		Kinds: offeredKinds(),
	}
	err := h.findTeam(r, &view)
	if err == nil && view.Error == "" {
		err = h.findPerson(r, &view)
	}
	if err == nil && view.Error == "" {
		err = h.fillEvents(r, &view)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	status := http.StatusOK
	if view.Error != "" {
		status = http.StatusUnprocessableEntity
	}
	h.Show(w, r, status, pages["events"], "Audit log", view)
}

// fillEvents adds the selected events, and the names of the team and person in the filter.
func (h *Handlers) fillEvents(r *http.Request, view *eventsView) error {
	filter := view.selection()
	filter.BeforeID, filter.Limit = queryNumber(r, "before"), rowsPerPage+1
	found, err := auditlog.Entries(r.Context(), h.DB, filter)
	if err == nil {
		view.Days, err = h.eventDays(r, found[:min(len(found), rowsPerPage)])
	}
	if err == nil && view.Team > 0 {
		var names teamsearch.Names
		names, err = teamsearch.TeamNames(r.Context(), h.DB, []int64{view.Team})
		view.TeamName = names[view.Team]
	}
	if err == nil && view.Person > 0 {
		var names teamsearch.Names
		names, err = teamsearch.PersonNames(r.Context(), h.DB, []int64{view.Person})
		view.Who = strings.TrimSpace(strconv.FormatInt(view.Person, 10) + " " + names[view.Person])
	}
	view.File, view.Ranges = view.path("/operator/events.jsonl", 0), rangesOf(view.eventsFilter, h.DB.Now())
	if err != nil {
		return err
	}
	position, err := auditlog.FindEntryPosition(r.Context(), h.DB, filter, rowsPerPage)
	next := int64(0)
	if len(found) > rowsPerPage {
		next = found[rowsPerPage-1].ID
	}
	view.Pages = shell.LogPagerOf(h.Language(r), position, min(len(found), rowsPerPage), filter.BeforeID, next,
		func(before int64) string { return view.path("/operator/events", before) })
	return err
}

// findPerson sets the person filter from the entered text: an ID, an ID followed by a name, or part of a name or email
// address. If such a part does not match exactly one person, findPerson sets an error.
func (h *Handlers) findPerson(r *http.Request, view *eventsView) error {
	id, err := h.chosenID(r, view.Who, teamsearch.PersonNames)
	if view.Person = id; err != nil || id > 0 || view.Who == "" {
		return err
	}
	found, err := teamsearch.People(r.Context(), h.DB, teamsearch.Query{Text: view.Who, Limit: 2})
	switch {
	case err != nil:
		return err
	case len(found.Items) == 1:
		view.Person = found.Items[0].ID
	case len(found.Items) == 0:
		view.Error = h.T(r, "No person has this name or address.")
	default:
		view.Error = h.T(r, "Several people match. Enter the ID or the email address.")
	}
	return nil
}

// findTeam sets the team filter from the entered text: an ID, an ID followed by a name, or part of a name. If such a
// part does not match exactly one team, findTeam sets an error.
func (h *Handlers) findTeam(r *http.Request, view *eventsView) error {
	offered, err := teamsearch.Teams(r.Context(), h.DB, teamsearch.Query{Limit: maxOfferedTeams})
	view.Teams = offered.Items
	if err != nil || view.Typed == "" {
		return err
	}
	if view.Team, err = h.chosenID(r, view.Typed, teamsearch.TeamNames); err != nil || view.Team > 0 {
		return err
	}
	found, err := teamsearch.Teams(r.Context(), h.DB, teamsearch.Query{Text: view.Typed, Limit: 2})
	switch {
	case err != nil:
		return err
	case len(found.Items) == 1:
		view.Team = found.Items[0].ID
	case len(found.Items) == 0:
		view.Error = h.T(r, "No team has this name.")
	default:
		view.Error = h.T(r, "Several teams match. Choose one from the list.")
	}
	return nil
}

// chosenID returns the ID in a text that consists of an ID, or of an ID and the matching name. It returns 0 for any
// other text, such as a name that begins with a number.
func (h *Handlers) chosenID(r *http.Request, entered string,
	namesOf func(context.Context, *db.DB, []int64) (teamsearch.Names, error)) (int64, error) {
	number, name, hasName := strings.Cut(entered, " ")
	id, parseErr := strconv.ParseInt(number, 10, 64)
	if parseErr != nil || id <= 0 {
		return 0, nil //nolint:nilerr // the text is not an ID
	}
	if !hasName {
		return id, nil
	}
	names, err := namesOf(r.Context(), h.DB, []int64{id})
	if err != nil {
		return 0, err
	}
	rest, ok := strings.CutPrefix(name, names[id])
	if !ok || names[id] == "" || rest != "" && rest[0] != ',' { // the name of a key may be followed by its team
		return 0, nil
	}
	return id, nil
}

// eventDays adds names to events, newest first, and groups them by day.
func (h *Handlers) eventDays(r *http.Request, events []auditlog.Entry) ([]eventDay, error) {
	var teams, people, keys []int64
	for _, e := range events {
		teams, people, keys = append(teams, e.Team), append(people, e.Person), append(keys, e.Key)
	}
	teamNames, err := teamsearch.TeamNames(r.Context(), h.DB, teams)
	if err != nil {
		return nil, err
	}
	personNames, err := teamsearch.PersonNames(r.Context(), h.DB, people)
	if err != nil {
		return nil, err
	}
	keyNames, err := teamsearch.KeyNames(r.Context(), h.DB, keys)
	var out []eventDay
	for _, e := range events {
		e.At = e.At.UTC()
		if n := len(out); n == 0 || out[n-1].At.Format(time.DateOnly) != e.At.Format(time.DateOnly) {
			out = append(out, eventDay{At: e.At})
		}
		last := &out[len(out)-1]
		var detail map[string]any
		_ = json.Unmarshal(e.Detail, &detail) // without details, there is no reason
		last.Lines = append(last.Lines, eventLine{
			Entry: e, Reason: settings.EventReason(h.Language(r), e.Kind, detail), Label: settings.EventLabel(h.Language(r), e.Kind),
			Icon:     settings.EventIcon(e.Kind),
			TeamName: teamNames[e.Team], PersonName: personNames[e.Person], KeyName: keyNames[e.Key],
		})
	}
	return out, err
}

const (
	batchSize    = 1000             // number of events per query for a file
	batchTimeout = 30 * time.Second // time limit for the client to accept these events
)

// eventsFile serves the selected events as JSON Lines, oldest first.
func (h *Handlers) eventsFile(w http.ResponseWriter, r *http.Request) {
	filter := eventsFilterOf(r)
	for name, id := range map[string]int64{"team": filter.Team, "person": filter.Person} {
		if id == 0 && r.URL.Query().Get(name) != "" {
			http.Error(w, "The "+name+" must be an ID.", http.StatusUnprocessableEntity)
			return
		}
	}
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="pressroom-events.jsonl"`)
	control, out := http.NewResponseController(w), json.NewEncoder(w)
	query := filter.selection()
	query.AfterID, query.OldestFirst, query.Limit = queryNumber(r, "after"), true, batchSize
	for {
		found, err := auditlog.Entries(r.Context(), h.DB, query)
		if err != nil {
			h.Log.ErrorContext(r.Context(), "sending the audit log failed", "error", err)
			panic(http.ErrAbortHandler) // the client must notice the truncation
		}
		if err := control.SetWriteDeadline(time.Now().Add(batchTimeout)); err != nil && !errors.Is(err,
			http.ErrNotSupported) {
			panic(http.ErrAbortHandler)
		}
		for _, e := range found {
			if err := out.Encode(e); err != nil {
				return // the client disconnected
			}
		}
		if len(found) < batchSize {
			return
		}
		query.AfterID = found[batchSize-1].ID
	}
}
