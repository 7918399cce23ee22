package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/domain/provider"
)

// Maximum sizes.
const (
	MaxText     = 10_000         // characters of captions and biographies
	MaxName     = 200            // characters of display names
	MaxURL      = 2_048          // bytes, also of cursors
	MaxDuration = 24 * time.Hour // of videos

	maxCount    = 1_000_000_000_000_000 // implausibly large, but exact as a float64
	maxHashtags = 100                   // per post
)

// earliestTime is before the start of all supported networks.
var earliestTime = time.Date(2004, 1, 1, 0, 0, 0, 0, time.UTC)

// Text truncates a text to limit characters. It replaces invalid UTF-8 and removes control characters other than line
// feeds.
func Text(text string, limit int) string {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	count := 0
	for i := range clean {
		if count == limit {
			return clean[:i]
		}
		count++
	}
	return clean
}

// SingleLine returns a text as a single line of at most MaxName characters.
func SingleLine(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(Text(text, MaxName), "\n", " "))
}

var idPattern = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// ID returns the ID, or its hash if it does not have the form that provider.Item and provider.Post require.
func ID(id string) string {
	if id == "" || idPattern.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// IsURL reports whether the text is an absolute HTTP URL without credentials. The caller decides whether the URL may be
// fetched.
func IsURL(address string) bool {
	u, err := url.Parse(address)
	return len(address) <= MaxURL && err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" &&
		u.User == nil
}

// URL returns the text if IsURL accepts it, or else "".
func URL(text string) string {
	if !utf8.ValidString(text) || !IsURL(text) {
		return ""
	}
	return text
}

// PlausibleTime returns a time in UTC. It returns the zero time if the time is before earliestTime or after latest.
func PlausibleTime(at, latest time.Time) time.Time {
	if at.Before(earliestTime) || at.After(latest) {
		return time.Time{}
	}
	return at.UTC()
}

// ParseTime parses a time in the format of RFC 3339. It also accepts zones without a colon, which some networks use. It
// returns the zero time if the text is invalid or the time is implausible.
func ParseTime(text string, latest time.Time) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, _ = time.Parse("2006-01-02T15:04:05-0700", text) // zero if invalid
	}
	return PlausibleTime(at, latest)
}

// VideoDuration converts a number of seconds to a duration. It returns 0 if the number is invalid or exceeds
// MaxDuration.
func VideoDuration(seconds float64) time.Duration {
	if !(seconds > 0) || seconds > MaxDuration.Seconds() {
		return 0
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// IsCursor reports whether a provider's cursor can be stored and sent back.
func IsCursor(text string) bool {
	return len(text) <= MaxURL && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// Count decodes a JSON count. All values except integers from 0 to 10^15 count as missing.
type Count struct{ value *int64 }

// UnmarshalJSON decodes a count. It never returns an error.
func (c *Count) UnmarshalJSON(text []byte) error {
	c.value = nil
	value, err := strconv.ParseFloat(string(text), 64)
	if err == nil && value >= 0 && value < maxCount && value == math.Trunc(value) {
		count := int64(value)
		c.value = &count
	}
	return nil
}

// Value returns the count, or nil if it is missing.
func (c Count) Value() *int64 { return c.value }

// Hashtags returns a post's distinct, valid hashtags in normalized form.
func Hashtags(tags []string) []string {
	var distinct []string
	for _, text := range tags {
		if len(distinct) == maxHashtags {
			break
		}
		hashtag, err := provider.ParseHashtag(text)
		if err == nil && !slices.Contains(distinct, hashtag) {
			distinct = append(distinct, hashtag)
		}
	}
	return distinct
}
