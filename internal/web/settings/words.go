package settings

import (
	"html/template"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/web/shell"
)

// templateFuncs returns the template functions for a language.
func templateFuncs(l *locale.Language) template.FuncMap {
	return template.FuncMap{
		"day":        func(at time.Time) string { return l.Format(at, locale.LongDate) },
		"date":       func(at time.Time) string { return l.Format(at, locale.LongDay) },
		"clock":      func(at time.Time) template.HTML { return clockIn(l, at) },
		"level":      func(v access.Level) string { return levelName(l, v) },
		"levelsays":  func(v access.Level) string { return l.T(levelNames[v][1]) },
		"role":       func(r access.Role) string { return l.T(roleNames[r][0]) },
		"rolesays":   func(r access.Role) string { return l.T(roleNames[r][1]) },
		"factors":    func(f team.Factors, only bool) string { return l.T(factorWords(f, only)) },
		"paused":     func(actions []access.PauseAction) string { return pausedWords(l, actions) },
		"limitcell":  func(credits int64) string { return limitCell(l, credits) },
		"dailylimit": func(credits int64) string { return dailyLimit(l, credits) },
		"lost":       func(why string) string { return l.T(keyLossText(why)) },
		"lostlink":   func(why string) string { return l.T(connectionLossText(why)) },
		"capability": func(c access.Capability) string { return l.T(capabilityNames[c][1]) },
		"may":        func(may []access.Capability) string { return capabilityText(l, may) },
		"spends":     canSpend,
		"work":       func(i credit.Item) string { return operationName(l, i) },
		"what":       func(i credit.Item) string { return itemDescription(l, i) },
		"subject":    func(i credit.Item) string { return subjectOf(l, i) },
		"by":         func(i credit.Item) string { return actorName(l, i) },
		"signed":     func(n int64) string { return signedNumber(l, n) },
	}
}

// clockIn formats the time of day of an instant.
func clockIn(l *locale.Language, at time.Time) template.HTML {
	text := `<time datetime="` + at.Format(time.RFC3339) + `">` + l.Format(at, locale.Clock) + `</time>`
	return template.HTML(text) //nolint:gosec // contains only a formatted time
}

var levelNames = map[access.Level][2]locale.Key{
	access.ReadOnly: {"Read only", "Can read everything and change nothing."},
	access.Drafts: {
		"Drafts",
		"Can also create and change drafts, media and hashtag lists, unschedule posts and pause series. Cannot " +
			"publish.",
	},
	access.Full: {"Full|level", "Can also schedule, publish and spend credits."},
}

func levelName(l *locale.Language, level access.Level) string { return l.T(levelNames[level][0]) }

var roleNames = map[access.Role][2]locale.Key{
	access.Owner: {"Owner", "Full access, including API keys and limits."},
	access.Admin: {
		"Admin", "Full access except owner-only settings. Manages members and credits and sees the " +
			"audit log.",
	},
	access.Editor: {"Editor", "Can write, schedule and publish. Cannot spend credits."},
	access.Viewer: {"Viewer", "View-only access."},
	access.Client: {
		"Client", "Can approve or reject posts. Sees all posts but not the media library.",
	},
}

// factorWords describes a member's second factors. directoryOnly is true if people can sign in only with the directory,
// which then handles second factors.
func factorWords(f team.Factors, directoryOnly bool) locale.Key {
	switch {
	case f.Directory || directoryOnly:
		return "signs in with the directory, which handles two-factor authentication"
	case f.App && f.Passkeys > 0:
		return "passkey and authenticator app"
	case f.App:
		return "authenticator app"
	case f.Passkeys > 0:
		return "passkey"
	}
	return "no two-factor authentication"
}

// FactorWords describes a person's second factors.
func FactorWords(l *locale.Language, f team.Factors) string { return l.T(factorWords(f, false)) }

// pausedWords lists what is paused.
func pausedWords(l *locale.Language, actions []access.PauseAction) string {
	names := map[access.PauseAction]locale.Key{
		access.PauseAPI: "the API", access.PauseEverything: "everything", access.PauseSpending: "spending",
		access.PausePublishing: "publishing",
	}
	out := ""
	for i, a := range actions {
		if i == 0 {
			out = l.T(names[a])
		} else {
			out = l.And([]string{out, l.T(names[a])})
		}
	}
	return out
}

// limitWords describes a daily limit in credits, as part of a sentence.
func limitWords(l *locale.Language, credits int64) string {
	switch credits {
	case plan.Unlimited:
		return l.T("no limit")
	case 0:
		return l.T("none|limit")
	}
	return l.N(credits, "%d credit", "%d credits")
}

