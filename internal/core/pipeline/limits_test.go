package pipeline_test

import (
	"strings"
	"testing"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/pipeline"
)

// Each gate is told by its code, to keys and connections in their own words, and of several closed ones the first of
// the contract's table is told.
func TestGates(t *testing.T) {
	t.Parallel()
	var all access.Gates
	for i, closed := range []struct {
		gate func(*access.Gates)
		code apierr.Code
	}{
		{func(g *access.Gates) { g.NotRole = true }, apierr.RoleLost},
		{func(g *access.Gates) { g.NotOwner = true }, apierr.OwnershipLost},
		{func(g *access.Gates) { g.NotMember = true }, apierr.MembershipLost},
		{func(g *access.Gates) { g.OwnerHeld = true }, apierr.AccountNotApproved},
		{func(g *access.Gates) { g.TeamClosed = true }, apierr.TeamClosed},
		{func(g *access.Gates) { g.Paused = true }, apierr.ConnectionSuspended},
		{func(g *access.Gates) { g.PlanLapsed = true }, apierr.PlanLapsed},
		{func(g *access.Gates) { g.TeamOff = true }, apierr.TeamSwitchedOff},
		{func(g *access.Gates) { g.APIOff = true }, apierr.RestDisabled},
	} {
		closed.gate(&all)
		for _, assistant := range []bool{false, true} {
			err := pipeline.Gates(&access.Actor{KeyID: 1, Assistant: assistant, Gates: all})
			if !apierr.Is(err, closed.code) {
				t.Errorf("with %d gates closed: %v, want %s", i+1, err, closed.code)
			}
			if text := apierr.Of(err).Detail; assistant && closed.code != apierr.OwnershipLost &&
				strings.Contains(strings.ToLower(text), "key") {
				t.Errorf("an assistant is told of a key: %s", text)
			}
		}
	}
	if err := pipeline.Gates(&access.Actor{KeyID: 1, Gates: access.Gates{PausedKinds: []access.Capability{access.Spend}}}); err != nil {
		t.Errorf("a paused kind of action stands in the way of all: %v", err)
	}
}
