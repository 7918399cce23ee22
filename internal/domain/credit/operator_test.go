package credit

import (
	"strings"
	"sync"
	"testing"
)

func TestGrantAndWithdraw(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actor(t)
		first, err := w.Grant(t.Context(), a.TeamID, 100, "invoice 1", "for November")
		if err != nil || first.Balance != 100 || first.Repeated {
			t.Fatalf("%+v (%v)", first, err)
		}
		taken, err := w.Withdraw(t.Context(), a.TeamID, 30, "correction 1", "")
		if err != nil || taken.Balance != 70 || taken.Repeated {
			t.Fatalf("%+v (%v)", taken, err)
		}
		before := w.rows(t)
		again, err := w.Grant(t.Context(), a.TeamID, 100, "invoice 1", "another note")
		if err != nil || !again.Repeated || again.TransferID != first.TransferID || again.Balance != 70 {
			t.Errorf("a repeated grant: %+v (%v)", again, err)
		}
		again, err = w.Withdraw(t.Context(), a.TeamID, 30, "correction 1", "")
		if err != nil || !again.Repeated || again.TransferID != taken.TransferID {
			t.Errorf("a repeated withdrawal: %+v (%v)", again, err)
		}
		if after := w.rows(t); after != before {
			t.Errorf("repeated calls changed rows: %s, before %s", after, before)
		}
		w.checkUsage(t, a, 70, 0, 0, 0, 0)
		if f := w.checkAudit(t).Totals; f != (AuditTotals{Teams: 1, Transfers: 2, Entries: 4, Granted: 70, Available: 70}) {
			t.Errorf("%+v", f)
		}
		for kind, detail := range map[string]string{"credits.granted": `{"credits":100}`, "credits.withdrawn": `{"credits":30}`} {
			if n := w.queryInt(t,
				`SELECT COUNT(*) FROM events
		WHERE team_id = ? AND kind = ? AND detail = ? AND person_id = 0 AND key_id = 0`, a.TeamID, kind, detail); n != 1 {
				t.Errorf("%d events of the kind %s", n, kind)
			}
		}
	})
}

func TestReferencesPerTeam(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		one, two := w.actorWithCredits(t, 5), w.actorWithCredits(t, 8)
		w.checkUsage(t, one, 5, 0, 0, 0, 0)
		w.checkUsage(t, two, 8, 0, 0, 0, 0)
	})
}

func TestInvalidBookings(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		w.reserve(t, a, 60)
		before := w.rows(t)
		for _, c := range []struct {
			name, says, reference, note string
			withdraw                    bool
			team, credits               int64
		}{
			{name: "none", says: "from 1 to 1000000000000", reference: "r", credits: 0},
			{name: "below none", says: "from 1 to 1000000000000", reference: "r", credits: -5},
			{name: "too many", says: "from 1 to 1000000000000", reference: "r", credits: 1_000_000_000_001},
			{name: "no reference", says: "a reference is required", credits: 5},
			{name: "long reference", says: "at most 200 characters", reference: strings.Repeat("é", 201), credits: 5},
			{name: "broken reference", says: "one line", reference: "a\x00b", credits: 5},
			{name: "bytes", says: "one line", reference: "a\xff", credits: 5},
			{name: "long note", says: "at most 500 characters", reference: "r", note: strings.Repeat("n", 501), credits: 5},
			{name: "no such team", says: "team 999 does not exist", reference: "r", team: 999, credits: 5},
			{
				name: "no such team to take from", says: "team 999 does not exist", reference: "r", team: 999, credits: 5,
				withdraw: true,
			},
			{
				name: "more than is available", says: "has 40 credits available; 41 cannot be withdrawn", reference: "r",
				credits: 41, withdraw: true,
			},
			{name: "another amount", says: "already used for the grant of 100 credits", reference: "start", credits: 101},
			{name: "another kind", says: "already used for the grant of 100 credits", reference: "start", credits: 100, withdraw: true},
		} {
			do, team := w.Grant, a.TeamID
			if c.withdraw {
				do = w.Withdraw
			}
			if c.team != 0 {
				team = c.team
			}
			if b, err := do(t.Context(), team, c.credits, c.reference, c.note); err == nil ||
				!strings.Contains(err.Error(), c.says) || b != (AdjustmentResult{}) {
				t.Errorf("%s: %+v (%v)", c.name, b, err)
			}
		}
		if after := w.rows(t); after != before {
			t.Errorf("rejected calls changed rows: %s, before %s", after, before)
		}
		w.checkAudit(t)
	})
}

