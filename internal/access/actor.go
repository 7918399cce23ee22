package access

import (
	"slices"
	"time"
)

// Actor is who a call is made for: a person, in one team, through one API key.
type Actor struct {
	TeamID       int64
	TeamName     string
	PersonID     int64
	PersonName   string
	KeyID        int64
	KeyName      string
	Role         Role
	Level        Level
	Capabilities []Capability
	Zone         *time.Location // the team's
	Language     string         // the team's content language, BCP 47
	Plan         string         // the id of the team's plan
}

// Can tells whether the actor has a capability.
func (a *Actor) Can(c Capability) bool { return slices.Contains(a.Capabilities, c) }
