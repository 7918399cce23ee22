package operator

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/web/settings"
)

func (p *Handlers) ledgerPage(w http.ResponseWriter, r *http.Request) {
	p.Show(w, r, http.StatusOK, pages["ledger"], "Ledger audit", (*credit.Report)(nil))
}

// auditTimeout bounds the audit, which reads the whole ledger.
const auditTimeout = 5 * time.Minute

func (p *Handlers) audit(w http.ResponseWriter, r *http.Request) {
	// servers without deadlines need no update
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(auditTimeout))
	report, err := p.Credits.Audit(r.Context())
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	p.Show(w, r, http.StatusOK, pages["ledger"], "Ledger audit", &report)
}

// eventsView is a page of the audit log.
type eventsView struct {
	Team     int64
	TeamName string
	Typed    string      // the team, as entered
	Teams    []team.Team // offered teams
	Wrong    string
	Days     []eventDay
	Pages    pager
	File     string // path of the complete log
}

// eventDay has the events of a day in UTC, newest first.
type eventDay struct {
	At    time.Time
	Lines []eventLine
}

// eventLine is an event with the names of its team, person and key.
type eventLine struct {
	auditlog.Entry

	Label, Icon                   string
	TeamName, PersonName, KeyName string
}

func (p *Handlers) eventsPage(w http.ResponseWriter, r *http.Request) {
	view := eventsView{Typed: strings.TrimSpace(r.URL.Query().Get("team"))}
	if err := p.findTeam(r, &view); err != nil {
		p.ShowError(w, r, err)
		return
	}
	view.File = eventsPath("/operator/events.jsonl", view.Team, 0)
	if view.Wrong != "" {
		p.Show(w, r, http.StatusUnprocessableEntity, pages["events"], "Audit log", view)
		return
	}
	part := auditlog.Filter{Team: view.Team, BeforeID: numberOf(r, "before"), Limit: rowsPerPage + 1}
	found, err := auditlog.Entries(r.Context(), p.DB, part)
	if err == nil {
		view.Days, err = p.eventDays(r, found[:min(len(found), rowsPerPage)])
	}
	if err == nil && part.Team > 0 {
		var names teamsearch.Names
		names, err = teamsearch.TeamNames(r.Context(), p.DB, []int64{part.Team})
		view.TeamName = names[part.Team]
	}
	if err != nil {
		p.ShowError(w, r, err)
		return
	}
	if part.BeforeID > 0 {
		view.Pages.First = eventsPath("/operator/events", part.Team, 0)
	}
	if len(found) > rowsPerPage {
		view.Pages.Next = eventsPath("/operator/events", part.Team, found[rowsPerPage-1].ID)
	}
	p.Show(w, r, http.StatusOK, pages["events"], "Audit log", view)
}

// findTeam finds the team that was entered by its ID, as an offered choice, or by a part of its name that no other team has.
func (p *Handlers) findTeam(r *http.Request, view *eventsView) error {
	offered, err := teamsearch.Teams(r.Context(), p.DB, teamsearch.Query{Most: offeredTeams})
	view.Teams = offered.Items
	if err != nil || view.Typed == "" {
		return err
	}
	if id, err := strconv.ParseInt(view.Typed, 10, 64); err == nil && id > 0 {
		view.Team = id
		return nil
	}
	for _, one := range view.Teams {
		if view.Typed == teamChoice(one) {
			view.Team = one.ID
			return nil
		}
	}
	found, err := teamsearch.Teams(r.Context(), p.DB, teamsearch.Query{Text: view.Typed, Most: 2})
	switch {
	case err != nil:
		return err
	case len(found.Items) == 1:
		view.Team = found.Items[0].ID
	case len(found.Items) == 0:
		view.Wrong = p.T(r, "No team has this name.")
	default:
		view.Wrong = p.T(r, "Several teams match. Choose one of the list.")
	}
	return nil
}

// teamChoice returns a team as the fields for teams offer it.
func teamChoice(t team.Team) string { return strconv.FormatInt(t.ID, 10) + " " + t.Name }

// eventDays adds names to events, newest first, and groups them by day.
func (p *Handlers) eventDays(r *http.Request, events []auditlog.Entry) ([]eventDay, error) {
	var teams, people, keys []int64
	for _, e := range events {
		teams, people, keys = append(teams, e.Team), append(people, e.Person), append(keys, e.Key)
	}
	teamNames, err := teamsearch.TeamNames(r.Context(), p.DB, teams)
	if err != nil {
		return nil, err
	}
	personNames, err := teamsearch.PersonNames(r.Context(), p.DB, people)
	if err != nil {
		return nil, err
	}
	keyNames, err := teamsearch.KeyNames(r.Context(), p.DB, keys)
	var out []eventDay
	for _, e := range events {
		e.At = e.At.UTC()
		if n := len(out); n == 0 || out[n-1].At.Format(time.DateOnly) != e.At.Format(time.DateOnly) {
			out = append(out, eventDay{At: e.At})
		}
		last := &out[len(out)-1]
		last.Lines = append(last.Lines, eventLine{
			Entry: e, Label: settings.EventLabel(p.Language(r), e.Kind), Icon: settings.EventIcon(e.Kind),
			TeamName: teamNames[e.Team], PersonName: personNames[e.Person], KeyName: keyNames[e.Key],
		})
	}
	return out, err
}

func eventsPath(path string, team, before int64) string {
	query := url.Values{}
	if team > 0 {
		query.Set("team", strconv.FormatInt(team, 10))
	}
	if before > 0 {
		query.Set("before", strconv.FormatInt(before, 10))
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

const (
	batch        = 1000             // events read at once for a file
	batchTimeout = 30 * time.Second // time for the client to accept them
)

// eventsFile serves the audit log of a team or of all as JSON lines, oldest first.
func (p *Handlers) eventsFile(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="pressroom-events.jsonl"`)
	control, out := http.NewResponseController(w), json.NewEncoder(w)
	part := auditlog.Filter{Team: numberOf(r, "team"), AfterID: numberOf(r, "after"), OldestFirst: true, Limit: batch}
	for {
		found, err := auditlog.Entries(r.Context(), p.DB, part)
		if err != nil {
			p.Log.ErrorContext(r.Context(), "sending the audit log failed", "error", err)
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
		if len(found) < batch {
			return
		}
		part.AfterID = found[batch-1].ID
	}
}
