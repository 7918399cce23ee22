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

	"pressroom/internal/domain/provider"
)

const (
	// MaxText bounds captions and biographies, in characters.
	MaxText = 10_000
	// MaxName bounds display names, in characters.
	MaxName = 200
	// MaxAddress bounds addresses and cursors, in bytes.
	MaxAddress = 2_048
	// MaxLength bounds how long a video plays.
	MaxLength = 24 * time.Hour

	maxCount    = 1_000_000_000_000_000 // no network has that many of anything; a float64 still holds it exactly
	maxHashtags = 100                   // of one post
)

// oldest is before the first of today's networks.
var oldest = time.Date(2004, 1, 1, 0, 0, 0, 0, time.UTC)

// Text cuts a text to so many characters and drops what is not UTF-8 and control characters but line ends.
func Text(text string, most int) string {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	count := 0
	for i := range clean {
		if count == most {
			return clean[:i]
		}
		count++
	}
	return clean
}

// Name is a text of one line.
func Name(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(Text(text, MaxName), "\n", " "))
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// ID gives an id that has not the form of provider.Item and provider.Post one that has, another for each. The empty one
// stays empty.
func ID(id string) string {
	if id == "" || idForm.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Usable tells whether there may be something at an address; whether it may be fetched is for whoever fetches it.
func Usable(address string) bool {
	u, err := url.Parse(address)
	return len(address) <= MaxAddress && err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

// Address is an address that is usable, or nothing.
func Address(text string) string {
	if !utf8.ValidString(text) || !Usable(text) {
		return ""
	}
	return text
}

// Moment is a time in UTC, or none where it lies before the networks or after the latest that can be.
func Moment(at, latest time.Time) time.Time {
	if at.Before(oldest) || at.After(latest) {
		return time.Time{}
	}
	return at.UTC()
}

// Stamp reads a time of RFC 3339, also with a zone that has no colon as some networks write it; none where it is
// neither or cannot be.
func Stamp(text string, latest time.Time) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		at, _ = time.Parse("2006-01-02T15:04:05-0700", text) // zero where it is neither, which cannot be
	}
	return Moment(at, latest)
}

// Length is how long a video plays; 0 where it was not told or cannot be.
func Length(seconds float64) time.Duration {
	if !(seconds > 0) || seconds > MaxLength.Seconds() {
		return 0
	}
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// Cursor tells whether a source's own cursor can be kept and sent back.
func Cursor(text string) bool {
	return len(text) <= MaxAddress && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// Count is a figure as a source writes it. Whatever is no whole number from 0 up to 10^15 is as one that was not told.
type Count struct{ told *int64 }

// UnmarshalJSON reads a figure. It never fails.
func (c *Count) UnmarshalJSON(text []byte) error {
	c.told = nil
	given, err := strconv.ParseFloat(string(text), 64)
	if err == nil && given >= 0 && given < maxCount && given == math.Trunc(given) {
		figure := int64(given)
		c.told = &figure
	}
	return nil
}

// Told is the figure, nil where there is none.
func (c Count) Told() *int64 { return c.told }

// Hashtags are those of a post as hashtags are written everywhere, each once; what cannot be one is left out.
func Hashtags(said []string) []string {
	var taken []string
	for _, text := range said {
		if len(taken) == maxHashtags {
			break
		}
		hashtag, err := provider.Hashtag(text)
		if err == nil && !slices.Contains(taken, hashtag) {
			taken = append(taken, hashtag)
		}
	}
	return taken
}
