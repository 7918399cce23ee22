package team_test

import (
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

// staff has the person IDs of a team's owner, an admin and an editor.
type staff struct{ owner, admin, editor int64 }

func (w env) addStaff(t *testing.T) staff {
	t.Helper()
	members := must.Get(w.Members(t.Context(), w.team.ID))(t)
	return staff{
		members[0].PersonID, w.addMember(t, "adm@example.com", access.Admin),
		w.addMember(t, "edi@example.com", access.Editor),
	}
}

func (w env) addMember(t *testing.T, email string, role access.Role) int64 {
	t.Helper()
	p := must.Get(w.AddPerson(t.Context(), email, email, "correct horse quartz"))(t)
	must.NoError(t, w.SetMember(t.Context(), w.team.ID, p.ID, role))
	return p.ID
}

// Actions without permission return the same not_found as for people outside the team, and change nothing.
func TestAdminActionsByOthers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		key, _ := w.addKey(t, access.Full, time.Time{})
		stranger := must.Get(w.AddPerson(ctx, "Sam", "sam@example.com", "correct horse quartz"))(t)
		hundred := int64(100)
		for name, c := range map[string]struct {
			admins bool // whether admins may
			try    func(team.Admin) error
		}{
			"access": {false, func(h team.Admin) error { return h.SetAccess(ctx, false) }},
			"new key": {false, func(h team.Admin) error {
				_, _, err := h.AddKey(ctx, team.NewKey{Name: "k", Level: access.Full}, "once")
				return err
			}},
			"change key":         {false, func(h team.Admin) error { return h.ChangeKey(ctx, key.ID, access.ReadOnly, 5) }},
			"rename key":         {false, func(h team.Admin) error { return h.RenameKey(ctx, key.ID, "Robot") }},
			"revoke key":         {false, func(h team.Admin) error { return h.RevokeKey(ctx, key.ID) }},
			"limit":              {false, func(h team.Admin) error { return h.SetDailyCredits(ctx, &hundred) }},
			"transfer ownership": {false, func(h team.Admin) error { return h.TransferOwnership(ctx, s.editor) }},
			"profile": {true, func(h team.Admin) error {
				return h.SetProfile(ctx, team.Profile{Name: "N", Timezone: "Asia/Tokyo", Language: "ja"})
			}},
			"role": {true, func(h team.Admin) error { return h.SetRole(ctx, s.editor, access.Viewer) }},
		} {
			for who, person := range map[string]int64{
				"an editor": s.editor, "a stranger": stranger.ID, "nobody": 0, "an admin": s.admin,
			} {
				if c.admins && who == "an admin" {
					continue
				}
				if err := c.try(w.Admin(person, w.team.ID)); !apierr.Is(err, apierr.NotFound) {
					t.Errorf("%s by %s: %v", name, who, err)
				}
			}
		}
		must.NoError(t, w.SetSuspended(ctx, s.owner, true))
		if err := w.Admin(s.owner, w.team.ID).SetAccess(ctx, false); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("SetAccess by a suspended owner: %v", err)
		}
		if b, err := w.KeyGates(ctx, w.team.ID); err != nil || b.Off || !b.OwnerSuspended {
			t.Errorf("%+v (%v)", b, err)
		}
	})
}

// A form that is submitted twice creates one key. The key works and is listed with its creator and last use.
func TestAdminKeys(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		h, limit := w.Admin(s.owner, w.team.ID), int64(25)
		n := team.NewKey{
			Name: "calendar", Level: access.Drafts, DailyCredits: &limit, Expires: w.clock.Now().Add(time.Hour),
		}
		k, value, err := h.AddKey(ctx, n, "form 1")
		must.NoError(t, err)
		if _, _, err := h.AddKey(ctx, n, "form 1"); reason(err) != apierr.WrongState {
			t.Errorf("second submission: %v", err)
		}
		must.Get(w.Authenticate(ctx, value))(t)
		storedUse := func() int64 {
			t.Helper()
			var at int64
			must.NoError(t, w.db.QueryRow(ctx, `SELECT used_at FROM api_keys WHERE id = ?`, k.ID).Scan(&at))
			return at
		}
		if listed, err := w.ListedKey(ctx, w.team.ID, k.ID); err != nil || !listed.UsedAt.Equal(w.clock.Now()) ||
			storedUse() != 0 {
			t.Errorf("the use is not listed or was stored too early: %+v (%v)", listed, err)
		}
		must.NoError(t, w.FlushUses(ctx))
		if storedUse() != db.Micros(w.clock.Now()) {
			t.Errorf("stored use is %d", storedUse())
		}
		must.NoError(t, w.Pause(ctx, team.Pause{Scope: team.ForKey, Target: k.ID, Action: access.PauseEverything}))
		list, err := w.ListKeys(ctx, w.team.ID, 0, 10)
		want := []team.ListedKey{
			{Key: k, PersonID: s.owner, MadeBy: "Ada", Role: access.Owner, TeamName: "Harbour", UsedAt: w.clock.Now(),
				Paused: []access.PauseAction{access.PauseEverything}},
		}
		if diff := cmp.Diff(want, list); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		if more, err := w.ListKeys(ctx, w.team.ID, k.ID, 10); err != nil || len(more) != 0 {
			t.Errorf("page after the oldest key: %v (%v)", more, err)
		}
	})
}

