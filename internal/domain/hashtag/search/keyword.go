package search

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/report/words"
)

// Input is what is searched for.
type Input struct {
	Query    string `json:"query" minLength:"2" maxLength:"100" jsonschema:"A keyword, a phrase, or a hashtag with or without # or its link. Neither the order of the words nor capitals matter to the price."`
	Platform string `json:"platform,omitempty" enum:"instagram|tiktok" default:"instagram"`
}

// keyword is what a query looks for: its words, normalised, each once, in the order in which they were typed.
type keyword []string

const (
	// maxKeywordLength is how long a keyword is at most, in characters: some characters stand for many.
	maxKeywordLength = 200
	// maxOwnHashtags is how many hashtags a keyword itself stands for at most: Instagram lets an account ask for 30 in a week.
	maxOwnHashtags = 4
)

var (
	errNoWords  = apierr.Invalid(apierr.Malformed, "query", "Give a keyword, a phrase or a hashtag: letters or digits are looked for.")
	errLink     = apierr.Invalid(apierr.Malformed, "query", "Of links, those to a hashtag's page on the platform are taken. Give its link there, or the hashtag.")
	errTooLong  = apierr.Invalid(apierr.TooLong, "query", "This is too long once it is written out. Give fewer words.")
	schemeMarks = "://"
)

// keyword reads the query. What reads as one hashtag is that hashtag; else the words are looked for.
func (in Input) keyword() (keyword, error) {
	tag, err := provider.HashtagOf(in.Platform, in.Query)
	if err == nil {
		return keyword{tag}, nil
	}
	if _, other := provider.Hashtag(in.Query); other == nil || errors.Is(err, provider.ErrHashtagLink) && strings.Contains(in.Query, schemeMarks) {
		return nil, errLink // a link to another network, or to what is no hashtag
	}
	var out keyword
	for word := range strings.FieldsFuncSeq(provider.Folded(in.Query), func(r rune) bool { return !provider.InHashtag(r) }) {
		if word = strings.TrimLeftFunc(word, unicode.IsMark); word != "" && !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	switch {
	case len(out) == 0:
		return nil, errNoWords
	case utf8.RuneCountInString(out.String()) > maxKeywordLength:
		return nil, errTooLong
	}
	return out, nil
}

// String is the keyword as text.
func (k keyword) String() string { return strings.Join(k, " ") }

// parseKeyword reads String's text.
func parseKeyword(text string) keyword { return strings.Fields(text) }

// key is what a keyword is paid for by: the set of its words.
func (k keyword) key() string {
	return keyword(slices.Sorted(slices.Values(k))).String()
}

// hashtags are the hashtags that a keyword itself stands for, at most mostOwn: its words as one, then each that says
// something. There is none where no part of it can be a hashtag, as a number alone.
func (k keyword) hashtags() []string {
	var out []string
	for _, word := range append([]string{strings.Join(k, "")}, k.significantWords()...) {
		if tag, err := provider.Hashtag(word); err == nil && !slices.Contains(out, tag) && len(out) < maxOwnHashtags {
			out = append(out, tag)
		}
	}
	return out
}

// significantWords are the words without those that stand in every sentence: nobody who looks for "best of the beach" wants to
// know of #the. Which those are is known of scripts that part their words by spaces.
func (k keyword) significantWords() keyword {
	said := words.Parse(k.String()).Words
	return slices.DeleteFunc(slices.Clone(k), func(word string) bool { return isSpaceDelimited(word) && !slices.Contains(said, word) })
}

// isSpaceDelimited tells of words written in letters alone, of a script that parts words by spaces.
func isSpaceDelimited(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) || !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic)
	})
}
