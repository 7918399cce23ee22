package credit

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/platform/db"
)

func TestStatementItems(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		other := w.actorWithCredits(t, 9)
		a := w.actorWithKey(t, 100)
		ada := a.PersonID
		w.clock.Advance(time.Minute)
		first := w.reserve(t, a, 10)
		w.exec(t,
			`INSERT INTO jobs (id, team_id, type, state, subject, created_at, reservation_id)
		VALUES ('job-1', ?, 'search', 'succeeded', '', 1, ?)`, a.TeamID, first)
		w.clock.Advance(time.Minute)
		w.write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := w.Settle(ctx, tx, first, 4)
			return err
		})
		w.clock.Advance(time.Minute)
		w.write(t, func(ctx context.Context, tx *db.Tx) error {
			_, err := w.ReserveAutomatic(ctx, tx, a.TeamID, ada, "refresh_report", 2)
			return err
		})
		want := []Item{
			{At: noon.Add(
				3 * time.Minute), Kind: KindReserve, Operation: "refresh_report", Person: "Ada", Automatic: true,
				Amount: 2, Change: -2, Balance: 94},
			{At: noon.Add(
				2 * time.Minute), Kind: KindSettle, Operation: "search_hashtags", Person: "Ada", Key: "robot",
				Job: "job-1", Amount: 10, Charged: 4, Change: 6, Balance: 96},
			{At: noon.Add(
				time.Minute), Kind: KindReserve, Operation: "search_hashtags", Person: "Ada", Key: "robot", Job: "job-1",
				Amount: 10, Change: -10, Balance: 90},
			{At: noon, Kind: KindGrant, Reference: "start", Amount: 100, Change: 100, Balance: 100},
		}
		span := StatementQuery{From: noon, To: noon.Add(time.Hour), Limit: 10}
		all, err := w.Items(t.Context(), a.TeamID, span)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all, w.readPages(t, a.TeamID, span)); diff != "" {
			t.Errorf("the paged statement differs: %s", diff)
		}
		for i := range all {
			all[i].ID = 0
		}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Error(diff)
		}
		if all[1].RefundedCredits() != 6 || all[2].RefundedCredits() != 0 {
			t.Errorf("refunded %d and %d", all[1].RefundedCredits(), all[2].RefundedCredits())
		}
		w.wantCount(t, a.TeamID, StatementQuery{From: noon.Add(-time.Hour), To: noon, Limit: 10}, 0)
		w.wantCount(t, a.TeamID, StatementQuery{From: noon.Add(4 * time.Minute), To: noon.Add(time.Hour), Limit: 10}, 0)
		w.wantCount(t, other.TeamID, StatementQuery{From: noon, To: noon.Add(time.Hour), Limit: 10}, 1)
		w.checkCharged(t, a.TeamID, span)
	})
}

// TestSubjects checks that the subjects of paid work are in the statement, even after their jobs and reports are
// deleted.
func TestSubjects(t *testing.T) {
	each(t, func(t *testing.T, w env) {
		a := w.actorWithCredits(t, 100)
		w.exec(t,
			`INSERT INTO reports (id, team_id, kind, platform, subject, status, created_at)
		VALUES ('report-1', ?, 'profile', 'instagram', 'harbour', 'ready', 1)`, a.TeamID)
		begin := func(job, subject string) int64 {
			id := w.reserve(t, a, 10)
			w.exec(t,
				`INSERT INTO jobs (id, team_id, type, state, subject, created_at, reservation_id)
		VALUES (?, ?, 'work', 'running', ?, 1, ?)`, job, a.TeamID, subject, id)
			return id
		}
		report, search, nameless := begin("job-1", "report-1"), begin("job-2", ""), begin("job-3", "")
		w.exec(t, `INSERT INTO hashtag_search_jobs (job_id, search_id, platform, words) VALUES ('job-2', 1, 'tiktok', 'harbour coffee')`)
		profile, keyword := Subject{Kind: "profile", Report: "report-1", Platform: "instagram", Name: "harbour"},
			Subject{Platform: "tiktok", Name: "harbour coffee"}
		w.checkSubjects(t, a.TeamID, map[string]Subject{"job-1": profile, "job-2": keyword, "job-3": {}})
		for _, id := range []int64{report, search, nameless} {
			w.write(t, func(ctx context.Context, tx *db.Tx) error {
				_, err := w.Refund(ctx, tx, id)
				return err
			})
		}
		w.checkSubjects(t, a.TeamID, map[string]Subject{"job-1": profile, "job-2": keyword, "job-3": {}})
		w.exec(t, `DELETE FROM jobs`)
		w.exec(t, `DELETE FROM reports`)
		profile.Report = ""
		w.checkSubjects(t, a.TeamID, map[string]Subject{"": {}}, profile, keyword)
	})
}

