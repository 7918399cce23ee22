package network

import "reflect"

// LinkedInOptions holds a post's choices for LinkedIn. Names and values are the same as in LinkedIn's API.
type LinkedInOptions struct {
	Visibility string                  `json:"visibility,omitempty" enum:"PUBLIC|CONNECTIONS" title:"LinkedInVisibility"`
	Poll       *LinkedInOptionsPoll    `json:"poll,omitempty"`
	Article    *LinkedInOptionsArticle `json:"article,omitempty"`
	Mentions   []LinkedInMention       `json:"mentions,omitempty" maxItems:"20"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (LinkedInOptions) Descriptions() map[string]string {
	return map[string]string{
		"visibility": "Who can see the post: PUBLIC (the default) or CONNECTIONS, for the accounts of members only.",
		"poll":       "Adds a poll. Not with media or an article.",
		"article":    "Shows a card for a link. Not with media.",
		"mentions":   "People and companies that the text mentions as @ and their name.",
	}
}

// IsZero reports whether nothing was chosen.
func (o LinkedInOptions) IsZero() bool { return reflect.DeepEqual(o, LinkedInOptions{}) }

// LinkedInOptionsPoll is a poll on LinkedIn.
type LinkedInOptionsPoll struct {
	Question string   `json:"question" minLength:"1" maxLength:"140"`
	Options  []string `json:"options" minItems:"2" maxItems:"4" minLength:"1" maxLength:"30"`
	Duration string   `json:"duration,omitempty" enum:"ONE_DAY|THREE_DAYS|SEVEN_DAYS|FOURTEEN_DAYS" title:"LinkedInPollDuration"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (LinkedInOptionsPoll) Descriptions() map[string]string {
	return map[string]string{"duration": "SEVEN_DAYS if omitted."}
}

// LinkedInOptionsArticle is the card of a link on LinkedIn.
type LinkedInOptionsArticle struct {
	Source           string `json:"source,omitempty" maxLength:"2000"`
	Title            string `json:"title,omitempty" maxLength:"400"`
	Description      string `json:"description,omitempty" maxLength:"4000"`
	ThumbnailMediaID int64  `json:"thumbnail_media_id,omitempty" min:"1"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (LinkedInOptionsArticle) Descriptions() map[string]string {
	return map[string]string{
		"source":             "Address of the page. The first link of the text if omitted.",
		"title":              "The post's or else the page's title if omitted.",
		"description":        "Read from the page before publishing if title and description are omitted.",
		"thumbnail_media_id": "Image of the library that the card shows.",
	}
}

// LinkedInMention is a person or a company that a post mentions.
type LinkedInMention struct {
	Name string `json:"name" minLength:"1" maxLength:"100"`
	URN  string `json:"urn" pattern:"^urn:li:(person|organization):[A-Za-z0-9_-]{1,80}$"`
}

// Descriptions returns descriptions of the fields for the API schema.
func (LinkedInMention) Descriptions() map[string]string {
	return map[string]string{
		"name": "Name on LinkedIn. The text has it after @.",
		"urn":  "Such as urn:li:organization:2414183.",
	}
}
