package posts

import (
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// moment is an entry of a post's history.
type moment struct {
	At          time.Time
	Icon, Style string
	Text        locale.Key
	Name, Said  string // Name is the client's or the account's, Said the explanation of a failure
}

// historyIn returns the history of the post, newest first.
func (v *view) historyIn(zone *time.Location) []moment {
	out := []moment{{At: v.Stored.CreatedAt, Icon: "draft-line", Text: "Created"}}
	for _, r := range v.Rounds {
		out = append(out, moment{At: r.Round.OpenedAt, Icon: "hourglass-line", Text: "Sent to the client"})
		switch r.Decision {
		case post.Approved:
			out = append(out, moment{At: r.Round.Decided, Icon: "check-line", Style: "good", Text: "Approved by", Name: r.Client})
		case post.Rejected:
			out = append(out, moment{At: r.Round.Decided, Icon: "pencil-line", Style: "bad", Text: "Changes requested by", Name: r.Client})
		case post.NotNeeded, post.Waiting:
		}
	}
	if at := v.Stored.SubmittedAt; !at.IsZero() {
		out = append(out, moment{At: at, Icon: "share-line", Text: "Publishing started"})
	}
	for i, a := range v.Accounts {
		name := shell.NetworkName(a.Platform) + ", " + a.Username
		switch t := v.Stored.Targets[i]; {
		case a.State == post.TargetPublished:
			out = append(out, moment{At: t.PublishedAt, Icon: "check-line", Style: "good", Text: "Published on", Name: name})
		case len(a.Lines) == 0:
		case a.State == post.TargetFailed:
			out = append(out, moment{At: a.Lines[len(a.Lines)-1].At, Icon: "close-line", Style: "bad", Text: "Failed on",
				Name: name, Said: a.Explanation})
		case a.State == post.TargetUnconfirmed:
			out = append(out, moment{At: a.Lines[0].At, Icon: "question-line", Style: "warn", Text: "Not confirmed on",
				Name: name})
		}
	}
	if at := v.Stored.ArchivedAt; !at.IsZero() {
		out = append(out, moment{At: at, Icon: "history-line", Text: "Archived"})
	}
	for i := range out {
		out[i].At = out[i].At.In(zone)
	}
	slices.SortStableFunc(out, func(a, b moment) int { return b.At.Compare(a.At) })
	return out
}