// wantCount checks the number of items of a statement.
func (w env) wantCount(t *testing.T, team int64, span StatementQuery, want int) {
	t.Helper()
	if got, err := w.Items(t.Context(), team, span); err != nil || len(got) != want {
		t.Errorf("from %v: %v (%v), want %d", span.From, got, err, want)
	}
}

// checkCharged checks the charged credits and the first transfer of TestStatementItems.
func (w env) checkCharged(t *testing.T, team int64, span StatementQuery) {
	t.Helper()
	if n, err := w.ChargedIn(t.Context(), team, span); err != nil || n != 4 {
		t.Errorf("charged %d, want 4 (%v)", n, err)
	}
	if n, err := w.ChargedIn(t.Context(), team, StatementQuery{From: noon.Add(3 * time.Minute),
		To: span.To}); err != nil || n != 0 {
		t.Errorf("charged %d later, want 0 (%v)", n, err)
	}
	if at, err := w.FirstTransferAt(t.Context(), team); err != nil || !at.Equal(noon) {
		t.Errorf("the first transfer is at %v (%v)", at, err)
	}
	if at, err := w.FirstTransferAt(t.Context(), 999); err != nil || !at.IsZero() {
		t.Errorf("the first transfer of an empty team is at %v (%v)", at, err)
	}
}

// actorWithKey returns an actor with a person named Ada, a key named robot and credits.
func (w env) actorWithKey(t *testing.T, credits int64) *access.Actor {
	t.Helper()
	var person, key int64
	a := w.actorWithCredits(t, credits)
	w.write(t, func(ctx context.Context, tx *db.Tx) error {
		err := tx.QueryRow(ctx,
			`INSERT INTO people (name, email, created_at) VALUES ('Ada', 'ada@example.com', 1) RETURNING id`).Scan(&person)
		if err != nil {
			return err
		}
		return tx.QueryRow(ctx,
			`INSERT INTO api_keys (team_id, person_id, name, level, hash, created_at)
	VALUES (?, ?, 'robot', 'full', ?, 1) RETURNING id`, a.TeamID, person, []byte{1}).Scan(&key)
	})
	return changeActor(a, func(a *access.Actor) { a.PersonID, a.KeyID = person, key })
}

// checkSubjects checks the subjects of a statement by their jobs. Subjects of deleted jobs may be in any order.
func (w env) checkSubjects(t *testing.T, team int64, of map[string]Subject, others ...Subject) {
	t.Helper()
	items, err := w.Items(t.Context(), team, StatementQuery{From: noon, To: noon.Add(time.Hour), Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Subject]int{}
	for _, i := range items {
		if i.Kind == KindGrant {
			continue
		}
		seen[i.Subject]++
		if want, known := of[i.Job]; !known || i.Subject != want && !slices.Contains(others, i.Subject) {
			t.Errorf("%s of %q has the subject %+v", i.Kind, i.Job, i.Subject)
		}
	}
	for _, o := range others {
		if seen[o] != 2 { // reservation and settlement
			t.Errorf("%d lines have the subject %+v", seen[o], o)
		}
	}
}

// readPages reads a statement with one item per page.
func (w env) readPages(t *testing.T, team int64, span StatementQuery) []Item {
	t.Helper()
	var out []Item
	for span.Limit = 1; ; {
		page, err := w.Items(t.Context(), team, span)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			return out
		}
		out = append(out, page...)
		span.After = Position{page[0].At, page[0].ID}
	}
}
