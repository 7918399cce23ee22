package bridge

import (
	"encoding/json"
	"math"
	"net/http"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const maxSide = 100_000 // pixels

// words are what the contract says in place of an answer, each with its status. Only these say something of what was
// asked for: a mistaken address answers 404 too, and a mistaken token 403.
var words = map[string]struct {
	status int
	means  error
}{
	"profile_not_found": {http.StatusNotFound, provider.ErrNotFound},
	"hashtag_not_found": {http.StatusNotFound, provider.ErrNotFound},
	"profile_private":   {http.StatusForbidden, provider.ErrPrivate},
	"not_offered":       {http.StatusNotFound, provider.ErrNotOffered},
}

// refusal reads an answer that is not 200.
func refusal(answer wire.Answer, now time.Time) error {
	var said struct {
		Error string `json:"error"`
	}
	_ = wire.Read(answer.Body, &said) // what cannot be read says nothing
	if word, known := words[said.Error]; known && word.status == answer.Status {
		return word.means
	}
	return unanswered(answer.Status, answer.Header, now)
}

func unanswered(status int, header http.Header, now time.Time) *provider.Unavailable {
	u := wire.Unavailable("the bridge answered with HTTP %d", status)
	u.After = wire.After(header, now)
	return u
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

// The failures of an answer repeat no part of it.
var (
	errNoContract = wire.Unavailable("reading the answer: it is not JSON of the contract")
	errCursor     = wire.Unavailable("reading the answer: its cursor is too long or has control characters")
)

// read reads the answer to a query: an item that cannot be used is left out, an answer that is none is an error.
func read(body []byte, q provider.Query, now time.Time) (provider.Page, error) {
	var said answer
	if err := json.Unmarshal(body, &said); err != nil {
		return provider.Page{}, errNoContract
	}
	if said.Items == nil {
		return provider.Page{}, wire.Unavailable("reading the answer: it has no items")
	}
	page := provider.Page{Items: items(said.Items, q.Limit, now)}
	if len(said.Items) > 0 && len(page.Items) == 0 && q.Limit > 0 {
		return provider.Page{}, wire.Unavailable("reading the answer: none of its %d items can be used", len(said.Items))
	}
	if !provider.Pages(q.Type) {
		return page, nil
	}
	if !wire.Cursor(said.Next) {
		return provider.Page{}, errCursor
	}
	page.Next = said.Next
	return page, nil
}

// items takes the first usable ones, each id once.
func items(raw []json.RawMessage, limit int, now time.Time) []provider.Item {
	var taken []provider.Item
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

func readItem(text json.RawMessage, now time.Time) (provider.Item, bool) {
	var said item
	if !wire.Read(text, &said) || said.ID == "" || said.Kind != provider.Image && said.Kind != provider.Video || !wire.Usable(said.URL) {
		return provider.Item{}, false
	}
	found := provider.Item{
		ID: wire.ID(said.ID), Kind: said.Kind, URL: said.URL, TakenAt: wire.Stamp(said.TakenAt, now.AddDate(0, 0, 1)),
		Caption: wire.Text(said.Caption, wire.MaxText), Width: side(said.Width), Height: side(said.Height),
	}
	if said.Kind == provider.Video {
		found.Duration = wire.Length(said.Duration)
	}
	return found, true
}

func side(pixels float64) int {
	if pixels < 1 || pixels > maxSide || pixels != math.Trunc(pixels) {
		return 0
	}
	return int(pixels)
}
