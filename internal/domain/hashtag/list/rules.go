package list

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/provider"
)

// Why a hashtag was refused (contract, Records).
const (
	reasonEmpty      = "empty"
	reasonTooLong    = "too_long"
	reasonCharacters = "bad_characters"
	reasonFull       = "list_full"
	reasonBanned     = "banned"
)

// Refused is a hashtag that was not added, and why.
type Refused struct {
	Hashtag string `json:"hashtag" jsonschema:"As it was sent where it is no hashtag: at most 100 characters of it, without control characters. Else as it would stand in the list."`
	Reason  string `json:"reason" enum:"empty|too_long|bad_characters|list_full|banned" jsonschema:"list_full: the list has as many hashtags as the plan allows. banned: the service takes no such hashtag for the list's network."`
}

// parseHashtags reads what was sent: the hashtags in it, each once and in their order, and what is none.
func parseHashtags(platform string, sent []string) ([]string, []Refused) {
	tags, refused := make([]string, 0, len(sent)), []Refused{}
	met, bad := make(map[string]bool, len(sent)), map[Refused]bool{}
	for _, text := range sent {
		tag, err := provider.HashtagOf(platform, text)
		if err != nil {
			if r := (Refused{sanitize(text), reasonOf(err)}); !bad[r] {
				bad[r], refused = true, append(refused, r)
			}
			continue
		}
		if !met[tag] {
			met[tag], tags = true, append(tags, tag)
		}
	}
	return tags, refused
}

// reasonOf is why a text is no hashtag.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, provider.ErrHashtagEmpty):
		return reasonEmpty
	case errors.Is(err, provider.ErrHashtagTooLong):
		return reasonTooLong
	}
	return reasonCharacters
}

// sanitize is the beginning of a text without what is not seen: it may have been sent by mistake, and is shown again.
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

// banList are the hashtags that the operator takes nowhere, by platform; those of the empty one are of any.
type banList map[string]map[string]bool

// newBanned reads the operator's hashtags, however they are written.
func newBanned(byPlatform map[string][]string) (banList, error) {
	out := banList{"": {}}
	for platform, sent := range byPlatform {
		if !slices.Contains(platforms, platform) {
			return nil, fmt.Errorf("banned_hashtags names %s, which lists cannot be tied to; there are: %s", platform, strings.Join(platforms, ", "))
		}
		out[platform] = make(map[string]bool, len(sent))
		for n, text := range sent {
			tag, err := provider.HashtagOf(platform, text)
			if err != nil {
				return nil, fmt.Errorf("banned_hashtags of %s, number %d: %w", platform, n+1, err)
			}
			out[platform][tag], out[""][tag] = true, true
		}
	}
	return out, nil
}

// filter parts hashtags into those that a list takes and those that it does not, where it has room for so many; a
// negative room has no end.
func (b banList) filter(platform string, tags []string, room int64) ([]string, []Refused) {
	var taken []string
	var refused []Refused
	for _, tag := range tags {
		switch {
		case b[platform][tag]:
			refused = append(refused, Refused{tag, reasonBanned})
		case room >= 0 && int64(len(taken)) >= room:
			refused = append(refused, Refused{tag, reasonFull})
		default:
			taken = append(taken, tag)
		}
	}
	return taken, refused
}

// MaxName and MaxSubcategory are how long those may be, in characters.
const (
	MaxName        = 50
	MaxSubcategory = 50
)

// parseLine reads a text of one line, without the spaces around it.
func parseLine(argument, text string, most int) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case utf8.RuneCountInString(text) > most:
		return "", apierr.Invalid(apierr.TooLong, argument, fmt.Sprintf("The argument %s takes at most %d characters. It is not shortened.", argument, most))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }):
		return "", apierr.Invalid(apierr.Malformed, argument, "The argument "+argument+" has to be one line without control characters.")
	}
	return text, nil
}

// parseName reads the name of a list: something of it has to be seen.
func parseName(text string) (string, error) {
	name, err := parseLine("name", text, MaxName)
	if err == nil && !strings.ContainsFunc(name, isVisible) {
		err = apierr.Invalid(apierr.TooShort, "name", "A list needs a name that can be seen.")
	}
	return name, err
}

// parseSubcategory reads the label of hashtags: one of which nothing is seen is none.
func parseSubcategory(text string) (string, error) {
	label, err := parseLine("subcategory", text, MaxSubcategory)
	if !strings.ContainsFunc(label, isVisible) {
		label = ""
	}
	return label, err
}

// isVisible tells what is seen of a text. Blanks that count as letters or signs are not: the fillers of Korean, the
// braille pattern without dots.
func isVisible(r rune) bool {
	const noDots = '\u2800'
	return r != noDots && !unicode.IsSpace(r) &&
		!unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// parseIcon reads the token of an icon; empty for none.
func parseIcon(token string) (string, error) {
	if token != "" && !IsIcon(token) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "icon", "There is no such icon. The argument icon takes ri- and a name of Remix Icon, such as ri-hashtag or ri-plane-line.")
	}
	return token, nil
}

// parseColor reads a colour; empty for none.
func parseColor(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	digits, found := strings.CutPrefix(strings.ToLower(text), "#")
	if !found || len(digits) != 6 || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", apierr.Invalid(apierr.Malformed, "color", "The argument color takes # and six hexadecimal digits.")
	}
	return "#" + digits, nil
}