// The owner's changes to a key apply immediately. A revoked key cannot be changed.
func TestAdminChangeKey(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, h := t.Context(), w.Admin(w.addStaff(t).owner, w.team.ID)
		k, value := w.addKey(t, access.Drafts, time.Time{})
		must.NoError(t, h.ChangeKey(ctx, k.ID, access.Full, 7))
		if a, err := w.Authenticate(ctx, value); err != nil || a.Level != access.Full || a.Daily.KeyCredits != 7 {
			t.Errorf("%+v (%v)", a, err)
		}
		must.NoError(t, h.RenameKey(ctx, k.ID, "Robot"))
		must.NoError(t, h.RenameKey(ctx, k.ID, "Robot"))
		if err := h.RenameKey(ctx, k.ID, ""); !apierr.Is(err, apierr.ValidationFailed) {
			t.Errorf("RenameKey to no name: %v", err)
		}
		must.NoError(t, h.RevokeKey(ctx, k.ID))
		if err := h.RenameKey(ctx, k.ID, "Late"); reason(err) != apierr.WrongState {
			t.Errorf("RenameKey of a revoked key: %v", err)
		}
		if _, err := w.Authenticate(ctx, value); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("revoked key: %v", err)
		}
		if err := h.RevokeKey(ctx, k.ID); reason(err) != apierr.WrongState {
			t.Errorf("second RevokeKey: %v", err)
		}
		if err := h.ChangeKey(ctx, k.ID, access.Full, 7); reason(err) != apierr.WrongState {
			t.Errorf("ChangeKey of a revoked key: %v", err)
		}
	})
}

func reason(err error) any { return apierr.FromError(err).Context["reason"] }

func argument(err error) any { return apierr.FromError(err).Context["argument"] }

func TestInvalidKeysRejected(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		h := w.Admin(s.owner, w.team.ID)
		negative := int64(-2)
		for field, n := range map[string]team.NewKey{
			"name":          {Name: "two\nlines", Level: access.Full},
			"level":         {Name: "k", Level: "all"},
			"daily_credits": {Name: "k", Level: access.Full, DailyCredits: &negative},
			"expires":       {Name: "k", Level: access.Full, Expires: w.clock.Now()},
		} {
			if _, _, err := h.AddKey(ctx, n, "once "+field); argument(err) != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		if _, _, err := h.AddKey(ctx, team.NewKey{Name: "k", Level: access.Full}, ""); argument(err) != "once" {
			t.Errorf("without a form ID: %v", err)
		}
		other := must.Get(w.AddTeam(ctx, team.Team{Name: "Other", Timezone: "UTC", Language: "en", Plan: "free"}, s.owner))(t)
		if _, _, err := w.Admin(s.owner, other.ID).AddKey(ctx, team.NewKey{Name: "k", Level: access.Full},
			"once"); !apierr.Is(err, apierr.PlanLapsed) {
			t.Errorf("plan without keys: %v", err)
		}
		k, _ := w.addKey(t, access.Full, time.Time{})
		for name, err := range map[string]error{
			"change":  w.Admin(s.owner, other.ID).ChangeKey(ctx, k.ID, access.ReadOnly, 0),
			"rename":  w.Admin(s.owner, other.ID).RenameKey(ctx, k.ID, "Theirs"),
			"revoke":  w.Admin(s.owner, other.ID).RevokeKey(ctx, k.ID),
			"missing": h.RevokeKey(ctx, 999_999),
		} {
			if !apierr.Is(err, apierr.NotFound) {
				t.Errorf("%s of another team's key: %v", name, err)
			}
		}
		if _, err := w.ListedKey(ctx, other.ID, k.ID); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("another team's key: %v", err)
		}
	})
}

// The owner's limit applies in addition to the limit of the plan or operator. It cannot exceed that limit when it is
// set.
func TestOwnerDailyLimit(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx := t.Context()
		h := w.Admin(w.addStaff(t).owner, w.team.ID)
		_, value := w.addKey(t, access.Full, time.Time{})
		checkLimit := func(want int64) {
			t.Helper()
			a, err := w.Authenticate(ctx, value)
			if err != nil || a.Daily.TeamCredits != want {
				t.Errorf("%+v, want %d (%v)", a, want, err)
			}
			d, err := w.DailyLimit(ctx, w.team.ID)
			if err != nil || d.Effective() != want {
				t.Errorf("%+v, want %d (%v)", d, want, err)
			}
		}
		setLimit := func(n int64) error { return h.SetDailyCredits(ctx, &n) }
		checkLimit(250) // the plan's limit
		must.NoError(t, setLimit(40))
		checkLimit(40)
		for _, n := range []int64{-1, 251} {
			if err := setLimit(n); argument(err) != "daily_credits" {
				t.Errorf("%d: %v", n, err)
			}
		}
		ten, endless := int64(10), int64(-1)
		for _, operators := range []struct {
			credits *int64
			want    int64
		}{{&ten, 10}, {&endless, 40}, {nil, 40}} {
			must.NoError(t, w.SetDailyCredits(ctx, w.team.ID, operators.credits))
			checkLimit(operators.want)
		}
		must.NoError(t, h.SetDailyCredits(ctx, nil))
		checkLimit(250)
	})
}

