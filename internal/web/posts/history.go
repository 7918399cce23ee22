package posts

import (
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/postlist"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// historyEntry is an entry of a post's history.
type historyEntry struct {
	At          time.Time
	Icon, Style string
	Text        locale.Key
	Name, Said  string // Name is the client's, person's or account's name. Said is an explanation. Both may be empty.
}

// sameChange is how long after a history entry a change of the post still counts as part of that entry.
const sameChange = 5 * time.Second

// historyIn returns the history of the post with times in a zone, newest first.
func (v *view) historyIn(zone *time.Location) []historyEntry {
	out := []historyEntry{{At: v.Stored.CreatedAt, Icon: "draft-line", Text: "Created"}}
	for _, s := range slices.Backward(v.Schedulings) {
		out = append(out, schedulingMoment(s))
	}
	out = append(out, v.approvalEntries()...)
	for _, r := range v.Rounds {
		switch r.Decision {
		case post.Approved:
			out = append(out, historyEntry{At: r.Round.Decided, Icon: "check-line", Style: "good",
				Text: "Approved by", Name: r.Client})
		case post.Rejected:
			out = append(out, historyEntry{At: r.Round.Decided, Icon: "pencil-line", Style: "bad",
				Text: "Changes requested by", Name: r.Client})
		case post.NotNeeded, post.Waiting:
		}
	}
	if at := v.Stored.SubmittedAt; !at.IsZero() {
		out = append(out, historyEntry{At: at, Icon: "share-line", Text: "Publishing started"})
	}
	out = append(out, v.outcomes()...)
	if at := v.Stored.ArchivedAt; !at.IsZero() {
		out = append(out, historyEntry{At: at, Icon: "history-line", Text: "Archived"})
	}
	if v.Planned() && !slices.ContainsFunc(out,
		func(m historyEntry) bool { return v.Stored.UpdatedAt.Sub(m.At) < sameChange }) {
		out = append(out, historyEntry{At: v.Stored.UpdatedAt, Icon: "pencil-line", Text: "Last changed"})
	}
	for i := range out {
		out[i].At = out[i].At.In(zone)
	}
	slices.Reverse(out) // so that, among entries with the same time, the one appended last comes first
	slices.SortStableFunc(out, func(a, b historyEntry) int { return b.At.Compare(a.At) })
	return out
}

// approvalEntries returns the history entries for when the post was sent to the client, and for the last change if the
// client has not seen it.
func (v *view) approvalEntries() []historyEntry {
	var out []historyEntry
	for i, s := range v.ReviewEvents {
		switch {
		case !s.Changed:
			out = append(out, historyEntry{At: s.At, Icon: "hourglass-line", Text: "Sent to the client"})
		case v.Unsent && i == 0:
			changed := historyEntry{At: s.At, Icon: "pencil-line", Style: "warn", Text: "Changed by", Name: s.Person,
				Said: v.lang.T("The client has not seen it.")}
			if s.Person == "" {
				changed.Text = "Changed"
			}
			out = append(out, changed)
		}
	}
	return out
}

// outcomes returns the history entries for the results of the accounts and of their first comments.
func (v *view) outcomes() []historyEntry {
	var out []historyEntry
	for i, a := range v.Accounts {
		name := shell.NetworkName(a.Platform) + ", " + a.Username
		switch t := v.Stored.Targets[i]; {
		case a.State == post.TargetPublished:
			out = append(out, historyEntry{At: t.PublishedAt, Icon: "check-line", Style: "good", Text: "Published on",
				Name: name})
		case len(a.Lines) == 0:
		case a.State == post.TargetFailed:
			out = append(out, historyEntry{At: a.Lines[len(a.Lines)-1].At, Icon: "close-line", Style: "bad", Text: "Failed on",
				Name: name, Said: a.Explanation})
		case a.State == post.TargetUnconfirmed:
			out = append(out, historyEntry{At: a.Lines[0].At, Icon: "question-line", Style: "warn", Text: "Not confirmed on",
				Name: name})
		}
		out = append(out, commentMoments(a, v.Stored.Targets[i], name)...)
	}
	return out
}

// commentMoments returns the history entry for the result of an account's first comment, if there is one.
func commentMoments(a accountView, t post.Target, name string) []historyEntry {
	switch state := post.TargetState(t.Comment.State); {
	case state == post.TargetPublished:
		return []historyEntry{{At: t.Comment.At, Icon: "chat-1-line", Style: "good",
			Text: "First comment published on", Name: name}}
	case state == post.TargetFailed && len(a.Lines) > 0:
		return []historyEntry{{At: a.Lines[len(a.Lines)-1].At, Icon: "close-line", Style: "bad",
			Text: "First comment failed on", Name: name}}
	}
	return nil
}

// schedulingMoment returns the history entry for when a post was scheduled or unscheduled.
func schedulingMoment(s postlist.Scheduling) historyEntry {
	out := historyEntry{At: s.At, Icon: "calendar-line", Text: "Scheduled", Name: s.Person}
	switch {
	case s.Undone && s.Person != "":
		out.Text = "Unscheduled by"
	case s.Undone:
		out.Text = "Unscheduled"
	case s.Person != "":
		out.Text = "Scheduled by"
	}
	return out
}
