package analytics

import (
	"fmt"
	"slices"
	"time"

	"pressroom/internal/network"
)

// notes say why an answer is empty or partial.
func (s *Service) notes(v view) []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if !s.collects(v.account.Platform) {
		say("This installation collects no figures from %s.", v.account.Platform)
		return notes
	}
	if !v.account.Active() {
		say("The account's connection is lost, so that nothing new is collected. What was collected before is still shown. A person can reconnect the account: GET /connect-link, or the tool get_connect_link, gives the link.")
	}
	collected := v.standing.collected
	refused := v.account.Active() && v.standing.failedBy == network.Unapproved
	switch late := v.call.Now.Sub(collected); {
	case refused:
		say("The network does not let this service read the account's posts: the operator's app has to be approved for it, and whoever connects the account has to allow it. It is tried again by itself.")
	case collected.IsZero() && v.standing.fails > 0:
		say("Nothing of this account could be collected yet. It is tried again by itself.")
	case collected.IsZero():
		say("Nothing of this account was collected yet. That begins within seconds once it is connected, and takes some minutes where it has many posts.")
	case v.account.Active() && late > 2*s.opts.Every:
		say("The network could not be asked since %s. It is tried again by itself.", collected.In(v.call.Zone).Format(stamp))
	}
	if collected.IsZero() {
		return notes
	}
	return append(notes, v.gaps()...)
}

// Notes name times and days as the app does everywhere.
const (
	stampDay = "Mon 2 Jan 2006"
	stamp    = stampDay + ", 15:04"
)

func (s *Service) collects(platform string) bool {
	n, err := s.accounts.Network(platform)
	_, ok := n.(network.Collector)
	return err == nil && ok
}

// approvalPlatforms are the networks that tell the reach of posts, but not to every app.
var approvalPlatforms = []string{"instagram", "facebook", "linkedin"}

// gaps say what is missing of an account that was collected.
func (v view) gaps() []string {
	var notes []string
	say := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	since := v.knownSince()
	if keeps := firstDay(v.call.Now, v.call.Zone, v.kept); keeps.After(v.from) {
		say("The plan keeps figures for %d days; the period is longer.", v.kept)
	}
	if since.Sub(v.from) >= 24*time.Hour && since.After(firstDay(v.call.Now, v.call.Zone, v.kept)) {
		say("Posts of the account are known from %s on; what lies before that in the period is missing.", since.In(v.call.Zone).Format(stampDay))
	}
	if v.joined.After(v.from) {
		say("The account is collected since %s, when it was connected. Its posts from before are those that the network listed then.", v.joined.In(v.call.Zone).Format(stamp))
	}
	if len(v.posts) == 0 {
		say("Nothing was posted in the period, as far as it is known.")
		return notes
	}
	if total(v.posts, func(c Counts) *int64 { return c.Reach }) == nil {
		note := "The network does not tell the reach of these posts."
		if slices.Contains(approvalPlatforms, v.account.Platform) {
			note += " It tells it only where the operator's app is approved for insights and the account was connected with them."
		}
		say("%s", note)
	}
	if engagement(v.posts, 0) == nil {
		say("The network does not tell what people did with these posts.")
	}
	if len(v.days) == 0 {
		say("The network did not tell how many follow the account in the period.")
	}
	return notes
}
