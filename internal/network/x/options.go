package x

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/network"
)

const (
	minPollChoices  = 2
	maxPollChoices  = 4
	maxPollChoice   = 25    // characters
	minPollDuration = 5     // minutes
	maxPollDuration = 10080 // minutes
)

// postOptions returns a post's options for X, or the zero value if there are none.
func postOptions(o network.Options) network.XOptions { return network.ValueOrZero(o.X) }

var postAddress = regexp.MustCompile(`^https?://(?:www\.|mobile\.)?(?:x|twitter)\.com/[^/?#\s]+/status/([0-9]{1,19})(?:[/?#]\S*)?$`)

// parseQuote returns the ID of a post, given its ID or its address, or "" for any other text.
func parseQuote(text string) string {
	text = strings.TrimSpace(text)
	if match := postAddress.FindStringSubmatch(text); match != nil {
		text = match[1]
	}
	if !isID(text) {
		return ""
	}
	return text
}

// checkOptions returns problems with a post's options. A post has either media, a quote or a poll.
//
// Source: https://docs.x.com/x-api/posts/create-post
func checkOptions(c network.Content) []network.Problem {
	var problems []network.Problem
	add := func(field, code, message string) {
		problems = append(problems, network.OptionProblem(platform, field, code, true, message))
	}
	o := postOptions(c.Options)
	if o.QuoteTweetID != "" {
		if parseQuote(o.QuoteTweetID) == "" {
			add("quote_tweet_id", network.CodeOptionUnsupported,
				"The quoted post (options.x.quote_tweet_id) needs the ID or the address of a post on X.")
		}
		if len(c.Media) > 0 {
			add("quote_tweet_id", network.CodeOptionUnsupported,
				"X does not allow media together with a quoted post (options.x.quote_tweet_id). Remove one "+
					"of them.")
		}
	}
	if o.Poll == nil {
		return problems
	}
	if len(c.Media) > 0 || o.QuoteTweetID != "" {
		add("poll", network.CodeOptionUnsupported,
			"X does not allow media or a quoted post together with a poll (options.x.poll). Remove one of "+
				"them.")
	}
	if len(o.Poll.Options) < minPollChoices || len(o.Poll.Options) > maxPollChoices {
		add("poll.options", network.CodeOptionMissing, "A poll on X needs two to four choices (options.x.poll.options).")
	}
	for _, choice := range o.Poll.Options {
		if length := utf8.RuneCountInString(strings.TrimSpace(choice)); length < 1 || length > maxPollChoice {
			add("poll.options", network.CodeOptionUnsupported,
				"Each choice of a poll on X (options.x.poll.options) needs 1 to 25 characters.")
			break
		}
	}
	if o.Poll.DurationMinutes < minPollDuration || o.Poll.DurationMinutes > maxPollDuration {
		add("poll.duration_minutes", network.CodeOptionUnsupported,
			"A poll on X (options.x.poll.duration_minutes) lasts 5 minutes to 7 days.")
	}
	return problems
}

// draftOptions are a post's options in the format of X's API.
type draftOptions struct {
	ReplySettings   string `json:"reply_settings,omitempty"`
	Quote           string `json:"quote_tweet_id,omitempty"`
	Poll            *poll  `json:"poll,omitempty"`
	MadeWithAI      bool   `json:"made_with_ai,omitempty"`
	PaidPartnership bool   `json:"paid_partnership,omitempty"`
}

type poll struct {
	Options         []string `json:"options"`
	DurationMinutes int      `json:"duration_minutes"`
}

func newDraftOptions(o network.XOptions) draftOptions {
	d := draftOptions{
		ReplySettings: o.ReplySettings, Quote: parseQuote(o.QuoteTweetID), MadeWithAI: o.MadeWithAI,
		PaidPartnership: o.PaidPartnership,
	}
	if o.Poll != nil {
		d.Poll = &poll{DurationMinutes: o.Poll.DurationMinutes}
		for _, choice := range o.Poll.Options {
			d.Poll.Options = append(d.Poll.Options, strings.TrimSpace(choice))
		}
	}
	return d
}

// original returns the options from which newDraftOptions made d.
func (d draftOptions) original() network.Options {
	o := network.XOptions{
		ReplySettings: d.ReplySettings, QuoteTweetID: d.Quote, MadeWithAI: d.MadeWithAI, PaidPartnership: d.PaidPartnership,
	}
	if d.Poll != nil {
		o.Poll = &network.XOptionsPoll{Options: d.Poll.Options, DurationMinutes: d.Poll.DurationMinutes}
	}
	return network.Options{X: &o}
}

// addTo adds the options to the body of a request.
func (d draftOptions) addTo(body map[string]any) {
	if d.ReplySettings != "" {
		body["reply_settings"] = d.ReplySettings
	}
	if d.Quote != "" {
		body["quote_tweet_id"] = d.Quote
	}
	if d.Poll != nil {
		body["poll"] = d.Poll
	}
	if d.MadeWithAI {
		body["made_with_ai"] = true
	}
	if d.PaidPartnership {
		body["paid_partnership"] = true
	}
}
