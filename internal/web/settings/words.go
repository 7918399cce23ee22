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

// words are what this package's templates say things with.
var words = template.FuncMap{
	"time": shell.Time, "level": levelName, "levelsays": levelSays, "role": roleName, "rolesays": roleSays,
	"factors": factorWords, "paused": pausedWords, "limit": limitWords,
	"lost": lostWords, "lostlink": lostConnectionWords, "capability": capabilitySays, "may": mayWords, "spends": spends,
	"what": whatOf, "subject": subjectOf, "by": byOf, "signed": signed,
}

var levelNames = map[access.Level][2]string{
	access.ReadOnly: {"Read only", "Reads everything and changes nothing."},
	access.Drafts: {
		"Drafts",
		"Also makes and changes drafts, media and hashtag lists, takes scheduled posts back and pauses series. " +
			"Nothing of it is published.",
	},
	access.Full: {"Full", "Also schedules and publishes, and does what costs credits."},
}

func levelName(l access.Level) string { return levelNames[l][0] }
func levelSays(l access.Level) string { return levelNames[l][1] }

var roleNames = map[access.Role][2]string{
	access.Owner: {"Owner", "Everything, and alone: API keys, the API switch and the daily limits."},
	access.Admin: {
		"Admin", "Everything but what is the owner’s alone: also members, credits and the record of events.",
	},
	access.Editor: {"Editor", "Writes, schedules and publishes. Spends no credits."},
	access.Viewer: {"Viewer", "Sees everything and changes nothing."},
	access.Client: {
		"Client",
		"Approves or rejects posts that wait for the client, and changes nothing else. Sees posts and what " +
			"they show, " +
			"and not the media library. For people of the company that the posts are for.",
	},
}

func roleName(r access.Role) string { return roleNames[r][0] }

// factorWords says which second factor a member has. A directory decides on the factors of people who sign in only by
// it.
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

// pausedWords says what pauses stop.
func pausedWords(actions []team.Action) string {
	names := map[team.Action]string{
		team.API: "the API", team.Everything: "everything", team.Spending: "spending", team.Publishing: "publishing",
	}
	var out []string
	for _, a := range actions {
		out = append(out, names[a])
	}
	return strings.Join(out, " and ")
}

// limitWords is a number of credits in a day.
func limitWords(credits int64) string {
	switch credits {
	case plan.Unlimited:
		return "no limit"
	case 0:
		return "none"
	}
	return shell.Plural(credits, "credit", "credits")
}

// lostWords says why a key ended by itself.
func lostWords(why string) string {
	if why == "membership_lost" {
		return "Its maker left the team"
	}
	return "Its maker owns the team no more"
}

// lostConnectionWords says why an assistant's connection ended by itself.
func lostConnectionWords(why string) string {
	if why == "membership_lost" {
		return "Whoever connected it left the team"
	}
	return "Whoever connected it has a lower role now"
}

var capabilityNames = map[access.Capability][2]string{
	access.Read: {"read", "Read everything in the team"},
	access.Write: {
		"write", "Make and change drafts, media and hashtag lists, take scheduled posts back and pause series",
	},
	access.Publish: {"publish", "Schedule and publish posts"}, access.Spend: {"spend credits", "Do what costs credits"},
}

func capabilitySays(c access.Capability) string { return capabilityNames[c][1] }

// spends tells whether an assistant may spend credits, so that a limit of it means something.
func spends(may []access.Capability) bool { return slices.Contains(may, access.Spend) }

// mayWords says what an assistant may do, after “may”.
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

// whatOf says what a line of the statement is for.
func whatOf(i credit.Item) string {
	name, ok := operationNames[i.Operation]
	if !ok {
		name = strings.ReplaceAll(i.Operation, "_", " ")
	}
	switch i.Kind {
	case credit.Granted:
		return "Credits granted"
	case credit.Withdrawn:
		return "Credits withdrawn"
	case credit.Reserved:
		return name + ": set aside"
	case credit.Settled:
	}
	switch {
	case i.Charged == 0:
		return name + ": refunded"
	case i.Refunded() > 0:
		return name + ": charged in part"
	}
	return name + ": charged"
}

// subjectOf says what the work of a line was about: @harbour on Instagram. It is empty where it was about nothing that
// has a name.
func subjectOf(i credit.Item) string {
	if i.Of.Subject == "" {
		return ""
	}
	name := "“" + i.Of.Subject + "”"
	switch {
	case i.Of.Kind == "hashtag":
		name = "#" + i.Of.Subject
	case i.Of.Kind == "profile" || i.Operation == "download_profile_media":
		name = "@" + i.Of.Subject
	}
	return name + " on " + shell.NetworkName(i.Of.Platform)
}

// byOf says who asked for what a line of the statement is for.
func byOf(i credit.Item) string {
	switch {
	case slices.Contains([]credit.Kind{credit.Granted, credit.Withdrawn}, i.Kind):
		return "The operator"
	case i.Automatic:
		return "Tracking, switched on by " + i.Person
	case i.Key != "" && i.Assistant:
		return "Assistant " + i.Key
	case i.Key != "":
		return "Key " + i.Key
	}
	return i.Person
}

// signed writes a change with its sign.
func signed(n int64) string {
	if n > 0 {
		return "+" + shell.Count(n)
	}
	return shell.Count(n)
}
