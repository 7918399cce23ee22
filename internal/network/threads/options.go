package threads

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

const (
	maxTopic      = 50 // characters
	maxPollChoice = 25 // characters
)

var postID = regexp.MustCompile(`^[0-9]{1,20}$`)

// ownOptions returns only the options for Threads.
func ownOptions(o network.Options) network.Options { return network.Options{Threads: o.Threads} }

// postOptions returns a post's options for Threads, or the zero value if there are none.
func postOptions(o network.Options) network.ThreadsOptions { return network.ValueOrZero(o.Threads) }

// checkOptions returns problems with a post's options.
//
// Sources: https://developers.facebook.com/docs/threads/posts,
// https://developers.facebook.com/docs/threads/create-posts/polls
func checkOptions(c network.Content) []network.Problem {
	var problems []network.Problem
	add := func(field string, isBlocking bool, message string) {
		problems = append(problems, network.OptionProblem(platform, field, network.CodeOptionUnsupported, isBlocking, message))
	}
	o := postOptions(c.Options)
	if strings.ContainsAny(o.TopicTag, ".&") || utf8.RuneCountInString(o.TopicTag) > maxTopic {
		add("topic_tag", true,
			"The topic (options.threads.topic_tag) can have at most 50 characters, without periods and "+
				"ampersands.")
	}
	if o.LinkAttachment != "" && !isWebURL(o.LinkAttachment) {
		add("link_attachment", true, "The link (options.threads.link_attachment) must begin with https:// or http://.")
	}
	if o.LinkAttachment != "" && len(c.Media) > 0 {
		add("link_attachment", true,
			"Threads shows a link (options.threads.link_attachment) only in posts without media. "+
				"Remove it or the media.")
	}
	if o.QuotePostID != "" && !postID.MatchString(o.QuotePostID) {
		add("quote_post_id", true,
			"The quoted post (options.threads.quote_post_id) needs the ID of a Threads post, which is a "+
				"number.")
	}
	if o.IsSpoilerMedia && len(c.Media) == 0 {
		add("is_spoiler_media", false,
			"Only media can be a spoiler (options.threads.is_spoiler_media). The option has no effect.")
	}
	if o.PollAttachment != nil {
		problems = append(problems, checkPoll(*o.PollAttachment, o.LinkAttachment != "" || len(c.Media) > 0)...)
	}
	return problems
}

func isWebURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

func checkPoll(poll network.ThreadsOptionsPollAttachment, hasAttachment bool) []network.Problem {
	var problems []network.Problem
	add := func(field, code, message string) {
		problems = append(problems, network.OptionProblem(platform, field, code, true, message))
	}
	if hasAttachment {
		add("poll_attachment", network.CodeOptionUnsupported,
			"Threads allows a poll (options.threads.poll_attachment) only in posts without media and link. "+
				"Remove one of them.")
	}
	choices := poll.Choices()
	if len(choices) < 2 || slices.ContainsFunc(choices, func(choice string) bool { return strings.TrimSpace(choice) == "" }) {
		add("poll_attachment", network.CodeOptionMissing,
			"A poll on Threads needs two to four choices (options.threads.poll_attachment).")
	}
	if slices.ContainsFunc(choices, func(choice string) bool { return utf8.RuneCountInString(choice) > maxPollChoice }) {
		add("poll_attachment", network.CodeOptionUnsupported,
			"A choice of a poll on Threads (options.threads.poll_attachment) can have at most 25 characters.")
	}
	return problems
}

// postParams returns the parameters that the options add to a container.
func postParams(opts network.Options, media []network.Media, _ string) url.Values {
	o, params := postOptions(opts), url.Values{}
	for name, value := range map[string]string{
		"reply_control": o.ReplyControl, "topic_tag": o.TopicTag, "link_attachment": o.LinkAttachment,
		"quote_post_id": o.QuotePostID,
	} {
		if value != "" {
			params.Set(name, value)
		}
	}
	if o.IsSpoilerMedia && len(media) > 0 {
		params.Set("is_spoiler_media", "true")
	}
	if o.PollAttachment != nil {
		poll, _ := json.Marshal(o.PollAttachment) //nolint:errchkjson // has only strings
		params.Set("poll_attachment", string(poll))
	}
	return params
}
