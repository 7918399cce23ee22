package compose

import (
	"fmt"
	"net/url"
	"reflect"
	"regexp"
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
	instagram = "instagram"

	maxCollaborators = 3
	maxUserTags      = 20
	maxAudioName     = 100 // characters
)

var (
	instagramName = regexp.MustCompile(`^[A-Za-z0-9._]{1,30}$`)
	locationID    = regexp.MustCompile(`^[0-9]{1,40}$`)
)

// readInstagram reads the Instagram options from a form into o. It leaves o.Instagram unset if the form has none.
func readInstagram(form url.Values, o *network.Options) {
	i := network.InstagramOptions{
		Format: form.Get("instagram-format"), Collaborators: usernames(form.Get("instagram-collaborators")),
		LocationID: strings.TrimSpace(form.Get("instagram-location")), AudioName: strings.TrimSpace(textOf(form, "instagram-audio")),
		GraduationStrategy: form.Get("instagram-trial"),
	}
	i.CoverMediaID, _ = strconv.ParseInt(form.Get("instagram-cover"), 10, 64) // checked on delivery
	if form.Get("instagram-not-in-feed") == yes {
		i.ShareToFeed = new(false)
	}
	for _, name := range usernames(form.Get("instagram-tags")) {
		i.UserTags = append(i.UserTags, userTag(name, form["instagram-tag-place"]))
	}
	if !reflect.ValueOf(i).IsZero() {
		o.Instagram = &i
	}
}

// usernames returns the usernames in a text, where white space or commas separate them. It removes @ and duplicates.
func usernames(text string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		if name := strings.TrimPrefix(word, "@"); name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// userTag returns a tag for an account. If places contains the account, the tag gets that position. A place is a text
// "username x y" with x and y from 0 to 1, as returned by TagPlaces.
func userTag(name string, places []string) network.InstagramUserTag {
	tag := network.InstagramUserTag{Username: name}
	for _, place := range places {
		var before string
		var x, y float64
		if n, _ := fmt.Sscan(place, &before, &x, &y); n == 3 && before == name && min(x, y) >= 0 && max(x, y) <= 1 {
			tag.X, tag.Y = &x, &y
		}
	}
	return tag
}

// Formats returns the formats that a post can have on Instagram and Facebook. The first one, Post, has an empty value
// unless chosen is network.FormatPost. This keeps an explicit choice.
func (*view) Formats(chosen string) []shell.Choice {
	post := shell.Choice{Name: "Post|noun"}
	if chosen == network.FormatPost {
		post.Value = chosen
	}
	return []shell.Choice{post, {Value: network.FormatReel, Name: "Reel"}, {Value: network.FormatStory, Name: "Story"}}
}

// Trials returns the ways to share a trial reel with followers.
func (*view) Trials() []shell.Choice { return preview.InstagramTrials }

func isFormat(format string) bool {
	return format == network.FormatPost || shell.IsOffered(preview.Formats, format)
}

// instagramErrors returns the errors of the Instagram options, each with its field.
func instagramErrors(o network.Options) []error {
	i := o.Instagram
	if i == nil {
		return nil
	}
	isUsername := func(name string) bool { return instagramName.MatchString(name) }
	var out []error
	for _, check := range []struct {
		wrong         bool
		field, detail string
	}{
		{!isFormat(i.Format), "instagram-format", "Choose a format for Instagram."},
		{!shell.IsOffered(preview.InstagramTrials, i.GraduationStrategy), "instagram-trial",
			"Choose how a trial reel is shown to followers."},
		{len(i.Collaborators) > maxCollaborators || !all(i.Collaborators, isUsername), "instagram-collaborators",
			"Enter up to three usernames, separated by commas."},
		{len(i.UserTags) > maxUserTags || !all(i.UserTags, func(t network.InstagramUserTag) bool { return isUsername(t.Username) }),
			"instagram-tags", "Enter up to 20 usernames, separated by commas."},
		{i.LocationID != "" && !locationID.MatchString(i.LocationID), "instagram-location",
			"The ID of a location has only digits."},
		{utf8.RuneCountInString(i.AudioName) > maxAudioName, "instagram-audio", "The name of the sound can have at most 100 characters."},
	} {
		if check.wrong {
			out = append(out, apierr.Invalid(apierr.NotAllowedValue, check.field, check.detail))
		}
	}
	return out
}

func all[T any](list []T, is func(T) bool) bool {
	return !slices.ContainsFunc(list, func(one T) bool { return !is(one) })
}

// InstagramChoices returns the form's choices for Instagram, or the zero value if there are none.
func (v *view) InstagramChoices() network.InstagramOptions {
	return network.ValueOrZero(v.Choices.Instagram)
}

// Collaborators returns the usernames of the collaborators on Instagram, separated by commas.
func (v *view) Collaborators() string { return strings.Join(v.InstagramChoices().Collaborators, ", ") }

// UserTags returns the usernames of the accounts to tag on Instagram, separated by commas.
func (v *view) UserTags() string {
	var names []string
	for _, tag := range v.InstagramChoices().UserTags {
		names = append(names, tag.Username)
	}
	return strings.Join(names, ", ")
}

// TagPlaces returns the positions of the Instagram tags that have one, as texts for userTag.
func (v *view) TagPlaces() []string {
	var places []string
	for _, tag := range v.InstagramChoices().UserTags {
		if tag.X != nil && tag.Y != nil {
			places = append(places, fmt.Sprint(tag.Username, " ", *tag.X, " ", *tag.Y))
		}
	}
	return places
}

// NotInFeed reports whether the form keeps a reel on Instagram out of the feed.
func (v *view) NotInFeed() bool {
	share := v.InstagramChoices().ShareToFeed
	return share != nil && !*share
}