func TestTotalGrantLimit(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 1)
		w.exec(t, `UPDATE wallets SET granted = ? WHERE team_id = ?`, -int64(maxGranted)+5, a.TeamID)
		if _, err := w.Grant(t.Context(), a.TeamID, 6, "r", ""); err == nil || !strings.Contains(err.Error(), "the limit is") {
			t.Errorf("6 more: %v", err)
		}
		if _, err := w.Grant(t.Context(), a.TeamID, 5, "r", ""); err != nil {
			t.Errorf("5 more: %v", err)
		}
	})
}

func TestStatement(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		id := w.reserve(t, a, 10)
		w.settle(t, id, 4)
		w.settle(t, w.reserve(t, a, 3), 3)
		if _, err := w.Withdraw(t.Context(), a.TeamID, 50, "back", "as agreed"); err != nil {
			t.Fatal(err)
		}
		lines, err := w.Statement(t.Context(), a.TeamID, 1000)
		if err != nil {
			t.Fatal(err)
		}
		want := []Line{
			{Kind: KindWithdraw, Reference: "back", Note: "as agreed", Change: -50, Balance: 43},
			{Kind: KindSettle, Operation: "search_hashtags", ReservationID: id + 1, Change: 0, Balance: 93},
			{Kind: KindReserve, Operation: "search_hashtags", ReservationID: id + 1, Change: -3, Balance: 93},
			{Kind: KindSettle, Operation: "search_hashtags", ReservationID: id, Change: 6, Balance: 96},
			{Kind: KindReserve, Operation: "search_hashtags", ReservationID: id, Change: -10, Balance: 90},
			{Kind: KindGrant, Reference: "start", Change: 100, Balance: 100},
		}
		for i := range lines {
			if !lines[i].CreatedAt.Equal(noon) || lines[i].ID == 0 {
				t.Errorf("line %d: %+v", i, lines[i])
			}
			lines[i].CreatedAt, lines[i].ID = want[0].CreatedAt, 0
		}
		if len(lines) != len(want) {
			t.Fatalf("%+v", lines)
		}
		for i := range lines {
			if lines[i] != want[i] {
				t.Errorf("line %d: %+v instead of %+v", i, lines[i], want[i])
			}
		}
	})
}

func TestStatementBounds(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a, other := w.actorWithCredits(t, 100), w.actorWithCredits(t, 1)
		w.settle(t, w.reserve(t, a, 10), 4)
		w.reserve(t, a, 3)
		if latest, err := w.Statement(t.Context(), a.TeamID, 2); err != nil || len(latest) != 2 ||
			latest[0].Balance != 93 || latest[1].Balance != 96 {
			t.Errorf("the latest two: %+v (%v)", latest, err)
		}
		if lines, err := w.Statement(t.Context(), other.TeamID, 5); err != nil || len(lines) != 1 {
			t.Errorf("another team: %+v (%v)", lines, err)
		}
		if lines, err := w.Statement(t.Context(), w.actor(t).TeamID, 5); err != nil || lines == nil || len(lines) != 0 {
			t.Errorf("a team without a wallet: %+v (%v)", lines, err)
		}
		for _, c := range []struct {
			team  int64
			limit int
			says  string
		}{{999, 5, "team 999 does not exist"}, {a.TeamID, 0, "from 1 to 1000"}, {a.TeamID, 1001, "from 1 to 1000"}} {
			if _, err := w.Statement(t.Context(), c.team, c.limit); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%d lines of team %d: %v", c.limit, c.team, err)
			}
		}
	})
}

func TestConcurrentGrants(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actor(t)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := w.Grant(t.Context(), a.TeamID, 5, "once", ""); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		w.checkUsage(t, a, 5, 0, 0, 0, 0)
		w.checkAudit(t)
	})
}
