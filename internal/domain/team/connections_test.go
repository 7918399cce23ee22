package team_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/authn"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// fakeTokens implements authn.Tokens.
type fakeTokens map[string]struct {
	connection int64
	until      time.Time
}

var errNoTokens = errors.New("the tokens cannot be read")

func (i fakeTokens) Connection(_ context.Context, _, token string) (int64, time.Time, bool, error) {
	if token == "broken" {
		return 0, time.Time{}, false, errNoTokens
	}
	t, ok := i[token]
	return t.connection, t.until, ok, nil
}

// connectWithToken connects an assistant for a person. It returns an authenticator that accepts the token "token", and
// the connection's ID.
func (w env) connectWithToken(t *testing.T, person int64, granted ...access.Capability) (authn.TokenAuthenticator, int64) {
	t.Helper()
	connection := must.Get(w.connect(t.Context(),
		team.NewConnection{
			TeamID: w.team.ID, PersonID: person, Client: "Claude", ClientID: "c1", Host: "claude.example",
			Capabilities: granted,
		}))(t)
	return w.WithTokens(fakeTokens{"token": {connection, w.clock.Now().Add(time.Hour)}}, "https://press.example/mcp"), connection
}

func (w env) connect(ctx context.Context, n team.NewConnection) (int64, error) {
	var connection int64
	err := w.db.InTx(ctx, "test.connect", func(ctx context.Context, tx *db.Tx) error {
		var err error
		connection, err = w.Connect(ctx, tx, n)
		return err
	})
	return connection, err
}

// A token has the granted capabilities that the person's role allows.
func TestAuthenticateToken(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		w.watchKeys(t)
		ctx, s := t.Context(), w.addStaff(t)
		auth, connection := w.connectWithToken(t, s.editor, access.Publish, access.Write, access.Write)
		for range 3 { // from the database, then from the cache
			a, err := auth.Authenticate(ctx, "token")
			if err != nil || a.KeyID != connection || a.KeyName != "Claude" || a.PersonID != s.editor || !a.Assistant ||
				a.Level != access.Full || a.InApp() {
				t.Fatalf("%+v (%v)", a, err)
			}
			if diff := cmp.Diff([]access.Capability{access.Write, access.Publish}, a.Capabilities); diff != "" {
				t.Error(diff)
			}
			if _, err := w.Authenticate(ctx, "token"); !apierr.Is(err, apierr.Unauthorized) {
				t.Fatalf("token without WithTokens: %v", err)
			}
		}
		_, value := w.addKey(t, access.Drafts, time.Time{})
		if a, err := auth.Authenticate(ctx, value); err != nil || a.Assistant {
			t.Errorf("key with WithTokens: %+v (%v)", a, err)
		}
		for _, wrong := range []string{"", "other", apikey.New(apikey.APIKey), "prk_"} {
			if _, err := auth.Authenticate(ctx, wrong); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
		if _, err := auth.Authenticate(ctx, "broken"); !errors.Is(err, errNoTokens) {
			t.Errorf("unreadable token: %v", err)
		}
		w.clock.Advance(time.Hour)
		if _, err := auth.Authenticate(ctx, "token"); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("expired token: %v", err)
		}
	})
}

// Repeated wrong tokens are rate limited like wrong keys.
func TestWrongTokensThrottled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		tools := w.WithTokens(fakeTokens{}, "https://press.example/mcp")
		for range 100 {
			_, err := tools.Authenticate(t.Context(), "guessed")
			if apierr.Is(err, apierr.RateLimited) {
				return
			}
		}
		t.Error("a repeated wrong token was not rate limited")
	})
}

// lifetimeCase is a change that may end a connection.
type lifetimeCase struct {
	role      access.Role // role of the connection's person
	granted   []access.Capability
	change    func(ctx context.Context, w env, person, connection int64) error
	code      apierr.Code // the expected code; empty if allowed
	remaining []access.Capability
}

