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

// levelTexts holds the name and the description of each level.
var levelTexts = map[access.Level][2]locale.Key{
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

// capabilityTexts describes what each capability allows.
var capabilityTexts = map[access.Capability]locale.Key{
	access.Read:    "read everything",
	access.Write:   "write drafts, media and lists, unschedule posts and pause series",
	access.Publish: "publish and schedule posts", access.Spend: "spend the team’s credits",
}

// missingCapabilityTexts describes, for each capability, what is not possible without it. The texts follow the words
// "not be able to".
var missingCapabilityTexts = map[access.Capability]locale.Key{
	access.Read: "read anything", access.Write: "write or change anything", access.Publish: "schedule or publish posts",
	access.Spend: "spend the team’s credits",
}

// allLevel is the Value of the option that grants all capabilities that the person can grant. The option exists only if
// no level has exactly these capabilities.
const allLevel = "all"

// levelOptions returns the levels whose capabilities are all available. If none of these levels has exactly the
// available capabilities, it adds the option allLevel. It selects the option with the value selectedValue. If there is
// none, it selects the level for drafts or, if that is not available either, the first option.
func levelOptions(l *locale.Language, available []access.Capability, selectedValue string) []levelOption {
	var out []levelOption
	hasExactLevel := false
	for _, level := range access.Levels() {
		capabilities := levelCapabilities(level)
		if len(subtract(capabilities, available)) > 0 {
			continue
		}
		hasExactLevel = hasExactLevel || len(capabilities) == len(available)
		out = append(out, levelOption{Value: string(level), Name: levelTexts[level][0], Description: l.T(levelTexts[level][1])})
	}
	switch {
	case hasExactLevel:
	case slices.Equal(available, editorCapabilities):
		out = append(out,
			levelOption{
				Value: allLevel, Name: "Publishing|level",
				Description: l.T("Can also publish for the team. Cannot spend the team’s credits."),
			})
	default:
		out = append(out, levelOption{
			Value: allLevel, Name: "All available permissions", Description: l.T("Can %s.", listCapabilities(l, available)),
		})
	}
	selectLevel(out, selectedValue)
	return out
}

// editorCapabilities lists the capabilities of editors.
var editorCapabilities = []access.Capability{access.Read, access.Write, access.Publish}

func selectLevel(options []levelOption, selectedValue string) {
	i := slices.IndexFunc(options, func(o levelOption) bool { return o.Value == selectedValue })
	if i < 0 {
		i = max(0, slices.IndexFunc(options, func(o levelOption) bool { return o.Value == string(access.Drafts) }))
	}
	options[i].Chosen = true
}

// selectedCapabilities returns the capabilities of the option whose value is level, or nil if levelOptions does not
// offer it.
func selectedCapabilities(available []access.Capability, level string) []access.Capability {
	if len(available) == 0 {
		return nil
	}
	options := levelOptions(locale.English, available, "")
	if !slices.ContainsFunc(options, func(o levelOption) bool { return o.Value == level }) {
		return nil
	}
	if level == allLevel {
		return slices.Clone(available)
	}
	return levelCapabilities(access.Level(level))
}

// levelCapabilities returns the capabilities of a level. It computes them for the owner's role, which allows all
// capabilities.
func levelCapabilities(l access.Level) []access.Capability {
	return access.EffectiveCapabilities(l, access.Owner)
}

// subtract returns the capabilities that are not in others.
func subtract(capabilities, others []access.Capability) []access.Capability {
	return slices.DeleteFunc(slices.Clone(capabilities), func(c access.Capability) bool { return slices.Contains(others, c) })
}

// listCapabilities returns capabilities as part of a sentence. It separates them with semicolons, because their
// descriptions may contain commas.
func listCapabilities(l *locale.Language, capabilities []access.Capability) string {
	return join(l, capabilities, capabilityTexts, "; ", "%s; and %s")
}

// listMissing returns, as part of a sentence, what is not possible without the capabilities. It returns "" if there are
// no capabilities.
func listMissing(l *locale.Language, capabilities []access.Capability) string {
	return join(l, capabilities, missingCapabilityTexts, ", ", "%s, or %s")
}

func join(
	l *locale.Language, capabilities []access.Capability, texts map[access.Capability]locale.Key, separator string,
	lastFormat locale.Key,
) string {
	var parts []string
	for _, c := range capabilities {
		parts = append(parts, l.T(texts[c]))
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return l.T(lastFormat, strings.Join(parts[:len(parts)-1], separator), parts[len(parts)-1])
}
