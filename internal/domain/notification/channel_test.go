package notification_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Each service gets a notification in its own format. The team's name, which is the only user input, is escaped. A post
// that fails on two accounts results in one message.
func TestChannelFormats(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE teams SET name = ? WHERE id = ?`, "*Ha<r>bour* @all [_`~#](https://x.y)", w.team)
			return err
		}))
		add := func(service notification.ChannelService, path, token string) notification.Channel {
			return must.Get(w.AddChannel(t.Context(), notification.NewChannel{
				Service: service, Name: string(service), URL: base + path, Token: token,
			}))(t)
		}
		add(notification.Slack, "/services/T0/B0/secret", "")
		add(notification.Discord, "/api/webhooks/1/secret", "")
		add(notification.Teams, "/workflows/secret/triggers/manual", "")
		add(notification.Ntfy, "/press/alerts", "tk_secret")
		secret := add(notification.Webhook, "/hook", "").SigningSecret
		w.fail(t, "p1", 1)
		w.fail(t, "p1", 2)
		if n := w.sendAll(t); n != 0 {
			t.Errorf("%d messages were sent at once", n)
		}
		w.clock.Advance(10 * time.Second)
		if n := w.sendAll(t); n != 5 {
			t.Fatalf("%d messages", n)
		}
		got := c.take()
		const link = "https://press.example/posts/p1"
		slack, _ := got[0].body["text"].(string)
		if slack != "*∗Ha&lt;r&gt;bour∗ @\u200call ［＿｀～＃］(https:\u200c/\u200c/\u200cx.\u200cy)*: "+
			"A post couldn’t be published. See what went wrong, then try again. <"+link+"|Open>" {
			t.Errorf("Slack: %s", slack)
		}
		discord, _ := got[1].body["content"].(string)
		if mentions := got[1].body["allowed_mentions"]; !strings.Contains(discord, `\*Ha\<r\>bour\* \@`+"\u200call") ||
			!strings.HasSuffix(discord, " <"+link+">") || asJSON(t, mentions) != `{"parse":[]}` {
			t.Errorf("Discord: %s %v", discord, mentions)
		}
		if card := asJSON(t, got[2].body); !strings.Contains(card, `"contentType":"application/vnd.microsoft.card.adaptive"`) ||
			!strings.Contains(card, `"type":"AdaptiveCard"`) || !strings.Contains(card, `"type":"message"`) ||
			!strings.Contains(card, link) || strings.Contains(card, "@all") || strings.Contains(card, "://x.y") {
			t.Errorf("Teams: %s", card)
		}
		if got[3].path != "/press/" || got[3].body["topic"] != "alerts" || got[3].body["click"] != link ||
			got[3].header.Get("Authorization") != "Bearer tk_secret" ||
			got[3].body["title"] != "*Ha<r>bour* @\u200call [_`~#](https:\u200c/\u200c/\u200cx.\u200cy)" {
			t.Errorf("ntfy: %s %v %v", got[3].path, got[3].body, got[3].header)
		}
		if got[4].body["type"] != "post_failed" || got[4].body["url"] != link || !verifies(t, got[4], secret, w.clock.Now()) {
			t.Errorf("webhook: %v %v", got[4].body, got[4].header)
		}
	})
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	return string(must.Get(json.Marshal(v))(t))
}

// verifies checks a webhook as receivers do (standardwebhooks.com).
func verifies(t *testing.T, r chatRequest, secret string, now time.Time) bool {
	t.Helper()
	key := must.Get(base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_")))(t)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(r.header.Get("Webhook-Id") + "." + r.header.Get("Webhook-Timestamp") + "." + string(r.raw)))
	sent := must.Get(strconv.ParseInt(r.header.Get("Webhook-Timestamp"), 10, 64))(t)
	age := now.Sub(time.Unix(sent, 0)).Abs()
	return r.header.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) && age < 5*time.Minute
}

