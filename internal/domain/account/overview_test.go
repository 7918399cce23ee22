package account_test

import (
	"testing"

	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Overview counts the team's connected accounts and lists the accounts that need attention.
func TestConnectionState(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d *db.DB) {
		h := newEnv(t, d, &revokingNetwork{})
		a, b, disconnected := h.connect(t, "harbour"), h.connect(t, "pier"), h.connect(t, "gone")
		must.Get(h.service.Disconnect(t.Context(), h.owner, h.team, disconnected.ID))(t)
		checkOverview := func(team int64, accounts int64, ailing ...int64) {
			t.Helper()
			got, err := h.service.Overview(t.Context(), team, 1)
			if err != nil || got.Accounts != accounts || len(got.NeedAttention) != len(ailing) {
				t.Fatalf("%+v (%v)", got, err)
			}
			for i, one := range got.NeedAttention {
				if one.ID != ailing[i] || one.Connection != account.Lost {
					t.Errorf("%+v", one)
				}
			}
		}
		checkOverview(h.team, 2)
		for _, lost := range []account.Account{b, a} {
			must.NoError(t, h.service.MarkLost(t.Context(), lost.ID, account.AnyGrant))
		}
		checkOverview(h.team, 2, a.ID)
		checkOverview(h.team+1, 0)
	})
}
