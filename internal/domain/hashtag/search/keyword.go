package search

import (
	"errors"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/report/words"
)

// Input is the input of search_hashtags.
type Input struct {
	Query    string `json:"query" minLength:"2" maxLength:"100" jsonschema:"Keyword, phrase, hashtag or hashtag link."`
	Platform string `json:"platform,omitempty" enum:"instagram|tiktok" title:"AnalysisPlatform" default:"instagram"`
}

// keyword is a parsed query: its distinct normalized words, in order.
type keyword []string

const (
	// maxKeywordLength is the maximum length in characters after normalization, which expands some characters.
	maxKeywordLength = 200
	// maxOwnHashtags is the maximum number of a keyword's own hashtags. It is low because Instagram lets an account
	// query 30 hashtags per week.
	maxOwnHashtags = 4
)

var (
	errNoWords = apierr.Invalid(apierr.Malformed, "query", "The query has no letters or digits. Enter a keyword, a phrase or a "+
		"hashtag.")
	errWrongLink = apierr.Invalid(apierr.Malformed, "query", "This link is not a hashtag page on the platform. Enter the hashtag or "+
		"its link.")
	errTooLong = apierr.Invalid(apierr.TooLong, "query", "The query is too long. Use fewer words.")

	schemeSeparator = "://"
)

// keyword parses the query. If the query is a hashtag, the keyword is this hashtag. Otherwise, it consists of the
// query's words.
func (in Input) keyword() (keyword, error) {
	tag, err := provider.ParseHashtagFor(in.Platform, in.Query)
	if err == nil {
		return keyword{tag}, nil
	}
	if _, otherErr := provider.ParseHashtag(in.Query); otherErr == nil || errors.Is(err, provider.ErrHashtagLink) &&
		strings.Contains(in.Query, schemeSeparator) {
		return nil, errWrongLink // a link to another network or to another page
	}
	var out keyword
	for word := range strings.FieldsFuncSeq(provider.NormalizeText(in.Query), func(r rune) bool {
		return !provider.IsHashtagRune(r)
	}) {
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

// String returns the words separated by spaces.
func (k keyword) String() string { return strings.Join(k, " ") }

// parseKeyword is the inverse of String.
func parseKeyword(text string) keyword { return strings.Fields(text) }

// key returns the string that identifies a keyword for payment: its sorted words.
func (k keyword) key() string {
	return keyword(slices.Sorted(slices.Values(k))).String()
}

// hashtags returns the keyword's own hashtags, at most maxOwnHashtags: its words joined, then each significant word. It
// returns none if none of these can be a hashtag, for example if the keyword is a number.
func (k keyword) hashtags() []string {
	var out []string
	for _, word := range append([]string{strings.Join(k, "")}, k.significantWords()...) {
		if tag, err := provider.ParseHashtag(word); err == nil && !slices.Contains(out,
			tag) && len(out) < maxOwnHashtags {
			out = append(out, tag)
		}
	}
	return out
}

// significantWords returns the keyword's words except stop words. Stop words are only known for scripts that separate
// words by spaces.
func (k keyword) significantWords() keyword {
	significant := words.Parse(k.String()).Words
	return slices.DeleteFunc(slices.Clone(k), func(word string) bool {
		return isSpaceDelimited(word) &&
			!slices.Contains(significant, word)
	})
}

// isSpaceDelimited reports whether a word consists of letters of scripts that separate words by spaces.
func isSpaceDelimited(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool {
		return !unicode.IsLetter(r) || !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Arabic)
	})
}
