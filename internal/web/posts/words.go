package posts

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/post"
	"pressroom.example/pressroom/internal/domain/post/excerpt"
	"pressroom.example/pressroom/internal/locale"
)

// countdownFrom is how long before an event pages start to show the wait instead of the event's time.
const countdownFrom = 2 * time.Minute

// countdown returns the wait until a time, such as "in 20 seconds", or "" if the time is not near.
func countdown(l *locale.Language, now, at time.Time) string {
	switch wait := at.Sub(now); {
	case wait >= countdownFrom:
		return ""
	case wait < time.Second:
		return l.T("in a moment")
	default:
		return l.N(int64((wait+time.Second/2)/time.Second), "in %d second", "in %d seconds")
	}
}

// truncate shortens a text to at most limit characters.
func truncate(limit int, text string) string { return excerpt.Truncate(text, limit) }

// webAddress returns text if it is an absolute http or https URL, and "" otherwise.
func webAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return text
}

// Descriptions of delivery attempts, by the fields Call and Result of delivery.AttemptLine.
var (
	callWords = map[string]locale.Key{
		"prepare": "Prepared on the network", "commit": "Sent to the network",
		"resolve": "Checked whether the network published it",
		"rest":    "Waited because the network failed", "decide": "Decided by a person",
		"thumbnail": "Set the thumbnail", "playlist": "Added to the playlist",
	}
	resultWords = map[string]locale.Key{
		"published": "published|attempt", "not_published": "not published", "answered": "the network answered",
		"":              "outcome unknown",
		"network_fails": "the network failed", "patience_is_over": "given up after failing for too long",
		"transient": "temporary failure", "uncertain": "no clear answer", "processing": "the network is processing it",
		"rate":  "rate limited",
		"quota": "quota used up", "rejected": "rejected|attempt", "app": "the operator’s app lacks an approval",
		"rejected_media": "media rejected", "duplicate": "already published there",
		"barred":       "this service is not allowed to connect to the account’s server; the operator must allow it",
		"auth_refresh": "sign-in had to be renewed", "auth_dead": "connection lost",
	}
)

func wordFor(l *locale.Language, words map[string]locale.Key, key string) string {
	if word, ok := words[key]; ok {
		return l.T(word)
	}
	return strings.ReplaceAll(key, "_", " ")
}

// step holds the texts for a next step that happens now, at a time (%s), or after a short wait (%s).
type step struct{ now, at, soon locale.Key }

// stepWords maps the next step of a delivery to its texts.
var stepWords = map[delivery.Step]step{
	delivery.StepSend: {
		"Sending to the network now.", "Will be sent to the network at %s.", "Will be sent to the network %s.",
	},
	delivery.StepPrepare: {
		"The network is processing it.", "The network is processing it; next check at %s.",
		"The network is processing it; next check %s.",
	},
	delivery.StepRetry: {"Retrying now.", "Next retry at %s.", "Next retry %s."},
	delivery.StepRest: {
		"The network is failing; trying again now.", "The network is failing; next try at %s.",
		"The network is failing; next try %s.",
	},
	delivery.StepResolve: {
		"Checking with the network whether it was published.",
		"Waiting to avoid a duplicate; next check whether it was published at %s.",
		"Waiting to avoid a duplicate; next check whether it was published %s.",
	},
	delivery.StepLookUp: {
		"Checking whether the network published it.", "Next check whether the network published it at %s.",
		"Next check whether the network published it %s.",
	},
	delivery.StepPermalink: {
		"Fetching the post’s link.", "The post’s link will be fetched at %s.", "The post’s link will be fetched %s.",
	},
	delivery.StepFinish: {
		"Setting the thumbnail or playlist.", "The thumbnail or playlist will be set at %s.",
		"The thumbnail or playlist will be set %s.",
	},
}

// skipWords explains why an account cannot be retried, by the reasons that post.Service.RetryState returns.
var skipWords = map[string]locale.Key{
	"no_retries_left":     "No retries left. Duplicate the post to start over.",
	"retried_moments_ago": "It was retried moments ago.",
	"replaced":            "Another version of this post replaces it on this account.",
	"account_gone":        "The connection to the account is lost. Reconnect the account, then retry.",
}

