package compose

import (
	"net/url"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

const linkedIn = "linkedin"

// linkedInVisibilities say who can see a post on LinkedIn. Without one, everybody can.
var linkedInVisibilities = []shell.Choice{{Value: "PUBLIC", Name: "Anyone"}, {Value: "CONNECTIONS", Name: "Connections only"}}

// readLinkedIn sets the options for LinkedIn in a form.
func readLinkedIn(form url.Values, o *network.Options) {
	l := network.LinkedInOptions{Visibility: form.Get("linkedin-visibility")}
	if l != (network.LinkedInOptions{}) {
		o.LinkedIn = &l
	}
}

// linkedInErrors returns what is wrong with the options for LinkedIn, each with its field. The network checks the rest.
func linkedInErrors(o network.Options) []error {
	l := o.LinkedIn
	if l == nil {
		return nil
	}
	var out []error
	if l.Visibility != "" && !shell.IsOffered(linkedInVisibilities, l.Visibility) {
		out = append(out, apierr.Invalid(apierr.NotAllowedValue, "linkedin-visibility", "Choose who can see the post on LinkedIn."))
	}
	return out
}

// LinkedInChoices returns the choices for LinkedIn, empty if there are none.
func (v *view) LinkedInChoices() network.LinkedInOptions {
	if v.Choices.LinkedIn == nil {
		return network.LinkedInOptions{}
	}
	return *v.Choices.LinkedIn
}

// LinkedInVisibilities returns who can see a post on LinkedIn, except for the default.
func (*view) LinkedInVisibilities() []shell.Choice { return linkedInVisibilities[1:] }
