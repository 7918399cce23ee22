package teamsearch_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/ratelimit"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/domain/team/teamsearch"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

type env struct {
	*team.Service
	db   *db.DB
	team team.Team
}

func eachDatabase(t *testing.T, run func(t *testing.T, w env)) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, testkit.NewClock(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)))
		s := team.New(d, must.Get(ratelimit.NewGuessLimiter())(t), plan.Default())
		owner := must.Get(s.AddPerson(t.Context(), "Ada", "ada@example.com", ""))(t)
		harbour := must.Get(s.AddTeam(t.Context(),
			team.Team{Name: "Harbour", Timezone: "Europe/Berlin", Language: "en", Plan: "team"}, owner.ID))(t)
		run(t, env{s, d, harbour})
	})
}

// insertMany creates n teams and n people.
func (w env) insertMany(t *testing.T, n int) {
	t.Helper()
	must.NoError(t, w.db.InTx(t.Context(), "test.crowd", func(ctx context.Context, tx *db.Tx) error {
		for _, statement := range []string{
			`INSERT INTO teams (name, timezone, content_language, plan, created_at) WITH RECURSIVE n (i) AS (SELECT 1
		UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 'Crowd', 'UTC', 'en', 'free', 1 FROM n`,
			`INSERT INTO people (name, email, password_hash, created_at) WITH RECURSIVE n (i) AS (SELECT 1
		UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT 'Crowd', 'crowd' || i || '@example.com', '', 1 FROM n`,
		} {
			if _, err := tx.Exec(ctx, statement, n); err != nil {
				return err
			}
		}
		return nil
	}))
}

// A search reads a limited number of teams or people and returns where to continue. An ID or a complete address is
// always found on the first page.
func TestSearchLimit(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		w.insertMany(t, 10_500)
		zoe := must.Get(w.AddPerson(t.Context(), "Zoë", "zoe@example.com", ""))(t)
		last := must.Get(w.AddTeam(t.Context(),
			team.Team{Name: "Zebra & Sons", Timezone: "UTC", Language: "en", Plan: "free"}, zoe.ID))(t)
		for _, c := range []struct {
			text string
			want []string // names on the first and second page
		}{
			{"harbour", []string{"Harbour", "–"}}, {"zebra", []string{"–", "Zebra & Sons"}},
			{"A & S", []string{"–", "Zebra & Sons"}}, {"100%", []string{"–", "–"}},
			{fmt.Sprint(last.ID), []string{"Zebra & Sons", "–"}}, {fmt.Sprint(w.team.ID), []string{"Harbour", "–"}},
		} {
			var got []string
			q := teamsearch.Query{Text: c.text, Limit: 50}
			for range 2 {
				found := must.Get(teamsearch.Teams(t.Context(), w.db, q))(t)
				got = append(got, onlyName(found.Items, func(t team.Team) string { return t.Name }))
				if (found.Next == 0) != (q.After > 0) {
					t.Errorf("%q after %d: next is %d", c.text, q.After, found.Next)
				}
				q.After = found.Next
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%q: %s", c.text, diff)
			}
		}
		for text, want := range map[string]string{
			"ada": "Ada", "Zoe@Example.com": "Zoë", fmt.Sprint(zoe.ID): "Zoë", "zoe": "–",
		} {
			found := must.Get(teamsearch.People(t.Context(), w.db, teamsearch.Query{Text: text, Limit: 50}))(t)
			if got := onlyName(found.Items, func(p team.Person) string {
				return p.Name
			}); got != want || found.Next == 0 {
				t.Errorf("%q finds %s, next is %d", text, got, found.Next)
			}
		}
	})
}

// onlyName returns the name of the only result, or – if there is none.
func onlyName[T any](found []T, name func(T) string) string {
	switch len(found) {
	case 0:
		return "–"
	case 1:
		return name(found[0])
	}
	return fmt.Sprintf("%d results", len(found))
}

// A search with many results returns full pages, and each page continues after the previous one.
func TestSearchContinues(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		w.insertMany(t, 70)
		seen := map[int64]bool{}
		q := teamsearch.Query{Text: "crowd", Limit: 30}
		for page := 1; ; page++ {
			found := must.Get(teamsearch.Teams(t.Context(), w.db, q))(t)
			for _, item := range found.Items {
				seen[item.ID] = true
			}
			if q.After = found.Next; q.After == 0 {
				if page != 3 || len(found.Items) != 10 {
					t.Errorf("last page is %d with %d results", page, len(found.Items))
				}
				break
			}
		}
		if len(seen) != 70 {
			t.Errorf("found %d teams, want 70", len(seen))
		}
	})
}

