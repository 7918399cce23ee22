package pipeline_test

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// Each closed gate has its own code, and the details differ for keys and connections. Of several closed gates, the
// first in the contract's table is reported.
func TestGates(t *testing.T) {
	t.Parallel()
	var all access.Gates
	for i, closed := range []struct {
		gate func(*access.Gates)
		code apierr.Code
	}{
		{func(g *access.Gates) { g.RoleLost = true }, apierr.RoleLost},
		{func(g *access.Gates) { g.OwnershipLost = true }, apierr.OwnershipLost},
		{func(g *access.Gates) { g.MembershipLost = true }, apierr.MembershipLost},
		{func(g *access.Gates) { g.OwnerSuspended = true }, apierr.OwnerSuspended},
		{func(g *access.Gates) { g.TeamClosed = true }, apierr.TeamClosed},
		{func(g *access.Gates) { g.Paused = true }, apierr.ConnectionSuspended},
		{func(g *access.Gates) { g.PlanLapsed = true }, apierr.PlanLapsed},
		{func(g *access.Gates) { g.TeamOff = true }, apierr.TeamAccessDisabled},
		{func(g *access.Gates) { g.APIOff = true }, apierr.RestDisabled},
	} {
		closed.gate(&all)
		for _, assistant := range []bool{false, true} {
			err := pipeline.CheckGates(&access.Actor{KeyID: 1, Assistant: assistant, Gates: all})
			if !apierr.Is(err, closed.code) {
				t.Errorf("with %d gates closed: %v, want %s", i+1, err, closed.code)
			}
			if text := apierr.FromError(err).Detail; assistant && closed.code != apierr.OwnershipLost &&
				strings.Contains(strings.ToLower(text), "key") {
				t.Errorf("the detail for an assistant mentions a key: %s", text)
			}
		}
	}
	if err := pipeline.CheckGates(&access.Actor{KeyID: 1,
		Gates: access.Gates{PausedKinds: []access.Capability{access.Spend}}}); err != nil {
		t.Errorf("a paused kind of action blocks every call: %v", err)
	}
}
