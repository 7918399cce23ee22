package settings

import (
	"html/template"
	"slices"
	"strings"

	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/credit"
	"pressroom/internal/domain/team"
	"pressroom/internal/web/shell"
)

// words are the functions of the package's templates.
var words = template.FuncMap{
	"level": levelName, "levelsays": levelSays, "role": roleName, "rolesays": roleSays,
	"factors": factorWords, "paused": pausedWords, "limit": limitWords,
	"lost": lostWords, "lostlink": lostConnectionWords, "capability": capabilitySays, "may": mayWords, "spends": spends,
	"what": whatOf, "subject": subjectOf, "by": byOf, "signed": signedNumber,
}

var levelNames = map[access.Level][2]string{
	access.ReadOnly: {"Read only", "Can read everything and change nothing."},
	access.Drafts: {
		"Drafts",
		"Can also create and change drafts, media and hashtag lists, unschedule posts and pause series. Cannot " +
			"publish.",
	},
	access.Full: {"Full", "Can also schedule, publish and spend credits."},
}

func levelName(l access.Level) string { return levelNames[l][0] }
func levelSays(l access.Level) string { return levelNames[l][1] }

var roleNames = map[access.Role][2]string{
	access.Owner: {"Owner", "Can do everything. Only owners manage API keys, API access and daily limits."},
	access.Admin: {
		"Admin", "Can do everything but what is reserved for the owner. Manages members and credits and sees the " +
			"audit log.",
	},
	access.Editor: {"Editor", "Can write, schedule and publish. Cannot spend credits."},
	access.Viewer: {"Viewer", "Can see everything and change nothing."},
	access.Client: {
		"Client",
		"Can approve or reject posts that wait for approval, and change nothing else. Sees all posts, but not the " +
			"media library. For the people that the posts are made for.",
	},
}

func roleName(r access.Role) string { return roleNames[r][0] }

// factorWords describes a member's second factors. The directory manages them for people who sign in only through it.
func factorWords(f team.Factors, only bool) string {
	switch {
	case f.Directory || only:
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

func roleSays(r access.Role) string { return roleNames[r][1] }

// pausedWords describes what pauses stop.
func pausedWords(actions []access.PauseAction) string {
	names := map[access.PauseAction]string{
		access.PauseAPI: "the API", access.PauseEverything: "everything", access.PauseSpending: "spending",
		access.PausePublishing: "publishing",
	}
	var out []string
	for _, a := range actions {
		out = append(out, names[a])
	}
	return strings.Join(out, " and ")
}

// limitWords describes a daily limit in credits.
func limitWords(credits int64) string {
	switch credits {
	case plan.Unlimited:
		return "no limit"
	case 0:
		return "none"
	}
	return shell.Plural(credits, "credit", "credits")
}

// lostWords explains why a key ended automatically.
func lostWords(why string) string {
	if why == "membership_lost" {
		return "Its creator left the team"
	}
	return "Its creator no longer owns the team"
}

// lostConnectionWords explains why an assistant's connection ended automatically.
func lostConnectionWords(why string) string {
	if why == "membership_lost" {
		return "The person who connected it left the team"
	}
	return "The person who connected it now has a lower role"
}

var capabilityNames = map[access.Capability][2]string{
	access.Read: {"read", "Read everything in the team"},
	access.Write: {
		"write", "Create and change drafts, media and hashtag lists, unschedule posts and pause series",
	},
	access.Publish: {"publish", "Schedule and publish posts"}, access.Spend: {"spend credits", "Spend credits"},
}

func capabilitySays(c access.Capability) string { return capabilityNames[c][1] }

// spends reports whether an assistant may spend credits, so that a limit applies.
func spends(may []access.Capability) bool { return slices.Contains(may, access.Spend) }

// mayWords describes what an assistant may do, to follow "may".
func mayWords(may []access.Capability) string {
	var out []string
	for _, c := range may {
		out = append(out, capabilityNames[c][0])
	}
	switch last := len(out) - 1; {
	case last < 0:
		return "do nothing"
	case last == 0:
		return out[0]
	default:
		return strings.Join(out[:last], ", ") + " and " + out[last]
	}
}

var operationNames = map[string]string{
	"create_report": "Report", "refresh_report": "Refresh of a report", "set_report_tracking": "Tracking of a report",
	"search_hashtags":        "Hashtag search",
	"download_profile_media": "Download of a profile’s media",
}

// whatOf returns the description of a statement line.
func whatOf(i credit.Item) string {
	name, ok := operationNames[i.Operation]
	if !ok {
		name = strings.ReplaceAll(i.Operation, "_", " ")
	}
	switch i.Kind {
	case credit.KindGrant:
		return "Credits granted"
	case credit.KindWithdraw:
		return "Credits withdrawn"
	case credit.KindReserve:
		return name + ": reserved"
	case credit.KindSettle:
	}
	switch {
	case i.Charged == 0:
		return name + ": refunded"
	case i.RefundedCredits() > 0:
		return name + ": partly charged"
	}
	return name + ": charged"
}

// subjectOf returns the subject of a line's work, such as @harbour on Instagram, or "".
func subjectOf(i credit.Item) string {
	if i.Subject.Name == "" {
		return ""
	}
	name := "“" + i.Subject.Name + "”"
	switch {
	case i.Subject.Kind == "hashtag":
		name = "#" + i.Subject.Name
	case i.Subject.Kind == "profile" || i.Operation == "download_profile_media":
		name = "@" + i.Subject.Name
	}
	return name + " on " + shell.NetworkName(i.Subject.Platform)
}

// byOf returns who caused a statement line.
func byOf(i credit.Item) string {
	switch {
	case slices.Contains([]credit.Kind{credit.KindGrant, credit.KindWithdraw}, i.Kind):
		return "The operator"
	case i.Automatic:
		return "Tracking, turned on by " + i.Person
	case i.Key != "" && i.Assistant:
		return "Assistant " + i.Key
	case i.Key != "":
		return "Key " + i.Key
	}
	return i.Person
}

// signedNumber returns a change with its sign.
func signedNumber(n int64) string {
	if n > 0 {
		return "+" + shell.Count(n)
	}
	return shell.Count(n)
}
