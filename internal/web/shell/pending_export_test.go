package shell

import (
	"fmt"
	"testing"
	"time"

	"github.com/alexedwards/scs/v2"

	"pressroom.example/pressroom/internal/testkit"
)

// TestPendingSessionLimit checks that only the oldest anonymous sessions are removed beyond the limit.
func TestPendingSessionLimit(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, at string) {
		clock := testkit.NewClock(time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC))
		d := testkit.Open(t, at, clock)
		s := &store{db: d, maxAnonymousSessions: 10, trimInterval: 5}
		begin := func(token string, held map[string]any) {
			t.Helper()
			data, err := scs.GobCodec{}.Encode(clock.Now(), held)
			if err == nil {
				err = s.CommitCtx(t.Context(), token, data, time.Time{})
			}
			if err != nil {
				t.Fatal(err)
			}
			clock.Advance(time.Second)
		}
		begin("person", map[string]any{personKey: int64(7), sinceKey: clock.Now().UnixMicro()})
		for i := range 40 {
			begin(fmt.Sprint("token ", i), map[string]any{"kept passkey": []byte("question")})
		}
		var n int
		if err := d.QueryRow(t.Context(), `SELECT COUNT(*) FROM sessions WHERE person_id = 0`).Scan(&n); err != nil || n != 10 {
			t.Errorf("%d anonymous sessions, want 10 (%v)", n, err)
		}
		for token, want := range map[string]bool{"person": true, "token 0": false, "token 39": true} {
			if _, found, err := s.FindCtx(t.Context(), token); err != nil || found != want {
				t.Errorf("%s: %t (%v)", token, found, err)
			}
		}
	})
}
