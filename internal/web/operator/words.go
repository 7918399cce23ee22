package operator

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/domain/job"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/restoreguard"
	"pressroom.example/pressroom/internal/web/settings"
	"pressroom.example/pressroom/internal/web/shell"
)

// templateFuncs returns the template functions for a language.
func templateFuncs(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		// in UTC, because the pages show teams in many time zones
		"time":           func(at time.Time) template.HTML { return shell.TimeHTML(l, at.UTC()) },
		"ago":            func(at, now time.Time) template.HTML { return shell.RelativeTimeHTML(l, at.UTC(), now) },
		"until":          func(at time.Time) string { return l.Format(at.UTC().Add(-time.Microsecond), locale.Day) },
		"statefilter":    func(s teamsearch.State) string { return l.T(stateNames[s]) },
		"profile":        provider.ProfileURL,
		"plan":           planName,
		"limit":          func(credits *int64) string { return limitWords(l, credits) },
		"channelservice": func(c notification.ChannelService) channelService { return channelServices[c] },
		"channelerror":   func(f notification.ChannelFailure) string { return f.Text(l) },
		"noticekind":     func(k notification.Kind) string { return l.T(k.Name()) },
		"paused":         func(a access.PauseAction) string { return l.T(actionLabels[a]) },
		"scope":          func(s team.Scope) string { return l.T(scopeLabels[s]) },
		"phase":          func(phase string) string { return labelOr(l, phaseLabels, phase) },
		"circuit":        func(s delivery.CircuitState) string { return l.T(circuitLabels[s]) },
		"job":            func(t job.Type) string { return labelOr(l, jobLabels, t) },
		"joberror":       func(code string) string { return shell.TranslateText(l, job.Message(code)) },
		"nextstep":       func(t job.Type) string { return l.T(cmp.Or(nextSteps[t], startAgainText)) },
		"result":         func(r network.CheckResult) string { return l.T(resultLabels[r]) },
		"cause":          func(c restoreguard.Cause) string { return translate(l, c.Text()) },
		"found":          func(text string) string { return detailText(l, text) },
		"call":           func(call string) string { return labelOr(l, callLabels, call) },
		"class":          func(c string) string { return labelOr(l, classLabels, network.ErrorClass(c)) },
		"transaction":    func(line settings.StatementLine) string { return settings.StatementText(l, line) },
		"teamlink":       func(id int64, names teamsearch.Names) template.HTML { return teamLink(l, id, names) },
		"rate":           func(share float64) string { return l.Percent(share) },
		"browser":        func(agent string) string { return shell.BrowserName(l, agent) },
		"factors":        func(f team.Factors) string { return settings.FactorWords(l, f) },
		"shortid":        shortID,
		"language":       func(tag string) string { return cmp.Or(l.T(settings.LanguageName(tag)), tag) },
		"day":            func(at time.Time) string { return l.Format(at, locale.LongDate) },
		"clock":          func(at time.Time) string { return l.Format(at, locale.Clock) },
	}
}

// planName returns the capitalized name of a plan.
func planName(id string) string {
	first, size := utf8.DecodeRuneInString(id)
	return string(unicode.ToUpper(first)) + id[size:]
}

// shortID returns the end of an ID. IDs begin with the time, so items that were created at about the same time have
// the same beginning.
func shortID(id string) string {
	if len(id) <= 8 {
		return id
	}
	return "…" + id[len(id)-8:]
}

// labelOr returns the text for a value, or the value itself if there is no text for it.
func labelOr[T ~string](l *locale.Language, texts map[T]locale.Key, value T) string {
	if text, ok := texts[value]; ok {
		return l.T(text)
	}
	return string(value)
}

// translate translates a text from another package. If there is no translation, it returns the text in English.
func translate(l *locale.Language, text string) string {
	if l.IsEnglish() || !l.Has(locale.Key(text)) {
		return text
	}
	return l.T(locale.Key(text))
}

// teamLink returns a link to a team with its name.
func teamLink(l *locale.Language, id int64, names teamsearch.Names) template.HTML {
	text := template.HTMLEscapeString(cmp.Or(names[id], l.T("team %s", strconv.FormatInt(id, 10))))
	return template.HTML(fmt.Sprintf(`<a href="/operator/teams/%d"><bdi>%s</bdi></a>`, id, text)) //nolint:gosec // escaped
}