// ItemNames returns the names of a team's own items of each kind and omits others.
func TestItemNames(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		must.NoError(t, w.db.InTx(t.Context(), "test.items", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO reports (id, team_id, kind, platform, subject, status, created_at)
				VALUES ('r1', ?, 'hashtag', 'instagram', 'coffee', 'ready', 1), ('r2', ?, 'profile', 'instagram', 'cafe', 'ready', 1)`,
				w.team.ID, w.team.ID)
			return err
		}))
		for kind, want := range map[teamsearch.ItemKind]map[string]string{
			teamsearch.Report: {"r1": "#coffee", "r2": "@cafe"}, teamsearch.Member: {"1": "Ada"},
			teamsearch.BrandVoice: {}, teamsearch.HashtagList: {}, teamsearch.Media: {},
		} {
			got := must.Get(teamsearch.ItemNames(t.Context(), w.db, w.team.ID, kind, []string{"r1", "r2", "1", "2"}))(t)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s", kind, diff)
			}
		}
		if got := must.Get(teamsearch.ItemNames(t.Context(), w.db, w.team.ID+1, teamsearch.Report, []string{"r1"}))(t); len(got) > 0 {
			t.Errorf("another team sees %v", got)
		}
	})
}

// Teams and people can be sorted by each column, in both directions and on all pages.
func TestSearchOrder(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		zoe := must.Get(w.AddPerson(t.Context(), "Zoë", "zoe@example.com", ""))(t)
		for _, name := range []string{"anchor", "Quay"} {
			must.Get(w.AddTeam(t.Context(), team.Team{Name: name, Timezone: "UTC", Language: "en", Plan: "free"}, zoe.ID))(t)
		}
		must.NoError(t, w.db.InTx(t.Context(), "test.order", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO wallets (team_id, available) VALUES (?, 7)`, w.team.ID)
			return err
		}))
		teams := func(q teamsearch.Query) string {
			var names []string
			for q.Limit = 2; ; {
				found := must.Get(teamsearch.Teams(t.Context(), w.db, q))(t)
				for _, one := range found.Items {
					names = append(names, one.Name)
				}
				if q.After = found.Next; q.After == 0 {
					return strings.Join(names, " ")
				}
			}
		}
		people := func(by teamsearch.Order) string {
			found := must.Get(teamsearch.People(t.Context(), w.db, teamsearch.Query{Limit: 1, Order: by, Descending: true}))(t)
			return found.Items[0].Name
		}
		for got, want := range map[string]string{
			teams(teamsearch.Query{Order: teamsearch.ByName}):                                    "anchor Harbour Quay",
			teams(teamsearch.Query{Order: teamsearch.ByName, Descending: true}):                  "Quay Harbour anchor",
			teams(teamsearch.Query{Order: teamsearch.ByName, Text: "a"}):                         "anchor Harbour Quay",
			teams(teamsearch.Query{Order: teamsearch.ByCredits}):                                 "anchor Quay Harbour",
			teams(teamsearch.Query{Order: teamsearch.ByMembers, Text: "ha"}):                     "Harbour",
			teams(teamsearch.Query{Order: teamsearch.ByAccounts, State: teamsearch.Closed}):      "",
			teams(teamsearch.Query{Order: teamsearch.ByLastActive, Text: fmt.Sprint(w.team.ID)}): "Harbour",
			people(teamsearch.ByName) + people(teamsearch.ByMemberships):                         "ZoëZoë",
			people(teamsearch.BySignIn):                                                          "Ada",
		} {
			if got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

// Disconnected accounts do not count, as for the limit of the plan.
func TestDisconnectedAccountsDoNotCount(t *testing.T) {
	eachDatabase(t, func(t *testing.T, w env) {
		zoe := must.Get(w.AddPerson(t.Context(), "Zoë", "zoe@example.com", ""))(t)
		quay := must.Get(w.AddTeam(t.Context(), team.Team{Name: "Quay", Timezone: "UTC", Language: "en", Plan: "free"}, zoe.ID))(t)
		must.NoError(t, w.db.InTx(t.Context(), "test.accounts", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO social_accounts (team_id, platform, network_id, username, display_name,
				connection_state, sealed_grant, created_at, updated_at, disconnected_at) VALUES (?, 'x', '1', '', '', 'lost', ?, 1, 1, 5),
				(?, 'x', '2', '', '', 'lost', ?, 1, 1, 5), (?, 'x', '3', '', '', 'lost', ?, 1, 1, 0)`, w.team.ID, []byte{}, w.team.ID,
				[]byte{}, quay.ID, []byte{})
			return err
		}))
		stats := must.Get(teamsearch.StatsByTeam(t.Context(), w.db, []int64{w.team.ID, quay.ID}))(t)
		if stats[w.team.ID].Accounts != 0 || stats[quay.ID].Accounts != 1 {
			t.Errorf("%+v", stats)
		}
		found := must.Get(teamsearch.Teams(t.Context(), w.db, teamsearch.Query{Limit: 1, Order: teamsearch.ByAccounts,
			Descending: true}))(t)
		if found.Items[0].ID != quay.ID {
			t.Errorf("%s has the most accounts", found.Items[0].Name)
		}
	})
}
