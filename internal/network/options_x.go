package network

import "reflect"

// XOptions holds a post's choices for X. Names and values are the same as in X's API.
type XOptions struct {
	ReplySettings string `json:"reply_settings,omitempty" enum:"following|mentionedUsers|subscribers|verified" title:"XReplySettings"`

	QuoteTweetID    string        `json:"quote_tweet_id,omitempty" maxLength:"200"`
	Poll            *XOptionsPoll `json:"poll,omitempty"`
	MadeWithAI      bool          `json:"made_with_ai,omitempty" jsonschema:"Discloses that the post has AI-generated media."`
	PaidPartnership bool          `json:"paid_partnership,omitempty" jsonschema:"Discloses that the post is a paid partnership."`
}

// Descriptions returns descriptions of the fields for the API schema.
func (XOptions) Descriptions() map[string]string {
	return map[string]string{
		"reply_settings": "Who can reply. Everybody if omitted.",
		"quote_tweet_id": "ID or address of the post to quote. Not with media or a poll.",
		"poll":           "Adds a poll. Not with media or a quote.",
	}
}

// IsZero reports whether nothing was chosen.
func (o XOptions) IsZero() bool { return reflect.DeepEqual(o, XOptions{}) }

// XOptionsPoll is a poll on X.
type XOptionsPoll struct {
	Options         []string `json:"options" minItems:"2" maxItems:"4" minLength:"1" maxLength:"25"`
	DurationMinutes int      `json:"duration_minutes" min:"5" max:"10080"`
}
