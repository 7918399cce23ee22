package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// publishedMedia returns the number of media of each post on the networks that contains the words. It checks that the
// media can be downloaded.
func (w *env) publishedMedia(words string) []int {
	w.t.Helper()
	var got struct{ Posts []struct{ Media []string } }
	w.fetch(w.box.URL+"/held?contains="+url.QueryEscape(words), &got)
	counts := []int{}
	for _, p := range got.Posts {
		counts = append(counts, len(p.Media))
		for _, address := range p.Media {
			w.fetch(address, nil)
		}
	}
	return counts
}

// fetch requests a URL of the sandbox, and decodes the body if into is not nil.
func (w *env) fetch(address string, into any) {
	w.t.Helper()
	resp := must.Get(client.Get(address))(w.t)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		w.t.Errorf("%s: %d", address, resp.StatusCode)
	}
	if into != nil {
		must.NoError(w.t, json.NewDecoder(resp.Body).Decode(into))
	}
}

// A post is published with its media in order, and a retry includes them.
func TestPublishingMedia(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		addMedia(4)(w)
		draft := func(caption string, names ...string) string {
			return w.full("create_post",
				mergeArgs(w.mediaIDs(names...), map[string]any{"caption": caption, "account_ids": w.accounts})).text("data.id")
		}
		for caption, names := range map[string][]string{
			"four shots": {"3", "1", "0", "2"}, "one clip": {"video"}, "no words and no shots": {},
		} {
			w.publish(draft(caption, names...)).mustHave(t, map[string]any{"data.state": "succeeded"})
			if got, want := w.publishedMedia(caption), []int{len(names), len(names)}; !slices.Equal(got, want) {
				t.Errorf("%s: held %v, want %v", caption, got, want)
			}
		}
		again := draft("mended [sandbox:reject]", "0", "1")
		w.publish(again).mustHave(t, map[string]any{"data.state": "failed"})
		w.exec("UPDATE posts SET caption = 'mended' WHERE id = ?", again)
		w.awaitJob(w.full("retry_post", map[string]any{"post_id": again}).text("data.job_id")).
			mustHave(t, map[string]any{"data.state": "succeeded"})
		if got := w.publishedMedia("mended"); !slices.Equal(got, []int{2, 2}) {
			t.Errorf("held after a retry: %v", got)
		}
		w.post(again).mustHave(t, map[string]any{"data.media.0.id": w.note("0"), "data.media.1.id": w.note("1")})
	})
}

// Media are converted if the network requires another format.
func TestMediaConverted(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		w.setNoteID("gif", w.addFiles(0, aGIF("moving.gif"))[0])
		w.publish(w.full("create_post",
			toFirst(mergeArgs(w.mediaIDs("gif"), map[string]any{"caption": "its first frame"}))(w)).text("data.id")).
			mustHave(t, map[string]any{"data.state": "succeeded"})
		if got := w.publishedMedia("its first frame"); !slices.Equal(got, []int{1}) {
			t.Errorf("held: %v", got)
		}
	})
}

// A scheduled post is published with the media it had at its time.
func TestScheduledMedia(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		addMedia(3)(w)
		id := w.schedulePost("at its time", 48*time.Hour)
		w.full("update_post", mergeArgs(w.mediaIDs("2", "0"), map[string]any{"id": id}))
		w.makeDue(id)
		w.until("the post to go out", func() bool { return w.post(id).text("data.status") == "published" })
		if got := w.publishedMedia("at its time"); !slices.Equal(got, []int{2}) {
			t.Errorf("held: %v", got)
		}
		got := w.rest(full(w), "update_post", mergeArgs(w.mediaIDs("1"), map[string]any{"id": id}), "")
		got.mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "wrong_state")
	})
}
