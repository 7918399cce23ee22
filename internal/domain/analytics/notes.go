package analytics

import (
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// listNotes returns notes that explain why a response is empty or incomplete.
func (s *Service) listNotes(v view) []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if !s.canCollect(v.account.Platform) {
		add("This installation does not collect metrics from %s.", v.account.Platform)
		return notes
	}
	if !v.account.Active() {
		add("The account is disconnected, so nothing new is collected. Earlier metrics are still shown. To reconnect it, get a " +
			"link with get_connect_link (GET /connect-link).")
	}
	collectedAt := v.state.collectedAt
	notApproved := v.account.Active() && v.state.lastErrorClass == network.AppNotApproved
	switch delay := v.call.Now.Sub(collectedAt); {
	case notApproved:
		add("The network does not allow reading the account's posts: the operator's app must be approved for it, and " +
			"the person who connects the account must allow it. This is retried automatically.")
	case collectedAt.IsZero() && v.state.failureCount > 0:
		add("Collecting this account’s analytics has failed so far. It will be retried automatically.")
	case collectedAt.IsZero():
		add("Nothing has been collected yet. Collection starts within seconds after the account is connected and can take a few " +
			"minutes if there are many posts.")
	case v.account.Active() && delay > 2*s.opts.Interval:
		add("Collection has failed since %s. It is retried automatically.", collectedAt.In(v.call.Zone).Format(dateTimeFormat))
	}
	if collectedAt.IsZero() {
		return notes
	}
	return append(notes, v.gapNotes()...)
}

// Formats of days and times in notes. The app uses the same formats.
const (
	dateFormat     = "Mon 2 Jan 2006"
	dateTimeFormat = dateFormat + ", 15:04"
)

// canCollect reports whether metrics are collected from a network.
func (s *Service) canCollect(platform string) bool {
	n, err := s.accounts.Network(platform)
	_, ok := n.(network.Collector)
	return err == nil && ok
}

// approvalPlatforms are the networks that provide reach only to approved apps.
var approvalPlatforms = []string{"instagram", "facebook", "linkedin"}

// gapNotes returns notes about missing metrics and periods.
func (v view) gapNotes() []string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	since := v.knownSince()
	if retainedFrom := firstDay(v.call.Now, v.call.Zone, v.retentionDays); retainedFrom.After(v.from) {
		add("The plan includes metrics for %d days, so earlier ones are missing.", v.retentionDays)
	}
	if since.Sub(v.from) >= 24*time.Hour && since.After(firstDay(v.call.Now, v.call.Zone, v.retentionDays)) {
		add("The account's posts are available since %s. Earlier posts in the period are missing.",
			since.In(v.call.Zone).Format(dateFormat))
	}
	if v.connectedAt.After(v.from) {
		add("Analytics have been collected since the account was connected on %s. Older posts are included if the "+
			"network still listed them.", v.connectedAt.In(v.call.Zone).Format(dateTimeFormat))
	}
	if len(v.posts) == 0 {
		add("There are no posts in this period.")
		return notes
	}
	if sumMetric(v.posts, func(c AccountAnalyticsBestPostCounts) *int64 { return c.Reach }) == nil {
		note := "The network does not report the reach of these posts."
		if slices.Contains(approvalPlatforms, v.account.Platform) {
			note += " It requires an app that is approved for insights, and an account that was connected with this permission."
		}
		add("%s", note)
	}
	if engagement(v.posts, 0) == nil {
		add("The network does not provide the interactions of these posts.")
	}
	if len(v.days) == 0 {
		add("The network provided no follower counts in the period.")
	}
	return notes
}
