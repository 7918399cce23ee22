// Package names validates names and email addresses of people and teams.
package names

import (
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
)

// MaxLength is the maximum length of a name, in characters.
const MaxLength = 200

// IsValid reports whether a text is a valid name: not empty, on one line, and not too long.
func IsValid(text string) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= MaxLength &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// ContainsURL reports whether a name contains a URL with a scheme. It reports false for names such as Booking.com.
func ContainsURL(name string) bool { return strings.Contains(name, "://") }

// ErrURL is returned for names that mail clients would display as links.
var ErrURL = apierr.Invalid(apierr.NotAllowedValue, "name", "Names must not contain web addresses. Remove “://”.")

// NormalizeEmail returns an email address in its stored form.
func NormalizeEmail(email string) string { return strings.ToLower(strings.TrimSpace(email)) }

// IsEmail reports whether a normalized text is an email address without a display name.
func IsEmail(email string) bool {
	parsed, err := mail.ParseAddress(email)
	return err == nil && parsed.Address == email && IsValid(email) && !strings.ContainsRune(email, utf8.RuneError)
}
