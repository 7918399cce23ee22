package networks

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit"
)

// try is a test case that runs on every network.
type try struct {
	name string
	text string // start of the caption, before a unique part
	who  string
	// media returns the post's media; the default is the network's minimum.
	media func(w *env, platform string) []int64
	want  string
	but   map[string]string // deviating outcomes by network
}

const (
	once        = "once"
	noImages    = "not sent: `media_type`"
	notApproved = "fails: `app_not_approved`"
)

var noText = map[string]string{
	"instagram": "not sent: `media_missing`", "tiktok": "not sent: `media_missing`",
	"youtube": "not sent: `media_missing`", "pinterest": "not sent: `media_missing`",
}

// tries lists the cases that depend on a marker or on the content.
var tries = []try{
	{name: "text only", media: nothing, want: once, but: noText},
	{name: "an image", media: images(1), want: once, but: map[string]string{"youtube": noImages}},
	{name: "three images", media: images(3), want: once, but: map[string]string{"youtube": "not sent: `media_too_many, media_type`"}},
	{name: "a video", media: film, want: once},
	{name: "text of 9,000 characters", text: strings.Repeat("abcdefgh ",
		999), want: "not sent: `caption_too_long`", but: map[string]string{"facebook": once}},
	{name: "the network rejects the content", text: "[sandbox:reject]", want: "fails: `rejected_content`"},
	{name: "the network fails for a moment", text: "[sandbox:error]", want: once},
	{name: "the network does not find the post's media for a moment", text: "[sandbox:media-not-found]", want: once},
	{name: "the network has not approved the app", text: "[sandbox:unapproved]", want: once, but: map[string]string{
		"tiktok": notApproved, "youtube": notApproved, "pinterest": notApproved, "x": notApproved,
	}},
	{name: "the network rejects the post after accepting it", text: "[sandbox:drop]", want: once, but: map[string]string{
		"youtube": "fails: `duplicate_content`",
	}},
	{name: "the network keeps limiting requests", text: "[sandbox:rate-limit]", want: "fails: `rate_limited`"},
	{name: "the response to the publication is lost", text: "[sandbox:lost-answer]", want: once},
	{name: "the network is slow", text: "[sandbox:slow=2]", want: once},
	{name: "the network takes longer than pressroom waits", text: "[sandbox:slow=25]", want: once},
	{name: "the connection has ended", text: "[sandbox:expired-token]", who: expendable, want: "fails: `account_needs_reauth`"},
}

func nothing(*env, string) []int64 { return nil }

func film(w *env, _ string) []int64 { return []int64{w.video} }

func images(n int) func(*env, string) []int64 {
	return func(w *env, _ string) []int64 { return w.images[:n] }
}

// TestNetworks runs every case with every network, and checks the table in docs/networks.md.
func TestNetworks(t *testing.T) {
	testkit.EachDatabase(t, func(t *testing.T, database string) {
		t.Parallel()
		w := newEnv(t, database)
		table := newTable(w.networks)
		w.tryAll(table)
		w.reconnect(table)
		w.publishTwice(table)
		w.publishExpired(table)
		w.cancelScheduled(table)
		w.each(table, "a response is lost, at each step", func(which int, begin func() []sent) []sent {
			return w.loseAnswers(which, begin)
		})
		w.each(table, "the program is killed, before each step", func(which int, begin func() []sent) []sent {
			return w.killDuring(which, heldFirst, begin)
		})
		w.each(table, "the program is killed, after each step", func(which int, begin func() []sent) []sent {
			return w.killDuring(which, heldLast, begin)
		})
		table.check(t)
	})
}

func (w *env) tryAll(table *table) {
	w.t.Helper()
	posts := map[string][]sent{}
	for _, c := range tries {
		for _, platform := range w.networks {
			media := w.least(platform)
			if c.media != nil {
				media = c.media(w, platform)
			}
			who := usual
			if c.who != "" {
				who = c.who
			}
			posts[c.name] = append(posts[c.name], w.publish(w.draft(platform, who, w.caption(c.name, platform, c.text), media)))
		}
	}
	for _, c := range tries {
		for _, s := range posts[c.name] {
			want, special := c.but[s.platform]
			if !special {
				want = c.want
			}
			w.expect(table, c.name, s.platform, w.outcome(s), want)
		}
	}
}

// caption returns a unique text, short enough for every network, followed by more.
func (w *env) caption(name, platform, more string) string {
	return strings.TrimSpace(fmt.Sprintf("%s on %s %s", name, platform, more))
}

func (w *env) expect(table *table, name, platform, got, want string) {
	w.t.Helper()
	table.set(name, platform, got)
	if got != want {
		w.t.Errorf("%s on %s: %s, want %s", name, platform, got, want)
	}
}

// reconnect reconnects lost accounts and retries the posts that failed because of them.
func (w *env) reconnect(table *table) {
	w.t.Helper()
	const name = "connected again, and retried"
	var posts []sent
	for _, platform := range w.networks {
		s := w.publish(w.draft(platform, expendable, w.caption(name, platform, ""), w.least(platform)))
		if s.rejected != "account_inactive" {
			w.t.Errorf("a post to a lost account of %s: %q", platform, s.rejected)
		}
		account := w.accounts[platform][expendable]
		if again := w.connect(platform, expendable, url.Values{"account_id": {fmt.Sprint(account)}}); again != account {
			w.t.Errorf("account %d of %s was reconnected as %d", account, platform, again)
		}
		posts = append(posts, w.publish(s.again()))
	}
	for _, s := range posts {
		w.expect(table, name, s.platform, w.outcome(s), once)
	}
}

