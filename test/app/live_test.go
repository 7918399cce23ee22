package app

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/fixture"
	"pressroom.example/pressroom/internal/testkit/must"
)

// liveMessage is a message of an event stream.
type liveMessage struct {
	Topic  string
	ID     string
	Unread *int
}

// openStream opens an event stream and returns its messages. The channel is closed when the server ends the stream.
func (b *browser) openStream(t *testing.T) <-chan liveMessage {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, b.root+"/live", nil))(t)
	resp := must.Get(b.http.Do(r))(t)
	t.Cleanup(func() { _ = resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("stream response: %d, %s", resp.StatusCode, kind)
	}
	out := make(chan liveMessage, 100)
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "retry: ") {
		t.Fatalf("first line of the stream = %q", lines.Text())
	}
	go func() {
		defer close(out)
		for lines.Scan() {
			var m liveMessage
			if raw, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(raw), &m) == nil {
				out <- m
			}
		}
	}()
	return out
}

// awaitMessage waits for the message with a topic and ID.
func awaitMessage(t *testing.T, stream <-chan liveMessage, topic, id string) liveMessage {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case m, open := <-stream:
			if !open {
				t.Fatalf("the stream ended before the message %s %s", topic, id)
			}
			if m.Topic == topic && (m.ID == id || id == "") {
				return m
			}
		case <-limit:
			t.Fatalf("no message %s %s", topic, id)
		}
	}
}

// awaitStreamEnd waits until the server ends the stream.
func awaitStreamEnd(t *testing.T, stream <-chan liveMessage) {
	t.Helper()
	limit := time.After(25 * time.Second)
	for {
		select {
		case _, open := <-stream:
			if !open {
				return
			}
		case <-limit:
			t.Fatal("the stream did not end")
		}
	}
}

// A stream reports only changes to the team's posts and jobs and to the person's notifications.
func TestLiveChanges(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		editor, elsewhere := c.as(t, access.Editor).openStream(t), other.as(t, access.Owner).openStream(t)
		id := c.draft(t, "A draft", "")
		awaitMessage(t, editor, "post", id)
		c.callTool(t, "publish_post", map[string]any{"post_id": id})
		awaitMessage(t, editor, "job", "")
		failing := c.draft(t, "It fails [sandbox:reject]", "")
		c.callTool(t, "publish_post", map[string]any{"post_id": failing})
		if m := awaitMessage(t, editor, "notice", ""); m.Unread == nil || *m.Unread == 0 {
			t.Errorf("error unread count: %+v", m)
		}
		select {
		case m := <-elsewhere:
			t.Errorf("another team received %+v", m)
		default:
		}
	})
}

// A stream ends when its session ends or its person leaves the team.
func TestLiveStreamsEnd(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		out, left, stays := b.openStream(t), c.as(t, access.Editor).openStream(t), c.as(t, access.Owner).openStream(t)
		b.open("/").form("Sign out").press()
		must.NoError(t, c.Teams.RemoveMember(t.Context(), c.team.ID, c.people[access.Editor].ID))
		awaitStreamEnd(t, left)
		awaitStreamEnd(t, out)
		id := c.draft(t, "For the owner", "")
		awaitMessage(t, stays, "post", id)
		if got := b.open("/live"); strings.Contains(got.source, "retry:") {
			t.Error("a signed-out browser has a stream")
		}
	})
}

// A person can have twelve streams per node. A node that shuts down ends all streams immediately.
func TestLiveLimitAndShutdown(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		h := open(t, url)
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		for range 12 {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, b.root+"/live", nil))(t)
			resp := must.Get(b.http.Do(r))(t)
			t.Cleanup(func() { _ = resp.Body.Close() })
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("opening a stream: %d", resp.StatusCode)
			}
		}
		b.open("/live").shows(503)
		stream := c.as(t, access.Owner).openStream(t)
		began := time.Now()
		must.NoError(t, h.stop())
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("shutdown took %v", took)
		}
		awaitStreamEnd(t, stream)
	})
}

// A stream reports changes that were made on another node.
func TestLiveAcrossNodes(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		h := open(t, url)
		c := h.crew(t)
		cfg := h.cfg
		cfg.PublicURL = ""
		second := fixture.Serve(t, cfg)
		t.Cleanup(func() { must.NoError(t, second.Stop()) })
		there := c.as(t, access.Editor) // its cookies apply to both ports
		there.root = second.URL
		stream := there.openStream(t)
		awaitMessage(t, stream, "post", c.draft(t, "On the first node", ""))
	})
}
