package access

import (
	"slices"
	"time"
)

// Actor is the caller of an operation: a person in a team, who acts in the app or through an API key or an assistant's
// connection. A connection is treated as a key unless stated otherwise.
type Actor struct {
	TeamID       int64
	TeamName     string
	PersonID     int64
	PersonName   string
	KeyID        int64        // 0 in the app
	KeyName      string       // for a connection, the client's unverified name
	Assistant    bool         // the key is an assistant's connection
	Granted      []Capability // capabilities granted to the connection
	Role         Role
	Level        Level          // for a connection, the narrowest that includes everything granted
	Capabilities []Capability   // capabilities that the level and role allow and that are not paused
	Zone         *time.Location // the team's time zone
	PersonZone   *time.Location // time zone of the person in the app; nil for keys and connections
	Language     string         // the team's content language, BCP 47
	Plan         string         // ID of the plan in effect
	Gates        Gates
	Daily        Daily
}

// Daily holds the daily limits; -1 means unlimited.
type Daily struct {
	FreeCalls   int64 // free calls of the team
	KeyCredits  int64 // credits that this key may spend
	TeamCredits int64 // credits that all the team's keys and assistants may spend together
}

// Gates are conditions that block every call of a key, regardless of its permissions.
type Gates struct {
	APIOff         bool // the operator has turned the API off
	TeamOff        bool // the owner has turned the team's access off
	PlanLapsed     bool // the plan does not include keys
	Paused         bool // the key, the team or the service is paused
	TeamClosed     bool
	OwnerSuspended bool         // the owner's account is suspended
	MembershipLost bool         // the key's person left the team
	OwnershipLost  bool         // the key's person no longer owns the team
	RoleLost       bool         // the role of the connection's person can no longer publish
	PausedKinds    []Capability // Publish or Spend, if they are paused
	// RestoreGuard means that publishing and spending are paused until the operator resumes a restored or copied
	// service.
	RestoreGuard bool
}

// InApp reports whether the person acts in the app, where no key limits apply.
func (a *Actor) InApp() bool { return a.KeyID == 0 }

// CallerID returns the ID by which calls are counted: the key's ID or, for a person in the app, the negated person's
// ID.
func (a *Actor) CallerID() int64 {
	if a.InApp() {
		return -a.PersonID
	}
	return a.KeyID
}

// BaseCapabilities returns the capabilities that the person's role allows, limited by the key's level or by what was
// granted to the connection. It ignores pauses.
func (a *Actor) BaseCapabilities() []Capability {
	switch {
	case a.InApp():
		return RoleCapabilities(a.Role)
	case a.Assistant:
		return Within(a.Granted, a.Role)
	}
	return Effective(a.Level, a.Role)
}

// Can reports whether the actor has a capability.
func (a *Actor) Can(c Capability) bool { return slices.Contains(a.Capabilities, c) }

// IsPaused reports whether a kind of action is paused for everybody.
func (a *Actor) IsPaused(c Capability) bool { return slices.Contains(a.Gates.PausedKinds, c) }
