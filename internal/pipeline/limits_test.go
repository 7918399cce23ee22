package pipeline_test

import (
	"strings"
	"testing"

	"pressroom/internal/access"
	"pressroom/internal/fault"
	"pressroom/internal/pipeline"
)

// Each gate is told by its code, to keys and connections in their own words, and of several closed ones the first of the
// contract's table is told.
func TestGates(t *testing.T) {
	t.Parallel()
	var all access.Gates
	for i, closed := range []struct {
		gate func(*access.Gates)
		code fault.Code
	}{
		{func(g *access.Gates) { g.NotRole = true }, fault.RoleLost},
		{func(g *access.Gates) { g.NotOwner = true }, fault.OwnershipLost},
		{func(g *access.Gates) { g.NotMember = true }, fault.MembershipLost},
		{func(g *access.Gates) { g.OwnerHeld = true }, fault.AccountNotApproved},
		{func(g *access.Gates) { g.TeamClosed = true }, fault.TeamClosed},
		{func(g *access.Gates) { g.Paused = true }, fault.ConnectionSuspended},
		{func(g *access.Gates) { g.PlanLapsed = true }, fault.PlanLapsed},
		{func(g *access.Gates) { g.TeamOff = true }, fault.TeamSwitchedOff},
		{func(g *access.Gates) { g.APIOff = true }, fault.RestDisabled},
	} {
		closed.gate(&all)
		for _, assistant := range []bool{false, true} {
			err := pipeline.Gates(&access.Actor{KeyID: 1, Assistant: assistant, Gates: all})
			if !fault.Is(err, closed.code) {
				t.Errorf("with %d gates closed: %v, want %s", i+1, err, closed.code)
			}
			if text := fault.Of(err).Detail; assistant && closed.code != fault.OwnershipLost && strings.Contains(strings.ToLower(text), "key") {
				t.Errorf("an assistant is told of a key: %s", text)
			}
		}
	}
	if err := pipeline.Gates(&access.Actor{KeyID: 1, Gates: access.Gates{PausedKinds: []access.Capability{access.Spend}}}); err != nil {
		t.Errorf("a paused kind of action stands in the way of all: %v", err)
	}
}
