package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/domain/notification"
	"pressroom.example/pressroom/internal/testkit/must"
)

// An operator adds a chat and a webhook, reads the webhook's secret but not the address, changes a channel, and
// removes it after a confirmation. Changes are in the audit log.
func TestOperatorChannels(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Viewer)
		p := b.open("/operator").follow("Notification channels").shows(http.StatusOK, "No channels yet").follow("Add channel")
		p = p.form("Add channel").fill("name", "On call").fill("url", "https://127.0.0.1/hooks/typed").press().
			shows(http.StatusUnprocessableEntity, "--notification-allow").contains(`value="https://127.0.0.1/hooks/typed"`)
		p.form("Add channel").fill("url", "https://hooks.slack.example.com/services/s3cret").fill("token", "hidden").press().
			shows(http.StatusOK, "Send a test message to check it.", "On call", "Slack", "All teams", "All notifications",
				"hooks.slack.example.com", "Nothing sent yet").lacks("s3cret")
		secret := b.open("/operator/channels/new").form("Add channel").fill("service", "webhook").fill("name", strings.Repeat("ü", 100)).
			fill("url", "https://desk.example.com/s3cret").fill("scope", "one").fill("team", c.team.Name).fill("choice", "some").
			fill("kind", "post_failed").press().shows(http.StatusOK, "Signing secret").contains("whsec_").lacks("s3cret")
		if b.open("/operator/channels/2/secret").field("secret") != secret.field("secret") || len(h.channels(t)) != 2 {
			t.Error("another request shows another secret or added a channel")
		}
		b.open("/operator/channels").shows(http.StatusOK, "üüü", "A post failed", c.team.Name).lacks("whsec_")
		b.open("/operator/channels/1/secret").shows(http.StatusNotFound)
		b.open("/operator/channels/9").shows(http.StatusNotFound)
		p = b.open("/operator/channels/2").shows(http.StatusOK, "desk.example.com").lacks("s3cret")
		p.form("Save").fill("name", "Desk").fill("team", "no such team").press().
			shows(http.StatusUnprocessableEntity, "No matches")
		p.form("Save").fill("name", "Desk").fill("choice", "all").press().shows(http.StatusOK, "The channel was saved.")
		if got := h.channels(t)[1]; got.Name != "Desk" || got.Team != c.team.ID || len(got.Kinds) != 0 || got.Host != "desk.example.com" {
			t.Errorf("%+v", got)
		}
		b.send(http.MethodPost, "/operator/channels/1", url.Values{
			"name": {"On call"}, "scope": {"all"}, "choice": {"all"}, "token": {"filled in by a password manager"},
		}).shows(http.StatusOK, "The channel was saved.")
		b.open("/operator/channels/1").shows(http.StatusOK, "hooks.slack.example.com").lacks("Access token (optional)")
		b.send(http.MethodPost, "/operator/channels/9/test", nil).shows(http.StatusNotFound)
		b.open("/operator/channels/1").follow("Remove channel…").shows(http.StatusOK, "It will not receive any more notifications.").
			form("Remove channel").press().shows(http.StatusOK, "The channel was removed.").lacks("On call")
		b.open("/operator/events").shows(http.StatusOK, "Notification channel added", "Notification channel changed",
			"Signing secret of a notification channel shown", "Notification channel removed")
		log := b.open("/operator/events.jsonl?kind=notice_channel.added").source
		if strings.Count(log, "\n") != 2 || strings.Contains(log, "s3cret") {
			t.Error(log)
		}
	})
}

func (h *env) channels(t *testing.T) []notification.Channel {
	t.Helper()
	return must.Get(h.Notifications.Channels(t.Context()))(t)
}
