package compose

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	threadsNetwork = "threads"

	maxTopic = 50 // characters
)

// threadsPostID matches the ID of a post on Threads.
var threadsPostID = regexp.MustCompile(`^[0-9]{1,20}$`)

// readThreads reads the Threads options from a form into o. It leaves o.Threads unset if the form has none.
func readThreads(form url.Values, o *network.Options) {
	t := network.ThreadsOptions{
		ReplyControl: form.Get("threads-reply"), TopicTag: strings.TrimPrefix(strings.TrimSpace(textOf(form, "threads-topic")), "#"),
		LinkAttachment: strings.TrimSpace(form.Get("threads-link")), QuotePostID: strings.TrimSpace(form.Get("threads-quote")),
		IsSpoilerMedia: form.Get("threads-spoiler") == yes,
	}
	if form.Get("threads-add-poll") == yes {
		choices := append(readChoicesOf(form, "threads-poll"), make([]string, maxPollChoices)...)
		t.PollAttachment = &network.ThreadsOptionsPollAttachment{
			OptionA: choices[0], OptionB: choices[1], OptionC: choices[2], OptionD: choices[3],
		}
	}
	if t != (network.ThreadsOptions{}) {
		o.Threads = &t
	}
}

// threadsErrors returns the errors of the Threads options, each with its field. The network's rules cover the rest.
func threadsErrors(o network.Options) []error {
	t := o.Threads
	if t == nil {
		return nil
	}
	var out []error
	add := func(code, field string, message string) { out = append(out, apierr.Invalid(code, field, message)) }
	if t.ReplyControl != "" && !shell.IsOffered(preview.ThreadsReplies, t.ReplyControl) {
		add(apierr.NotAllowedValue, "threads-reply", "Choose who can reply on Threads.")
	}
	if utf8.RuneCountInString(t.TopicTag) > maxTopic || strings.ContainsAny(t.TopicTag, ".&") {
		add(apierr.Malformed, "threads-topic", "A topic can have at most 50 characters, without periods and ampersands.")
	}
	if t.QuotePostID != "" && !threadsPostID.MatchString(t.QuotePostID) {
		add(apierr.Malformed, "threads-quote", "Enter the ID of a post, which is a number.")
	}
	if utf8.RuneCountInString(t.LinkAttachment) > 2000 {
		out = append(out, apierr.Invalidf(apierr.TooLong, "threads-link", "Use at most %d characters.", 2000))
	}
	if t.PollAttachment != nil {
		out = append(out, pollErrors("threads-poll", t.PollAttachment.Choices(), maxPollChoice)...)
	}
	return out
}

// ThreadsChoices returns the form's choices for Threads, or the zero value if there are none.
func (v *view) ThreadsChoices() network.ThreadsOptions { return network.ValueOrZero(v.Choices.Threads) }

// ThreadsReplies returns the ways to limit who can reply on Threads. It omits the default, everyone.
func (*view) ThreadsReplies() []shell.Choice {
	return preview.ThreadsReplies[:len(preview.ThreadsReplies)-1]
}

// ThreadsPoll returns the choices of the poll on Threads, padded with empty strings to maxPollChoices.
func (v *view) ThreadsPoll() []string {
	out := make([]string, maxPollChoices)
	if poll := v.ThreadsChoices().PollAttachment; poll != nil {
		copy(out, poll.Choices())
	}
	return out
}
