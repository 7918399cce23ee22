package shell

import (
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/auditlog"
)

// LogPager links a page of an audit log to its neighbors. The template block "log pager" shows it.
type LogPager struct {
	Shown          string // description of the events on the page; may be empty
	Previous, Next string // paths of the previous and next page; empty if there is none
}

// LogPagerOf returns the pager for a page with the given number of events, or nil if the page has no events. before is
// the ID that the page's events precede, or 0 on the first page. next is the ID of the page's last event, or 0 on the
// last page. path returns the path of the page with the events before an ID.
func LogPagerOf(l *locale.Language, position auditlog.PagePosition, count int, before, next int64,
	path func(before int64) string) *LogPager {
	if count == 0 {
		return nil
	}
	out := &LogPager{}
	if before > 0 {
		out.Previous = path(position.Previous)
	}
	if next > 0 {
		out.Next = path(next)
	}
	first, last := l.Count(position.Newer+1), l.Count(position.Newer+count)
	switch {
	case position.Newer > auditlog.MaxCounted:
	case position.Total > auditlog.MaxCounted:
		out.Shown = l.T("%s–%s of more than %s events", first, last, l.Count(auditlog.MaxCounted))
	case out.Previous == "" && out.Next == "":
		out.Shown = l.N(count, "%d event", "%d events")
	default:
		out.Shown = l.T("%s–%s of %s events", first, last, l.Count(position.Total))
	}
	return out
}