// again returns a copy of the post without an outcome.
func (s sent) again() sent {
	s.rejected = ""
	return s
}

// publishTwice publishes the same text twice.
func (w *env) publishTwice(table *table) {
	w.t.Helper()
	const name = "the same text a second time"
	reject := map[string]string{
		"x": "fails: `duplicate_content`", "linkedin": "fails: `duplicate_content`", "facebook": "fails: `duplicate_content`",
	}
	again := func() []sent {
		var posts []sent
		for _, platform := range w.networks {
			posts = append(posts, w.publish(w.draft(platform, usual, w.caption(name, platform, ""), w.least(platform))))
		}
		return posts
	}
	for _, first := range again() {
		if got := w.outcome(first); got != once {
			w.t.Errorf("%s on %s, at first: %s", name, first.platform, got)
		}
	}
	for _, second := range again() {
		w.awaitJob(second)
		want, rejected := reject[second.platform]
		if !rejected {
			want = once
		}
		w.expect(table, name, second.platform, w.accountState(second, 2), want)
	}
}

// publishExpired publishes after short-lived access tokens have expired.
func (w *env) publishExpired(table *table) {
	w.t.Helper()
	const name = "published hours later, with an expired token"
	w.clock.Advance(5 * time.Hour)
	var posts []sent
	for _, platform := range w.networks {
		posts = append(posts, w.publish(w.draft(platform, usual, w.caption(name, platform, ""), w.least(platform))))
	}
	for _, s := range posts {
		w.expect(table, name, s.platform, w.outcome(s), once)
	}
}

// cancelScheduled cancels scheduled posts, some in time and some too late.
func (w *env) cancelScheduled(table *table) {
	w.t.Helper()
	const early, late = "canceled in time", "canceled too late"
	due := w.clock.Now().Add(5 * time.Second).UTC().Format(time.RFC3339)
	var before, after []sent
	for _, platform := range w.networks {
		s := w.draft(platform, usual, w.caption(early, platform, ""), w.least(platform))
		w.ok(http.MethodPost, "/posts/"+s.id+"/schedule", map[string]any{"scheduled_at": due})
		w.ok(http.MethodPost, "/posts/"+s.id+"/cancel", nil)
		before = append(before, s)
		s = w.publish(w.draft(platform, usual, w.caption(late, platform, "[sandbox:slow=2]"), w.least(platform)))
		if got := w.call(http.MethodPost, "/posts/"+s.id+"/cancel", nil); got.Code() != "validation_failed" {
			w.t.Errorf("%s on %s: %d %s", late, platform, got.Status, got.Code())
		}
		after = append(after, s)
	}
	w.clock.Advance(10 * time.Second)
	for _, s := range after {
		w.expect(table, late, s.platform, w.outcome(s), once)
	}
	for _, s := range before {
		w.checkCopies(s, 0, 0)
		got := "not sent"
		if status := w.get("/posts/" + s.id)["status"]; status != "draft" {
			got = fmt.Sprint(status)
		}
		w.expect(table, early, s.platform, got, "not sent")
	}
}

func (w *env) ok(method, path string, body any) {
	w.t.Helper()
	if got := w.call(method, path, body); got.Code() != "" {
		w.t.Fatalf("%s %s: %d %s", method, path, got.Status, got.Code())
	}
}

// mostSteps is the maximum number of requests of one publication.
const mostSteps = 15

// each publishes repeatedly and interrupts the first, second, … request, until no publication has as many requests.
func (w *env) each(table *table, name string, round func(which int, begin func() []sent) []sent) {
	w.t.Helper()
	for step := 1; step <= mostSteps; step++ {
		begin := func() []sent {
			var posts []sent
			for _, platform := range w.networks {
				text := w.caption(fmt.Sprintf("%s %d", name, step), platform, "")
				posts = append(posts, w.publish(w.draft(platform, usual, text, w.mediaWithImage(platform))))
			}
			return posts
		}
		posts := round(step, begin)
		for _, s := range posts {
			got := w.outcome(s)
			w.expect(table, name, s.platform, got, once)
		}
		if len(w.proxy.affectedNetworks()) == 0 {
			return
		}
	}
	w.t.Errorf("%s: a publication has more than %d requests", name, mostSteps)
}

// loseAnswers loses the response to one request of each network.
func (w *env) loseAnswers(which int, begin func() []sent) []sent {
	w.proxy.expect(which, lost)
	posts := begin()
	for _, s := range posts {
		w.awaitJob(s)
	}
	w.proxy.release()
	return posts
}

// killDuring kills the server when the intercepted request of each network is waiting or its job has ended.
func (w *env) killDuring(which int, fault fault, begin func() []sent) []sent {
	w.t.Helper()
	w.proxy.expect(which, fault)
	posts := begin()
	for begun := time.Now(); !w.waiting(posts) && time.Since(begun) < outcomeWithin; {
		<-time.After(pollEvery)
	}
	w.kill()
	w.clock.Advance(lease) // the dead worker's leases have expired
	return posts
}

// waiting reports whether, for every post, a request to its network is waiting or its job has ended.
func (w *env) waiting(posts []sent) bool {
	w.t.Helper()
	affectedNetworks := w.proxy.affectedNetworks()
	for _, s := range posts {
		if !affectedNetworks[s.platform] && w.get(s.job)["finished"] != true {
			return false
		}
	}
	return true
}
