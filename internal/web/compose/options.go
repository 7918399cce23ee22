package compose

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/account/appcheck"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/web/shell"
)

// The values of fields with three states.
const (
	yes = "yes"
	no  = "no"
)

const (
	youTube = "youtube"
	tikTok  = "tiktok"

	maxVideoTitle = 100 // characters
)

// playlistID matches the ID of a playlist.
var playlistID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// choices are the options in a form. Networks without fields in the form keep the options of the post.
type choices struct {
	network.Options

	Networks []string // networks with fields in the form
}

// readChoices returns the choices in a form. Without a choice for a network, the team's default or the operator's mode applies.
func readChoices(form url.Values) choices {
	c := choices{Networks: form["options"]}
	is := func(name string) bool { return form.Get(name) == yes }
	t := network.TikTokOptions{
		PrivacyLevel: form.Get("tiktok-privacy"), AllowComment: is("tiktok-comment"), AllowDuet: is("tiktok-duet"),
		AllowStitch: is("tiktok-stitch"), BrandOrganic: is("tiktok-brand"), BrandContent: is("tiktok-partnership"),
		IsAIGC: is("tiktok-ai"), MusicUsageConfirmed: is("tiktok-music"),
	}
	if is("tiktok-inbox") {
		t.Mode = network.TikTokInbox
	}
	if t != (network.TikTokOptions{}) {
		c.TikTok = &t
	}
	y := network.YouTubeOptions{
		Title: strings.TrimSpace(textOf(form, "youtube-title")), PrivacyStatus: form.Get("youtube-privacy"),
		ContainsSyntheticMedia: is("youtube-synthetic"), CategoryID: form.Get("youtube-category"),
		PlaylistID: strings.TrimSpace(form.Get("youtube-playlist")),
	}
	y.ThumbnailMediaID, _ = strconv.ParseInt(form.Get("youtube-thumbnail"), 10, 64) // a delivery checks it
	if kids := form.Get("youtube-kids"); kids == yes || kids == no {
		y.SelfDeclaredMadeForKids = new(kids == yes)
	}
	if y != (network.YouTubeOptions{}) {
		c.YouTube = &y
	}
	return c
}

// choicesOf returns the choices of a post.
func choicesOf(o network.Options) choices { return choices{o, []string{tikTok, youTube}} }

// of returns the post's options after the form's choices.
func (c choices) of(held network.Options) *network.Options {
	if slices.Contains(c.Networks, tikTok) {
		held.TikTok = c.TikTok
	}
	if slices.Contains(c.Networks, youTube) {
		held.YouTube = c.YouTube
	}
	return &held
}

// visibilities are the visibilities of YouTube, with words for people.
var visibilities = []shell.Choice{
	{Value: "public", Name: "Public"}, {Value: "unlisted", Name: "Unlisted"}, {Value: "private", Name: "Private"},
}

// errors returns what is wrong with the choices, each with its field.
func (c choices) errors() []error {
	var out []error
	if c.TikTok != nil && c.TikTok.PrivacyLevel != "" && !shell.IsOffered(shell.TikTokAudiences, c.TikTok.PrivacyLevel) {
		out = append(out, apierr.Invalid(apierr.NotAllowedValue, "tiktok-privacy", "Choose who can see the post on TikTok."))
	}
	y := c.YouTube
	if y == nil {
		return out
	}
	if y.PrivacyStatus != "" && !shell.IsOffered(visibilities, y.PrivacyStatus) {
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

// hasNetwork reports whether the team has an account of a network, so that the form has its fields.
func (v *view) hasNetwork(platform string) bool {
	return slices.ContainsFunc(v.Groups, func(g group) bool { return g.Platform == platform })
}

// HasTikTok reports whether the form has TikTok's fields.
func (v *view) HasTikTok() bool { return v.hasNetwork(tikTok) }

// HasYouTube reports whether the form has YouTube's fields.
func (v *view) HasYouTube() bool { return v.hasNetwork(youTube) }

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

// Publishes reports whether an account of a network is selected.
func (v *view) Publishes(platform string) bool {
	return slices.ContainsFunc(v.Chosen, func(c chosen) bool { return c.Platform == platform })
}

// creator is a TikTok account with what its settings allow.
type creator struct {
	appcheck.Creator

	Username string
}

// limits returns the length of a video and the features that the settings allow. The form offers only the audiences of the
// account.
func limits(l *locale.Language, c creator) string {
	var out []string
	switch longest := c.LongestVideo; {
	case longest >= 2*time.Minute && longest%time.Minute == 0:
		out = append(out, l.T("Videos up to %d minutes.", int64(longest/time.Minute)))
	case longest > 0:
		out = append(out, l.T("Videos up to %d seconds.", int64(longest/time.Second)))
	}
	var off []string
	for _, feature := range []struct {
		name locale.Key
		off  bool
	}{{"comments", c.NoComment}, {"duets", c.NoDuet}, {"stitches", c.NoStitch}} {
		if feature.off {
			off = append(off, l.T(feature.name))
		}
	}
	if len(off) > 0 {
		out = append(out, l.T("Turned off: %s.", strings.Join(off, ", ")))
	}
	return strings.Join(out, " ")
}

// limited are the options of a post that the settings of an account can forbid.
func limited() []string {
	out := []string{"comment", "duet", "stitch"}
	for _, a := range shell.TikTokAudiences {
		out = append(out, a.Value)
	}
	return out
}

// Off returns the options that the account's settings forbid, separated by spaces.
func (c creator) Off() string {
	return strings.Join(slices.DeleteFunc(limited(), func(option string) bool { return !c.Forbids(option) }), " ")
}

// Forbids reports whether the settings of a selected account forbid an option.
func (v *view) Forbids(option string) bool {
	return slices.ContainsFunc(v.Creators, func(c creator) bool { return c.Forbids(option) })
}

// creatorsOf reads the settings of the selected TikTok accounts concurrently, so that it takes no longer than reading one.
// Accounts without settings are left out.
func (p *Handlers) creatorsOf(r *http.Request, accounts []account.SocialAccount, selected []int64) []creator {
	var out []creator
	var ids []int64
	for _, a := range accounts {
		if a.Platform == tikTok && a.Active && slices.Contains(selected, a.ID) {
			out, ids = append(out, creator{Username: a.Username}), append(ids, a.ID)
		}
	}
	var group sync.WaitGroup
	for i, id := range ids {
		group.Go(func() { out[i].Creator = p.creators.CreatorInfo(r.Context(), id) })
	}
	group.Wait()
	return slices.DeleteFunc(out, func(c creator) bool { return c.Text == "" && !c.Unread })
}

// TeamAudience returns the audience of the team's default for TikTok.
func (v *view) TeamAudience() locale.Key {
	for _, a := range shell.TikTokAudiences {
		if v.TeamTikTok != nil && a.Value == v.TeamTikTok.PrivacyLevel {
			return a.Name
		}
	}
	return ""
}

// TikTokChoices returns the choices for TikTok, empty if there are none.
func (v *view) TikTokChoices() network.TikTokOptions {
	if v.Choices.TikTok == nil {
		return network.TikTokOptions{}
	}
	return *v.Choices.TikTok
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
	for _, one := range visibilities {
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

// Audiences returns TikTok's audiences.
func (*view) Audiences() []shell.Choice { return shell.TikTokAudiences }

// Visibilities returns YouTube's visibilities.
func (*view) Visibilities() []shell.Choice { return visibilities }
