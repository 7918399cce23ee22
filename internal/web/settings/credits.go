package settings

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

const itemsPerPage = 50

// creditsView is the credits page. Only owners and admins see the balance and the statement.
type creditsView struct {
	fieldError

	Usage        credit.Usage
	ChargedMonth int64     // credits charged since MonthStart
	MonthStart   time.Time // start of the team's current month
	Daily        team.DailyLimit
	Own          string // the daily limit that the owner set, as entered
	restored     bool   // Own was restored after the visitor signed in again
	Threshold    string // number of credits below which a notification is sent, as entered
	Month        monthView
}

// Spent returns the credits that count toward today's limit for keys and assistants.
func (v creditsView) Spent() int64 { return v.Usage.CountedKeys() }

// Share returns the used percentage of the daily limit for keys and assistants, or -1 if there is no limit.
func (v creditsView) Share() int64 { return percent(v.Spent(), v.Daily.Effective()) }

// monthView is a page of a month's statement.
type monthView struct {
	Name    string // display name
	Value   string // value in URLs, such as 2026-11
	Earlier string // path of the previous month; empty if there is none
	Later   string
	Items   []credit.Item
	Lines   []StatementLine // Items as the page shows them
	Pages   *pager
	Empty   bool // no month has entries
}

// StatementLine is a line of the statement. The reservation and the charge for the same work share a line.
type StatementLine struct {
	credit.Item

	IncludesReservation bool // the line includes the reservation
	ReservedAt          time.Time
	Change              int64
}

// StatementLines converts items, newest first, to lines.
func StatementLines(items []credit.Item) []StatementLine {
	var out []StatementLine
	charged := map[string]int{} // for each job, the index of its charge in out
	for _, i := range items {
		at, found := charged[i.Job]
		if found && i.Job != "" && i.Kind == credit.KindReserve && !out[at].IncludesReservation {
			out[at].IncludesReservation, out[at].ReservedAt, out[at].Change = true, i.At, out[at].Change+i.Change
			continue
		}
		if i.Kind == credit.KindSettle {
			charged[i.Job] = len(out)
		}
		out = append(out, StatementLine{Item: i, Change: i.Change})
	}
	return out
}

func (h *Handlers) creditsPage(w http.ResponseWriter, r *http.Request) {
	view := creditsView{}
	if form := h.SavedForm(r); form != nil {
		view.Own, view.restored = strings.TrimSpace(form.Get("daily_credits")), true
	}
	h.showCredits(w, r, http.StatusOK, view)
}

func (h *Handlers) showCredits(w http.ResponseWriter, r *http.Request, status int, view creditsView) {
	ctx, v := r.Context(), shell.VisitorOf(r.Context())
	actor, err := h.Teams.InApp(ctx, v.ID, v.Team.ID)
	if err == nil {
		view.Usage, err = h.Credits.DailyUsage(ctx, h.DB, actor, h.DB.Now())
	}
	if err == nil {
		view.Daily, err = h.Teams.DailyLimit(ctx, v.Team.ID)
	}
	if err == nil {
		from, to := teamtime.Month(h.DB.Now(), zone(r))
		view.MonthStart = from.In(zone(r))
		view.ChargedMonth, err = h.Credits.ChargedIn(ctx, v.Team.ID, credit.StatementQuery{From: from, To: to})
	}
	if err == nil && v.Is(shell.Owners) {
		err = h.fillThreshold(r, &view)
	}
	if err == nil && v.Is(shell.Managers) {
		view.Month, err = h.statementPage(r)
	}
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	view.Usage.Ends = inZone(view.Usage.Ends, zone(r))
	if (view.Error == "" || view.Field == thresholdField) && !view.restored && view.Daily.Own != nil {
		view.Own = strconv.FormatInt(*view.Daily.Own, 10)
	}
	h.Show(w, r, status, pages["credits"], "Credits", view)
}

func (h *Handlers) setLimit(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	limitText := strings.TrimSpace(r.PostForm.Get("daily_credits"))
	limit, err := parseCredits(limitText)
	if err == nil {
		err = h.admin(r).SetDailyCredits(r.Context(), limit)
	}
	if err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showCredits(w, r, shell.StatusOf(err), creditsView{fieldError: formErr, Own: limitText})
		}
		return
	}
	h.finish(w, r, "The daily limit was saved. It takes effect within a second.", "/settings/credits")
}

// thresholdField is the name of the form field for the threshold.
const thresholdField = "credits"

// fillThreshold sets the stored threshold, unless the form shows a rejected threshold.
func (h *Handlers) fillThreshold(r *http.Request, view *creditsView) error {
	if view.Field == thresholdField {
		return nil
	}
	credits, err := h.Notifications.Threshold(r.Context(), teamID(r))
	if credits > 0 {
		view.Threshold = strconv.FormatInt(credits, 10)
	}
	return err
}

// setThreshold sets the number of credits below which the owner and admins are notified.
func (h *Handlers) setThreshold(w http.ResponseWriter, r *http.Request) {
	if !h.ReadForm(w, r) {
		return
	}
	thresholdText := strings.TrimSpace(r.PostForm.Get(thresholdField))
	credits, err := strconv.ParseInt(cmp.Or(thresholdText, "0"), 10, 64)
	if err != nil {
		credits = -1 // out of range, which the service rejects
	}
	if err := h.Notifications.SetThreshold(r.Context(), shell.VisitorOf(r.Context()).ID, teamID(r), credits); err != nil {
		if formErr, ok := h.formError(w, r, err); ok {
			h.showCredits(w, r, shell.StatusOf(err), creditsView{fieldError: formErr, Threshold: thresholdText})
		}
		return
	}
	h.finish(w, r, "The threshold was saved.", "/settings/credits")
}

