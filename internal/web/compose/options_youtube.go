package compose

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/preview"
	"pressroom.example/pressroom/internal/web/shell"
)

const (
	youTube = "youtube"

	maxVideoTitle = 100 // characters
)

// playlistID matches the ID of a playlist.
var playlistID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// readYouTube sets the options for YouTube in a form.
func readYouTube(form url.Values, o *network.Options) {
	y := network.YouTubeOptions{
		Title: strings.TrimSpace(textOf(form, "youtube-title")), PrivacyStatus: form.Get("youtube-privacy"),
		ContainsSyntheticMedia: form.Get("youtube-synthetic") == yes, CategoryID: form.Get("youtube-category"),
		PlaylistID: strings.TrimSpace(form.Get("youtube-playlist")),
	}
	y.ThumbnailMediaID, _ = strconv.ParseInt(form.Get("youtube-thumbnail"), 10, 64) // a delivery checks it
	if kids := form.Get("youtube-kids"); kids == yes || kids == no {
		y.SelfDeclaredMadeForKids = new(kids == yes)
	}
	if y != (network.YouTubeOptions{}) {
		o.YouTube = &y
	}
}

// youTubeErrors returns what is wrong with the options for YouTube, each with its field.
func youTubeErrors(o network.Options) []error {
	y := o.YouTube
	if y == nil {
		return nil
	}
	var out []error
	if y.PrivacyStatus != "" && !shell.IsOffered(preview.YouTubeVisibilities, y.PrivacyStatus) {
		out = append(out, apierr.Invalid(apierr.NotAllowedValue, "youtube-privacy", "Choose who can see the video on YouTube."))
	}
	if y.PlaylistID != "" && !playlistID.MatchString(y.PlaylistID) {
		out = append(out, apierr.Invalid(apierr.Malformed, "youtube-playlist",
			"The ID of a playlist has letters, digits, - and _. It follows list= in the playlist’s address."))
	}
	switch {
	case utf8.RuneCountInString(y.Title) > maxVideoTitle:
		out = append(out, apierr.Invalid(apierr.TooLong, "youtube-title", "The title on YouTube can have at most 100 characters."))
	case strings.ContainsAny(y.Title, "<>\n"):
		out = append(out, apierr.Invalidf(apierr.Malformed, "youtube-title",
			"YouTube does not allow %s and %s in a title. Remove them.", "<", ">"))
	}
	return out
}

// YouTubeChoices returns the choices for YouTube, empty if there are none.
func (v *view) YouTubeChoices() network.YouTubeOptions {
	if v.Choices.YouTube == nil {
		return network.YouTubeOptions{}
	}
	return *v.Choices.YouTube
}

// Kids returns "yes" or "no" if the form states whether the video is made for kids, or "".
func (v *view) Kids() string { return kidsOf(v.YouTubeChoices()) }

// DefaultKids returns what Kids does, for a video without a choice.
func (v *view) DefaultKids() string { return kidsOf(v.YouTubeDefaults) }

// DefaultVisibility returns the visibility of a video without a choice.
func (v *view) DefaultVisibility() locale.Key {
	for _, one := range preview.YouTubeVisibilities {
		if one.Value == v.YouTubeDefaults.PrivacyStatus {
			return one.Name
		}
	}
	return ""
}

func kidsOf(y network.YouTubeOptions) string {
	switch kids := y.SelfDeclaredMadeForKids; {
	case kids == nil:
		return ""
	case *kids:
		return yes
	}
	return no
}

// Visibilities returns YouTube's preview.YouTubeVisibilities.
func (*view) Visibilities() []shell.Choice { return preview.YouTubeVisibilities }
