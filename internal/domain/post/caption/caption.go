// Package caption checks the texts of posts.
package caption

import (
	"strings"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
)

// MaxLength is the maximum length of a text, in characters. Longer texts are rejected, never truncated.
const MaxLength = 10_000

// Check returns an error if no post may contain the text.
func Check(text, argument string) error {
	switch {
	case utf8.RuneCountInString(text) > MaxLength:
		return apierr.Invalidf(apierr.TooLong, argument, "A text may have at most %d characters.",
			MaxLength)
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return apierr.Invalid(apierr.Malformed, argument, "The text contains invalid characters.")
	case apikey.ContainsSecret(text):
		return apierr.Invalid(apierr.SecretInArgument, argument,
			"The text contains an API key or an upload secret and was not saved. Remove the secret, and replace "+
				"it if others may have seen it.")
	}
	return nil
}

// MaxTitle is the maximum length of a title, in characters.
const MaxTitle = 500

// CheckTitle returns an error if no post may have the title.
func CheckTitle(title, argument string) error {
	if utf8.RuneCountInString(title) > MaxTitle {
		return apierr.Invalidf(apierr.TooLong, argument, "A title may have at most %d characters.", MaxTitle)
	}
	return Check(title, argument)
}

// Line returns a title on one line, without white space at the ends.
func Line(title string) string { return strings.Join(strings.Fields(title), " ") }

// Set sets a text and reports whether it changed.
func Set(text *string, wanted string) bool {
	differs := *text != wanted
	*text = wanted
	return differs
}
