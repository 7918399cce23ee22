package network

import "reflect"

// BlueskyOptions holds a post's choices for Bluesky.
type BlueskyOptions struct {
	LinkCard *BlueskyOptionsLinkCard `json:"link_card,omitempty"`

	QuoteURL      string   `json:"quote_url,omitempty" maxLength:"500"`
	Labels        []string `json:"labels,omitempty" maxItems:"4" enum:"sexual|nudity|porn|graphic-media" title:"BlueskyLabel"`
	Languages     []string `json:"languages,omitempty" maxItems:"3" maxLength:"35"`
	ReplySettings []string `json:"reply_settings,omitempty" maxItems:"3" enum:"everybody|nobody|mentioned|followers|following" title:"BlueskyReplySetting"`
	DisableQuotes bool     `json:"disable_quotes,omitempty" jsonschema:"Whether other people cannot quote the post."`
}

// Descriptions returns descriptions of the fields for the API schema.
func (BlueskyOptions) Descriptions() map[string]string {
	return map[string]string{
		"link_card": "Shows a card for a link. Not with media or a quote.",
		"quote_url": "Address of the post to quote, such as https://bsky.app/profile/NAME/post/ID or its at:// URI.",
		"labels":    "Content warnings.",
		"languages": "Languages of the text (BCP 47), up to 3. The team's language if omitted.",
		"reply_settings": "Who can reply: everybody (the default), nobody, or any of mentioned, followers (people who follow the " +
			"account) and following (people whom the account follows).",
	}
}

// IsZero reports whether nothing was chosen.
func (o BlueskyOptions) IsZero() bool { return reflect.DeepEqual(o, BlueskyOptions{}) }

// BlueskyOptionsLinkCard is the card of a link on Bluesky.
type BlueskyOptionsLinkCard struct {
	URL              string `json:"url,omitempty" maxLength:"2000"`
	Title            string `json:"title,omitempty" maxLength:"300"`
	Description      string `json:"description,omitempty" maxLength:"1000"`
	ThumbnailMediaID int64  `json:"thumbnail_media_id,omitempty" min:"1"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (BlueskyOptionsLinkCard) Descriptions() map[string]string {
	return map[string]string{
		"url":                "The first link of the text if omitted.",
		"title":              "Read from the page before publishing if omitted.",
		"description":        "Read from the page before publishing if title and description are omitted.",
		"thumbnail_media_id": "Image of the library that the card shows.",
	}
}