// A channel gets only the selected kinds of its team. Removing it discards its pending messages.
func TestChannelSelection(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		second := team.Team{Name: "Other", Timezone: "UTC", Language: "en", Plan: "agency"}
		other := must.Get(w.teams.AddTeam(t.Context(), second, w.owner.ID))(t)
		for path, n := range map[string]notification.NewChannel{
			"/all": {}, "/team": {Team: w.team}, "/other": {Team: other.ID},
			"/kinds": {Kinds: []notification.Kind{notification.PostFailed, notification.CreditsLow}},
			"/lost":  {Kinds: []notification.Kind{notification.AccountLost}},
		} {
			n.Service, n.Name, n.URL = notification.Slack, path, base+path
			must.Get(w.AddChannel(t.Context(), n))(t)
		}
		w.fail(t, "p1", 1)
		w.clock.Advance(10 * time.Second)
		w.sendAll(t)
		got := map[string]int{}
		for _, r := range c.take() {
			got[r.path]++
		}
		if len(got) != 3 || got["/all"] != 1 || got["/team"] != 1 || got["/kinds"] != 1 {
			t.Errorf("%v", got)
		}
		w.fail(t, "p2", 1)
		for _, channel := range must.Get(w.Channels(t.Context()))(t) {
			must.NoError(t, w.RemoveChannel(t.Context(), channel.ID))
		}
		w.clock.Advance(10 * time.Second)
		if n := w.sendAll(t); n != 0 {
			t.Errorf("%d messages to removed channels", n)
		}
	})
}

// Every event results in a message. If a post fails on several accounts before its message is sent, there is only one
// message.
func TestChannelEvents(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Webhook, base+"/hook")))(t)
		send := func() []string {
			w.clock.Advance(10 * time.Second)
			w.sendAll(t)
			var kinds []string
			for _, r := range c.take() {
				kinds = append(kinds, fmt.Sprint(r.body["type"], ": ", r.body["text"]))
			}
			return kinds
		}
		w.recordEvent(t, "post.rejected", "p1", map[string]any{"round": 1})
		w.recordEvent(t, "post.approved", "p1", map[string]any{"round": 1})
		w.recordEvent(t, "post.commented", "p1", map[string]any{})
		w.recordEvent(t, "post.commented", "p1", map[string]any{})
		w.recordEvent(t, "key.created", "5", map[string]any{"level": "read"})
		w.recordEvent(t, "key.changed", "5", map[string]any{"level": "full"})
		got := send()
		if len(got) != 6 || got[1] != "approval_decided: The client approved a post." ||
			!strings.Contains(got[5], "It can read, write, publish and spend credits.") {
			t.Errorf("%d messages: %q", len(got), got)
		}
		w.fail(t, "p1", 1)
		w.fail(t, "p1", 2)
		w.recordEvent(t, "post.account_decided", "p1", map[string]any{"account": 3, "decision": "not_published"})
		if got := send(); len(got) != 2 || got[0] == got[1] {
			t.Errorf("%q", got)
		}
		c.answer(http.StatusInternalServerError)
		w.fail(t, "p1", 1)
		send()
		w.fail(t, "p1", 1) // the message about the first failure may have arrived
		c.answer(0)
		w.clock.Advance(time.Hour)
		if got := send(); len(got) != 2 {
			t.Errorf("%q", got)
		}
	})
}

// Removing a channel does not affect an event that notifies it concurrently.
func TestChannelRemovedDuringEvent(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		_, base := withChannels(t, w)
		channel := must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/x")))(t)
		deleted, recorded := make(chan bool), make(chan error, 1)
		go func() {
			<-deleted
			recorded <- w.db.InTx(t.Context(), "test.event", func(ctx context.Context, tx *db.Tx) error {
				return auditlog.Record(ctx, tx, w.team, auditlog.Actor{}, "post.account_failed", "p1", map[string]any{"account": 1})
			})
		}()
		must.NoError(t, w.db.InTx(t.Context(), "test.remove", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, `DELETE FROM notice_channels WHERE id = ?`, channel.ID)
			close(deleted)
			if w.db.Postgres() { // with SQLite, the event's transaction cannot begin
				must.Eventually(t, 15*time.Second, "the event waits for the channel", func() bool {
					var waiting int
					must.NoError(t, w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM pg_stat_activity
						WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting))
					return waiting > 0
				})
			}
			return err
		}))
		must.NoError(t, <-recorded)
	})
}

