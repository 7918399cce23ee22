package team_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Connect rejects capabilities beyond the person's role, people who are not members, and teams without API keys.
func TestConnectRejected(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		stranger := must.Get(w.AddPerson(ctx, "Sam", "sam@example.com", "correct horse quartz"))(t)
		client := w.addMember(t, "cli@example.com", access.Client)
		valid := team.NewConnection{
			TeamID: w.team.ID, PersonID: s.editor, Client: "Claude", Capabilities: []access.Capability{access.Read},
		}
		for name, c := range map[string]struct {
			change func(*team.NewConnection)
			code   apierr.Code
		}{
			"no name": {func(n *team.NewConnection) { n.Client = " " }, apierr.ValidationFailed},
			"a long name": {func(n *team.NewConnection) {
				n.Client = strings.Repeat("x", 201)
			}, apierr.ValidationFailed},
			"a name with a line break": {func(n *team.NewConnection) { n.Client = "a\nb" }, apierr.ValidationFailed},
			"no capabilities":          {func(n *team.NewConnection) { n.Capabilities = nil }, apierr.ValidationFailed},
			"an unknown capability": {func(n *team.NewConnection) {
				n.Capabilities = []access.Capability{"admin"}
			}, apierr.ValidationFailed},
			"capabilities beyond the role": {func(n *team.NewConnection) {
				n.Capabilities = []access.Capability{access.Read, access.Spend}
			}, apierr.ValidationFailed},
			"a client":     {func(n *team.NewConnection) { n.PersonID = client }, apierr.ValidationFailed},
			"a stranger":   {func(n *team.NewConnection) { n.PersonID = stranger.ID }, apierr.NotFound},
			"no such team": {func(n *team.NewConnection) { n.TeamID = 99 }, apierr.NotFound},
		} {
			n := valid
			c.change(&n)
			if _, err := w.connect(ctx, n); codeOf(err) != c.code {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, c := range map[string]struct {
			change, back func() error
			code         apierr.Code
		}{
			"the suspended person": {func() error {
				return w.SetSuspended(ctx, s.editor, true)
			}, func() error { return w.SetSuspended(ctx, s.editor, false) }, apierr.NotFound},
			"a closed team": {func() error {
				return w.Close(ctx, w.team.ID)
			}, func() error { return w.Reopen(ctx, w.team.ID) }, apierr.NotFound},
			"the free plan": {func() error {
				return w.SetPlan(ctx, w.team.ID, "free", time.Time{})
			}, func() error { return w.SetPlan(ctx, w.team.ID, "team", time.Time{}) }, apierr.PlanLapsed},
		} {
			must.NoError(t, c.change())
			if _, err := w.connect(ctx, valid); codeOf(err) != c.code {
				t.Errorf("%s: %v", name, err)
			}
			must.NoError(t, c.back())
		}
		if _, err := w.connect(ctx, valid); err != nil {
			t.Error(err)
		}
	})
}

