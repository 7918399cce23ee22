package posts

import (
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/calendar"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// event is a post in the calendar.
type event struct {
	calendar.Entry
	postlist.Details

	Local             time.Time // At in the visitor's time zone
	Clock             string    // time of day; empty if the post has only a date
	Look              string    // CSS class that sets the color
	Icon              string    // name of the icon
	State             string    // state in words
	Draggable         bool      // whether the visitor may move it
	NeedsConfirmation bool      // whether moving it ends the client's approval, so that the visitor must confirm
}

// Version identifies the version of the post: the time of its last change, in microseconds.
func (e event) Version() int64 { return e.Changed.UnixMicro() }

// DragTime returns the time of day as HH:MM for the script that moves posts. It returns "" if the post cannot be moved
// or Clock is the same.
func (e event) DragTime() string {
	if at := e.Local.Format("15:04"); e.Draggable && at != e.Clock {
		return at
	}
	return ""
}

// Logos returns the first three accounts, whose logos are shown.
func (e event) Logos() []post.PostEntryAccount { return e.Accounts[:min(len(e.Accounts), 3)] }

// Others returns the number of accounts whose logos are not shown.
func (e event) Others() int { return max(0, len(e.Accounts)-3) }

// OthersNarrow is like Others for a narrow layout, where a day has room for two logos, or for one logo and a number.
func (e event) OthersNarrow() int {
	if len(e.Accounts) < 3 {
		return 0
	}
	return len(e.Accounts) - 1
}

// Dot returns the CSS class of the event's dot in a narrow layout, or "" for a post that does not need a special color.
func (e event) Dot() string {
	switch e.Look {
	case "draft", "coming":
		return "quiet"
	case "published":
		return "done"
	case "waiting", "unconfirmed":
		return "warn"
	case "failed", "partially_published", "rejected":
		return "bad"
	}
	return ""
}

// eventMaker reads the details of the entries' posts and returns a function that creates the events for some of the
// entries. The function's argument changes is true if clocks change on the day. In that case, times include the time
// zone's abbreviation.
func (p *Handlers) eventMaker(r *http.Request, entries []calendar.Entry, zone *time.Location) (
	func(entries []calendar.Entry, changes bool) []event, error) {
	v := shell.VisitorOf(r.Context())
	ids := make([]string, len(entries))
	for i, entry := range entries {
		ids[i] = entry.PostID
	}
	details, err := postlist.ListDetails(r.Context(), p.DB, v.Team.ID, ids)
	l, writer, publisher := p.Language(r), v.Is(shell.Writers), v.Is(shell.Publishers)
	return func(entries []calendar.Entry, changes bool) []event {
		out := make([]event, len(entries))
		for i, entry := range entries {
			e := event{Entry: entry, Details: details[entry.PostID]}
			if !entry.At.IsZero() {
				e.Local = entry.At.In(zone)
				e.Clock = timeOfDay(l, e.Local, changes)
			}
			e.Look, e.Icon, e.State = e.describe(l)
			movable := entry.Status == post.Draft && writer || entry.Status == post.Scheduled && publisher
			e.Draggable = movable && !entry.IsOccurrence && !e.Template
			e.NeedsConfirmation = e.Draggable && e.Approval == post.Approved && !entry.At.IsZero()
			out[i] = e
		}
		return out
	}, err
}

// describe returns the CSS class and the icon of an event, and its state in words.
func (e event) describe(l *locale.Language) (string, string, string) {
	if e.IsOccurrence {
		return "coming", "repeat-line", l.T("Upcoming · series")
	}
	look, icon := string(e.Status), map[post.Status]string{
		post.Draft: "draft-line", post.Scheduled: "time-line", post.Processing: "loader-4-line",
		post.Published: "check-line", post.PartiallyPublished: "error-warning-line", post.Failed: "error-warning-line",
	}[e.Status]
	names := []string{}
	for _, s := range e.States(e.Status) {
		names = append(names, l.T(stateNames[s]))
	}
	if e.Unconfirmed {
		look, icon = "unconfirmed", "question-line"
	}
	if e.Status == post.Draft || e.Status == post.Scheduled {
		switch e.Approval {
		case post.Waiting:
			look, icon = "waiting", "hourglass-line"
			if e.Unsent {
				names = append(names, l.T("changed, not sent again"))
			} else {
				names = append(names, l.T("waiting for approval"))
			}
		case post.Rejected:
			look, icon = "rejected", "pencil-line"
			names = append(names, l.T("changes requested"))
		case post.Approved:
			names = append(names, l.T("approved"))
		case post.NotNeeded:
		}
	}
	if e.InSeries {
		names = append(names, l.T("series"))
	}
	return look, icon, strings.Join(names, " · ")
}
