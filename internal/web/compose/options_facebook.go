package compose

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
)

const (
	facebook = "facebook"

	maxFacebookTitle = 255 // characters
)

// readFacebook reads the Facebook options from a form into o. It leaves o.Facebook unset if the form has none.
func readFacebook(form url.Values, o *network.Options) {
	f := network.FacebookOptions{
		Format: form.Get("facebook-format"), Link: strings.TrimSpace(form.Get("facebook-link")),
		Place: strings.TrimSpace(form.Get("facebook-place")), Title: strings.TrimSpace(textOf(form, "facebook-title")),
	}
	if f != (network.FacebookOptions{}) {
		o.Facebook = &f
	}
}

// facebookErrors returns the errors of the Facebook options, each with its field.
func facebookErrors(o network.Options) []error {
	f := o.Facebook
	if f == nil {
		return nil
	}
	var out []error
	add := func(wrong bool, field, detail string) {
		if wrong {
			out = append(out, apierr.Invalid(apierr.NotAllowedValue, field, detail))
		}
	}
	isLink := strings.HasPrefix(f.Link, "https://") || strings.HasPrefix(f.Link, "http://")
	add(!isFormat(f.Format), "facebook-format", "Choose a format for Facebook.")
	add(f.Link != "" && !isLink, "facebook-link", "A link begins with https://.")
	add(f.Place != "" && !locationID.MatchString(f.Place), "facebook-place", "The ID of a location has only digits.")
	add(utf8.RuneCountInString(f.Title) > maxFacebookTitle, "facebook-title", "The title on Facebook can have at most 255 characters.")
	return out
}

// FacebookChoices returns the form's choices for Facebook, or the zero value if there are none.
func (v *view) FacebookChoices() network.FacebookOptions {
	return network.ValueOrZero(v.Choices.Facebook)
}
