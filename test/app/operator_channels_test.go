package app

import (
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// An operator adds a chat and a webhook, sees the webhook's secret once and the address never, and removes them. Changes are in the
// audit log.
func TestOperatorChannels(t *testing.T) {
	withEnv(t, func(t *testing.T, h *env) {
		c := h.crew(t)
		b := c.asOperator(t, access.Viewer)
		p := b.open("/operator").follow("Notification channels").shows(http.StatusOK, "There are no channels.")
		p.form("Add channel").fill("name", "On call").fill("url", "https://127.0.0.1/hooks/s3cret").press().
			shows(http.StatusUnprocessableEntity, "--notice-allow")
		p.form("Add channel").fill("name", "On call").fill("url", "https://hooks.slack.example.com/services/s3cret").press().
			shows(http.StatusOK, "Send a test message to check it.", "On call", "Slack", "All teams", "All notifications",
				"hooks.slack.example.com", "Nothing sent yet").lacks("s3cret")
		p = b.open("/operator/channels").form("Add channel").fill("service", "webhook").fill("name", "Desk").
			fill("url", "https://desk.example.com/s3cret").fill("kind", "post_failed").press().
			shows(http.StatusOK, "whsec_", "Signed webhook", "A post failed").lacks("s3cret")
		b.open("/operator/channels").shows(http.StatusOK, "Desk").lacks("whsec_")
		channels := must.Get(h.Notifications.Channels(t.Context()))(t)
		if len(channels) != 2 || channels[1].Name != "Desk" || len(channels[1].Kinds) != 1 {
			t.Fatalf("%+v", channels)
		}
		b.send(http.MethodPost, "/operator/channels/9/test", nil).shows(http.StatusUnprocessableEntity, "There is no such channel.")
		b.send(http.MethodPost, "/operator/channels/1/remove", nil).shows(http.StatusOK, "The channel was removed.").lacks("On call")
		b.open("/operator/events").shows(http.StatusOK, "notice_channel.added", "notice_channel.removed")
		if strings.Contains(b.open("/operator/events.jsonl").source, "s3cret") {
			t.Error("the audit log contains an address")
		}
	})
}