// limitCell describes a daily limit in credits, for a table cell.
func limitCell(l *locale.Language, credits int64) string {
	switch credits {
	case plan.Unlimited:
		return l.T("No limit")
	case 0:
		return l.T("None|limit")
	}
	return limitWords(l, credits)
}

// dailyLimit describes a daily limit in credits, for a list of facts.
func dailyLimit(l *locale.Language, credits int64) string {
	if credits == plan.Unlimited {
		return l.T("No daily limit")
	}
	return l.T("daily limit: %s", limitWords(l, credits))
}

// keyLossText explains why an API key ended automatically. reason is an error code.
func keyLossText(reason string) locale.Key {
	if reason == "membership_lost" {
		return "Its creator left the team"
	}
	return "Its creator no longer owns the team"
}

// connectionLossText explains why a connection ended automatically. reason is an error code.
func connectionLossText(reason string) locale.Key {
	if reason == "membership_lost" {
		return "The person who connected it left the team"
	}
	return "The person who connected it now has a lower role"
}

var capabilityNames = map[access.Capability][2]locale.Key{
	access.Read: {"read|may", "Read everything in the team"},
	access.Write: {
		"write|may", "Create and change drafts, media and hashtag lists, unschedule posts and pause series",
	},
	access.Publish: {"publish|may", "Schedule and publish posts"}, access.Spend: {"spend credits|may", "Spend credits"},
}

// canSpend reports whether an assistant may spend credits, in which case a limit applies.
func canSpend(capabilities []access.Capability) bool {
	return slices.Contains(capabilities, access.Spend)
}

// capabilityText describes what an assistant may do. The text follows the word "may".
func capabilityText(l *locale.Language, capabilities []access.Capability) string {
	if len(capabilities) == 0 {
		return l.T("do nothing")
	}
	var out []string
	for _, c := range capabilities {
		out = append(out, l.T(capabilityNames[c][0]))
	}
	return l.And(out)
}

var operationNames = map[string]locale.Key{
	"create_report": "Report", "refresh_report": "Refresh of a report", "set_report_tracking": "Tracking of a report",
	"search_hashtags":        "Hashtag search",
	"download_profile_media": "Download of a profile’s media",
}

// operationName returns the display name of an item's operation.
func operationName(l *locale.Language, i credit.Item) string {
	if known, ok := operationNames[i.Operation]; ok {
		return l.T(known)
	}
	return strings.ReplaceAll(i.Operation, "_", " ")
}

// itemDescription returns the description of an item of the statement.
func itemDescription(l *locale.Language, i credit.Item) string {
	name := operationName(l, i)
	switch i.Kind {
	case credit.KindGrant:
		return l.T("Credits granted")
	case credit.KindWithdraw:
		return l.T("Credits withdrawn")
	case credit.KindReserve:
		return l.T("%s: reserved", name)
	case credit.KindSettle:
	}
	switch {
	case i.Charged == 0:
		return l.T("%s: refunded", name)
	case i.RefundedCredits() > 0:
		return l.T("%s: partially charged", name)
	}
	return l.T("%s: charged", name)
}

// StatementText returns the description of a line and its subject, such as "Report · #coffee on Instagram".
func StatementText(l *locale.Language, line StatementLine) string {
	text := itemDescription(l, line.Item)
	if line.IncludesReservation {
		text = operationName(l, line.Item)
	}
	if subject := subjectOf(l, line.Item); subject != "" {
		text += " · " + subject
	}
	return text
}

// subjectOf returns the subject of an item's operation, such as "@harbour on Instagram", or "".
func subjectOf(l *locale.Language, i credit.Item) string {
	if i.Subject.Name == "" {
		return ""
	}
	var name string
	switch {
	case i.Subject.Kind == "hashtag":
		name = "#" + i.Subject.Name
	case i.Subject.Kind == "profile" || i.Operation == "download_profile_media":
		name = "@" + i.Subject.Name
	default:
		name = l.T("“%s”", i.Subject.Name)
	}
	return l.T("%s on %s|network", name, shell.NetworkName(i.Subject.Platform))
}

// actorName returns the name of the person, API key or app that caused an item of the statement.
func actorName(l *locale.Language, i credit.Item) string {
	switch {
	case slices.Contains([]credit.Kind{credit.KindGrant, credit.KindWithdraw}, i.Kind):
		return l.T("The operator")
	case i.Automatic:
		return l.T("Tracking, turned on by %s", i.Person)
	case i.Key != "" && i.Assistant:
		return l.T("App %s", i.Key)
	case i.Key != "":
		return l.T("Key %s", i.Key)
	}
	return i.Person
}

// signedNumber formats a change with its sign.
func signedNumber(l *locale.Language, n int64) string {
	if n > 0 {
		return "+" + l.Count(n)
	}
	return l.Count(n)
}
