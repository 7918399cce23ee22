package compose

import (
	"net/url"
	"slices"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
)

// The values of a field that can be yes, no or unset.
const (
	yes = "yes"
	no  = "no"
)

// optionFields describes how the form handles the options of one network.
type optionFields struct {
	platform string
	read     func(url.Values, *network.Options)              // reads the network's options from a form
	keep     func(to *network.Options, from network.Options) // copies the network's options
	errors   func(network.Options) []error                   // returns errors, each with its field
}

// optionForms lists the networks with option fields in the form.
var optionForms = []optionFields{
	{threadsNetwork, readThreads, func(to *network.Options, from network.Options) { to.Threads = from.Threads }, threadsErrors},
	{networkX, readX, func(to *network.Options, from network.Options) { to.X = from.X }, xErrors},
	{bluesky, readBluesky, func(to *network.Options, from network.Options) { to.Bluesky = from.Bluesky }, blueskyErrors},
	{facebook, readFacebook, func(to *network.Options, from network.Options) { to.Facebook = from.Facebook }, facebookErrors},
	{
		instagram, readInstagram, func(to *network.Options, from network.Options) { to.Instagram = from.Instagram }, instagramErrors,
	},
	{linkedIn, readLinkedIn, func(to *network.Options, from network.Options) { to.LinkedIn = from.LinkedIn }, linkedInErrors},
	{
		pinterest, readPinterest, func(to *network.Options, from network.Options) { to.Pinterest = from.Pinterest }, pinterestErrors,
	},
	{tikTok, readTikTok, func(to *network.Options, from network.Options) { to.TikTok = from.TikTok }, tikTokErrors},
	{youTube, readYouTube, func(to *network.Options, from network.Options) { to.YouTube = from.YouTube }, youTubeErrors},
}

// choices are the network options in a form. The post keeps its options for networks that are not in Networks.
type choices struct {
	network.Options

	Networks []string // networks with fields in the form
}

// readChoices reads the choices from a form. If the form has none for a network, that network's options stay unset, so
// that the team's or the operator's defaults apply.
func readChoices(form url.Values) choices {
	c := choices{Networks: form["options"]}
	for _, f := range optionForms {
		f.read(form, &c.Options)
	}
	return c
}

// choicesOf returns the options of a post as choices for all networks.
func choicesOf(o network.Options) choices {
	c := choices{Options: o}
	for _, f := range optionForms {
		c.Networks = append(c.Networks, f.platform)
	}
	return c
}

// of returns the post's options, held, after replacing the options of the form's networks with the choices.
func (c choices) of(held network.Options) *network.Options {
	for _, f := range optionForms {
		if slices.Contains(c.Networks, f.platform) {
			f.keep(&held, c.Options)
		}
	}
	return &held
}

// errors returns the errors of the choices, each with its field.
func (c choices) errors() []error {
	var out []error
	for _, f := range optionForms {
		out = append(out, f.errors(c.Options)...)
	}
	return out
}

// HasOptions reports whether the form offers an account on a network, and therefore has the network's option fields.
func (v *view) HasOptions(platform string) bool {
	return slices.ContainsFunc(v.Groups, func(g group) bool { return g.Platform == platform })
}

// SharesOptions reports whether the options of a network apply to several selected accounts.
func (v *view) SharesOptions(platform string) bool {
	n := 0
	for _, c := range v.Chosen {
		if c.Platform == platform {
			n++
		}
	}
	return n > 1
}

// Publishes reports whether an account on a network is selected.
func (v *view) Publishes(platform string) bool {
	return slices.ContainsFunc(v.Chosen, func(c selectedAccount) bool { return c.Platform == platform })
}

// optionInputs maps the title and option names in the API to the ids of their inputs. Problems of options that are not
// in the map are shown above the network's options.
var optionInputs = map[string]string{
	"title":                                 "title",
	"options.bluesky.link_card.title":       "bluesky-card-title",
	"options.bluesky.link_card.description": "bluesky-card-description",
	"options.bluesky.link_card.url":         "bluesky-card-url",
	"options.bluesky.quote_url":             "bluesky-quote",
	"options.bluesky.languages":             "bluesky-languages",
	"options.facebook.format":               "facebook-format",
	"options.facebook.link":                 "facebook-link",
	"options.facebook.place":                "facebook-place",
	"options.facebook.title":                "facebook-title",
	"options.instagram.format":              "instagram-format",
	"options.instagram.collaborators":       "instagram-collaborators",
	"options.instagram.user_tags":           "instagram-tags",
	"options.instagram.location_id":         "instagram-location",
	"options.instagram.audio_name":          "instagram-audio",
	"options.instagram.graduation_strategy": "instagram-trial",
	"options.threads.reply_control":         "threads-reply",
	"options.threads.topic_tag":             "threads-topic",
	"options.threads.link_attachment":       "threads-link",
	"options.threads.quote_post_id":         "threads-quote",
	"options.threads.poll_attachment":       "threads-poll",
	"options.tiktok.privacy_level":          "tiktok-privacy",
	"options.x.reply_settings":              "x-reply",
	"options.x.quote_tweet_id":              "x-quote",
	"options.x.poll":                        "x-poll",
	"options.x.poll.options":                "x-poll",
	"options.x.poll.duration_minutes":       "x-poll",
	"options.youtube.title":                 "youtube-title",
	"options.youtube.privacy_status":        "youtube-privacy",
	"options.youtube.playlist_id":           "youtube-playlist",
	"options.linkedin.visibility":           "linkedin-visibility",
	"options.linkedin.poll":                 "linkedin-poll",
	"options.linkedin.poll.question":        "linkedin-question",
	"options.linkedin.poll.options":         "linkedin-poll",
	"options.linkedin.poll.duration":        "linkedin-poll",
	"options.linkedin.article":              "linkedin-article-source",
	"options.linkedin.article.source":       "linkedin-article-source",
	"options.linkedin.article.title":        "linkedin-article-title",
	"options.linkedin.article.description":  "linkedin-article-description",
	"options.linkedin.mentions":             "linkedin-mentions",
	"options.pinterest.title":               "pinterest-title",
	"options.pinterest.link":                "pinterest-link",
	"options.pinterest.board_section":       "pinterest-section",
}

// tooLong returns an error if a text has more than limit characters.
func tooLong(field, text string, limit int) error {
	if utf8.RuneCountInString(text) <= limit {
		return nil
	}
	return apierr.Invalidf(apierr.TooLong, field, "Use at most %d characters.", limit)
}
