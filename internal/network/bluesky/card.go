package bluesky

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxCardTitle       = 300  // characters; the lexicon has no limit
	maxCardDescription = 1000 // characters; the lexicon has no limit
)

// externalEmbed shows a link card (lexicon app.bsky.embed.external).
type externalEmbed struct {
	Type     string   `json:"$type"`
	External external `json:"external"`
}

type external struct {
	URI         string          `json:"uri"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Thumb       json.RawMessage `json:"thumb,omitempty"`
}

// cardURL returns the URL of a link card: its own, or else the first link of the text, or else "".
func cardURL(card network.BlueskyOptionsLinkCard, text string) string {
	if link := strings.TrimSpace(card.URL); link != "" {
		return link
	}
	for _, s := range detectSpans(text) {
		if s.feature == linkFeature {
			return s.value
		}
	}
	return ""
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		!strings.ContainsAny(text, " \t\r\n")
}

// embedCard returns a link card. If the title is missing, the title and a missing description are read from the page.
// If the page cannot be read, the title is the name of its host.
func (n *Network) embedCard(
	ctx context.Context, g network.Grant, card network.BlueskyOptionsLinkCard, text string, files network.Files,
) (externalEmbed, error) {
	preview := external{URI: cardURL(card, text), Title: card.Title, Description: card.Description}
	if preview.Title == "" && n.opts.ReadPage != nil {
		// a card without the page's own texts is better than no post
		if page, err := n.opts.ReadPage(ctx, preview.URI); err == nil {
			preview.Title = network.Clip(page.Title, maxCardTitle)
			if preview.Description == "" {
				preview.Description = network.Clip(page.Description, maxCardDescription)
			}
		}
	}
	if preview.Title == "" {
		if u, err := url.Parse(preview.URI); err == nil {
			preview.Title = u.Hostname()
		}
	}
	if card.ThumbnailMediaID != 0 {
		blob, _, err := n.upload(ctx, g, network.Media{ID: card.ThumbnailMediaID, Kind: network.Image}, files)
		if err != nil {
			return externalEmbed{}, err
		}
		preview.Thumb = blob
	}
	return externalEmbed{"app.bsky.embed.external", preview}, nil
}
