package unsaved_test

import (
	"net/url"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/web/unsaved"
)

// Change locks the form, so that it does not overwrite input that is stored at the same time.
func TestChangeLocksForm(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, databaseURL string) {
		d := testkit.Open(t, databaseURL, testkit.NewClock(time.Now()))
		key := unsaved.Key{PersonID: 1, TeamID: 1, ID: "form"}
		store := func(fields string) error {
			_, err := unsaved.Store(t.Context(), d, key, "", fields)
			return err
		}
		must.NoError(t, store("caption=old"))
		later := make(chan error, 1)
		must.NoError(t, unsaved.Change(t.Context(), d, key, func(form url.Values) error {
			go func() { later <- store("caption=new") }()
			// With SQLite, the other transaction cannot even begin.
			if d.Postgres() {
				must.Eventually(t, 15*time.Second, "the other transaction waits or ends", func() bool {
					var waiting int
					must.NoError(t, d.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
						WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
					return waiting > 0 || len(later) > 0
				})
			}
			form.Set("caption", "changed")
			return nil
		}))
		must.NoError(t, <-later)
		var fields string
		must.NoError(t, d.QueryRow(t.Context(), `SELECT fields FROM unsaved_forms`).Scan(&fields))
		if fields != "caption=new" {
			t.Errorf("the form has %q, want the input that was stored last", fields)
		}
	})
}
