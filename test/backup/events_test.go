package backup

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/server"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// addPerson adds a person and returns the events with IDs above the given one, as exported three minutes later.
func (w *env) addPerson(cfg server.Config, email string, above int64) []auditlog.Entry {
	w.t.Helper()
	s := must.Get(server.Open(w.t.Context(), cfg))(w.t)
	must.Get(s.Teams.AddPerson(w.t.Context(), "Ada", email, ""))(w.t)
	w.clock.Advance(3 * time.Minute) // with PostgreSQL, the next export has the last two
	var out []auditlog.Entry
	must.NoError(w.t, s.Events(w.t.Context(), auditlog.Filter{AfterID: above}, func(e auditlog.Entry) error {
		out = append(out, e)
		return nil
	}))
	must.NoError(w.t, s.Close())
	return out
}

// After a restore, a consumer of events continues from its last ID. It gets all events of the restored database,
// which lacks the events after the backup.
func TestEventsAfterRestore(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newEnv(t)
		cfg, folder := w.newSmallBackup(url, testkit.Blobs(t))
		var taken []auditlog.Entry
		for _, email := range []string{"1@example.com", "2@example.com", "3@example.com"} { // after the backup
			taken = w.addPerson(cfg, email, 0)
		}
		last := taken[len(taken)-1]
		if last.Kind != "person.added" {
			t.Errorf("a person who was added: %+v", last)
		}
		target := w.config(empty(t, url), testkit.Blobs(t))
		must.Get(server.Restore(t.Context(), target, folder))(t)
		var kinds []string
		for _, e := range w.addPerson(target, "4@example.com", last.ID) {
			kinds = append(kinds, e.Kind)
		}
		if len(kinds) != 2 || kinds[0] != "service.held" || kinds[1] != "person.added" {
			t.Errorf("after the restore: %v", kinds)
		}
	})
}
