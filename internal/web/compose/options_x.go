package compose

import (
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	networkX = "x"

	maxPollChoices   = 4
	maxPollChoice    = 25    // characters
	maxPollMinutes   = 10080 // a week
	usualPollMinutes = 1440  // a day
)

// pollLengths are the durations that the form offers for a poll on X, in minutes.
var pollLengths = []shell.Choice{
	{Value: "60", Name: "1 hour"}, {Value: "1440", Name: "1 day"}, {Value: "4320", Name: "3 days"}, {Value: "10080", Name: "7 days"},
}

// readChoicesOf returns the nonempty choices of the poll in a form field.
func readChoicesOf(form url.Values, field string) []string {
	var out []string
	for _, choice := range form[field] {
		if choice = strings.TrimSpace(cleanText.Replace(strings.ToValidUTF8(choice, "\uFFFD"))); choice != "" {
			out = append(out, choice)
		}
	}
	return out
}

// readX reads the X options from a form into o. It leaves o.X unset if the form has none.
func readX(form url.Values, o *network.Options) {
	x := network.XOptions{
		ReplySettings: form.Get("x-reply"), QuoteTweetID: strings.TrimSpace(form.Get("x-quote")),
		MadeWithAI: form.Get("x-ai") == yes, PaidPartnership: form.Get("x-paid") == yes,
	}
	if form.Get("x-add-poll") == yes {
		minutes, err := strconv.Atoi(form.Get("x-poll-minutes"))
		if err != nil || minutes < 1 || minutes > maxPollMinutes {
			minutes = usualPollMinutes
		}
		x.Poll = &network.XOptionsPoll{Options: readChoicesOf(form, "x-poll"), DurationMinutes: minutes}
	}
	if !x.IsZero() {
		o.X = &x
	}
}

// xErrors returns the errors of the X options, each with its field. The network's rules cover the rest.
func xErrors(o network.Options) []error {
	x := o.X
	if x == nil {
		return nil
	}
	var out []error
	if x.ReplySettings != "" && !shell.IsOffered(preview.XReplies, x.ReplySettings) {
		out = append(out, apierr.Invalid(apierr.NotAllowedValue, "x-reply", "Choose who can reply on X."))
	}
	if utf8.RuneCountInString(x.QuoteTweetID) > 200 {
		out = append(out, apierr.Invalidf(apierr.TooLong, "x-quote", "Use at most %d characters.", 200))
	}
	if x.Poll != nil {
		out = append(out, pollErrors("x-poll", x.Poll.Options, maxPollChoice)...)
	}
	return out
}

// pollErrors returns the errors of a poll's choices. longest is the maximum length of a choice in characters.
func pollErrors(field string, choices []string, longest int) []error {
	if len(choices) < 2 || len(choices) > maxPollChoices {
		return []error{apierr.Invalid(apierr.NotAllowedValue, field, "A poll needs two to four choices.")}
	}
	for _, choice := range choices {
		if err := tooLong(field, choice, longest); err != nil {
			return []error{err}
		}
	}
	return nil
}

// XChoices returns the form's choices for X, or the zero value if there are none.
func (v *view) XChoices() network.XOptions { return network.ValueOrZero(v.Choices.X) }

// XReplies returns the ways to limit who can reply on X. It omits the default, everyone.
func (*view) XReplies() []shell.Choice { return preview.XReplies }

// XPoll returns the choices of the poll on X, padded with empty strings to maxPollChoices.
func (v *view) XPoll() []string {
	out := make([]string, maxPollChoices)
	if poll := v.XChoices().Poll; poll != nil {
		copy(out, poll.Options)
	}
	return out
}

// PollLengths returns the durations that the form offers for a poll on X. It includes the post's duration.
func (v *view) PollLengths() []box {
	minutes := strconv.Itoa(usualPollMinutes)
	if poll := v.XChoices().Poll; poll != nil {
		minutes = strconv.Itoa(poll.DurationMinutes)
	}
	out := boxes(pollLengths, []string{minutes})
	if !shell.IsOffered(pollLengths, minutes) {
		out = append(out, box{shell.Choice{Value: minutes, Name: "As set before"}, true})
	}
	return out
}
