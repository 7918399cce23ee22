package consent

import (
	"slices"
	"strings"

	"pressroom/internal/core/access"
)

var roleNames = map[access.Role]string{
	access.Owner: "Owner", access.Admin: "Admin", access.Editor: "Editor", access.Viewer: "Viewer",
	access.Client: "Client",
}

// levelWords say what each level means for somebody who lets a program do it.
var levelWords = map[access.Level][2]string{
	access.ReadOnly: {
		"Read only", "It reads posts, reports, media, brand voices and hashtag lists, and changes nothing.",
	},
	access.Drafts: {
		"Drafts",
		"It also writes drafts, media and lists, and can take scheduled posts back and pause series. " +
			"Nothing of it is " +
			"published before a person does that.",
	},
	access.Full: {"Full", "It also publishes in the team’s name, and does what costs the team credits."},
}

// capabilityWords say what each capability lets a program do.
var capabilityWords = map[access.Capability]string{
	access.Read:    "read everything",
	access.Write:   "write drafts, media and lists, take scheduled posts back and pause series",
	access.Publish: "publish and schedule posts", access.Spend: "spend the team’s credits",
}

// narrowWords say what somebody's role keeps a program from, each after "nor".
var narrowWords = map[access.Capability]string{
	access.Read: "read anything", access.Write: "write or change anything", access.Publish: "schedule or publish posts",
	access.Spend: "spend the team’s credits",
}

// all stands for everything that can be given, where that is none of the levels.
const all = "all"

// offers are what somebody may give leave to, of what they are able to give: each level that lies within it, and all
// of it where that is none of them. As long as nothing was chosen it is the one that writes drafts, or else the first.
func offers(able []access.Capability, now string) []offer {
	var out []offer
	exact := false
	for _, l := range access.Levels() {
		of := ofLevel(l)
		if len(without(of, able)) > 0 {
			continue
		}
		exact = exact || len(of) == len(able)
		out = append(out, offer{Value: string(l), Name: levelWords[l][0], Says: levelWords[l][1]})
	}
	switch {
	case exact:
	case slices.Equal(able, publishing):
		out = append(out,
			offer{
				Value: all, Name: "Publishing",
				Says: "It also publishes in the team’s name. It spends none of the team’s credits.",
			})
	default:
		out = append(out, offer{Value: all, Name: "All that it can have", Says: "It may " + listed(able) + "."})
	}
	choose(out, now)
	return out
}

// publishing is what an editor has.
var publishing = []access.Capability{access.Read, access.Write, access.Publish}

func choose(out []offer, now string) {
	at := slices.IndexFunc(out, func(o offer) bool { return o.Value == now })
	if at < 0 {
		at = max(0, slices.IndexFunc(out, func(o offer) bool { return o.Value == string(access.Drafts) }))
	}
	out[at].Chosen = true
}

// within are the capabilities of what was chosen, of those that can be given; none for what is not offered.
func within(able []access.Capability, level string) []access.Capability {
	if len(able) == 0 || !slices.ContainsFunc(offers(able, ""), func(o offer) bool { return o.Value == level }) {
		return nil
	}
	if level == all {
		return slices.Clone(able)
	}
	return ofLevel(access.Level(level))
}

// ofLevel is what a level holds: an owner may do everything, so nothing of it is missing.
func ofLevel(l access.Level) []access.Capability { return access.Effective(l, access.Owner) }

// without are capabilities that others are not.
func without(of, others []access.Capability) []access.Capability {
	return slices.DeleteFunc(slices.Clone(of), func(c access.Capability) bool { return slices.Contains(others, c) })
}

// listed puts capabilities in a sentence. The words of one may hold commas themselves.
func listed(of []access.Capability) string { return joined(of, capabilityWords, "; ", "; and ") }

// kept puts into a sentence what a program will not do; it is empty where that is nothing.
func kept(of []access.Capability) string { return joined(of, narrowWords, ", ", ", nor ") }

func joined(of []access.Capability, words map[access.Capability]string, between, last string) string {
	var parts []string
	for _, c := range of {
		parts = append(parts, words[c])
	}
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], between) + last + parts[len(parts)-1]
}
