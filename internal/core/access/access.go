// Package access says who may do what: capabilities, the levels of API keys and the roles of people.
package access

import "slices"

// Capability is one kind of thing that a caller may do (spec, Authentication, access levels).
type Capability string

// The capabilities, in the order in which answers list them.
const (
	Read    Capability = "read"
	Write   Capability = "write"
	Publish Capability = "publish"
	Spend   Capability = "spend"
)

// Capabilities lists every capability, in the order of answers.
func Capabilities() []Capability { return []Capability{Read, Write, Publish, Spend} }

// Level is what an API key was made for; each includes the one before.
type Level string

// The levels of API keys.
const (
	ReadOnly Level = "read_only"
	Drafts   Level = "drafts"
	Full     Level = "full"
)

var byLevel = map[Level][]Capability{
	ReadOnly: {Read},
	Drafts:   {Read, Write},
	Full:     {Read, Write, Publish, Spend},
}

// Levels lists every level, the narrowest first.
func Levels() []Level { return []Level{ReadOnly, Drafts, Full} }

// Holding is the narrowest level that holds all of some capabilities.
func Holding(granted []Capability) Level {
	for _, l := range Levels() {
		if !slices.ContainsFunc(granted, func(c Capability) bool { return !slices.Contains(byLevel[l], c) }) {
			return l
		}
	}
	return Full
}

// Reached is the highest level of which everything is among some capabilities, read_only where none is: what can be
// said of them without promising too much.
func Reached(granted []Capability) Level {
	out := ReadOnly
	for _, l := range Levels() {
		if !slices.ContainsFunc(byLevel[l], func(c Capability) bool { return !slices.Contains(granted, c) }) {
			out = l
		}
	}
	return out
}

// Valid tells whether this is a level.
func (l Level) Valid() bool { return byLevel[l] != nil }

// Role is a person's part in a team.
type Role string

// The roles.
const (
	Owner  Role = "owner"
	Admin  Role = "admin"
	Editor Role = "editor"
	Viewer Role = "viewer"
	Client Role = "client"
)

var byRole = map[Role][]Capability{
	Owner:  {Read, Write, Publish, Spend},
	Admin:  {Read, Write, Publish, Spend},
	Editor: {Read, Write, Publish},
	Viewer: {Read},
	Client: {Read},
}

// Roles lists every role, the widest first.
func Roles() []Role { return []Role{Owner, Admin, Editor, Viewer, Client} }

// Valid tells whether this is a role.
func (r Role) Valid() bool { return byRole[r] != nil }

// SeesBalance tells whether the role may see what the team has left to spend.
func (r Role) SeesBalance() bool { return r == Owner || r == Admin }

// Publishes tells whether the role may publish.
func (r Role) Publishes() bool { return slices.Contains(byRole[r], Publish) }

// OfRole is what a person of this role may do in the app.
func OfRole(r Role) []Capability { return slices.Clone(byRole[r]) }

// Effective is what a key of this level may do for a person of this role: what both allow. It is never nil.
func Effective(l Level, r Role) []Capability { return Within(byLevel[l], r) }

// Within is what of the granted capabilities a person of this role has. It is never nil.
func Within(granted []Capability, r Role) []Capability {
	out := []Capability{}
	for _, c := range Capabilities() {
		if slices.Contains(granted, c) && slices.Contains(byRole[r], c) {
			out = append(out, c)
		}
	}
	return out
}
