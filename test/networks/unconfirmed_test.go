package networks

import (
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/delivery"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// TestUnconfirmed makes every network hide the outcome of a post. A person then decides.
func TestUnconfirmed(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		posts := w.publishHidden()
		for _, s := range posts {
			if got := w.outcome(s); got != "unconfirmed" {
				t.Errorf("%q on %s: %s", s.text, s.platform, got)
			}
			w.checkCopies(s, 1, 1)
		}
		for range 5 { // further lookups have no result
			w.clock.Advance(4 * time.Hour)
		}
		for i, s := range posts {
			decision := delivery.Decision{Published: i%2 == 0}
			must.NoError(t, w.node.Delivery.Decide(t.Context(), w.owner, w.team, s.id, w.accounts[s.platform][usual], decision))
			want := map[bool]string{true: "once", false: "fails: `network_error`"}[decision.Published]
			if got := w.storedState(s); got != want {
				t.Errorf("%q on %s after the decision: %s, want %s", s.text, s.platform, got, want)
			}
			w.checkCopies(s, 1, 1)
		}
	})
}

// publishHidden publishes posts whose outcome the networks hide, one for each kind of lookup.
func (w *env) publishHidden() []sent {
	w.t.Helper()
	var posts []sent
	publish := func(platform, text string, media []int64) {
		posts = append(posts, w.publish(w.draft(platform, usual, w.caption("unconfirmed", platform, text), media)))
	}
	for i, platform := range w.networks {
		publish(platform, "[sandbox:unconfirmed]", w.least(platform))
		publish(platform, "as a video [sandbox:unconfirmed@"+platform+"]", film(w, platform))
		other := w.networks[(i+1)%len(w.networks)]
		// The response arrives, so the outcome is known.
		s := w.publish(w.draft(platform, usual, w.caption("confirmed", platform, "[sandbox:unconfirmed@"+other+"]"), w.least(platform)))
		if got := w.outcome(s); got != once {
			w.t.Errorf("a marker of %s on %s: %s", other, platform, got)
		}
	}
	if slices.Contains(w.networks, "tiktok") {
		publish("tiktok", "as a picture [sandbox:unconfirmed]", w.images[:1])
	}
	return posts
}

// storedState returns the stored state of the post's account.
func (w *env) storedState(s sent) string {
	w.t.Helper()
	accounts, _ := w.get("/posts/" + s.id)["accounts"].([]any)
	account, _ := accounts[0].(map[string]any)
	if account["state"] == "failed" {
		return "fails: `" + account["error_code"].(string) + "`"
	}
	return map[any]string{"published": once}[account["state"]]
}
