package money

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/test/money/standin"
)

// A paid call and a write without a charge can use the same Idempotency-Key. Each keeps its own expiry.
func TestPaidCallAndWriteShareKey(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		in := newInProcess(t, url, 1, -1)
		m := in.team(t, "UTC", 1)
		in.grant(t, m, 10, "start")
		const reused = "422 idempotency_key_reused"
		write, other := apiCall{tool: standin.Note, query: "free", key: "a key"}, apiCall{
			tool: standin.Note, query: "free of charge", key: "a key",
		}
		pay := apiCall{tool: standin.Tracking, report: "r", query: "2 all", key: "a key"}
		begin := in.clock.Now()
		for _, step := range []struct {
			at    time.Duration
			order apiCall
			want  string
		}{
			{0, write, ""},
			{time.Hour, pay, ""},
			{time.Hour, write, ""},
			{time.Hour, other, reused},
			{24*time.Hour - time.Microsecond, write, ""},
			{24 * time.Hour, write, reused},
			{25*time.Hour - time.Microsecond, other, reused},
			{25*time.Hour - time.Microsecond, pay, ""},
			{25 * time.Hour, pay, "422 idempotency_key_reused charge_key_spent"},
			{25 * time.Hour, other, ""},
			{25 * time.Hour, pay, "422 idempotency_key_reused charge_key_spent"},
			{49*time.Hour - time.Microsecond, write, reused},
			{49 * time.Hour, write, ""},
		} {
			in.clock.Advance(begin.Add(step.at).Sub(in.clock.Now()))
			got, err := in.nodes[0].call(t.Context(), m.keys[0], step.order, false)
			if err != nil || got.rejection() != step.want {
				t.Errorf("after %v, %+v: rejection %q, want %q (%v)", step.at, step.order, got.rejection(), step.want, err)
			}
		}
		if n := in.queryInt(t, `SELECT available FROM wallets WHERE team_id = ?`, m.id); n != 8 {
			t.Errorf("%d credits left, want 8", n)
		}
	})
}
