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

// clock shows the time of day of an instant, in the zone that it is given in.
func clock(at time.Time) template.HTML {
	return template.HTML(`<time datetime="` + at.Format(time.RFC3339) + `">` + at.Format("15:04") + `</time>`) //nolint:gosec // digits alone
}

// nearly is how long before a time people are told how long they wait in place of the time.
const nearly = 2 * time.Minute

// near says how long it is until a time that is near: in 20 seconds. It is empty for one that is further away.
func near(now, at time.Time) string {
	switch wait := at.Sub(now); {
	case wait >= nearly:
		return ""
	case wait < time.Second:
		return "in a moment"
	default:
		return "in " + shell.Plural(int64((wait+time.Second/2)/time.Second), "second", "seconds")
	}
}

// cut is the start of a text, of a number of characters at the most.
func cut(most int, text string) string { return post.Truncate(text, most) }

// webAddress is a network's address as far as it may be linked: others than of the web stay empty.
func webAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return text
}

// attemptWords say what was done, by delivery.AttemptLine's call, and what it met with.
var (
	callWords = map[string]string{
		"prepare": "Made ready at the network", "commit": "Handed to the network",
		"resolve": "Asked the network whether it stands",
		"rest":    "Waited, as the network failed", "decide": "Decided by a person",
	}
	resultWords = map[string]string{
		"published": "it stands", "not_published": "it does not stand", "answered": "the network answered",
		"":              "no answer is known",
		"network_fails": "the network failed", "patience_is_over": "given up, as it failed for too long",
		"transient": "a failure that passes", "uncertain": "no clear answer", "processing": "the network works on it",
		"rate":  "asked to slow down",
		"quota": "the quota is used up", "rejected": "refused", "app": "the operator’s app lacks an approval",
		"rejected_media": "the media were refused", "duplicate": "held there already",
		"barred":       "this service may not call the account’s server: its operator has to allow it",
		"auth_refresh": "the sign-in had to be renewed", "auth_dead": "the connection is lost",
	}
)

func wordFor(words map[string]string, key string) string {
	if word, ok := words[key]; ok {
		return word
	}
	return strings.ReplaceAll(key, "_", " ")
}

// stepWords say what is done next: now, and where it has a time.
var stepWords = map[delivery.Step][2]string{
	delivery.StepSend:    {"It is being handed to the network now.", "It is handed to the network at"},
	delivery.StepPrepare: {"The network is making it ready.", "The network is making it ready; we look again at"},
	delivery.StepRetry:   {"It is being handed over once more now.", "It is handed over once more at"},
	delivery.StepRest:    {"The network fails; we try again now.", "The network fails; we try again at"},
	delivery.StepResolve: {
		"The network is being asked whether it took it.",
		"We wait, so that nothing goes out twice, and ask the network whether it took it at",
	},
	delivery.StepLookUp: {
		"The network is being asked whether it stands.", "The network is asked again whether it stands at",
	},
	delivery.StepPermalink: {"The network is being asked where it stands.", "The network is asked where it stands at"},
}

// skipWords say why an account may not be sent again, by post.Skip's reasons.
var skipWords = map[string]string{
	"no_retries_left":     "It was sent again as often as it may be. Duplicate the post to begin anew.",
	"retried_moments_ago": "It was sent again moments ago.",
	"account_gone": "The connection to the account is lost. Somebody has to connect it again, then it can be " +
		"sent again.",
}

// heldWords say why no account of a post is sent again before its client has approved it.
var heldWords = map[post.Approval]string{
	post.Waiting:  "It waits for the client: it may be sent again once the client has approved the post.",
	post.Rejected: "The client has rejected the post, so it is not sent again. Duplicate the post to begin anew.",
}

// days are what weekdays are called in rules.
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

// ruleWords say a series' rule (RFC 5545) as people do: Every 2 weeks on Monday and Friday, 10 times.
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

// dayWords are a weekday, or one of a month: MO, 2TU, -1FR.
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

// monthDayWords are a day of the month, counted from its end where below 0.
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

// stateNames are what people call the states of posts.
var stateNames = map[post.Status]string{
	post.Draft: "Draft", post.Scheduled: "Scheduled", post.Processing: "Publishing", post.Published: "Published",
	post.PartiallyPublished: "Partly published", post.Failed: "Failed",
	post.Status(post.TargetUnconfirmed): "Not confirmed",
}

func stateName(s post.Status) string { return stateNames[s] }

// instant is the word "when" for times that are always there.
func instant(m teamtime.Moment) template.HTML { return shell.When(&m) }
