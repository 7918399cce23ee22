package compose

import (
	"net/url"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
)

const (
	pinterest = "pinterest"

	maxPinTitle   = 100  // characters
	maxPinLink    = 2048 // characters
	maxPinSection = 180  // characters
)

// readPinterest reads the Pinterest options from a form into o. It leaves o.Pinterest unset if the form has none.
func readPinterest(form url.Values, o *network.Options) {
	p := network.PinterestOptions{
		Title: strings.TrimSpace(textOf(form, "pinterest-title")), Link: strings.TrimSpace(form.Get("pinterest-link")),
		BoardSection: strings.TrimSpace(textOf(form, "pinterest-section")),
	}
	if p != (network.PinterestOptions{}) {
		o.Pinterest = &p
	}
}

// pinterestErrors returns the errors of the Pinterest options, each with its field.
func pinterestErrors(o network.Options) []error {
	p := o.Pinterest
	if p == nil {
		return nil
	}
	out := nonNil(
		tooLong("pinterest-title", p.Title, maxPinTitle),
		tooLong("pinterest-section", p.BoardSection, maxPinSection),
		tooLong("pinterest-link", p.Link, maxPinLink),
	)
	if p.Link != "" && network.WebURL(p.Link) == "" {
		out = append(out, apierr.Invalid(apierr.Malformed, "pinterest-link", "A link begins with https://."))
	}
	return out
}

// PinterestChoices returns the form's choices for Pinterest, or the zero value if there are none.
func (v *view) PinterestChoices() network.PinterestOptions {
	return network.ValueOrZero(v.Choices.Pinterest)
}
