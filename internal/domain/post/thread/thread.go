// Package thread represents the parts of a thread: posts that are published as replies, each to the part before it.
// Part 0 is the post itself. The other parts and their results are numbered from 1.
package thread

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/network"
)

// MaxParts is the maximum number of parts of a thread, including part 0.
const MaxParts = 25

// Part is the content of a part after part 0.
type Part struct {
	Caption string
	Media   []network.Media // in order
}

// PublishedPart is a part after part 0 that is published on an account.
type PublishedPart struct {
	NetworkID string    `json:"id"` // the network's ID of the part; empty if unknown
	Permalink string    `json:"permalink,omitempty"`
	At        time.Time `json:"at"`
}

// Same reports whether two threads have the same content.
func Same(a, b []Part) bool {
	return slices.EqualFunc(a, b, func(a, b Part) bool {
		return a.Caption == b.Caption && attachment.Same(a.Media, b.Media)
	})
}

// EncodeTexts encodes the texts of the parts. Media are stored separately.
func EncodeTexts(parts []Part) (string, error) {
	texts := make([]string, len(parts))
	for i, p := range parts {
		texts[i] = p.Caption
	}
	return encode(texts)
}

// DecodeTexts returns the parts that EncodeTexts encoded, without media.
func DecodeTexts(stored string) ([]Part, error) {
	texts, err := decode[string](stored)
	if err != nil || texts == nil {
		return nil, err
	}
	parts := make([]Part, len(texts))
	for i, text := range texts {
		parts[i].Caption = text
	}
	return parts, nil
}

// EncodePublished encodes published parts.
func EncodePublished(parts []PublishedPart) (string, error) { return encode(parts) }

// DecodePublished returns the parts that EncodePublished encoded.
func DecodePublished(stored string) ([]PublishedPart, error) { return decode[PublishedPart](stored) }

func encode[T any](list []T) (string, error) {
	if len(list) == 0 {
		return "", nil
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		return "", fmt.Errorf("encoding a thread: %w", err)
	}
	return string(encoded), nil
}

func decode[T any](stored string) ([]T, error) {
	if stored == "" {
		return nil, nil
	}
	var list []T
	if err := json.Unmarshal([]byte(stored), &list); err != nil {
		return nil, fmt.Errorf("decoding a thread: %w", err)
	}
	return list, nil
}

// Explanation returns what the error code of an account means. general is what the code means for a post without parts,
// and parts is the number of published parts.
func Explanation(code, general string, parts int) string {
	if parts <= 0 || code == "" {
		return general
	}
	published := "1 part is published"
	if parts > 1 {
		published = fmt.Sprintf("%d parts are published", parts)
	}
	return "The thread is incomplete: " + published + ". " + cmp.Or(partMessages[code], general)
}

// partMessages replace general messages that would say that nothing was published.
var partMessages = map[string]string{
	"network_error":      "The network failed or could not be reached. Retry later.",
	"server_not_allowed": "The operator does not allow the account's server. Retry after the operator has allowed it.",
}
