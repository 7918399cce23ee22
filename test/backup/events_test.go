package backup

import (
	"testing"
	"time"

	"pressroom/internal/platform/auditlog"
	"pressroom/internal/server"
	"pressroom/internal/testkit"
)

// added adds a person to an installation and gives the events above an id that can be taken along some minutes later.
func (w *world) added(cfg server.Config, email string, above int64) []auditlog.Entry {
	w.t.Helper()
	s, err := server.Open(w.t.Context(), cfg)
	must(w.t, err)
	_, err = s.Teams.AddPerson(w.t.Context(), "Ada", email, "")
	must(w.t, err)
	w.clock.advance(3 * time.Minute) // PostgreSQL leaves the last two for the next time
	var out []auditlog.Entry
	must(w.t, s.Events(w.t.Context(), auditlog.Filter{AfterID: above}, func(e auditlog.Entry) error {
		out = append(out, e)
		return nil
	}))
	must(w.t, s.Close())
	return out
}

// Whoever takes events along goes on after a restore with the last id, and misses nothing that the restored database
// records, although that does not know what was recorded after the backup.
func TestEventsAfterARestore(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		w := newWorld(t)
		cfg, folder := w.small(url, testkit.Blobs(t))
		var taken []auditlog.Entry
		for _, email := range []string{"1@example.com", "2@example.com", "3@example.com"} { // after the backup
			taken = w.added(cfg, email, 0)
		}
		last := taken[len(taken)-1]
		if last.Kind != "person.added" {
			t.Errorf("a person who was added: %+v", last)
		}
		target := w.config(empty(t, url), testkit.Blobs(t))
		_, err := server.Restore(t.Context(), target, folder)
		must(t, err)
		var kinds []string
		for _, e := range w.added(target, "4@example.com", last.ID) {
			kinds = append(kinds, e.Kind)
		}
		if len(kinds) != 2 || kinds[0] != "service.held" || kinds[1] != "person.added" {
			t.Errorf("after the restore: %v", kinds)
		}
	})
}
