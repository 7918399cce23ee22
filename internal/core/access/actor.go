package access

import (
	"slices"
	"time"
)

// Actor is who a call is made for: a person, in one team, through one API key or one assistant's connection or, where
// KeyID is 0, in the app. A connection is a key in all but where it says otherwise.
type Actor struct {
	TeamID       int64
	TeamName     string
	PersonID     int64
	PersonName   string
	KeyID        int64
	KeyName      string       // of a connection what its program calls itself, which nobody has checked
	Assistant    bool         // the key is an assistant's connection
	Granted      []Capability // to a connection
	Role         Role
	Level        Level          // of a connection the narrowest that holds all that was granted
	Capabilities []Capability   // what Allowed gives and nothing pauses
	Zone         *time.Location // the team's
	Language     string         // the team's content language, BCP 47
	Plan         string         // the id of the plan that holds for the team now
	Gates        Gates
	Daily        Daily
}

// Daily are the limits of the team's day. -1 is unlimited.
type Daily struct {
	FreeCalls   int64 // of the team
	KeyCredits  int64 // of this key
	TeamCredits int64 // of the team's keys and assistants together
}

// Gates are what stands in the way of every call of a key, however much it may do by itself.
type Gates struct {
	APIOff      bool // the operator has switched the API off
	TeamOff     bool // the owner has switched the team's access off
	PlanLapsed  bool // the plan has no keys
	Paused      bool // the key, the team or the service is paused
	TeamClosed  bool
	OwnerHeld   bool         // the owner's account is on hold
	NotMember   bool         // the key's person left the team
	NotOwner    bool         // the key's person does not own the team any more
	NotRole     bool         // the role of the connection's person can publish no more
	PausedKinds []Capability // kinds of action that are paused: spend, publish
	// publishing and spending are, as the service was restored or copied, until its operator resumes it
	Held bool
}

// InApp tells whether the person acts in the app: no key limits it.
func (a *Actor) InApp() bool { return a.KeyID == 0 }

// Caller is whose calls are counted and remembered together: a key, or below 0 a person in the app.
func (a *Actor) Caller() int64 {
	if a.InApp() {
		return -a.PersonID
	}
	return a.KeyID
}

// Allowed is what the person's role allows, and the key's level or what was granted where it is no person in the app.
func (a *Actor) Allowed() []Capability {
	switch {
	case a.InApp():
		return OfRole(a.Role)
	case a.Assistant:
		return Within(a.Granted, a.Role)
	}
	return Effective(a.Level, a.Role)
}

// Can tells whether the actor has a capability.
func (a *Actor) Can(c Capability) bool { return slices.Contains(a.Capabilities, c) }

// Suspended tells whether this kind of action is paused, whoever asks.
func (a *Actor) Suspended(c Capability) bool { return slices.Contains(a.Gates.PausedKinds, c) }