const monthFormat = "2006-01"

// monthOf returns the requested month. The default is the current month.
func (h *Handlers) monthOf(r *http.Request) (credit.StatementQuery, error) {
	at := h.DB.Now().In(zone(r))
	if requested := r.URL.Query().Get("month"); requested != "" {
		first, err := time.ParseInLocation(monthFormat, requested, time.UTC)
		if err != nil {
			return credit.StatementQuery{}, apierr.Invalid(apierr.Malformed, "month", "Enter a month such as 2026-11.")
		}
		at = teamtime.StartOfDay(first.Year(), first.Month(), 1, zone(r))
	}
	var out credit.StatementQuery
	out.From, out.To = teamtime.Month(at, zone(r))
	return out, nil
}

// statementPage returns the requested page of the statement.
func (h *Handlers) statementPage(r *http.Request) (monthView, error) {
	query, err := h.monthOf(r)
	if err != nil {
		return monthView{}, err
	}
	if query.After, err = parsePosition(r.URL.Query().Get("after")); err != nil {
		return monthView{}, err
	}
	query.Limit = itemsPerPage + 1
	at := query.From.In(zone(r))
	out := monthView{Name: h.Language(r).Format(at, locale.Month), Value: at.Format(monthFormat)}
	if out.Items, err = h.Credits.Items(r.Context(), teamID(r), query); err != nil {
		return out, err
	}
	first, next := "", ""
	if len(out.Items) > itemsPerPage {
		out.Items = out.Items[:itemsPerPage]
		last := out.Items[itemsPerPage-1]
		next = statementPath(at, credit.Position{At: last.At, ID: last.ID})
	}
	if query.After.ID > 0 {
		first = statementPath(at, credit.Position{})
	}
	out.Pages = pagerOf(first, next)
	for i := range out.Items {
		out.Items[i].At = inZone(out.Items[i].At, zone(r))
	}
	out.Lines = StatementLines(out.Items)
	err = h.addNeighbors(r, query, &out)
	return out, err
}

// addNeighbors sets the paths of the previous and next month.
func (h *Handlers) addNeighbors(r *http.Request, query credit.StatementQuery, out *monthView) error {
	firstAt, err := h.Credits.FirstTransferAt(r.Context(), teamID(r))
	if err != nil {
		return err
	}
	out.Empty = firstAt.IsZero()
	if !out.Empty && firstAt.Before(query.From) {
		out.Earlier = statementPath(query.From.Add(-time.Hour).In(zone(r)), credit.Position{})
	}
	if !query.To.After(h.DB.Now()) {
		out.Later = statementPath(query.To.In(zone(r)), credit.Position{})
	}
	return nil
}

// statementPath returns the path of a month's statement or, if after is set, of the page after that position.
func statementPath(month time.Time, after credit.Position) string {
	query := url.Values{"month": {month.Format(monthFormat)}}
	if after.ID > 0 {
		query.Set("after", fmt.Sprintf("%d-%d", db.Micros(after.At), after.ID))
	}
	return "/settings/credits?" + query.Encode() + "#statement"
}

// parsePosition parses a position written by statementPath.
func parsePosition(text string) (credit.Position, error) {
	if text == "" {
		return credit.Position{}, nil
	}
	at, id, _ := strings.Cut(text, "-")
	micros, atErr := strconv.ParseInt(at, 10, 64)
	n, idErr := strconv.ParseInt(id, 10, 64)
	if atErr != nil || idErr != nil || micros < 1 || n < 1 {
		return credit.Position{}, apierr.Invalid(apierr.InvalidCursor, "after",
			"This page does not exist. Start with the first page.")
	}
	return credit.Position{At: db.Time(micros), ID: n}, nil
}

// exportBatchSize is the number of rows that a download reads per query.
const exportBatchSize = 500

// statement sends a month's statement as CSV, newest first.
func (h *Handlers) statement(w http.ResponseWriter, r *http.Request) {
	query, err := h.monthOf(r)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	query.Limit = exportBatchSize
	items, err := h.Credits.Items(r.Context(), teamID(r), query)
	if err != nil {
		h.ShowError(w, r, err)
		return
	}
	out := shell.NewCSVWriter(w, "credits-"+query.From.In(zone(r)).Format(monthFormat)+".csv",
		"time", "what", "by", "set_aside", "charged", "refunded", "change", "balance", "reference", "note", "about")
	for {
		for _, i := range items {
			out.WriteRow(rowOf(i, zone(r))...)
		}
		out.Flush()
		if len(items) < exportBatchSize {
			return
		}
		last := items[exportBatchSize-1]
		query.After = credit.Position{At: last.At, ID: last.ID}
		if items, err = h.Credits.Items(r.Context(), teamID(r), query); err != nil {
			h.Log.ErrorContext(r.Context(), "sending a statement failed", "error", err)
			panic(http.ErrAbortHandler) // the client must notice the truncation
		}
	}
}

func rowOf(i credit.Item, zone *time.Location) []string {
	l := locale.English // programs read the file
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	reserved, charged, refunded := "", "", ""
	switch i.Kind {
	case credit.KindReserve:
		reserved = number(i.Amount)
	case credit.KindSettle:
		charged, refunded = number(i.Charged), number(i.RefundedCredits())
	case credit.KindGrant, credit.KindWithdraw:
	}
	return []string{i.At.In(zone).Format(time.RFC3339), itemDescription(l, i), actorName(l, i), reserved, charged, refunded,
		number(i.Change), number(i.Balance), i.Reference, i.Note, subjectOf(l, i)}
}
