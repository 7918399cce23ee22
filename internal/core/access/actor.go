package access

import (
	"slices"
	"time"
)

// Actor is the caller of an operation: a person in a team who acts in the app, through an API key, or through an
// assistant's connection. Unless stated otherwise, what is said about keys also applies to connections.
type Actor struct {
	TeamID       int64
	TeamName     string
	PersonID     int64
	PersonName   string
	KeyID        int64        // 0 if the person acts in the app
	KeyName      string       // for a connection, the OAuth client's unverified name
	Assistant    bool         // the key is an assistant's connection
	Granted      []Capability // capabilities granted to the connection
	Role         Role
	Level        Level          // for a connection, the narrowest level that includes all granted capabilities
	Capabilities []Capability   // capabilities that the level and role allow and that are not paused
	Zone         *time.Location // the team's time zone
	PersonZone   *time.Location // the person's time zone if the person acts in the app, otherwise nil
	Language     string         // the team's content language as a BCP 47 tag
	Plan         string         // ID of the team's current plan
	Gates        Gates
	Daily        Daily
}

// Daily holds the daily limits. -1 means unlimited.
type Daily struct {
	FreeCalls   int64 // the team's free calls
	KeyCredits  int64 // credits that this key can spend
	TeamCredits int64 // credits that all of the team's keys and assistants together can spend
}

// Gates are conditions that block every call of a key, regardless of its permissions.
type Gates struct {
	APIOff         bool // the operator has turned off the API
	TeamOff        bool // the owner has turned off API and tool access for the team
	PlanLapsed     bool // the plan does not include keys
	Paused         bool // the key, the team or the service is paused
	TeamClosed     bool
	OwnerSuspended bool         // the owner's account is suspended
	MembershipLost bool         // the key's person has left the team
	OwnershipLost  bool         // the key's person no longer owns the team
	RoleLost       bool         // the role of the connection's person can no longer publish
	PausedKinds    []Capability // the capabilities that are paused
	// RestoreGuard means that publishing and spending are paused until the operator resumes a service that was restored
	// from a backup or copied.
	RestoreGuard bool
}

// InApp reports whether the person acts in the app, where no key limits apply.
func (a *Actor) InApp() bool { return a.KeyID == 0 }

// CallerID returns the ID that calls are counted under: the key's ID or, if the person acts in the app, the negated ID
// of the person.
func (a *Actor) CallerID() int64 {
	if a.InApp() {
		return -a.PersonID
	}
	return a.KeyID
}

// BaseCapabilities returns the capabilities that the person's role allows. They are limited by the key's level or by
// the capabilities granted to the connection. BaseCapabilities ignores pauses.
func (a *Actor) BaseCapabilities() []Capability {
	switch {
	case a.InApp():
		return RoleCapabilities(a.Role)
	case a.Assistant:
		return WithinRole(a.Granted, a.Role)
	}
	return EffectiveCapabilities(a.Level, a.Role)
}

// Can reports whether the actor has a capability.
func (a *Actor) Can(c Capability) bool { return slices.Contains(a.Capabilities, c) }

// IsPaused reports whether a kind of action is currently paused.
func (a *Actor) IsPaused(c Capability) bool { return slices.Contains(a.Gates.PausedKinds, c) }
