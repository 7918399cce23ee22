package notification_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A refused message is sent again with the same ID, at the earliest when the service says, and given up after the last attempt. The
// address, which is a secret, is in no error and not readable in the database.
func TestChannelRetries(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Webhook, base+"/secret-path")))(t)
		c.answer(http.StatusTooManyRequests)
		w.fail(t, "p1", 1)
		w.clock.Advance(10 * time.Second)
		w.sendAll(t)
		w.clock.Advance(29 * time.Minute) // Retry-After is half an hour
		if n := w.sendAll(t); n != 0 {
			t.Errorf("sent again before Retry-After")
		}
		state := must.Get(w.Channels(t.Context()))(t)[0]
		if state.Error != "the service answered with status 429" || state.FailedAt.IsZero() {
			t.Errorf("%+v", state)
		}
		for range 10 {
			w.clock.Advance(6*time.Hour + time.Minute)
			w.sendAll(t)
		}
		attempts := c.take()
		id := attempts[0].header.Get("Webhook-Id")
		if len(attempts) < 4 || len(attempts) > 6 || id == "" || id != attempts[1].header.Get("Webhook-Id") {
			t.Errorf("%d attempts", len(attempts))
		}
		c.answer(0)
		must.NoError(t, w.TestChannel(t.Context(), state.ID))
		if got := c.take(); len(got) != 1 || got[0].body["type"] != "test" {
			t.Errorf("%v", got)
		}
		if state = must.Get(w.Channels(t.Context()))(t)[0]; state.Error != "" || state.SentAt.IsZero() {
			t.Errorf("%+v", state)
		}
		var sealed []byte
		must.NoError(t, w.db.QueryRow(t.Context(), `SELECT sealed FROM notice_channels`).Scan(&sealed))
		if strings.Contains(string(sealed), "secret-path") || strings.Contains(asJSON(t, state), "secret-path") {
			t.Error("the address is readable")
		}
	})
}

// A failing channel waits with all its messages, which follow in order. The others do not wait.
func TestChannelWaits(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Webhook, base+"/hook")))(t)
		links := func() string {
			var out string
			for _, r := range c.take() {
				out += strings.TrimPrefix(fmt.Sprint(r.body["url"]), "https://press.example/posts/") + " "
			}
			return out
		}
		for _, status := range []int{http.StatusTooManyRequests, http.StatusGone} {
			c.answer(status)
			for _, post := range []string{"p1", "p2", "p3"} {
				w.fail(t, post, 1)
			}
			w.clock.Advance(10 * time.Second)
			w.sendAll(t)
			if got := links(); got != "p1 " {
				t.Errorf("%d: the channel did not wait: %s", status, got)
			}
			state := must.Get(w.Channels(t.Context()))(t)[0]
			if advised := strings.Contains(state.Error, "enter a new address"); advised != (status == http.StatusGone) {
				t.Error(state.Error)
			}
			c.answer(0)
			w.clock.Advance(31 * time.Minute)
			w.sendAll(t)
			if got := links(); got != "p1 p2 p3 " {
				t.Errorf("%d: %s", status, got)
			}
		}
		c.answer(http.StatusBadRequest) // about one message
		w.fail(t, "p1", 1)
		w.fail(t, "p2", 1)
		w.clock.Advance(10 * time.Second)
		w.sendAll(t)
		w.clock.Advance(2 * time.Hour)
		w.sendAll(t)
		if got := links(); got != "p1 p2 " {
			t.Errorf("refused messages: %s", got)
		}
		c.answer(http.StatusInternalServerError)
		w.fail(t, "p1", 1)
		w.clock.Advance(10 * time.Second)
		w.sendAll(t)
		c.answer(0)
		must.NoError(t, w.TestChannel(t.Context(), 1))
		if n := w.sendAll(t); n != 1 {
			t.Errorf("%d messages after a successful test", n)
		}
	})
}

// A channel that does not answer does not delay the others, and gets one message at a time.
func TestChannelSlow(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		c.slow, c.arrived = "/slow", make(chan string, 10)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/slow")))(t)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/fast")))(t)
		for _, post := range []string{"p1", "p2", "p3"} {
			w.fail(t, post, 1)
		}
		w.clock.Advance(10 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan bool)
		go func() {
			w.RunChannels(ctx, func(err error) { t.Error(err) })
			close(ended)
		}()
		got := map[string]int{}
		for timeout := time.After(15 * time.Second); got["/fast"] < 3 || got["/slow"] < 1; {
			select {
			case path := <-c.arrived:
				got[path]++
			case <-timeout:
				t.Fatalf("after 15 seconds: %v", got)
			}
		}
		cancel()
		<-ended
		if len(c.take()) != 4 {
			t.Errorf("more messages than three fast ones and a slow one: %v", got)
		}
	})
}

// A damaged notice does not block its channel or others.
func TestChannelDamagedNotice(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/x")))(t)
		w.fail(t, "p1", 1)
		must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE channel_notices SET detail = '{'`)
			return err
		}))
		w.fail(t, "p2", 1)
		w.clock.Advance(10 * time.Second)
		w.sendAll(t)
		if got := c.take(); len(got) != 1 {
			t.Errorf("%d messages", len(got))
		}
	})
}
