package app

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom/internal/core/access"
	"pressroom/internal/testkit"
	"pressroom/internal/testkit/fixture"
	"pressroom/internal/testkit/must"
)

// told is a message of a stream.
type told struct {
	Topic  string
	ID     string
	Unread *int
}

// follows opens a stream and returns its messages. The channel is closed when the server ends the stream.
func (b *browser) follows(t *testing.T) <-chan told {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	r := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, b.root+"/live", nil))(t)
	resp := must.Get(b.http.Do(r))(t)
	t.Cleanup(func() { _ = resp.Body.Close() })
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		t.Fatalf("the stream is %d, %s", resp.StatusCode, kind)
	}
	out := make(chan told, 100)
	lines := bufio.NewScanner(resp.Body)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "retry: ") {
		t.Fatalf("the stream begins with %q", lines.Text())
	}
	go func() {
		defer close(out)
		for lines.Scan() {
			var m told
			if raw, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(raw), &m) == nil {
				out <- m
			}
		}
	}()
	return out
}

// hears waits for a message of a stream.
func hears(t *testing.T, stream <-chan told, topic, id string) told {
	t.Helper()
	limit := time.After(10 * time.Second)
	for {
		select {
		case m, open := <-stream:
			if !open {
				t.Fatalf("the stream ended before it told of %s %s", topic, id)
			}
			if m.Topic == topic && (m.ID == id || id == "") {
				return m
			}
		case <-limit:
			t.Fatalf("the stream does not tell of %s %s", topic, id)
		}
	}
}

// ends waits for the end of a stream.
func ends(t *testing.T, stream <-chan told) {
	t.Helper()
	limit := time.After(25 * time.Second)
	for {
		select {
		case _, open := <-stream:
			if !open {
				return
			}
		case <-limit:
			t.Fatal("the stream goes on")
		}
	}
}

// Streams tell of the team's posts and jobs and of the person's notifications, and of nothing else.
func TestLiveChanges(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c, other := h.crew(t), h.crew(t)
		editor, elsewhere := c.as(t, access.Editor).follows(t), other.as(t, access.Owner).follows(t)
		id := c.draft(t, "A draft", "")
		hears(t, editor, "post", id)
		c.callTool(t, "publish_post", map[string]any{"post_id": id})
		hears(t, editor, "job", "")
		failing := c.draft(t, "It fails [sandbox:reject]", "")
		c.callTool(t, "publish_post", map[string]any{"post_id": failing})
		if m := hears(t, editor, "notice", ""); m.Unread == nil || *m.Unread == 0 {
			t.Errorf("the notification is not counted: %+v", m)
		}
		select {
		case m := <-elsewhere:
			t.Errorf("another team is told of %+v", m)
		default:
		}
	})
}

// A stream ends with its session, and when its person leaves the team.
func TestLiveStreamsEnd(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.as(t, access.Viewer)
		out, left, stays := b.follows(t), c.as(t, access.Editor).follows(t), c.as(t, access.Owner).follows(t)
		b.open("/").form("Sign out").press()
		must.NoError(t, c.Teams.RemoveMember(t.Context(), c.team.ID, c.people[access.Editor].ID))
		ends(t, left)
		ends(t, out)
		id := c.draft(t, "For the owner", "")
		hears(t, stays, "post", id)
		if got := b.open("/live"); strings.Contains(got.source, "retry:") {
			t.Error("somebody who is signed out has a stream")
		}
	})
}

// A person has at most twelve streams on a node. A node that stops ends all at once.
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
				t.Fatalf("a stream is refused: %d", resp.StatusCode)
			}
		}
		b.open("/live").wants(503)
		stream := c.as(t, access.Owner).follows(t)
		began := time.Now()
		must.NoError(t, h.stop())
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("stopping took %v", took)
		}
		ends(t, stream)
	})
}

// A node tells of what happened on another one.
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
		stream := there.follows(t)
		hears(t, stream, "post", c.draft(t, "On the first node", ""))
	})
}
