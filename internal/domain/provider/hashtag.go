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

// MaxHashtag is the longest hashtag, in characters and without its sign.
const MaxHashtag = 100

// What is wrong with a text that should name a hashtag.
var (
	ErrHashtagEmpty      = errors.New("there is no hashtag")
	ErrHashtagTooLong    = errors.New("a hashtag has at most 100 characters")
	ErrHashtagCharacters = errors.New("a hashtag is written with letters, digits and underscores alone")
	ErrHashtagNumber     = errors.New("a hashtag is more than a number")
	ErrHashtagLink       = errors.New("the link is not one to a hashtag of a network")
)

// Hashtag reads what people give to name a hashtag: tag, #tag, or a link to the page of one. The result is Folded,
// without the sign, and stands for itself. An error is a sentence about what is wrong that repeats nothing of the text.
func Hashtag(text string) (string, error) {
	return HashtagOf("", text)
}

// HashtagOf is Hashtag for one platform: a link has to be to that one. Any will do where it is empty.
func HashtagOf(platform, text string) (string, error) {
	if len(text) > maxText {
		return "", ErrHashtagTooLong
	}
	text = strings.TrimFunc(text, unseen)
	if strings.Contains(text, "/") {
		name, err := tagLinked(platform, text)
		if err != nil {
			return "", err
		}
		text = strings.TrimFunc(name, invisible)
	}
	tag := strings.TrimLeftFunc(Folded(joined.Replace(text)), func(r rune) bool { return r == '#' || invisible(r) })
	if err := checkTag(tag); err != nil {
		return "", err
	}
	return tag, nil
}

// joined takes away the zero-width joiner and non-joiner. They choose how the letters beside them are drawn, as in
// Persian and in the scripts of India, and not which letters those are: people type the same word with them and without,
// keyboards differ, and some networks end a hashtag at them, so that all of its spellings are one hashtag here.
var joined = strings.NewReplacer("\u200c", "", "\u200d", "")

// Folded is a text in the form in which hashtags and words are compared: compatible characters as one (NFKC), in lower
// case. It goes no further than lower case: folding would make ss of ß and σ of ς, and what networks keep apart, as
// #straße and #strasse, would become one. Folded text stays as it is when it is folded again.
func Folded(text string) string {
	if ascii(text) {
		return strings.ToLower(text)
	}
	lower := cases.Lower(language.Und).String(norm.NFKC.String(text))
	return norm.NFKC.String(lower)
}

// InHashtag tells what a hashtag is written with: letters, digits, underscores, and the marks without which many
// scripts write no word. Marks that only choose how a character is drawn are not of that kind.
func InHashtag(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	case unicode.In(r, unicode.Mn, unicode.Mc):
		return r != graphemeJoiner && !unicode.Is(unicode.Variation_Selector, r)
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// graphemeJoiner is what NFKC parts endless rows of marks with; no word has it.
const graphemeJoiner = '\u034f'

func checkTag(tag string) error {
	switch {
	case tag == "":
		return ErrHashtagEmpty
	case strings.ContainsFunc(tag, func(r rune) bool { return !InHashtag(r) }):
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

// unseen tells what is around a text without being seen.
func unseen(r rune) bool { return unicode.IsSpace(r) || invisible(r) }

// invisible tells what is in a text without being seen or taking up room, as signs about the direction of writing that
// come along when a text is copied. A few format characters are drawn around the digits behind them: those are seen.
func invisible(r rune) bool {
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

func ascii(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// tagPages are the paths of the pages that networks have for hashtags, each with the hosts of its network.
var tagPages = []struct {
	platform string
	hosts    []string
	path     string // what stands before the name
}{
	{Instagram, namings[Instagram].hosts, "explore/tags/"},
	{TikTok, namings[TikTok].hosts, "tag/"},
}

// tagLinked reads the name of a hashtag out of a link to a platform, or to any; it is not checked yet.
func tagLinked(platform, link string) (string, error) {
	if _, rest, found := strings.Cut(link, "://"); !found {
		link = "https://" + link
	} else if rest == "" {
		return "", ErrHashtagLink
	}
	address, err := url.Parse(link)
	if err != nil || address.User != nil || address.Port() != "" || address.Scheme != "https" && address.Scheme != "http" {
		return "", ErrHashtagLink
	}
	host := strings.ToLower(address.Host)
	for _, page := range tagPages {
		name, found := strings.CutPrefix(strings.TrimPrefix(address.Path, "/"), page.path)
		if !found || !slices.Contains(page.hosts, host) || platform != "" && platform != page.platform {
			continue
		}
		return strings.TrimSuffix(name, "/"), nil
	}
	return "", ErrHashtagLink
}