// Private hosts are rejected unless the operator allows them, when a channel is added and when a message is sent.
func TestChannelPrivateHosts(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		channel := must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/x")))(t)
		w.Client = must.Get(safehttp.New(safehttp.Options{}))(t)
		w.Service = notification.New(w.db, w.Options)
		for _, address := range []string{
			base + "/x", "https://169.254.169.254/latest", "http://hooks.example.com/x", "https://localhost/x", "",
		} {
			if _, err := w.AddChannel(t.Context(), newChat(notification.Slack, address)); err == nil {
				t.Errorf("%s was accepted", address)
			}
		}
		if err := w.TestChannel(t.Context(), channel.ID); err == nil || strings.Contains(err.Error(), base) || len(c.take()) > 0 {
			t.Errorf("sent to a private host: %v", err)
		}
	})
}

// A changed channel keeps its address and token, unless there are new values. A token is not sent to a new address. The
// name has at most 100 characters. The channel gets no more notifications of other teams.
func TestChangeChannel(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		n := newChat(notification.Ntfy, base+"/topic")
		n.Token = "old"
		channel := must.Get(w.AddChannel(t.Context(), n))(t)
		change := func(change notification.ChannelChange) {
			must.NoError(t, w.ChangeChannel(t.Context(), channel.ID, change))
		}
		sent := func() string {
			must.NoError(t, w.TestChannel(t.Context(), channel.ID))
			r := c.take()[0]
			return fmt.Sprint(r.body["topic"], " ", r.header.Get("Authorization"))
		}
		w.fail(t, "p1", 1)
		for _, step := range []struct {
			change notification.ChannelChange
			want   string
		}{
			{notification.ChannelChange{Name: strings.Repeat("ü", 100)}, "topic Bearer old"},
			{notification.ChannelChange{Name: "x", Token: "new"}, "topic Bearer new"},
			{notification.ChannelChange{Name: "x", URL: base + "/other"}, "other "},
			{notification.ChannelChange{Name: "x", Team: w.team}, "other "},
		} {
			change(step.change)
			if got := sent(); got != step.want {
				t.Errorf("%+v: %s", step.change, got)
			}
		}
		for _, wrong := range []notification.ChannelChange{
			{}, {Name: strings.Repeat("ü", 101)}, {Name: "x", URL: "https://169.254.169.254/"}, {Name: "x", Team: 987654},
			{Name: "x", Kinds: []notification.Kind{"none"}},
		} {
			if w.ChangeChannel(t.Context(), channel.ID, wrong) == nil {
				t.Errorf("%+v was accepted", wrong)
			}
		}
		if w.ChangeChannel(t.Context(), 987654, notification.ChannelChange{Name: "x"}) == nil {
			t.Error("a missing channel was changed")
		}
		if got := must.Get(w.Channels(t.Context()))(t)[0]; got.Name != "x" || got.Team != w.team {
			t.Errorf("%+v", got)
		}
	})
}

// A channel that is moved to a team gets no pending notifications of another team. It also gets no notification of an
// event that is being recorded.
func TestChangeChannelTeam(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		second := team.Team{Name: "Other", Timezone: "UTC", Language: "en", Plan: "agency"}
		other := must.Get(w.teams.AddTeam(t.Context(), second, w.owner.ID))(t)
		channel := must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/x")))(t)
		move := func() error {
			return w.ChangeChannel(t.Context(), channel.ID, notification.ChannelChange{Name: "x", Team: other.ID})
		}
		must.NoError(t, w.db.InTx(t.Context(), "test.event", func(ctx context.Context, tx *db.Tx) error {
			err := auditlog.Record(ctx, tx, w.team, auditlog.Actor{}, "post.account_failed", "p1", map[string]any{"account": 1})
			if w.db.Postgres() { // with SQLite, the change waits for the event
				must.NoError(t, move())
			}
			return err
		}))
		must.NoError(t, move())
		w.clock.Advance(10 * time.Second)
		w.sendAll(t)
		if got := c.take(); len(got) != 0 {
			t.Errorf("%d messages", len(got))
		}
		var left int
		must.NoError(t, w.db.QueryRow(t.Context(), `SELECT COUNT(*) FROM channel_notices`).Scan(&left))
		if left != 0 {
			t.Errorf("%d notices are left", left)
		}
	})
}