// TestConnectionLifetime checks the effect of changes to the person, the role and the connection.
func TestConnectionLifetime(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]lifetimeCase{
		"an editor becomes viewer": {
			access.Editor, []access.Capability{access.Read, access.Publish}, setRole(access.Viewer), apierr.RoleLost, nil,
		},
		"an editor who granted only read becomes viewer": {
			access.Editor, []access.Capability{access.Read}, setRole(access.Viewer), apierr.RoleLost, nil,
		},
		"an admin action makes an editor client": {access.Editor, []access.Capability{access.Read, access.Write},
			func(ctx context.Context, w env, person, _ int64) error {
				members, err := w.Members(ctx, w.team.ID)
				if err != nil {
					return err
				}
				return w.Admin(members[0].PersonID, w.team.ID).SetRole(ctx, person, access.Client)
			}, apierr.RoleLost, nil},
		"a viewer stays viewer": {
			access.Viewer, []access.Capability{access.Read}, setRole(access.Viewer), "", []access.Capability{access.Read},
		},
		"a viewer becomes client": {
			access.Viewer, []access.Capability{access.Read}, setRole(access.Client), apierr.RoleLost, nil,
		},
		"an admin becomes editor": {
			access.Admin, access.Capabilities(), setRole(access.Editor), "",
			[]access.Capability{access.Read, access.Write, access.Publish},
		},
		"an owner transfers ownership and becomes admin": {
			access.Owner, access.Capabilities(), transferOwnership, "", access.Capabilities(),
		},
		"a member is removed": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, person, _ int64) error {
				return w.RemoveMember(ctx, w.team.ID, person)
			}, apierr.MembershipLost, nil},
		"a member is removed and added again": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, person, _ int64) error {
				return errors.Join(w.RemoveMember(ctx, w.team.ID, person),
					w.SetMember(ctx, w.team.ID, person, access.Editor))
			}, apierr.MembershipLost, nil},
		"a member loses a role, then the membership": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, person, _ int64) error {
				return errors.Join(w.SetMember(ctx, w.team.ID, person, access.Viewer),
					w.RemoveMember(ctx, w.team.ID, person))
			}, apierr.MembershipLost, nil},
		"a member loses a role and gets it back": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, person, _ int64) error {
				return errors.Join(w.SetMember(ctx, w.team.ID, person, access.Viewer),
					w.SetMember(ctx, w.team.ID, person, access.Admin))
			}, apierr.RoleLost, nil},
		"the person is suspended": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, person, _ int64) error {
				return w.SetSuspended(ctx, person, true)
			}, apierr.OwnerSuspended, nil},
		"the connection is paused": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, _, made int64) error {
				return w.Pause(ctx, team.Pause{Scope: team.ForKey, Target: made, Action: access.PauseEverything})
			}, apierr.ConnectionSuspended, nil},
		"publishing is paused": {access.Editor, []access.Capability{access.Read, access.Publish},
			func(ctx context.Context, w env, _, made int64) error {
				return w.Pause(ctx, team.Pause{Scope: team.ForKey, Target: made, Action: access.PausePublishing})
			}, "", []access.Capability{access.Read}},
		"the operator revokes the connection": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, _, made int64) error {
				return w.RevokeKey(ctx, made)
			}, apierr.Unauthorized, nil},
		"the connection expires": {access.Editor, []access.Capability{access.Read},
			func(ctx context.Context, w env, _, made int64) error {
				return w.SetKeyEnd(ctx, made, w.clock.Now().Add(-time.Second))
			}, apierr.Unauthorized, nil},
		"the person ends the connection": {access.Viewer, []access.Capability{access.Read},
			func(ctx context.Context, w env, person, made int64) error {
				return w.Admin(person, w.team.ID).EndConnection(ctx, made)
			}, apierr.Unauthorized, nil},
	} {
		t.Run(name, func(t *testing.T) {
			eachDatabase(t, c.run)
		})
	}
}

func (c lifetimeCase) run(t *testing.T, w env) {
	w.watchKeys(t)
	ctx := t.Context()
	person := w.personWithRole(t, c.role)
	auth, connection := w.connectWithToken(t, person, c.granted...)
	must.Get(auth.Authenticate(ctx, "token"))(t)
	must.NoError(t, c.change(ctx, w, person, connection))
	a, err := auth.Authenticate(ctx, "token")
	if err == nil {
		err = gateError(a)
	}
	if got := codeOf(err); got != c.code {
		t.Fatalf("%v, want %q", err, c.code)
	}
	if c.code == "" {
		if diff := cmp.Diff(c.remaining, a.Capabilities); diff != "" {
			t.Error(diff)
		}
	}
	active, err := w.IsConnectionActive(ctx, w.db, connection)
	wantEnded := c.code != "" && c.code != apierr.OwnerSuspended && c.code != apierr.ConnectionSuspended
	if err != nil || active == wantEnded {
		t.Errorf("active: %v (%v)", active, err)
	}
}

func setRole(r access.Role) func(context.Context, env, int64, int64) error {
	return func(ctx context.Context, w env, person, _ int64) error {
		return w.SetMember(ctx, w.team.ID, person, r)
	}
}

func transferOwnership(ctx context.Context, w env, owner, _ int64) error {
	next, err := w.AddPerson(ctx, "Next", "next@example.com", "correct horse quartz")
	if err != nil {
		return err
	}
	return errors.Join(w.SetMember(ctx, w.team.ID, next.ID, access.Editor),
		w.Admin(owner, w.team.ID).TransferOwnership(ctx, next.ID))
}

// personWithRole returns the team's owner or a new member with the role.
func (w env) personWithRole(t *testing.T, r access.Role) int64 {
	t.Helper()
	if r == access.Owner {
		members := must.Get(w.Members(t.Context(), w.team.ID))(t)
		return members[0].PersonID
	}
	return w.addMember(t, string(r)+"@example.com", r)
}

func codeOf(err error) apierr.Code {
	if err == nil {
		return ""
	}
	return apierr.FromError(err).Code
}

// gateError returns the error that the pipeline returns because of the actor's gates.
func gateError(a *access.Actor) error {
	for code, closed := range map[apierr.Code]bool{
		apierr.ConnectionSuspended: a.Gates.Paused, apierr.OwnerSuspended: a.Gates.OwnerSuspended,
		apierr.MembershipLost: a.Gates.MembershipLost,
		apierr.OwnershipLost:  a.Gates.OwnershipLost, apierr.RoleLost: a.Gates.RoleLost,
	} {
		if closed {
			return apierr.New(code, "")
		}
	}
	return nil
}
