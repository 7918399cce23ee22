package app

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/network"
)

// The composer saves the options for X and Threads, shows them again and validates them.
func TestComposerPolls(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		x, threads := c.addAccountOf(t, "x"), c.addAccountOf(t, "threads")
		b := c.as(t, access.Editor)
		saved := b.open("/posts/new").shows(http.StatusOK, "X options", "Threads options").form("Save draft").
			fill("caption", "Which one?").fill("account", x, threads).
			fill("x-add-poll", "yes").fill("x-poll", " Espresso ", "", "Filter").fill("x-poll-minutes", "4320").fill("x-reply", "verified").
			fill("x-ai", "yes").fill("threads-add-poll", "yes").fill("threads-poll", "Yes", "No", "Maybe").fill("threads-topic", "#Coffee").
			fill("threads-reply", "followers_only").press().shows(http.StatusOK, "Saved.")
		want := network.Options{
			X: &network.XOptions{
				Poll: &network.XOptionsPoll{Options: []string{"Espresso", "Filter"}, DurationMinutes: 4320}, ReplySettings: "verified",
				MadeWithAI: true,
			},
			Threads: &network.ThreadsOptions{
				PollAttachment: &network.ThreadsOptionsPollAttachment{OptionA: "Yes", OptionB: "No", OptionC: "Maybe"}, TopicTag: "Coffee",
				ReplyControl: "followers_only",
			},
		}
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("caption", "Which?").press().shows(http.StatusOK, "Saved.")
		if diff := cmp.Diff(want, c.storedPost(t, saved.path).Options); diff != "" {
			t.Error(diff)
		}
		b.open(saved.path+"/edit").form("Save").fill("x-poll", "Only one").press().
			shows(http.StatusUnprocessableEntity, "A poll needs two to four choices.")
		b.open(saved.path+"/edit").form("Save").fill("threads-poll").press().
			shows(http.StatusUnprocessableEntity, "A poll needs two to four choices.")
		b.open(saved.path+"/edit").form("Save").fill("x-add-poll").press().shows(http.StatusOK, "Saved.")
		if o := c.storedPost(t, saved.path).Options; o.X.Poll != nil || o.Threads.PollAttachment == nil {
			t.Errorf("options %+v, want only the poll on Threads", o)
		}
		b.open(saved.path+"/edit").form("Save").fill("threads-topic", "a.b").press().
			shows(http.StatusUnprocessableEntity, "A topic can have at most 50 characters")
		b.open(saved.path+"/edit").form("Save").fill("threads-quote", "https://threads.net/x").press().
			shows(http.StatusUnprocessableEntity, "Enter the ID of a post")
	})
}
