package provider

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"golang.org/x/text/unicode/norm"
)

// MaxHashtag is the maximum length of a hashtag in characters, without #.
const MaxHashtag = 100

// Errors that ParseHashtag returns.
var (
	ErrHashtagEmpty      = errors.New("the hashtag is empty")
	ErrHashtagTooLong    = errors.New("a hashtag is limited to 100 characters")
	ErrHashtagCharacters = errors.New("a hashtag may only contain letters, digits and underscores")
	ErrHashtagNumber     = errors.New("a hashtag needs at least one letter or underscore")
	ErrHashtagLink       = errors.New("the link does not lead to a hashtag")
)

// ParseHashtag parses a hashtag: tag, #tag, or a link to its page. It returns the normalized form (see NormalizeText)
// without #. Parsing the normalized form returns the same hashtag. Errors do not quote the text.
func ParseHashtag(text string) (string, error) {
	return ParseHashtagFor("", text)
}

// ParseHashtagFor is like ParseHashtag, but accepts only links to the platform. If platform is empty, it accepts links
// to all platforms.
func ParseHashtagFor(platform, text string) (string, error) {
	if len(text) > maxText {
		return "", ErrHashtagTooLong
	}
	text = strings.TrimFunc(text, isSpaceOrInvisible)
	if strings.Contains(text, "/") {
		name, err := hashtagFromLink(platform, text)
		if err != nil {
			return "", err
		}
		text = strings.TrimFunc(name, isInvisible)
	}
	tag := strings.TrimLeftFunc(NormalizeText(joiners.Replace(text)), func(r rune) bool {
		return r == '#' || isInvisible(r)
	})
	if err := checkTag(tag); err != nil {
		return "", err
	}
	return tag, nil
}

// joiners removes the zero-width joiner and non-joiner. They affect only rendering, as in Persian and Indic scripts.
// People type the same word with and without them, and some networks end a hashtag there. Therefore all spellings count
// as one hashtag.
var joiners = strings.NewReplacer("\u200c", "", "\u200d", "")

// NormalizeText converts a text to lower case and Unicode form NFKC, so that hashtags and words can be compared. It
// does not use full case folding, which would merge ß with ss and σ with ς although networks distinguish them.
// NormalizeText is idempotent.
func NormalizeText(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	lower := cases.Lower(language.Und).String(norm.NFKC.String(text))
	return norm.NFKC.String(lower)
}

// IsHashtagRune reports whether a hashtag may contain the character. It accepts letters, digits, underscores, and
// combining marks other than variation selectors.
func IsHashtagRune(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	case unicode.In(r, unicode.Mn, unicode.Mc):
		return r != graphemeJoiner && !unicode.Is(unicode.Variation_Selector, r)
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// graphemeJoiner is inserted by NFKC into long runs of marks.
const graphemeJoiner = '\u034f'

func checkTag(tag string) error {
	switch {
	case tag == "":
		return ErrHashtagEmpty
	case strings.ContainsFunc(tag, func(r rune) bool { return !IsHashtagRune(r) }):
		return ErrHashtagCharacters
	case utf8.RuneCountInString(tag) > MaxHashtag:
		return ErrHashtagTooLong
	}
	if first, _ := utf8.DecodeRuneInString(tag); unicode.IsMark(first) {
		return ErrHashtagCharacters
	}
	if !strings.ContainsFunc(tag, func(r rune) bool { return r == '_' || unicode.IsLetter(r) }) {
		return ErrHashtagNumber
	}
	return nil
}

// isSpaceOrInvisible reports whether the character is a space or invisible.
func isSpaceOrInvisible(r rune) bool { return unicode.IsSpace(r) || isInvisible(r) }

// isInvisible reports whether the character is an invisible format character, such as a directional mark in copied
// text. Prepended concatenation marks are visible.
func isInvisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// hashtagPages are the paths of hashtag pages by platform.
var hashtagPages = []struct {
	platform string
	hosts    []string
	path     string // before the name
}{
	{Instagram, usernameRulesByPlatform[Instagram].hosts, "explore/tags/"},
	{TikTok, usernameRulesByPlatform[TikTok].hosts, "tag/"},
}

// hashtagFromLink returns the name of the hashtag in a link. It does not validate the name.
func hashtagFromLink(platform, link string) (string, error) {
	if _, rest, found := strings.Cut(link, "://"); !found {
		link = "https://" + link
	} else if rest == "" {
		return "", ErrHashtagLink
	}
	address, err := url.Parse(link)
	if err != nil || address.User != nil || address.Port() != "" || address.Scheme != "https" &&
		address.Scheme != "http" {
		return "", ErrHashtagLink
	}
	host := strings.ToLower(address.Host)
	for _, page := range hashtagPages {
		name, found := strings.CutPrefix(strings.TrimPrefix(address.Path, "/"), page.path)
		if !found || !slices.Contains(page.hosts, host) || platform != "" && platform != page.platform {
			continue
		}
		return strings.TrimSuffix(name, "/"), nil
	}
	return "", ErrHashtagLink
}
