package team_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/auth/passwords"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

type env struct {
	*team.Service
	db    *db.DB
	clock *testkit.Clock
	team  team.Team
	owner team.Person
}

func eachDatabase(t *testing.T, run func(t *testing.T, w env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		clock := testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, url, clock)
		guesses := must.Get(ratelimit.NewGuessLimiter())(t)
		s := team.New(d, guesses, plan.Default())
		owner := must.Get(s.AddPerson(t.Context(), "Ada", "Ada@Example.com", "correct horse quartz"))(t)
		made := must.Get(s.AddTeam(t.Context(),
			team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: "en", Plan: "team"}, owner.ID))(t)
		run(t, env{s, d, clock, made, owner})
	})
}

// count counts rows of a table, optionally with a condition.
func (w env) count(t *testing.T, from string, args ...any) int {
	t.Helper()
	var n int
	must.NoError(t, w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM `+from, args...).Scan(&n))
	return n
}

func (w env) addKey(t *testing.T, level access.Level, expires time.Time) (team.Key, string) {
	t.Helper()
	k, value, err := w.AddKey(t.Context(), team.NewKey{Team: w.team.ID, Name: "test", Level: level, Expires: expires})
	must.NoError(t, err)
	return k, value
}

// watchKeys keeps the key cache up to date, as a running process does.
func (w env) watchKeys(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		w.Watch(ctx, func(err error) { t.Error(err) })
		close(done)
	}()
	t.Cleanup(func() {
		stop()
		<-done
	})
}

func TestAuthenticate(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		w.watchKeys(t)
		_, value := w.addKey(t, access.Drafts, time.Time{})
		for range 3 { // from the database, then from the cache
			a, err := w.Authenticate(t.Context(), value)
			if err != nil || a.TeamID != w.team.ID || a.Level != access.Drafts || a.Role != access.Owner ||
				a.Zone.String() != "Europe/Berlin" {
				t.Fatalf("%+v (%v)", a, err)
			}
		}
		for _, wrong := range []string{
			"", value[:len(value)-1], apikey.New(apikey.APIKey), apikey.New(apikey.Upload), "prk_",
		} {
			if _, err := w.Authenticate(t.Context(), wrong); !apierr.Is(err, apierr.Unauthorized) {
				t.Errorf("%q: %v", wrong, err)
			}
		}
	})
}

// Changes to a key apply immediately, even if the key is cached.
func TestKeyChangesApplyImmediately(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		w.watchKeys(t)
		k, value := w.addKey(t, access.Full, time.Time{})
		can := func(c access.Capability) bool {
			a, err := w.Authenticate(t.Context(), value)
			return err == nil && a.Can(c)
		}
		if !can(access.Spend) {
			t.Fatal("a full key cannot spend")
		}
		must.NoError(t, w.SetKeyLevel(t.Context(), k.ID, access.Drafts))
		if can(access.Publish) || !can(access.Write) {
			t.Error("the level did not change")
		}
		must.NoError(t, w.Pause(t.Context(),
			team.Pause{Scope: team.ForKey, Target: k.ID, Action: access.PausePublishing}))
		if can(access.Publish) {
			t.Error("a paused key can publish")
		}
		must.NoError(t, w.RevokeKey(t.Context(), k.ID))
		if can(access.Read) {
			t.Error("a revoked key works")
		}
		if err := w.RevokeKey(t.Context(), k.ID); err == nil {
			t.Error("revoking a revoked key succeeded")
		}
	})
}

func TestKeyExpires(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		w.watchKeys(t)
		_, value := w.addKey(t, access.Full, w.clock.Now().Add(time.Hour))
		must.Get(w.Authenticate(t.Context(), value))(t)
		w.clock.Advance(time.Hour)
		if _, err := w.Authenticate(t.Context(), value); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("expired key: %v", err)
		}
	})
}

// Repeated attempts with one wrong key are rate limited. Attempts with another wrong key are not.
func TestWrongKeysThrottled(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		wrong, limited := apikey.New(apikey.APIKey), 0
		for range 40 {
			_, err := w.Authenticate(t.Context(), wrong)
			if apierr.Is(err, apierr.RateLimited) {
				limited++
				if f := apierr.FromError(err); f.RetryAfter < time.Second || f.Context["scope"] != "failed_authentication" {
					t.Fatalf("%+v", f)
				}
			}
		}
		if limited < 15 || limited > 25 {
			t.Errorf("%d of 40 attempts were rate limited", limited)
		}
		if _, err := w.Authenticate(t.Context(), apikey.New(apikey.APIKey)); !apierr.Is(err, apierr.Unauthorized) {
			t.Errorf("another wrong key: %v", err)
		}
	})
}

func TestPasswords(t *testing.T) {
	t.Parallel()
	hash, err := passwords.Hash("correct horse quartz")
	if err != nil || !passwords.Matches(hash, "correct horse quartz") {
		t.Fatalf("%s (%v)", hash, err)
	}
	for _, c := range [][2]string{
		{hash, "correct horse quartz "}, {hash, ""}, {"", ""}, {"", "x"}, {"$argon2id$v=19$m=19456,t=2,p=1$$", ""},
		{"plain", "plain"},
	} {
		if passwords.Matches(c[0], c[1]) {
			t.Errorf("%q matches %q", c[1], c[0])
		}
	}
}

func TestInvalidInputRejected(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		ctx := t.Context()
		for name, err := range map[string]error{
			"the same address":  errorOf(w.AddPerson(ctx, "Ada", "ada@example.COM", "")),
			"a common password": errorOf(w.AddPerson(ctx, "Eve", "eve@example.com", "password12345")),
			"a short password":  errorOf(w.AddPerson(ctx, "Eve", "eve@example.com", "vivid tun")),
			"no address":        errorOf(w.AddPerson(ctx, "Ada", "ada", "")),
			"no zone":           errorOf(w.AddTeam(ctx, team.Team{Name: "X", Plan: "team"}, 1)),
			"an unknown zone": errorOf(w.AddTeam(ctx, team.Team{Name: "X", Timezone: "Mars/Olympus", Plan: "team"},
				1)),
			"an unknown plan":  errorOf(w.AddTeam(ctx, team.Team{Name: "X", Timezone: "UTC", Plan: "gold"}, 1)),
			"an unknown owner": errorOf(w.AddTeam(ctx, team.Team{Name: "X", Timezone: "UTC", Plan: "team"}, 99)),
			"an unknown level": w.SetKeyLevel(ctx, 1, "admin"),
			"an unknown role":  w.SetMember(ctx, w.team.ID, 1, "boss"),
			"an unknown key":   w.RevokeKey(ctx, 99),
		} {
			if err == nil {
				t.Errorf("%s was accepted", name)
			}
		}
	})
}

func errorOf[T any](_ T, err error) error { return err }

// CheckPlans reports plans of teams that are missing from the catalog.
func TestCheckPlans(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		must.NoError(t, w.CheckPlans(t.Context()))
		catalog := plan.Default()
		catalog.Plans = catalog.Plans[:1]
		if err := team.New(w.db, nil, catalog).CheckPlans(t.Context()); err == nil || !strings.Contains(err.Error(),
			`"team"`) {
			t.Errorf("%v", err)
		}
	})
}
