package app

import (
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
)

// A person writes a thread, changes it and publishes it. Nothing typed is lost, and blank parts are not published.
func TestComposeThread(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Owner)
		p := b.open("/posts/new?caption=First.&account="+c.id()).shows(200, "Add to thread")
		p = p.form("Add to thread").press().shows(200, "Part 2").form("Add to thread").fill("part-1", "Second.").press().
			shows(200, "Part 2", "Part 3", "Second.").form("Add to thread").fill("part-2", " ").press().
			shows(200, "Part 4")
		long := p.form("Schedule").fill("part-3", strings.Repeat("x", 301)).fill("date", "2030-01-02").fill("time", "10:00").press().
			shows(422, "Too long for Bluesky: 301/300 characters.").contains(`id="error-part-3"`)
		saved := long.form("Save draft").fill("part-3", "Third.").press().shows(200, "Saved.", "Second.", "Third.")
		stored := c.storedPost(t, saved.path)
		if len(stored.Thread) != 2 || stored.Thread[0].Caption != "Second." || stored.Thread[1].Caption != "Third." {
			t.Fatalf("%+v", stored.Thread)
		}
		edited := b.open(saved.path+"/edit").shows(200, "Part 2", "Part 3").form("Remove part 2").press().lacks("Second.").form("Save").
			press().shows(200, "Saved.")
		if stored = c.storedPost(t, edited.path); len(stored.Thread) != 1 || stored.Thread[0].Caption != "Third." {
			t.Fatalf("%+v", stored.Thread)
		}
		b.open(saved.path+"/edit").form("Save").press().shows(200, "Saved.")
		if again := c.storedPost(t, edited.path); !again.UpdatedAt.Equal(stored.UpdatedAt) {
			t.Error("saving without a change changed the post")
		}
	})
}

// A network without threads blocks a thread, and the problem is shown at the parts.
func TestThreadOnOtherNetwork(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		c.change(t, `UPDATE social_accounts SET platform = 'linkedin' WHERE id = ?`, c.account)
		b := c.as(t, access.Owner)
		f := b.open("/posts/new?caption=First.&account=" + c.id()).form("Schedule")
		f.values.Set("part-1", "Second.")
		f.fill("date", "2030-01-02").fill("time", "10:00").press().shows(422, "LinkedIn has no threads.", "Second.").
			contains(`id="error-thread"`)
	})
}
