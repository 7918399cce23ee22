package network

// ThreadsOptions holds a post's choices for Threads. Names and values are the same as in the Threads API.
type ThreadsOptions struct {
	ReplyControl   string                        `json:"reply_control,omitempty" enum:"everyone|accounts_you_follow|mentioned_only|parent_post_author_only|followers_only" title:"ThreadsReplyControl"`
	TopicTag       string                        `json:"topic_tag,omitempty" maxLength:"50" pattern:"^[^.&]*$"`
	LinkAttachment string                        `json:"link_attachment,omitempty" maxLength:"2000"`
	PollAttachment *ThreadsOptionsPollAttachment `json:"poll_attachment,omitempty"`
	QuotePostID    string                        `json:"quote_post_id,omitempty" pattern:"^[0-9]{1,20}$"`
	IsSpoilerMedia bool                          `json:"is_spoiler_media,omitempty" jsonschema:"Hides media behind a spoiler warning."`
}

// Descriptions returns descriptions of the fields for the API schema.
func (ThreadsOptions) Descriptions() map[string]string {
	return map[string]string{
		"reply_control":   "Who can reply.",
		"topic_tag":       "Topic of the post, without #, periods and ampersands.",
		"link_attachment": "Link that is shown as a card. Posts without media only. The first link of the text if omitted.",
		"poll_attachment": "Adds a poll. Not with media or link_attachment.",
		"quote_post_id":   "ID of the Threads post to quote, not its address.",
	}
}

// ThreadsOptionsPollAttachment is a poll on Threads with two to four choices.
type ThreadsOptionsPollAttachment struct {
	OptionA string `json:"option_a" minLength:"1" maxLength:"25"`
	OptionB string `json:"option_b" minLength:"1" maxLength:"25"`
	OptionC string `json:"option_c,omitempty" maxLength:"25"`
	OptionD string `json:"option_d,omitempty" maxLength:"25"`
}

// Choices returns the choices in order. It omits empty choices at the end.
func (p ThreadsOptionsPollAttachment) Choices() []string {
	choices := []string{p.OptionA, p.OptionB, p.OptionC, p.OptionD}
	for len(choices) > 0 && choices[len(choices)-1] == "" {
		choices = choices[:len(choices)-1]
	}
	return choices
}