// People see and end their own connections. The owner and admins see and end all connections. Only the owner limits
// them. Operations on keys do not affect connections, and vice versa.
func TestConnectionActions(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		viewer := w.addMember(t, "vie@example.com", access.Viewer)
		_, editors := w.connectWithToken(t, s.editor, access.Read, access.Write)
		_, viewers := w.connectWithToken(t, viewer, access.Read)
		key, _ := w.addKey(t, access.Full, time.Time{})
		admin := func(person int64) team.Admin { return w.Admin(person, w.team.ID) }
		for name, c := range map[string]struct {
			err  error
			code apierr.Code
		}{
			"a viewer ends an editor's":              {admin(viewer).EndConnection(ctx, editors), apierr.NotFound},
			"an editor ends a viewer's":              {admin(s.editor).EndConnection(ctx, viewers), apierr.NotFound},
			"an admin ends a key as a connection":    {admin(s.admin).EndConnection(ctx, key.ID), apierr.NotFound},
			"an owner revokes a connection as a key": {admin(s.owner).RevokeKey(ctx, editors), apierr.NotFound},
			"an owner changes a connection as a key": {
				admin(s.owner).ChangeKey(ctx, editors, access.Full, 1), apierr.NotFound,
			},
			"an admin limits a connection":          {admin(s.admin).LimitConnection(ctx, editors, 5), apierr.NotFound},
			"an owner limits a key as a connection": {admin(s.owner).LimitConnection(ctx, key.ID, 5), apierr.NotFound},
			"an owner sets an invalid limit": {
				admin(s.owner).LimitConnection(ctx, editors, -2), apierr.ValidationFailed,
			},
			"an owner limits a connection":              {admin(s.owner).LimitConnection(ctx, editors, 5), ""},
			"the operator sets a level of a connection": {w.SetKeyLevel(ctx, editors, access.Full), apierr.Internal},
			"a viewer ends their own":                   {admin(viewer).EndConnection(ctx, viewers), ""},
			"an admin ends an ended connection":         {admin(s.admin).EndConnection(ctx, viewers), apierr.ValidationFailed},
		} {
			switch {
			case name == "the operator sets a level of a connection" && c.err != nil:
			case codeOf(c.err) != c.code:
				t.Errorf("%s: %v", name, c.err)
			}
		}
		list, err := w.ListConnections(ctx, w.team.ID, s.editor, 0, 10)
		if err != nil || len(list) != 1 || list[0].ID != editors || list[0].DailyCredits != 5 ||
			list[0].Host != "claude.example" || len(list[0].Effective()) != 2 {
			t.Fatalf("%+v (%v)", list, err)
		}
		all, err := w.ListConnections(ctx, w.team.ID, 0, 0, 10)
		if err != nil || len(all) != 2 || all[0].ID < all[1].ID {
			t.Errorf("%+v (%v)", all, err)
		}
		own, err := w.OwnConnections(ctx, s.editor, 10)
		if err != nil || len(own) != 1 || own[0].TeamName != "Harbour" {
			t.Errorf("%+v (%v)", own, err)
		}
		if ended, err := w.OwnConnections(ctx, viewer, 10); err != nil || len(ended) != 0 {
			t.Errorf("%+v (%v)", ended, err)
		}
		if keys, err := w.ListKeys(ctx, w.team.ID, 0, 10); err != nil || len(keys) != 1 || keys[0].ID != key.ID {
			t.Errorf("%+v (%v)", keys, err)
		}
		if _, err := w.ListedKey(ctx, w.team.ID, editors); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("ListedKey of a connection: %v", err)
		}
		for person, sees := range map[int64]bool{s.owner: true, s.admin: true, s.editor: true, viewer: false} {
			if home, err := w.FindConnectionTeam(ctx, person, editors,
				[]int64{w.team.ID}); (err == nil && home == w.team.ID) != sees {
				t.Errorf("person %d: %d (%v)", person, home, err)
			}
		}
	})
}

// Changes of connections are recorded once, with separate event kinds.
func TestConnectionEvents(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		_, first := w.connectWithToken(t, s.editor, access.Read)
		_, second := w.connectWithToken(t, s.editor, access.Read)
		must.NoError(t, w.Admin(s.owner, w.team.ID).LimitConnection(ctx, first, 7))
		for range 2 { // The second call does nothing.
			must.NoError(t, w.db.InTx(ctx, "test.disconnect", func(ctx context.Context, tx *db.Tx) error {
				return w.Disconnect(ctx, tx, second, "revoked")
			}))
		}
		must.NoError(t, w.RevokeKey(ctx, first))
		events := must.Get(auditlog.List(ctx, w.db, w.team.ID, auditlog.Page{Limit: 5}))(t)
		var kinds []string
		for _, e := range events {
			kinds = append(kinds, e.Kind)
		}
		if diff := cmp.Diff(map[string]any{"reason": "revoked"}, events[1].Detail); diff != "" {
			t.Error(diff)
		}
		want := []string{
			"assistant.revoked", "assistant.disconnected", "assistant.limit_changed", "assistant.connected",
			"assistant.connected",
		}
		if diff := cmp.Diff(want, kinds); diff != "" {
			t.Error(diff)
		}
	})
}
