package compose

import (
	"net/url"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

const instagram = "instagram"

// readInstagram sets the options for Instagram in a form.
func readInstagram(form url.Values, o *network.Options) {
	i := network.InstagramOptions{Format: form.Get("instagram-format")}
	if i != (network.InstagramOptions{}) {
		o.Instagram = &i
	}
}

// formats are the formats of a post, with words for people. Without a choice, it is a post in the feed.
var formats = []shell.Choice{
	{Value: "", Name: "Post in the feed"}, {Value: network.FormatStory, Name: "Story"}, {Value: network.FormatReel, Name: "Reel"},
}

// Formats returns the formats of a post.
func (*view) Formats() []shell.Choice { return formats }

func isFormat(format string) bool {
	return format == network.FormatPost || shell.IsOffered(formats, format)
}

// instagramErrors returns what is wrong with the options for Instagram, each with its field.
func instagramErrors(o network.Options) []error {
	if o.Instagram == nil || isFormat(o.Instagram.Format) {
		return nil
	}
	return []error{apierr.Invalid(apierr.NotAllowedValue, "instagram-format", "Choose a format for Instagram.")}
}

// InstagramChoices returns the choices for Instagram, empty if there are none.
func (v *view) InstagramChoices() network.InstagramOptions {
	if v.Choices.Instagram == nil {
		return network.InstagramOptions{}
	}
	return *v.Choices.Instagram
}