func TestProfile(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		h := w.Admin(s.admin, w.team.ID)
		for field, p := range map[string]team.Profile{
			"name":             {Name: " ", Timezone: "UTC", Language: "en"},
			"timezone":         {Name: "Harbour", Timezone: "Berlin", Language: "en"},
			"content_language": {Name: "Harbour", Timezone: "UTC", Language: "English!"},
		} {
			if err := h.SetProfile(ctx, p); argument(err) != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		must.NoError(t, h.SetProfile(ctx,
			team.Profile{Name: " Hafen ", Timezone: "Asia/Tokyo", Language: "de-at", KeepOriginals: true}))
		a, err := w.InApp(ctx, s.admin, w.team.ID)
		if err != nil || a.TeamName != "Hafen" || a.Zone.String() != "Asia/Tokyo" || a.Language != "de-AT" {
			t.Errorf("%+v (%v)", a, err)
		}
		if p, err := w.Profile(ctx, w.team.ID); err != nil ||
			p != (team.Profile{Name: "Hafen", Timezone: "Asia/Tokyo", Language: "de-AT", KeepOriginals: true}) {
			t.Errorf("%+v (%v)", p, err)
		}
		events, err := auditlog.List(ctx, w.db, w.team.ID, auditlog.Page{Kind: "team.changed", Limit: 5})
		if err != nil || len(events) != 1 || events[0].Detail["keep_originals"] != true ||
			events[0].Person != "adm@example.com" || events[0].Detail["timezone"] != "Asia/Tokyo" ||
			events[0].Detail["renamed"] != true {
			t.Errorf("%+v (%v)", events, err)
		}
	})
}

// The only operator who can sign in cannot be removed from their only team.
func TestLastOperatorCannotBeRemoved(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		owner := w.Admin(s.owner, w.team.ID)
		setOperator := func(person int64, on bool) {
			t.Helper()
			p := must.Get(w.Person(ctx, person))(t)
			must.Get(w.SetOperator(ctx, p.Email, on))(t)
		}
		setOperator(s.editor, true)
		if err := owner.Remove(ctx, s.editor); reason(err) != apierr.WrongState {
			t.Errorf("removing the only operator: %v", err)
		}
		setOperator(s.admin, true)
		if err := owner.Remove(ctx, s.editor); err != nil {
			t.Errorf("removing one of two operators: %v", err)
		}
	})
}

func TestAdminMembers(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx, s := t.Context(), w.addStaff(t)
		owner, admin := w.Admin(s.owner, w.team.ID), w.Admin(s.admin, w.team.ID)
		for name, err := range map[string]error{
			"the owner's role":       admin.SetRole(ctx, s.owner, access.Viewer),
			"the owner":              admin.Remove(ctx, s.owner),
			"your own role":          admin.SetRole(ctx, s.admin, access.Viewer),
			"themselves":             owner.Remove(ctx, s.owner),
			"the team to themselves": owner.TransferOwnership(ctx, s.owner),
		} {
			if reason(err) != apierr.WrongState {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := admin.SetRole(ctx, s.editor, access.Owner); argument(err) != "role" {
			t.Errorf("SetRole to owner: %v", err)
		}
		must.NoError(t, admin.SetRole(ctx, s.editor, access.Client))
		if m, err := w.Member(ctx, w.team.ID, s.editor); err != nil || m.Role != access.Client {
			t.Errorf("%+v (%v)", m, err)
		}
		_, value := w.addKey(t, access.Full, time.Time{})
		must.NoError(t, owner.TransferOwnership(ctx, s.admin))
		if a, err := w.Authenticate(ctx, value); err != nil || !a.Gates.OwnershipLost {
			t.Errorf("key of the former owner: %+v (%v)", a, err)
		}
		if err := owner.Remove(ctx, s.editor); err != nil { // The former owner is now an admin.
			t.Fatal(err)
		}
		if _, err := w.Member(ctx, w.team.ID, s.editor); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("removed member: %v", err)
		}
		if err := owner.Remove(ctx, s.editor); !apierr.Is(err, apierr.NotFound) {
			t.Errorf("second Remove: %v", err)
		}
		page, err := w.MemberPage(ctx, w.team.ID, s.owner, 10)
		if err != nil || len(page) != 1 || page[0].PersonID != s.admin || page[0].Role != access.Owner {
			t.Errorf("%+v (%v)", page, err)
		}
		if seats, err := w.Seats(ctx, w.team.ID); err != nil || seats != (team.Seats{People: 2}) {
			t.Errorf("%+v (%v)", seats, err)
		}
	})
}
