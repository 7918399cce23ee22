package consent

import (
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/locale"
)

var roleNames = map[access.Role]locale.Key{
	access.Owner: "Owner", access.Admin: "Admin", access.Editor: "Editor", access.Viewer: "Viewer",
	access.Client: "Client",
}

// levelWords are the names and descriptions of levels.
var levelWords = map[access.Level][2]locale.Key{
	access.ReadOnly: {
		"Read only", "Can read posts, reports, media, brand voices and hashtag lists, and cannot change anything.",
	},
	access.Drafts: {
		"Drafts",
		"Can also write drafts, media and lists, unschedule posts and pause series. Nothing is published until a " +
			"person does that.",
	},
	access.Full: {"Full", "Can also publish for the team and spend the team’s credits."},
}

// capabilityWords describe what each capability allows.
var capabilityWords = map[access.Capability]locale.Key{
	access.Read:    "read everything",
	access.Write:   "write drafts, media and lists, unschedule posts and pause series",
	access.Publish: "publish and schedule posts", access.Spend: "spend the team’s credits",
}

// missingCapabilityTexts describe what a role does not allow, to follow "not be able to".
var missingCapabilityTexts = map[access.Capability]locale.Key{
	access.Read: "read anything", access.Write: "write or change anything", access.Publish: "schedule or publish posts",
	access.Spend: "spend the team’s credits",
}

// all is the choice of all capabilities that can be granted. It exists only if no level equals it.
const all = "all"

// offers returns the levels that a person can grant, and all of the person's capabilities if no level equals them. The
// default is the level that writes drafts, otherwise the first level.
func offers(l *locale.Language, able []access.Capability, now string) []offer {
	var out []offer
	exact := false
	for _, level := range access.Levels() {
		of := ofLevel(level)
		if len(without(of, able)) > 0 {
			continue
		}
		exact = exact || len(of) == len(able)
		out = append(out, offer{Value: string(level), Name: levelWords[level][0], Says: l.T(levelWords[level][1])})
	}
	switch {
	case exact:
	case slices.Equal(able, publishing):
		out = append(out,
			offer{
				Value: all, Name: "Publishing|level",
				Says: l.T("Can also publish for the team. Cannot spend the team’s credits."),
			})
	default:
		out = append(out, offer{
			Value: all, Name: "All available permissions", Says: l.T("Can %s.", listCapabilities(l, able)),
		})
	}
	choose(out, now)
	return out
}

// publishing is what editors may do.
var publishing = []access.Capability{access.Read, access.Write, access.Publish}

func choose(out []offer, now string) {
	at := slices.IndexFunc(out, func(o offer) bool { return o.Value == now })
	if at < 0 {
		at = max(0, slices.IndexFunc(out, func(o offer) bool { return o.Value == string(access.Drafts) }))
	}
	out[at].Chosen = true
}

// within returns the capabilities of a choice among those that can be granted, or none if it is not offered.
func within(able []access.Capability, level string) []access.Capability {
	if len(able) == 0 || !slices.ContainsFunc(offers(locale.English, able, ""), func(o offer) bool { return o.Value == level }) {
		return nil
	}
	if level == all {
		return slices.Clone(able)
	}
	return ofLevel(access.Level(level))
}

// ofLevel returns the capabilities of a level. Owners have all, so none is missing.
func ofLevel(l access.Level) []access.Capability { return access.Effective(l, access.Owner) }

// without returns the capabilities that are not among others.
func without(of, others []access.Capability) []access.Capability {
	return slices.DeleteFunc(slices.Clone(of), func(c access.Capability) bool { return slices.Contains(others, c) })
}

// listCapabilities returns capabilities as part of a sentence. Their descriptions may contain commas.
func listCapabilities(l *locale.Language, of []access.Capability) string {
	return join(l, of, capabilityWords, "; ", "%s; and %s")
}

// listMissing returns what a client cannot do as part of a sentence, or "".
func listMissing(l *locale.Language, of []access.Capability) string {
	return join(l, of, missingCapabilityTexts, ", ", "%s, or %s")
}

func join(
	l *locale.Language, of []access.Capability, words map[access.Capability]locale.Key, between string, last locale.Key,
) string {
	var parts []string
	for _, c := range of {
		parts = append(parts, l.T(words[c]))
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return l.T(last, strings.Join(parts[:len(parts)-1], between), parts[len(parts)-1])
}
