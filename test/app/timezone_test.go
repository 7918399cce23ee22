package app

import (
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
)

// People with a personal time zone see and enter times in that zone. Others use the team's time zone.
func TestOwnTimezone(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Editor)
		b.open("/account").form("Save").fill("timezone", "Mars/Olympus").press().
			shows(422, "Use an IANA time zone such as Europe/Berlin.").contains(`value="Mars/Olympus"`)
		b.open("/account").form("Save").fill("timezone", "Asia/Tokyo").press().shows(200, "Saved.", "Times are in Asia/Tokyo.")

		f := b.open("/posts/new?caption=Sunrise").form("Schedule").fill("date", "2031-05-06").fill("time", "09:00")
		f.values.Set("account", c.id())
		p := f.press().shows(200, "Tue 6 May 2031, 09:00", "Times are in Asia/Tokyo.")
		id, stored := p.path[len("/posts/"):], c.storedPost(t, p.path)
		if want := time.Date(2031, 5, 6, 0, 0, 0, 0, time.UTC); !stored.ScheduledAt.Equal(want) {
			t.Errorf("scheduled at %v, want %v", stored.ScheduledAt.UTC(), want)
		}
		b.open("/posts/"+id+"/edit").contains(`value="09:00"`, "Time zone: Asia/Tokyo.")
		b.open("/calendar?day=2031-05-06").shows(200, "09:00", "Asia/Tokyo")
		b.open("/posts").shows(200, "Times in Asia/Tokyo.")
		c.as(t, access.Admin).open("/posts/"+id).shows(200, "Tue 6 May 2031, 02:00", "Times are in Europe/Berlin.")
	})
}