// The audit logs of both teams record a move. They say whether the address changed, and that the secret was shown.
func TestChannelAuditLog(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		_, base := withChannels(t, w)
		second := team.Team{Name: "Other", Timezone: "UTC", Language: "en", Plan: "agency"}
		other := must.Get(w.teams.AddTeam(t.Context(), second, w.owner.ID))(t)
		n := newChat(notification.Webhook, base+"/x")
		n.Team = w.team
		channel := must.Get(w.AddChannel(t.Context(), n))(t)
		for _, change := range []notification.ChannelChange{
			{Name: "x", Team: w.team, URL: base + "/y"}, {Name: "x", Team: other.ID},
		} {
			must.NoError(t, w.ChangeChannel(t.Context(), channel.ID, change))
		}
		if secret := must.Get(w.ShowSigningSecret(t.Context(), channel.ID))(t); secret != channel.SigningSecret {
			t.Error("another secret")
		}
		var got []string
		for _, e := range must.Get(auditlog.Entries(t.Context(), w.db, auditlog.Filter{
			Subject: fmt.Sprint(channel.ID), OldestFirst: true, Limit: 100,
		}))(t) {
			if kind, ours := strings.CutPrefix(e.Kind, "notice_channel."); ours {
				got = append(got, fmt.Sprint(e.Team, " ", kind, " ", string(e.Detail)))
			}
		}
		want := []string{
			fmt.Sprint(w.team, ` added {"service":"webhook"}`), fmt.Sprint(w.team, ` changed {"address":true,"service":"webhook"}`),
			fmt.Sprint(other.ID, ` changed {"moved":true,"service":"webhook"}`),
			fmt.Sprint(w.team, ` changed {"moved":true,"service":"webhook"}`), fmt.Sprint(other.ID, ` secret_shown {}`),
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// After a restore, the IDs of lost notifications are assigned again, but their messages have different IDs.
func TestMessageIDsAfterRestore(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		c, base := withChannels(t, w)
		must.Get(w.AddChannel(t.Context(), newChat(notification.Webhook, base+"/x")))(t)
		ids := map[string]bool{}
		for range 2 {
			w.fail(t, "p1", 1)
			must.NoError(t, w.db.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE channel_notices SET id = 7`)
				return err
			}))
			w.clock.Advance(10 * time.Second)
			w.sendAll(t)
			ids[c.take()[0].header.Get("Webhook-Id")] = true
		}
		if len(ids) != 2 {
			t.Errorf("repeated: %v", ids)
		}
	})
}

// An old sealing key can decrypt channels until they are resealed.
func TestChannelReseal(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *env) {
		_, base := withChannels(t, w)
		before, after := must.Get(tokencrypt.NewKey())(t), must.Get(tokencrypt.NewKey())(t)
		reopen := func(keys string) {
			w.Sealer = must.Get(tokencrypt.New(keys))(t)
			w.Service = notification.New(w.db, w.Options)
		}
		reopen(before)
		channel := must.Get(w.AddChannel(t.Context(), newChat(notification.Slack, base+"/x")))(t)
		reopen(after)
		if w.CheckSealing(t.Context()) == nil {
			t.Error("a missing key was not noticed")
		}
		reopen(after + "," + before)
		if n, left, err := w.Reseal(t.Context()); n != 1 || left != 0 || err != nil {
			t.Errorf("%d resealed, %d left: %v", n, left, err)
		}
		reopen(after)
		must.NoError(t, w.CheckSealing(t.Context()))
		must.NoError(t, w.TestChannel(t.Context(), channel.ID))
	})
}
