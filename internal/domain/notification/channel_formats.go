package notification

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/platform/plaintext"
)

// The kind and text of the message that TestChannel sends, and the maximum length of titles in characters.
const (
	testKind       = "test"
	testText       = "This is a test. pressroom notifications will appear here."
	maxTitleLength = 200
)

// channelMessage is the message about a notification for a channel. Of its fields, only teamName, and title if it is
// the team's name, are user input.
type channelMessage struct {
	id       string // the same for every attempt
	kind     Kind
	at       time.Time
	sentAt   time.Time
	team     int64 // 0 for a test
	teamName string
	title    string
	text     string
	url      string
}

// encode returns the URL, the header and the body of the request that sends the message to a service.
func (m channelMessage) encode(service ChannelService, address channelAddress) (string, map[string]string, []byte, error) {
	header := map[string]string{"Content-Type": "application/json", "User-Agent": "pressroom"}
	target := address.URL
	var body any
	title := plaintext.BreakLinks(m.title,
		maxTitleLength) // so that chats do not recognize mentions or addresses in the title
	switch service {
	case Slack: // also Mattermost and Rocket.Chat
		body = map[string]any{"text": "*" + slackText(formatEscaper.Replace(title)) + "*: " + slackText(m.text) + " <" + m.url + "|Open>"}
	case Discord:
		body = map[string]any{
			"content":          "**" + markdownText(title) + "**: " + markdownText(m.text) + " <" + m.url + ">",
			"allowed_mentions": map[string]any{"parse": []string{}},
		}
	case Teams:
		body = m.card(title)
	case Ntfy:
		base, topic, err := splitTopic(address.URL)
		if err != nil {
			return "", nil, nil, err
		}
		target = base
		body = map[string]any{"topic": topic, "title": title, "message": m.text, "click": m.url}
		if address.Secret != "" {
			header["Authorization"] = "Bearer " + address.Secret
		}
	case Webhook:
		event := map[string]any{"id": m.id, "type": string(m.kind), "created_at": m.at.Format(time.RFC3339), "text": m.text, "url": m.url}
		if m.team != 0 {
			event["team"] = map[string]any{"id": m.team, "name": m.teamName}
		}
		body = event
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return "", nil, nil, fmt.Errorf("encoding a message: %w", err)
	}
	if service == Webhook {
		err = sign(header, m.id, m.sentAt, raw, address.Secret)
	}
	return target, header, raw, err
}

// card returns the message as an Adaptive Card, in the form that Microsoft Teams workflows accept.
func (m channelMessage) card(title string) any {
	block := func(text string, extra map[string]any) map[string]any {
		out := map[string]any{"type": "TextBlock", "text": markdownText(text), "wrap": true}
		maps.Copy(out, extra)
		return out
	}
	return map[string]any{"type": "message", "attachments": []any{map[string]any{
		"contentType": "application/vnd.microsoft.card.adaptive",
		"content": map[string]any{
			"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4",
			"body":    []any{block(title, map[string]any{"weight": "Bolder"}), block(m.text, nil)},
			"actions": []any{map[string]any{"type": "Action.OpenUrl", "title": "Open", "url": m.url}},
		},
	}}}
}

// slackText escapes a text for Slack's mrkdwn.
func slackText(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// formatEscaper replaces characters that format text in Slack, Mattermost or Rocket.Chat with similar characters,
// because Slack has no way to escape them.
var formatEscaper = strings.NewReplacer("*", "∗", "_", "＿", "~", "～", "`", "｀", "#", "＃", "[", "［", "]", "］", "\\", "＼")

// markdownText escapes a text for the Markdown of Discord and Teams.
func markdownText(text string) string {
	var out strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_{}[]()<>#+-!|~@:", r) {
			out.WriteByte('\\')
		}
		out.WriteRune(r)
	}
	return out.String()
}

// splitTopic returns the address of an ntfy server and the topic.
func splitTopic(address string) (string, string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", "", errors.New("the address is invalid")
	}
	trimmed := strings.TrimRight(u.Path, "/")
	topic := path.Base(trimmed)
	u.Path = strings.TrimSuffix(trimmed, topic)
	return u.String(), topic, nil
}

// sign signs a webhook (https://www.standardwebhooks.com): HMAC-SHA256 of the ID, the time and the body.
func sign(header map[string]string, id string, at time.Time, body []byte, secret string) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, signingPrefix))
	if err != nil {
		return errors.New("the signing secret is invalid")
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	header["Webhook-Id"] = id
	header["Webhook-Timestamp"] = timestamp
	header["Webhook-Signature"] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	return nil
}
