package posts

import (
	"html/template"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/domain/delivery"
	"pressroom/internal/domain/post"
	"pressroom/internal/teamtime"
	"pressroom/internal/web/shell"
)

// clock returns the time of day of an instant in its own zone.
func clock(at time.Time) template.HTML {
	text := `<time datetime="` + at.Format(time.RFC3339) + `">` + at.Format("15:04") + `</time>`
	return template.HTML(text) //nolint:gosec // contains only digits
}

// soonWithin is the time before an event from which the wait is shown instead of the time.
const soonWithin = 2 * time.Minute

// near returns the waiting time until a time in the near future, such as "in 20 seconds", or "".
func near(now, at time.Time) string {
	switch wait := at.Sub(now); {
	case wait >= soonWithin:
		return ""
	case wait < time.Second:
		return "in a moment"
	default:
		return "in " + shell.Plural(int64((wait+time.Second/2)/time.Second), "second", "seconds")
	}
}

// cut returns the first characters of a text.
func cut(limit int, text string) string { return post.Truncate(text, limit) }

// webAddress returns a network's URL if it uses http or https, or "".
func webAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return text
}

// attemptWords describe delivery attempts by delivery.AttemptLine's call, and their results.
var (
	callWords = map[string]string{
		"prepare": "Prepared at the network", "commit": "Sent to the network",
		"resolve": "Checked whether the network published it",
		"rest":    "Waited because the network failed", "decide": "Decided by a person",
		"thumbnail": "Set the thumbnail", "playlist": "Added to the playlist",
	}
	resultWords = map[string]string{
		"published": "published", "not_published": "not published", "answered": "the network answered",
		"":              "outcome unknown",
		"network_fails": "the network failed", "patience_is_over": "given up after failing for too long",
		"transient": "temporary failure", "uncertain": "no clear answer", "processing": "the network is processing it",
		"rate":  "rate limited",
		"quota": "quota used up", "rejected": "rejected", "app": "the operator’s app lacks an approval",
		"rejected_media": "media rejected", "duplicate": "already published there",
		"barred":       "this service may not connect to the account’s server; the operator must allow it",
		"auth_refresh": "sign-in had to be renewed", "auth_dead": "connection lost",
	}
)

func wordFor(words map[string]string, key string) string {
	if word, ok := words[key]; ok {
		return word
	}
	return strings.ReplaceAll(key, "_", " ")
}

// stepWords describe the next step: now, and with a time.
var stepWords = map[delivery.Step][2]string{
	delivery.StepSend:    {"Sending to the network now.", "Will be sent to the network at"},
	delivery.StepPrepare: {"The network is processing it.", "The network is processing it; next check at"},
	delivery.StepRetry:   {"Retrying now.", "Next retry at"},
	delivery.StepRest:    {"The network is failing; trying again now.", "The network is failing; next try at"},
	delivery.StepResolve: {
		"Checking with the network whether it was published.",
		"Waiting to avoid a duplicate; next check whether it was published at",
	},
	delivery.StepLookUp: {
		"Checking whether the network published it.", "Next check whether the network published it at",
	},
	delivery.StepPermalink: {"Fetching the post’s link.", "The post’s link will be fetched at"},
	delivery.StepFinish:    {"Setting the thumbnail or playlist.", "The thumbnail or playlist will be set at"},
}

// skipWords explain why an account cannot be retried, by post.Skip's reasons.
var skipWords = map[string]string{
	"no_retries_left":     "No retries left. Duplicate the post to start over.",
	"retried_moments_ago": "It was retried moments ago.",
	"replaced":            "An edited copy has taken over this account.",
	"account_gone":        "The connection to the account is lost. Reconnect the account, then retry.",
}

// heldWords explain why no account is retried before its client has approved the post.
var heldWords = map[post.Approval]string{
	post.Waiting:  "Waiting for approval: it can be retried once the client has approved the post.",
	post.Rejected: "The client requested changes, so it cannot be retried. Duplicate the post to start over.",
}

// days are the names of weekdays in rules.
var days = map[string]string{
	"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
	"SU": "Sunday",
}

var (
	units = map[string][2]string{
		"DAILY": {"day", "days"}, "WEEKLY": {"week", "weeks"}, "MONTHLY": {"month", "months"},
	}
	ordinals = map[string]string{
		"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last", "-2": "second to last",
		"-3": "third to last", "-4": "fourth to last", "-5": "fifth to last",
	}
)

// ruleWords returns a series' rule (RFC 5545) in words: Every 2 weeks on Monday and Friday, 10 times.
func ruleWords(rule string) string {
	parts := map[string]string{}
	for part := range strings.SplitSeq(rule, ";") {
		name, value, _ := strings.Cut(part, "=")
		parts[name] = value
	}
	unit, ok := units[parts["FREQ"]]
	if !ok {
		return rule
	}
	out := "Every " + unit[0]
	if n := parts["INTERVAL"]; n != "" && n != "1" {
		out = "Every " + n + " " + unit[1]
	}
	if list := parts["BYDAY"]; list != "" {
		out += " on " + and(list, dayWords)
	}
	if list := parts["BYMONTHDAY"]; list != "" {
		out += " on the " + and(list, monthDayWords)
	}
	if n := parts["COUNT"]; n == "1" {
		out += ", once"
	} else if n != "" {
		out += ", " + n + " times"
	}
	if until := parts["UNTIL"]; len(until) >= len("20060102") {
		if day, err := time.Parse("20060102", until[:len("20060102")]); err == nil {
			out += ", until " + day.Format("2 January 2006")
		}
	}
	return out
}

// dayWords returns a weekday of a week or month in words: MO, 2TU, -1FR.
func dayWords(text string) string {
	if len(text) < 2 {
		return text
	}
	which, day := strings.TrimPrefix(text[:len(text)-2], "+"), days[text[len(text)-2:]]
	if which == "" {
		return day
	}
	return "the " + ordinals[which] + " " + day
}

// monthDayWords returns a day of the month in words, counted from its end if negative.
func monthDayWords(text string) string {
	n, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return text
	case n == -1:
		return "last day"
	case n < 0:
		return strconv.Itoa(-n) + ". last day"
	}
	return strconv.Itoa(n) + "."
}

func and(list string, word func(string) string) string {
	items := strings.Split(list, ",")
	for i, item := range items {
		items[i] = word(item)
	}
	if len(items) == 1 {
		return items[0]
	}
	return strings.Join(items[:len(items)-1], ", ") + " and " + items[len(items)-1]
}

// stateNames are the labels of post states.
var stateNames = map[post.Status]string{
	post.Draft: "Draft", post.Scheduled: "Scheduled", post.Processing: "Publishing", post.Published: "Published",
	post.PartiallyPublished: "Partly published", post.Failed: "Failed",
	post.Status(post.TargetUnconfirmed): "Unconfirmed",
}

func stateName(s post.Status) string { return stateNames[s] }

// instant is the template function "when" for non-nil times.
func instant(m teamtime.Moment) template.HTML { return shell.When(&m) }
