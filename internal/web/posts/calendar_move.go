package posts

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/teamtime"
	"pressroom.example/pressroom/internal/web/shell"
)

// moveResult holds the message that the calendar shows after a move, and the data to undo the move.
type moveResult struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Seen int64  `json:"seen"`
	// At and Date are the time or planned date before the move. Both are empty if there was none.
	At   string `json:"at"`
	Date string `json:"date"`
	// Unsent is set if the move created a version that waits for approval and was not sent to the client.
	Unsent bool `json:"unsent"`
}

// movedKey is the session key for the last move, which the calendar shows next.
const movedKey = "moved"

func (p *Handlers) popMoved(r *http.Request) *moveResult {
	kept := p.Pop(r.Context(), movedKey)
	out := &moveResult{}
	if len(kept) == 0 || json.Unmarshal(kept, out) != nil {
		return nil
	}
	return out
}

// move changes the time or planned date of the post in the path, and shows the calendar again.
func (p *Handlers) move(w http.ResponseWriter, r *http.Request) {
	if !p.ReadForm(w, r) {
		return
	}
	back, err := url.ParseQuery(r.PostForm.Get("back"))
	if err != nil {
		back = url.Values{}
	}
	q := queryOf(back)
	result, err := p.doMove(r)
	if err != nil {
		if formErr, ok := p.FormErrorOf(w, r, err, nil); ok {
			p.showCalendar(w, r, q, shell.StatusOf(err), formErr.Text)
		}
		return
	}
	kept, err := json.Marshal(result)
	if err != nil {
		p.ServerError(w, r, err)
		return
	}
	p.Put(r.Context(), movedKey, kept)
	shell.Redirect(w, r, "/calendar?"+q.Here())
}

// doMove moves the post in the path to the time or date in the form.
func (p *Handlers) doMove(r *http.Request) (moveResult, error) {
	zone := shell.VisitorOf(r.Context()).Zone
	at, day, err := destination(r.PostForm, zone)
	if err != nil {
		return moveResult{}, err
	}
	seen, err := parseVersion(r, "seen")
	if err != nil {
		return moveResult{}, err
	}
	call, err := p.NewCall(r, "move_post")
	if err != nil {
		return moveResult{}, err
	}
	before, err := p.postOf(r)
	switch {
	case err != nil:
		return moveResult{}, err
	case before.IsTemplate:
		return moveResult{}, apierr.BadState("recurring_template",
			"The template of a series cannot be moved. Edit the series.")
	}
	after, err := p.posts.Compose(r.Context(), call.Actor, before.ID, seen,
		post.Composition{At: at, Day: day, OnlyTime: true})
	switch {
	case err != nil && apierr.FromError(err).Context["state"] == "changed":
		return moveResult{}, apierr.BadState("changed",
			"Someone else changed this post in the meantime, so it was not moved.")
	case err != nil:
		return moveResult{}, err
	}
	out := moveResult{ID: after.ID, Seen: after.UpdatedAt.UnixMicro(), Date: before.PlannedDay,
		Text: movedText(p.Language(r), before, after, zone), Unsent: after.Approval == post.Waiting && after.Round != before.Round}
	if !before.ScheduledAt.IsZero() {
		out.At = before.ScheduledAt.UTC().Format(time.RFC3339)
	}
	return out, nil
}

// parseVersion returns the version of a post that the page showed: the time of the post's last change. The form field
// contains this time in microseconds.
func parseVersion(r *http.Request, field string) (time.Time, error) {
	seen, err := strconv.ParseInt(r.PostForm.Get(field), 10, 64)
	if err != nil {
		return time.Time{}, apierr.Invalid(apierr.Malformed, field, "This page has expired. Reload it and try again.").Wrap(err)
	}
	return time.UnixMicro(seen), nil
}

// destination returns the time in a form, which is an instant or a time in the visitor's time zone. If the form has a
// date but no time of day, it returns only the date. If the form has neither, it returns the zero time and "", which
// makes the post unplanned.
func destination(form url.Values, zone *time.Location) (time.Time, string, error) {
	text, day, clock := form.Get("at"), form.Get("date"), form.Get("time")
	switch {
	case text != "":
	case clock == "" && day == "":
		return time.Time{}, "", nil
	case clock == "":
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return time.Time{}, "", apierr.Invalid(apierr.Malformed, "date", "Enter the date as 2026-03-29.").Wrap(err)
		}
		return time.Time{}, day, nil
	case day == "":
		return time.Time{}, "", apierr.Invalid(apierr.MissingArgument, "date", "Choose the date as well.")
	default:
		text = day + "T" + clock
	}
	at, err := teamtime.Parse(text, zone)
	switch {
	case err == nil:
		return at, "", nil
	case errors.Is(err, teamtime.ErrSkipped):
		return at, "", apierr.Invalidf(apierr.TimeDoesNotExist, "time",
			"This time does not exist in %s on that day because clocks go forward. Choose another.", zone.String())
	}
	return at, "", apierr.Invalid(apierr.Malformed, "time",
		"The date or time is invalid. Enter them as 2026-03-29 and 10:15.").Wrap(err)
}

// movedText returns the message about a move.
func movedText(l *locale.Language, before, after post.Record, zone *time.Location) string {
	name := l.T("The post")
	if words := truncate(40, strings.Join(strings.Fields(after.Excerpt), " ")); words != "" {
		name = l.T("“%s”", words)
	}
	out := l.T("%s is no longer planned for a date.", name)
	if to := formatPlannedTime(l, after, zone); to != "" {
		out = l.T("%s moved to %s.", name, to)
	}
	return out + approvalNote(l, before, after)
}

// formatPlannedTime formats the time or date of a moved post. It returns "" if the post has none.
func formatPlannedTime(l *locale.Language, after post.Record, zone *time.Location) string {
	if !after.ScheduledAt.IsZero() {
		return movedTime(l, after.ScheduledAt.In(zone))
	}
	if day, err := time.Parse(time.DateOnly, after.PlannedDay); err == nil {
		return l.Format(day, locale.Date)
	}
	return ""
}

// approvalNote returns a note if a move ended the post's approval or invalidated the client's link, or "".
func approvalNote(l *locale.Language, before, after post.Record) string {
	switch {
	case after.Approval != post.Waiting || after.Round == before.Round:
		return ""
	case before.Approval == post.Approved:
		return " " + l.T("The client must approve it again.")
	}
	return " " + l.T("The client’s link no longer shows it.")
}

// movedTime formats a date and time, with the time zone's abbreviation on days when clocks change.
func movedTime(l *locale.Language, at time.Time) string {
	from, to := teamtime.Day(at, at.Location())
	return l.Format(at, locale.Date) + ", " + timeOfDay(l, at, clockChange(to.Sub(from)) != "")
}