// rejectionText translates the text of an apierr.OperatorError. If there is no translation, it returns the text in
// English.
func rejectionText(l *locale.Language, err error, text string) string {
	formatted, ok := errors.AsType[*apierr.FormattedOperatorError](err)
	if ok && l != locale.English && l.Has(locale.Key(formatted.Format)) { // in English, the text is already formatted
		return l.T(locale.Key(formatted.Format), formatted.Args...)
	}
	return translate(l, text)
}

// sentence returns a command-line message as a sentence, with a capital letter and a period.
func sentence(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// limitWords describes a daily limit in credits. nil means the plan's limit.
func limitWords(l *locale.Language, credits *int64) string {
	switch {
	case credits == nil:
		return l.T("Plan limit")
	case *credits == plan.Unlimited:
		return l.T("no limit")
	case *credits == 0:
		return l.T("none|limit")
	}
	return l.N(*credits, "%d credit", "%d credits")
}

var actionLabels = map[access.PauseAction]locale.Key{
	access.PauseAPI: "The API", access.PauseEverything: "Everything", access.PauseSpending: "Spending",
	access.PausePublishing: "Publishing|action",
}

var stateNames = map[teamsearch.State]locale.Key{
	"": "All", teamsearch.Closed: "Closed", teamsearch.Operators: "Operators", teamsearch.Suspended: "Suspended",
	teamsearch.Unconfirmed: "Email not confirmed",
}

var scopeLabels = map[team.Scope]locale.Key{
	team.ForService: "service|of a pause", team.ForTeam: "team|of a pause", team.ForKey: "key|of a pause",
}

var phaseLabels = map[string]locale.Key{
	"planned": "Waiting|phase", "prepared": "Prepared on the network", "committing": "Publishing|phase",
	"doubtful": "Checking the outcome", "linking": "Published; fetching the link",
	"finishing": "Published; setting the thumbnail or playlist",
}

var circuitLabels = map[delivery.CircuitState]locale.Key{
	delivery.Closed: "OK", delivery.HalfOpen: "Recovering: testing with one delivery",
	delivery.Open: "Failing: deliveries are paused",
}

var jobLabels = map[job.Type]locale.Key{
	job.ProfileReport: "Profile report", job.HashtagReport: "Hashtag report", job.SocialPost: "Publishing a post",
	job.HashtagSearch: "Hashtag search",
	job.MediaImport:   "Upload or import", job.ContentFetch: "Download of a profile’s media",
}

// startAgainText is the default for job types that are not in nextSteps.
const startAgainText locale.Key = "Not charged. A member can start it again."

// nextSteps says what to do about failed jobs, by type.
var nextSteps = map[job.Type]locale.Key{
	job.SocialPost:  "A member retries it on the page of the post.",
	job.MediaImport: "A member can upload or import the files again.",
}

// callLabels maps the calls of delivery attempts to their labels.
var callLabels = map[string]locale.Key{
	"prepare": "Preparing|call", "commit": "Publishing|call", "resolve": "Checking the outcome|call",
	"rest": "Waiting|call", "decide": "Decision|call",
}

// classLabels maps the results of delivery attempts to their labels.
var classLabels = map[network.ErrorClass]locale.Key{
	network.ReconnectRequired: "access revoked|class", network.RefreshRequired: "access token expired|class",
	network.RateLimited: "rate limit reached|class", network.Transient: "temporary error|class",
	network.OutcomeUnknown: "outcome unknown|class", network.Processing: "processing on the network|class",
	network.Rejected: "post rejected|class", network.RejectedMedia: "media rejected|class",
	network.Duplicate: "duplicate content|class", network.QuotaExceeded: "quota used up|class",
	network.AppNotApproved: "app not approved|class", network.HostBlocked: "server blocked|class",
	"published": "published|class", "answered": "other answer|class", "not_published": "not published|class",
	"network_fails": "network failing|class", "patience_is_over": "gave up waiting|class",
}
