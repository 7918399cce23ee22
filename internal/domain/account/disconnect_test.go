package account_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// revokingNetwork is a network that can revoke grants.
type revokingNetwork struct {
	handleNetwork

	revoked []string // refresh tokens
	fail    error
}

func (r *revokingNetwork) Revoke(_ context.Context, g network.Grant) error {
	r.revoked = append(r.revoked, g.RefreshToken)
	return r.fail
}

// connect connects an account to the team.
func (h *env) connect(t *testing.T, name string) account.Account {
	t.Helper()
	a := must.Get(h.service.Connect(t.Context(), h.team, "bluesky", network.Credentials{Server: "https://example.test",
		Identifier: name}))(t)
	return a
}

// Disconnect deletes the grant, revokes it at the network, notifies observers and frees the plan's slot. References to
// the account stay valid.
func TestDisconnect(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &revokingNetwork{}
		h := newEnv(t, d, n)
		a, other := h.connect(t, "harbour"), h.connect(t, "pier")
		revoked, err := h.service.Disconnect(t.Context(), h.owner, h.team, a.ID)
		if err != nil || revoked != account.RevocationRevoked || len(n.revoked) != 1 || n.revoked[0] != "refresh" ||
			!slices.Equal(h.observer.disconnected, []int64{a.ID}) {
			t.Fatalf("%s %v %v (%v)", revoked, n.revoked, h.observer.disconnected, err)
		}
		var sealed []byte
		var rows int
		if err := d.QueryRow(t.Context(), `SELECT sealed_grant FROM social_accounts WHERE id = ?`,
			a.ID).Scan(&sealed); err != nil || len(sealed) > 0 {
			t.Errorf("%d bytes of the grant are still stored (%v)", len(sealed), err)
		}
		if g, err := h.service.Grant(t.Context(), a.ID); err != nil || !g.Lost || g.AccessToken != "" {
			t.Errorf("%+v (%v)", g, err)
		}
		if found, err := h.service.ByID(t.Context(), h.db, h.team, []int64{a.ID, other.ID}); err != nil || len(found) != 1 {
			t.Errorf("%v (%v)", found, err)
		}
		if _, err := h.service.FindTeam(t.Context(), a.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("FindTeam of a disconnected account: %v", err)
		}
		if err := h.service.CheckKeys(t.Context()); err != nil {
			t.Error(err)
		}
		if err := d.QueryRow(t.Context(), `SELECT COUNT(*) FROM events
			WHERE kind = 'social_account.disconnected'`).Scan(&rows); err != nil || rows != 1 {
			t.Errorf("%d events (%v)", rows, err)
		}
		if _, err := h.service.Disconnect(t.Context(), h.owner, h.team, a.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("second Disconnect: %v", err)
		}
		// Reconnecting restores the same account.
		if again := h.connect(t, "harbour"); again.ID != a.ID || !again.Active() {
			t.Errorf("%+v", again)
		}
		if g, err := h.service.Grant(t.Context(), a.ID); err != nil || g.Lost || g.AccessToken != "access" {
			t.Errorf("%+v (%v)", g, err)
		}
	})
}

// Only owners and admins of the account's team can disconnect it.
func TestDisconnectPermissions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		n := &revokingNetwork{fail: errors.New("out of reach")}
		h := newEnv(t, d, n)
		a := h.connect(t, "harbour")
		teams := team.New(d, nil, plan.Default())
		people := map[access.Role]int64{}
		for _, role := range []access.Role{access.Admin, access.Editor, access.Viewer} {
			p := must.Get(teams.AddPerson(t.Context(), string(role), string(role)+"@example.com", ""))(t)
			must.NoError(t, teams.SetMember(t.Context(), h.team, p.ID, role))
			people[role] = p.ID
		}
		stranger := must.Get(teams.AddPerson(t.Context(), "Eve", "eve@example.com", ""))(t)
		theirs := must.Get(teams.AddTeam(t.Context(), team.Team{Name: "Elsewhere", Timezone: "UTC", Language: "en",
			Plan: "team"}, stranger.ID))(t)
		for _, c := range []struct{ person, team int64 }{{people[access.Editor], h.team},
			{people[access.Viewer], h.team}, {stranger.ID, h.team}, {stranger.ID, theirs.ID}} {
			if _, err := h.service.Disconnect(t.Context(), c.person, c.team, a.ID); !apierr.Is(err, apierr.NotFound) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if len(n.revoked) > 0 {
			t.Error("the network was called")
		}
		// The account is disconnected even if the revocation fails.
		if revoked, err := h.service.Disconnect(t.Context(), people[access.Admin], h.team, a.ID); err != nil ||
			revoked != account.RevocationFailed {
			t.Errorf("%s (%v)", revoked, err)
		}
		if g, err := h.service.Grant(t.Context(), a.ID); err != nil || !g.Lost {
			t.Errorf("%+v (%v)", g, err)
		}
	})
}
