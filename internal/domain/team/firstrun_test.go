package team_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func firstPerson(code string) team.FirstPerson {
	return team.FirstPerson{Code: code, Name: "Ada", Email: "Ada@Example.com ", Password: "correct horse quartz",
		TeamName: "Harbour", Timezone: "Europe/Berlin", From: "client"}
}

func TestFirstRun(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
		s := team.New(d, must.Get(ratelimit.NewGuessLimiter())(t), plan.Default())
		signIns := team.NewSignIns(s)
		sealer := must.Get(tokencrypt.New(must.Get(tokencrypt.NewKey())(t)))(t)
		first, other := team.NewFirstRun(signIns, sealer.Signer("setup code")), team.NewFirstRun(signIns, sealer.Signer("setup code"))
		if first.Code() != other.Code() || !must.Get(first.Pending(t.Context()))(t) {
			t.Errorf("codes %s and %s differ, or the setup is not pending", first.Code(), other.Code())
		}
		for argument, change := range map[string]func(*team.FirstPerson){
			"code":     func(p *team.FirstPerson) { p.Code = "AAAA-AAAA-AAAA-AAAA" },
			"name":     func(p *team.FirstPerson) { p.Name = " " },
			"email":    func(p *team.FirstPerson) { p.Email = "ada" },
			"password": func(p *team.FirstPerson) { p.Password = "short" },
			"team":     func(p *team.FirstPerson) { p.TeamName = "see https://example.com" },
			"timezone": func(p *team.FirstPerson) { p.Timezone = "Berlin" },
		} {
			in := firstPerson(first.Code())
			change(&in)
			_, err := first.Create(t.Context(), in)
			if got := apierr.FromError(err).Context["argument"]; got != argument {
				t.Errorf("invalid %s: %v", argument, err)
			}
		}

		var created atomic.Int64
		var wg sync.WaitGroup
		for i, node := range []*team.FirstRun{first, other, first, other} {
			wg.Go(func() {
				in := firstPerson(strings.ToLower(strings.ReplaceAll(first.Code(), "-", " ")))
				in.Email = fmt.Sprintf("ada%d@example.com", i)
				if _, err := node.Create(t.Context(), in); err == nil {
					created.Add(1)
				} else if !errors.Is(err, team.ErrSetUp) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		people := must.Get(s.People(t.Context()))(t)
		if created.Load() != 1 || len(people) != 1 || !people[0].Operator || people[0].EmailConfirmed {
			t.Fatalf("%d calls succeeded, people: %+v", created.Load(), people)
		}
		if must.Get(other.Pending(t.Context()))(t) {
			t.Error("the setup is still pending")
		}
		_, err := signIns.SignIn(t.Context(), team.Attempt{Email: people[0].Email, Password: "correct horse quartz", From: "client"})
		must.NoError(t, err)
	})
}

func TestFirstRunCodeThrottled(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
		s := team.New(d, must.Get(ratelimit.NewGuessLimiter())(t), plan.Default())
		sealer := must.Get(tokencrypt.New(must.Get(tokencrypt.NewKey())(t)))(t)
		first := team.NewFirstRun(team.NewSignIns(s), sealer.Signer("setup code"))
		for range 100 {
			if _, err := first.Create(t.Context(), firstPerson("wrong")); apierr.Is(err, apierr.RateLimited) {
				return
			}
		}
		t.Error("100 wrong codes were not rate limited")
	})
}
