package linkedin

import (
	"strings"

	"pressroom.example/pressroom/internal/network"
)

const (
	codeOptionUnsupported = "option_not_supported"

	visibilityPublic      = "PUBLIC"
	visibilityConnections = "CONNECTIONS"
)

// options returns a post's options, empty if there are none.
func options(o network.Options) network.LinkedInOptions {
	if o.LinkedIn == nil {
		return network.LinkedInOptions{}
	}
	return *o.LinkedIn
}

// checkOptions returns problems with a post's options. An organization has followers instead of connections.
//
// Source: https://learn.microsoft.com/linkedin/marketing/community-management/shares/posts-api
func checkOptions(c network.Content) []network.Problem {
	var found []network.Problem
	add := func(code, message string) {
		found = append(found, network.Problem{Code: code, Blocking: true, Message: message})
	}
	o := options(c.Options)
	switch o.Visibility {
	case "", visibilityPublic, visibilityConnections:
	default:
		add(codeOptionUnsupported, "The visibility on LinkedIn (options.linkedin.visibility) must be PUBLIC or CONNECTIONS.")
	}
	if o.Visibility == visibilityConnections && strings.HasPrefix(c.Account, "urn:li:organization:") {
		add(codeOptionUnsupported, "Only members of LinkedIn have connections. Choose the visibility PUBLIC "+
			"(options.linkedin.visibility), or remove the company.")
	}
	return found
}

// draftOptions are the options of a draft.
type draftOptions struct {
	Visibility string `json:"visibility,omitempty"`
}

func newDraftOptions(o network.LinkedInOptions) draftOptions {
	return draftOptions{Visibility: o.Visibility}
}

// content returns the planned content of an account.
func (d draft) content(account string) network.Content {
	return network.Content{Text: d.Text, Media: d.Media, Account: account, Options: network.Options{
		LinkedIn: &network.LinkedInOptions{Visibility: d.Visibility},
	}}
}
