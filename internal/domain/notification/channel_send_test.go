package notification_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
)

// A rejected message is sent again with the same ID, but not before the time that the service requests. It is discarded
// after the last attempt. The address is a secret. It appears in no error and is not readable in the database.
func TestChannelRetries(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Webhook, base+"/secret-path")))(t)
		c.wait = "1800"
		c.answer(http.StatusTooManyRequests)
		w.fail(t, "p1", 1)
		w.clock.Advance(10 * time.Second)
		w.sendAll(t)
		w.clock.Advance(29 * time.Minute) // Retry-After is half an hour
		if n := w.sendAll(t); n != 0 {
			t.Errorf("sent again before Retry-After")
		}
		state := must.Get(w.Channels(t.Context()))(t)[0]
		if state.Error.Text(locale.English) != "The service responded with status 429." || state.FailedAt.IsZero() {
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
		printed := asJSON(t, notification.Channel{Error: "status:429"})
		if !strings.Contains(printed, `"The service responded with status 429."`) {
			t.Error(printed)
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

// A failing channel waits with all its messages and then sends them in order. Other channels do not wait.
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
			if advised := strings.Contains(state.Error.Text(locale.English), "Enter a new one."); advised != (status == http.StatusGone) {
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
			t.Errorf("rejected messages: %s", got)
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

// A dead channel is called after 1, 5, 30 and 60 minutes, and then every hour. This also applies if messages expire and
// others follow. A success, a successful test and a new address reset the delay.
func TestChannelDelays(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		channel := must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/x")))(t)
		c.answer(http.StatusGone)
		w.fail(t, "p1", 1)
		w.clock.Advance(10 * time.Second)
		waits := func(steps int) []int {
			var minutes []int
			for minute, last := 0, 0; len(minutes) < steps; minute++ {
				w.fail(t, fmt.Sprint("p", w.clock.Now().UnixMicro()), 1)
				w.sendAll(t)
				if got := len(c.take()); got > 0 {
					minutes, last = append(minutes, minute-last), minute
				}
				w.clock.Advance(time.Minute)
			}
			return minutes
		}
		if got := fmt.Sprint(waits(29)); got != "[0 1 5 30 60"+strings.Repeat(" 60", 24)+"]" { // 25 hours
			t.Error(got)
		}
		c.answer(0)
		for name, reset := range map[string]func() error{
			"test": func() error { return w.TestChannel(t.Context(), channel.ID) },
			"address": func() error {
				return w.ChangeChannel(t.Context(), channel.ID, notification.ChannelChange{Name: "x", URL: base + "/y"})
			},
			"success": func() error {
				w.clock.Advance(time.Hour)
				for len(c.take()) == 0 { // the oldest messages are too old
					must.Get(w.SendNextToChannel(t.Context()))(t)
				}
				return nil
			},
		} {
			must.NoError(t, reset())
			c.answer(http.StatusInternalServerError)
			c.take()
			if got := fmt.Sprint(waits(4)); got != "[0 1 5 30]" {
				t.Errorf("after a reset by %s: %s", name, got)
			}
			c.answer(0)
		}
	})
}

// While a sender waits for a slow response, a test and a new address do not let another sender send the same message.
// The result is not recorded for the new address.
func TestChannelClaim(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		channel := must.Get(w.AddChannel(t.Context(), newChat(notification.Webhook, base+"/slow")))(t)
		w.fail(t, "p1", 1)
		w.clock.Advance(10 * time.Second)
		c.slow, c.arrived = "/slow", make(chan string, 10)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := w.SendNextToChannel(ctx)
			ended <- err
		}()
		<-c.arrived
		must.NoError(t, w.ChangeChannel(t.Context(), channel.ID, notification.ChannelChange{Name: "x", URL: base + "/fast"}))
		must.NoError(t, w.TestChannel(t.Context(), channel.ID))
		if n := w.sendAll(t); n != 0 {
			t.Errorf("%d messages were sent beside the first one", n)
		}
		c.release()
		must.NoError(t, <-ended)
		cancel()
		if state := must.Get(w.Channels(t.Context()))(t)[0]; state.Error != "" {
			t.Errorf("the new address has the failure of the old one: %s", state.Error)
		}
		c.answer(0)
		if n := w.sendAll(t); n != 1 {
			t.Errorf("%d messages to the new address", n)
		}
		got := c.take()
		if len(got) != 3 || got[2].path != "/fast" || got[2].header.Get("Webhook-Id") != got[0].header.Get("Webhook-Id") {
			t.Errorf("%d requests", len(got))
		}
	})
}

// Concurrent senders claim different channels. No sender stops while another channel is due.
func TestChannelSenders(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		_, base := withChannels(t, w)
		for n := range 2 {
			must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/"+fmt.Sprint(n))))(t)
		}
		w.fail(t, "p1", 1)
		w.clock.Advance(10 * time.Second)
		if !w.db.Postgres() { // SQLite has one writer at a time
			return
		}
		must.NoError(t, w.db.InTx(t.Context(), "test.claim", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE notice_channels SET name = 'locked' WHERE id = 1`)
			if found, sendErr := w.SendNextToChannel(t.Context()); !found || sendErr != nil {
				t.Errorf("the other channel was not claimed (%v)", sendErr)
			}
			return err
		}))
	})
}

// A channel that does not respond does not delay other channels, and gets one message at a time.
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

// A damaged notification does not block its channel or others.
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
