package shell

import (
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
)

// LogPager has the paths of the pages next to a page of an audit log. The template block "log pager" shows it.
type LogPager struct {
	Shown          string // which events the page shows
	Previous, Next string // empty if there is none
}

// LogPagerOf returns the pager of a page with a number of events. path returns the path of the page with the events
// before an ID. next is the ID of the page's last event, or 0 on the last page.
func LogPagerOf(l *locale.Language, place auditlog.Place, shown int, before, next int64, path func(before int64) string) *LogPager {
	if shown == 0 {
		return nil
	}
	out := &LogPager{}
	if before > 0 {
		out.Previous = path(place.Previous)
	}
	if next > 0 {
		out.Next = path(next)
	}
	first, last := l.Count(place.Newer+1), l.Count(place.Newer+shown)
	switch {
	case place.Newer > auditlog.MaxCounted:
	case place.Total > auditlog.MaxCounted:
		out.Shown = l.T("%s–%s of more than %s events", first, last, l.Count(auditlog.MaxCounted))
	case out.Previous == "" && out.Next == "":
		out.Shown = l.N(shown, "%d event", "%d events")
	default:
		out.Shown = l.T("%s–%s of %s events", first, last, l.Count(place.Total))
	}
	return out
}
