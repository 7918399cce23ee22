package bridge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"pressroom/internal/source"
)

const (
	maxCaption = 10_000  // characters
	maxAddress = 2_048   // bytes, of addresses and cursors
	maxSide    = 100_000 // pixels
	maxLength  = 24 * time.Hour
)

// oldest is before the first of today's networks.
var oldest = time.Date(2004, 1, 1, 0, 0, 0, 0, time.UTC)

// refusal reads an answer that is not 200. Only the contract's own words say something of the profile: a mistaken
// address answers 404 too, and a mistaken token 403.
func refusal(response *http.Response, body []byte, now time.Time) error {
	var said struct {
		Error string `json:"error"`
	}
	_ = json.Unmarshal(body, &said) // what cannot be read says nothing
	switch {
	case response.StatusCode == http.StatusNotFound && said.Error == "profile_not_found":
		return source.ErrNotFound
	case response.StatusCode == http.StatusForbidden && said.Error == "profile_private":
		return source.ErrPrivate
	}
	return unanswered(response, now)
}

func unanswered(response *http.Response, now time.Time) *source.Unavailable {
	u := unavailable("the bridge answered with HTTP %d", response.StatusCode)
	u.After = after(response.Header.Get("Retry-After"), now)
	return u
}

// after reads a Retry-After (RFC 9110, 10.2.3), in seconds or as a date; a day at most.
func after(text string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(text, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxAfter)
}

type answer struct {
	Items []json.RawMessage `json:"items"`
	Next  string            `json:"next_cursor"`
}

type item struct {
	ID       string  `json:"id"`
	Kind     string  `json:"kind"`
	URL      string  `json:"url"`
	TakenAt  string  `json:"taken_at"`
	Caption  string  `json:"caption"`
	Width    float64 `json:"width"`
	Height   float64 `json:"height"`
	Duration float64 `json:"duration_seconds"`
}

// read reads the answer to a query: an item that cannot be used is left out, an answer that is none is an error.
func read(body []byte, q source.Query, now time.Time) (source.Page, error) {
	var said answer
	if err := json.Unmarshal(body, &said); err != nil {
		return source.Page{}, unavailable("reading the answer: it is not JSON of the contract") // the error may repeat parts of it
	}
	if said.Items == nil {
		return source.Page{}, unavailable("reading the answer: it has no items")
	}
	page := source.Page{Items: items(said.Items, q.Limit, now)}
	if len(said.Items) > 0 && len(page.Items) == 0 && q.Limit > 0 {
		return source.Page{}, unavailable("reading the answer: none of its %d items can be used", len(said.Items))
	}
	if !source.Pages(q.Type) {
		return page, nil
	}
	if len(said.Next) > maxAddress || strings.ContainsFunc(said.Next, unicode.IsControl) {
		return source.Page{}, unavailable("reading the answer: its cursor is too long or has control characters")
	}
	page.Next = said.Next
	return page, nil
}

// items takes the first usable ones, each id once.
func items(raw []json.RawMessage, limit int, now time.Time) []source.Item {
	var taken []source.Item
	seen := map[string]bool{}
	for _, text := range raw {
		if len(taken) >= limit {
			break
		}
		found, usable := readItem(text, now)
		if usable && !seen[found.ID] {
			seen[found.ID] = true
			taken = append(taken, found)
		}
	}
	return taken
}

func readItem(text json.RawMessage, now time.Time) (source.Item, bool) {
	var said item
	// A member of another type than the contract's is as one that is missing; the others are read all the same.
	if err := json.Unmarshal(text, &said); err != nil && !mistyped(err) {
		return source.Item{}, false
	}
	if said.ID == "" || said.Kind != source.Image && said.Kind != source.Video || !usable(said.URL) {
		return source.Item{}, false
	}
	found := source.Item{
		ID: identity(said.ID), Kind: said.Kind, URL: said.URL, TakenAt: taken(said.TakenAt, now), Caption: caption(said.Caption),
		Width: side(said.Width), Height: side(said.Height),
	}
	if said.Kind == source.Video && said.Duration > 0 && said.Duration <= maxLength.Seconds() {
		found.Duration = time.Duration(math.Round(said.Duration * float64(time.Second)))
	}
	return found, true
}

func mistyped(err error) bool {
	_, ok := errors.AsType[*json.UnmarshalTypeError](err)
	return ok
}

// usable tells whether there may be a file at an address; whether it may be fetched is for whoever fetches it.
func usable(address string) bool {
	u, err := url.Parse(address)
	return len(address) <= maxAddress && err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

// identity gives an id that is not of the contract's form one that is, another for each.
func identity(id string) string {
	if idForm.MatchString(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

func taken(text string, now time.Time) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.Before(oldest) || at.After(now.AddDate(0, 0, 1)) {
		return time.Time{}
	}
	return at.UTC()
}

// caption cuts a text and drops control characters but line ends. Decoding made it valid UTF-8.
func caption(text string) string {
	clean := strings.Map(func(r rune) rune {
		if r != '\n' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
	count := 0
	for i := range clean {
		if count == maxCaption {
			return clean[:i]
		}
		count++
	}
	return clean
}

func side(pixels float64) int {
	if pixels < 1 || pixels > maxSide || pixels != math.Trunc(pixels) {
		return 0
	}
	return int(pixels)
}
