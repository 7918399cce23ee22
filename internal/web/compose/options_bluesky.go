package compose

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	bluesky = "bluesky"

	maxLanguages = 3
)

// pick returns the values that are offered, in the order of offered.
func pick(offered []shell.Choice, values []string) []string {
	var out []string
	for _, one := range offered {
		if slices.Contains(values, one.Value) {
			out = append(out, one.Value)
		}
	}
	return out
}

// box is a choice in a group of checkboxes or in a list.
type box struct {
	shell.Choice

	On bool
}

func boxes(offered []shell.Choice, values []string) []box {
	out := make([]box, len(offered))
	for i, one := range offered {
		out[i] = box{one, slices.Contains(values, one.Value)}
	}
	return out
}

// readBluesky reads the Bluesky options from a form into o. It leaves o.Bluesky unset if the form has none.
func readBluesky(form url.Values, o *network.Options) {
	b := network.BlueskyOptions{
		QuoteURL:      strings.TrimSpace(form.Get("bluesky-quote")),
		Labels:        pick(preview.BlueskyLabels, form["bluesky-label"]),
		ReplySettings: pick(preview.BlueskyReplies, form["bluesky-reply"]),
		DisableQuotes: form.Get("bluesky-no-quotes") == yes,
	}
	b.Languages = strings.FieldsFunc(form.Get("bluesky-languages"), func(r rune) bool { return r == ',' || r == ' ' })
	if len(b.Languages) == 0 {
		b.Languages = nil
	}
	// If the card has no title, delivery reads its texts from the linked page.
	if form.Get("bluesky-card") == yes {
		b.LinkCard = &network.BlueskyOptionsLinkCard{
			URL: strings.TrimSpace(form.Get("bluesky-card-url")), Title: strings.TrimSpace(textOf(form, "bluesky-card-title")),
			Description: strings.TrimSpace(textOf(form, "bluesky-card-description")),
		}
		b.LinkCard.ThumbnailMediaID, _ = strconv.ParseInt(form.Get("bluesky-card-thumbnail"), 10, 64) // checked on delivery
	}
	if !b.IsZero() {
		o.Bluesky = &b
	}
}

// blueskyErrors returns the errors of the Bluesky options, each with its field. The network's rules cover the rest.
func blueskyErrors(o network.Options) []error {
	b := o.Bluesky
	if b == nil {
		return nil
	}
	var out []error
	tooLong := func(field, text string, limit int) {
		if utf8.RuneCountInString(text) > limit {
			out = append(out, apierr.Invalidf(apierr.TooLong, field, "Use at most %d characters.", limit))
		}
	}
	tooLong("bluesky-quote", b.QuoteURL, 500)
	if len(b.Languages) > maxLanguages {
		out = append(out, apierr.Invalid(apierr.NotAllowedValue, "bluesky-languages", "Enter at most three languages."))
	}
	if b.LinkCard != nil {
		tooLong("bluesky-card-url", b.LinkCard.URL, 2000)
		tooLong("bluesky-card-title", b.LinkCard.Title, 300)
		tooLong("bluesky-card-description", b.LinkCard.Description, 1000)
	}
	return out
}

// BlueskyChoices returns the form's choices for Bluesky, or the zero value if there are none.
func (v *view) BlueskyChoices() network.BlueskyOptions { return network.ValueOrZero(v.Choices.Bluesky) }

// BlueskyCard returns the link card for Bluesky, or the zero value if there is none.
func (v *view) BlueskyCard() network.BlueskyOptionsLinkCard {
	if card := v.BlueskyChoices().LinkCard; card != nil {
		return *card
	}
	return network.BlueskyOptionsLinkCard{}
}

// Languages returns the languages for Bluesky, separated by commas.
func (v *view) Languages() string { return strings.Join(v.BlueskyChoices().Languages, ", ") }

// BlueskyReplies returns the checkboxes for who can reply on Bluesky.
func (v *view) BlueskyReplies() []box {
	return boxes(preview.BlueskyReplies, v.BlueskyChoices().ReplySettings)
}

// BlueskyLabels returns the checkboxes for content warnings on Bluesky.
func (v *view) BlueskyLabels() []box { return boxes(preview.BlueskyLabels, v.BlueskyChoices().Labels) }
