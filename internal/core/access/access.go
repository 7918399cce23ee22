// Package access defines permissions: capabilities, the levels of API keys and the roles of team members.
package access

import (
	"slices"
	"strings"
)

// Capability is a kind of action that a caller can be allowed to perform (spec, Authentication, access levels).
type Capability string

// The capabilities.
const (
	Read    Capability = "read"
	Write   Capability = "write"
	Publish Capability = "publish"
	Spend   Capability = "spend"
)

// Capabilities returns all capabilities, in the order in which responses list them.
func Capabilities() []Capability { return []Capability{Read, Write, Publish, Spend} }

// Level is the access level of an API key. Each level includes the levels before it.
type Level string

// The levels of API keys.
const (
	ReadOnly Level = "read_only"
	Drafts   Level = "drafts"
	Full     Level = "full"
)

var capabilitiesByLevel = map[Level][]Capability{
	ReadOnly: {Read},
	Drafts:   {Read, Write},
	Full:     {Read, Write, Publish, Spend},
}

// Levels returns all levels, narrowest first.
func Levels() []Level { return []Level{ReadOnly, Drafts, Full} }

// LevelIncluding returns the narrowest level that includes all granted capabilities.
func LevelIncluding(granted []Capability) Level {
	for _, l := range Levels() {
		if !slices.ContainsFunc(granted, func(c Capability) bool { return !slices.Contains(capabilitiesByLevel[l], c) }) {
			return l
		}
	}
	return Full
}

// LevelWithin returns the widest level whose capabilities are all granted. It returns ReadOnly if there is none.
func LevelWithin(granted []Capability) Level {
	out := ReadOnly
	for _, l := range Levels() {
		if !slices.ContainsFunc(capabilitiesByLevel[l], func(c Capability) bool { return !slices.Contains(granted, c) }) {
			out = l
		}
	}
	return out
}

// IsValid reports whether l is a defined level.
func (l Level) IsValid() bool { return capabilitiesByLevel[l] != nil }

// Role is a person's role in a team.
type Role string

// The roles.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Editor Role = "editor"
	Viewer Role = "viewer"
	Client Role = "client"
)

var capabilitiesByRole = map[Role][]Capability{
	Owner:  {Read, Write, Publish, Spend},
	Admin:  {Read, Write, Publish, Spend},
	Editor: {Read, Write, Publish},
	Viewer: {Read},
	Client: {Read},
}

// Roles returns all roles, widest first.
func Roles() []Role { return []Role{Owner, Admin, Editor, Viewer, Client} }

// IsValid reports whether r is a defined role.
func (r Role) IsValid() bool { return capabilitiesByRole[r] != nil }

// CanSeeBalance reports whether the role can see the team's credit balance.
func (r Role) CanSeeBalance() bool { return r == Owner || r == Admin }

// CanPublish reports whether the role can publish.
func (r Role) CanPublish() bool { return slices.Contains(capabilitiesByRole[r], Publish) }

// RoleCapabilities returns the capabilities that a role has in the app.
func RoleCapabilities(r Role) []Capability { return slices.Clone(capabilitiesByRole[r]) }

// EffectiveCapabilities returns the capabilities that both a key's level and the role of the key's person allow. The
// result is never nil.
func EffectiveCapabilities(l Level, r Role) []Capability {
	return WithinRole(capabilitiesByLevel[l], r)
}

// WithinRole returns the granted capabilities that the role also has. The result is never nil.
func WithinRole(granted []Capability, r Role) []Capability {
	out := []Capability{}
	for _, c := range Capabilities() {
		if slices.Contains(granted, c) && slices.Contains(capabilitiesByRole[r], c) {
			out = append(out, c)
		}
	}
	return out
}

// JoinCapabilities returns capabilities as a comma-separated string.
func JoinCapabilities(granted []Capability) string {
	out := make([]string, len(granted))
	for i, c := range granted {
		out[i] = string(c)
	}
	return strings.Join(out, ",")
}

// SplitCapabilities parses the result of JoinCapabilities.
func SplitCapabilities(text string) []Capability {
	if text == "" {
		return nil
	}
	var out []Capability
	for part := range strings.SplitSeq(text, ",") {
		out = append(out, Capability(part))
	}
	return out
}
