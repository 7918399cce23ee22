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

// playlistID matches the ID of a playlist on YouTube.
var playlistID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// readYouTube reads the YouTube options from a form into o. It leaves o.YouTube unset if the form has none.
func readYouTube(form url.Values, o *network.Options) {
	y := network.YouTubeOptions{
		Title: strings.TrimSpace(textOf(form, "youtube-title")), PrivacyStatus: form.Get("youtube-privacy"),
		ContainsSyntheticMedia: form.Get("youtube-synthetic") == yes, CategoryID: form.Get("youtube-category"),
		PlaylistID: strings.TrimSpace(form.Get("youtube-playlist")),
	}
	y.ThumbnailMediaID, _ = strconv.ParseInt(form.Get("youtube-thumbnail"), 10, 64) // checked on delivery
	if kids := form.Get("youtube-kids"); kids == yes || kids == no {
		y.SelfDeclaredMadeForKids = new(kids == yes)
	}
	if y != (network.YouTubeOptions{}) {
		o.YouTube = &y
	}
}

// youTubeErrors returns the errors of the YouTube options, each with its field.
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

// YouTubeChoices returns the form's choices for YouTube, or the zero value if there are none.
func (v *view) YouTubeChoices() network.YouTubeOptions { return network.ValueOrZero(v.Choices.YouTube) }

// Kids returns "yes" or "no" if the form states whether the video is made for kids, or else "".
func (v *view) Kids() string { return kidsOf(v.YouTubeChoices()) }

// DefaultKids is like Kids, but for the default, which applies if the form does not state it.
func (v *view) DefaultKids() string { return kidsOf(v.YouTubeDefaults) }

// DefaultVisibility returns the name of the visibility that applies if the form has none, or "" if there is no default.
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

// Visibilities returns the possible visibilities of a video on YouTube.
func (*view) Visibilities() []shell.Choice { return preview.YouTubeVisibilities }
