package e2e

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// webPage is a web page that a browser has loaded.
type webPage struct {
	t      *testing.T
	status int
	kind   string
	text   string
}

func (w *env) loadPage(resp *http.Response, err error) webPage {
	w.t.Helper()
	must.NoError(w.t, err)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(w.t)
	return webPage{w.t, resp.StatusCode, resp.Header.Get("Content-Type"), string(raw)}
}

func (b webPage) mustShow(texts ...string) {
	b.t.Helper()
	for _, text := range texts {
		if b.status != http.StatusOK || !strings.Contains(b.text, text) {
			b.t.Fatalf("%d without %q: %s", b.status, text, b.text)
		}
	}
}

// A client approves a post with only the link, and the post is published.
func TestClientApproves(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		addMedia(1)(w)
		id := w.full("create_post", toFirst(mergeArgs(w.mediaIDs("0"), map[string]any{"caption": "for the client"}))(w)).text("data.id")
		link := must.Get(w.Approvals.Request(t.Context(), w.owner, id))(t)
		w.loadPage(client.Get(link)).mustShow("for the client", "/images/"+w.note("0"))
		if picture := w.loadPage(client.Get(link + "/images/" + w.note("0"))); picture.status != http.StatusOK ||
			!strings.HasPrefix(picture.kind, "image/") {
			t.Errorf("%d %s", picture.status, picture.kind)
		}
		when := map[string]any{"post_id": id, "scheduled_at": ahead(48 * time.Hour)}
		w.rest(full(w), "schedule_post", when, "").mustReject(t, http.StatusForbidden, "awaiting_client_approval", "")
		w.loadPage(client.PostForm(link, url.Values{"decision": {"approve"}, "round": {"1"}, "name": {"Cleo"}})).mustShow("Approved by")
		w.post(id).mustHave(t, map[string]any{"data.approval": "approved"})
		w.full("schedule_post", when)
		w.makeDue(id)
		w.until("the post to go out", func() bool { return w.post(id).text("data.status") == "published" })
		if held := w.accountsWith("for the client"); len(held) != 1 {
			t.Errorf("published on %v", held)
		}
	})
}

// A client's comment with a rejection is returned with the post as untrusted text until the team changes the post.
func TestClientRejects(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		id := w.full("create_post", toFirst(map[string]any{"caption": "for the client"})(w)).text("data.id")
		link := must.Get(w.Approvals.Request(t.Context(), w.owner, id))(t)
		w.loadPage(client.PostForm(link,
			url.Values{"decision": {"reject"}, "round": {"1"}, "name": {"Cleo"}, "comment": {"Not this picture."}})).
			mustShow("Changes requested by")
		told := w.post(id)
		told.mustHave(t, map[string]any{
			"data.approval": "rejected", "data.client_review.comment.untrusted": "u1",
			"untrusted_content.0.text": "Not this picture.", "untrusted_content.0.source.kind": "client_comment",
		})
		if told.text("data.client_review.decided_at.utc") == "" {
			t.Error("the time of the client's decision is missing")
		}
		w.full("update_post", map[string]any{"id": id, "caption": "for the client, with another picture"})
		if changed := w.post(id); strings.Contains(string(changed.raw), "client_review") {
			t.Errorf("the client's comment remains after a change of the post: %s", changed.raw)
		}
	})
}
