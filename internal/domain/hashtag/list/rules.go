package list

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/provider"
)

// Reasons for rejecting a hashtag.
const (
	reasonEmpty      = "empty"
	reasonTooLong    = "too_long"
	reasonCharacters = "bad_characters"
	reasonFull       = "list_full"
	reasonBanned     = "banned"
)

// HashtagListChangeRefused is a hashtag that was not added, with the reason.
type HashtagListChangeRefused struct {
	Hashtag string `json:"hashtag" jsonschema:"The hashtag, or up to 100 characters of an invalid one as sent, without control characters."`
	Reason  string `json:"reason" enum:"empty|too_long|bad_characters|list_full|banned"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (HashtagListChangeRefused) Descriptions() map[string]string {
	return map[string]string{"reason": "list_full: limit of the plan. banned: by the service."}
}

// parseHashtags returns the distinct hashtags of a request in order, and the rejected hashtags.
func parseHashtags(platform string, hashtags []string) ([]string, []HashtagListChangeRefused) {
	tags, rejected := make([]string, 0, len(hashtags)), []HashtagListChangeRefused{}
	seenTags, seenRejections := make(map[string]bool, len(hashtags)), map[HashtagListChangeRefused]bool{}
	for _, hashtag := range hashtags {
		tag, err := provider.ParseHashtagFor(platform, hashtag)
		if err != nil {
			if r := (HashtagListChangeRefused{sanitize(hashtag), rejectionReason(err)}); !seenRejections[r] {
				seenRejections[r], rejected = true, append(rejected, r)
			}
			continue
		}
		if !seenTags[tag] {
			seenTags[tag], tags = true, append(tags, tag)
		}
	}
	return tags, rejected
}

// rejectionReason returns the reason for an error of provider.ParseHashtag.
func rejectionReason(err error) string {
	switch {
	case errors.Is(err, provider.ErrHashtagEmpty):
		return reasonEmpty
	case errors.Is(err, provider.ErrHashtagTooLong):
		return reasonTooLong
	}
	return reasonCharacters
}

// sanitize returns the beginning of an invalid hashtag without invisible characters, safe to show.
func sanitize(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return -1
		}
		return r
	}, text)
	seen := 0
	for at := range text {
		if seen == provider.MaxHashtag {
			return text[:at]
		}
		seen++
	}
	return text
}

// banList holds the hashtags that the operator bans, by platform. The key "" is for lists for all platforms. It holds
// the hashtags that are banned on any platform.
type banList map[string]map[string]bool

// newBanList parses the operator's banned hashtags, by platform.
func newBanList(byPlatform map[string][]string) (banList, error) {
	out := banList{"": {}}
	for platform, hashtags := range byPlatform {
		if !slices.Contains(platforms, platform) {
			return nil, fmt.Errorf("banned_hashtags: unknown platform %s; use one of: %s", platform,
				strings.Join(platforms, ", "))
		}
		out[platform] = make(map[string]bool, len(hashtags))
		for n, text := range hashtags {
			tag, err := provider.ParseHashtagFor(platform, text)
			if err != nil {
				return nil, fmt.Errorf("banned_hashtags: %s: entry %d: %w", platform, n+1, err)
			}
			out[platform][tag], out[""][tag] = true, true
		}
	}
	return out, nil
}

// filter splits hashtags into accepted and rejected hashtags. slots is how many more hashtags the list can hold; a
// negative number means unlimited.
func (b banList) filter(platform string, tags []string, slots int64) ([]string, []HashtagListChangeRefused) {
	var accepted []string
	var rejected []HashtagListChangeRefused
	for _, tag := range tags {
		switch {
		case b[platform][tag]:
			rejected = append(rejected, HashtagListChangeRefused{tag, reasonBanned})
		case slots >= 0 && int64(len(accepted)) >= slots:
			rejected = append(rejected, HashtagListChangeRefused{tag, reasonFull})
		default:
			accepted = append(accepted, tag)
		}
	}
	return accepted, rejected
}

// Maximum lengths in characters.
const (
	MaxName        = 50
	MaxSubcategory = 50
)

// parseLine returns a single-line text without surrounding space.
func parseLine(argument, text string, limit int) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case utf8.RuneCountInString(text) > limit:
		return "", apierr.Invalidf(apierr.TooLong, argument, "The argument %s is limited to %d characters.",
			argument, limit)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
	}):
		return "", apierr.Invalidf(apierr.Malformed, argument, "The argument %s must be a single line without control "+
			"characters.", argument)
	}
	return text, nil
}

// parseName returns the name of a list, which must have a visible character.
func parseName(text string) (string, error) {
	name, err := parseLine("name", text, MaxName)
	if err == nil && !strings.ContainsFunc(name, isVisible) {
		err = apierr.Invalid(apierr.TooShort, "name", "The name must have a visible character.")
	}
	return name, err
}

// parseSubcategory returns the name of a subcategory, or "" if it has no visible character.
func parseSubcategory(text string) (string, error) {
	label, err := parseLine("subcategory", text, MaxSubcategory)
	if !strings.ContainsFunc(label, isVisible) {
		label = ""
	}
	return label, err
}

// isVisible reports whether a character is visible. Hangul fillers and the empty braille pattern are invisible,
// although Unicode classifies them as letters or symbols.
func isVisible(r rune) bool {
	const noDots = '\u2800'
	return r != noDots && !unicode.IsSpace(r) &&
		!unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// parseIcon validates the name of an icon, which may be empty.
func parseIcon(token string) (string, error) {
	if token != "" && !IsIcon(token) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "icon", "Unknown icon. Use the name of a Remix Icon, such "+
			"as ri-hashtag or ri-plane-line.")
	}
	return token, nil
}

// parseColor normalizes a color, which may be empty.
func parseColor(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	digits, found := strings.CutPrefix(strings.ToLower(text), "#")
	if !found || len(digits) != 6 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", apierr.Invalid(apierr.Malformed, "color", "The argument color must be # and six hexadecimal digits.")
	}
	return "#" + digits, nil
}