// approvalBlockTexts explains why no account can be retried while the client's approval is missing.
var approvalBlockTexts = map[post.Approval]locale.Key{
	post.Waiting:  "Waiting for approval: it can be retried once the client has approved the post.",
	post.Rejected: "The client requested changes, so it cannot be retried. Duplicate the post to start over.",
}

// days maps the weekday codes of recurrence rules to names.
var days = map[string]locale.Key{
	"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
	"SU": "Sunday",
}

var (
	// units maps frequencies to the texts for an interval of one unit of time, and of several units.
	units = map[string][2]locale.Key{
		"DAILY": {"Every day", "Every %s days"}, "WEEKLY": {"Every week", "Every %s weeks"},
		"MONTHLY": {"Every month", "Every %s months"},
	}
	ordinals = map[string]locale.Key{
		"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last", "-2": "second to last",
		"-3": "third to last", "-4": "fourth to last", "-5": "fifth to last",
	}
)

// ruleWords returns a recurrence rule (RFC 5545) in words, such as "Every 2 weeks on Monday and Friday, 10 times".
func ruleWords(l *locale.Language, rule string) string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(rule, ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	unit, ok := units[parts["FREQ"]]
	if !ok {
		return rule
	}
	out := l.T(unit[0])
	if n := parts["INTERVAL"]; n != "" && n != "1" {
		out = l.T(unit[1], n)
	}
	if list := parts["BYDAY"]; list != "" {
		out = l.T("%s on %s|weekdays", out, joinWords(l, list, dayWords))
	}
	if list := parts["BYMONTHDAY"]; list != "" {
		out = l.T("%s on the %s|days of the month", out, joinWords(l, list, monthDayWords))
	}
	if n := parts["COUNT"]; n == "1" {
		out = l.T("%s, once", out)
	} else if n != "" {
		out = l.T("%s, %s times", out, n)
	}
	if until := parts["UNTIL"]; len(until) >= len("20060102") {
		if day, err := time.Parse("20060102", until[:len("20060102")]); err == nil {
			out = l.T("%s, until %s", out, l.Format(day, locale.LongDay))
		}
	}
	return out
}

// dayWords returns a weekday of a recurrence rule, such as MO, 2TU or -1FR, in words.
func dayWords(l *locale.Language, text string) string {
	if len(text) < 2 {
		return text
	}
	which, day := strings.TrimPrefix(text[:len(text)-2], "+"), l.T(days[text[len(text)-2:]])
	if which == "" {
		return day
	}
	return l.T("the %s %s|weekday of a month", l.T(ordinals[which]), day)
}

// monthDayWords returns a day of the month in words. A negative day counts from the end of the month.
func monthDayWords(l *locale.Language, text string) string {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return text
	case n == -1:
		return l.T("last day")
	case n < 0:
		return l.T("%s-to-last day", ordinalDay(l, -n))
	}
	return ordinalDay(l, n)
}

// ordinalDay returns a day of the month as an ordinal number, such as 2nd.
func ordinalDay(l *locale.Language, n int) string {
	switch {
	case n%10 == 1 && n != 11:
		return l.T("%dst|day of a month", n)
	case n%10 == 2 && n != 12:
		return l.T("%dnd|day of a month", n)
	case n%10 == 3 && n != 13:
		return l.T("%drd|day of a month", n)
	}
	return l.T("%dth|day of a month", n)
}

func joinWords(l *locale.Language, list string, word func(*locale.Language, string) string) string {
	items := strings.Split(list, ",")
	for i, item := range items {
		items[i] = word(l, item)
	}
	return l.And(items)
}

// stateNames maps the states of posts to their labels.
var stateNames = map[post.Status]locale.Key{
	post.Draft: "Draft", post.Scheduled: "Scheduled", post.Processing: "Publishing", post.Published: "Published",
	post.PartiallyPublished: "Partially published", post.Failed: "Failed",
	post.Status(post.TargetUnconfirmed): "Unconfirmed",
}

// disabledByPause returns the HTML attributes of a button whose action is paused. The element "paused" explains why.
func disabledByPause() template.HTMLAttr { return `disabled aria-describedby="paused"` }
