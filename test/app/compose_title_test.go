package app

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
)

// The composer saves the titles of a post and of single accounts, checks their length and keeps titles that it hides.
func TestComposerTitle(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		youTube, threads := c.addAccountOf(t, "youtube"), c.addAccountOf(t, "threads")
		b, video := c.as(t, access.Editor), fmt.Sprint(c.addVideo(t))
		page := b.open("/posts/new?media="+video).shows(http.StatusOK, "For networks that publish a title.")
		for account, want := range map[string]bool{youTube: true, threads: false} {
			_, chip, _ := strings.Cut(page.source, `name="account" value="`+account+`"`)
			chip, _, _ = strings.Cut(chip, ">")
			if strings.Contains(chip, "data-titles") != want {
				t.Errorf("account %s: %s", account, chip)
			}
		}
		saved := page.form("Save draft").fill("caption", "Open from eight").fill("title", " Opening \t hours ").
			fill("account", youTube, threads).press().shows(http.StatusOK, "Saved.", "Opening hours")
		check := func(post, own string) {
			t.Helper()
			p := c.storedPost(t, saved.path)
			var got string
			for _, target := range p.Targets {
				if target.Title != nil {
					got += *target.Title
				}
			}
			if p.Title != post || got != own {
				t.Errorf("title %q and %q, want %q and %q", p.Title, got, post, own)
			}
		}
		check("Opening hours", "")
		b.open(saved.path+"/edit").form("Save").fill("account", threads).press().shows(http.StatusOK, "Saved.")
		check("Opening hours", "")
		b.open(saved.path+"/edit").form("Save").fill("account", youTube, threads).press().shows(http.StatusOK, "Saved.")
		b.open(saved.path+"/edit").form("Save").fill("title-"+youTube, "On YouTube").press().
			shows(http.StatusOK, "Saved.", "On YouTube")
		check("Opening hours", "On YouTube")
		edit := b.open(saved.path + "/edit").form("Save")
		if v := edit.values; v.Get("title") != "Opening hours" || v.Get("title-"+youTube) != "On YouTube" {
			t.Errorf("form values = %v", v)
		}
		edit.fill("notitle-"+youTube, "1").press().
			shows(http.StatusUnprocessableEntity, "Remove the title for YouTube (harbour), or clear “Post without title”.")
		b.open(saved.path+"/edit").form("Save").fill("account", threads).press().
			shows(http.StatusUnprocessableEntity, "There is a title for YouTube (harbour), which is not selected.")
		b.open(saved.path+"/edit").form("Save").fill("title", strings.Repeat("x", 501)).press().
			shows(http.StatusUnprocessableEntity, "A title may have at most 500 characters.")
		check("Opening hours", "On YouTube")
		b.open(saved.path+"/edit").form("Check").fill("title-"+youTube, strings.Repeat("x", 101)).
			press().shows(http.StatusOK, "The title is too long for YouTube: 101/100 characters. Shorten it.")
		if got := network.ValueOrZero(c.storedPost(t, saved.path).Options.YouTube).Title; got != "" {
			t.Errorf("option %q", got)
		}
	})
}
