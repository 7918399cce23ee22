package bridge

import (
	"encoding/json"
	"math"
	"net/http"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const maxSide = 100_000 // pixels

// errorCodes lists the error codes of the bridge API, with their statuses and errors. The status alone is not enough,
// because a wrong bridge URL can also result in 404, and a wrong token in 403.
var errorCodes = map[string]struct {
	status int
	err    error
}{
	"profile_not_found": {http.StatusNotFound, provider.ErrNotFound},
	"hashtag_not_found": {http.StatusNotFound, provider.ErrNotFound},
	"profile_private":   {http.StatusForbidden, provider.ErrPrivate},
	"not_offered":       {http.StatusNotFound, provider.ErrNotOffered},
}

// readError returns the error for a response with a status other than 200.
func readError(response wire.Response, now time.Time) error {
	var parsed struct {
		Error string `json:"error"`
	}
	_ = wire.Decode(response.Body, &parsed) // If the body is invalid, there is no code.
	if code, known := errorCodes[parsed.Error]; known && code.status == response.Status {
		return code.err
	}
	return unavailableError(response.Status, response.Header, now)
}

func unavailableError(status int, header http.Header, now time.Time) *provider.UnavailableError {
	u := wire.Unavailable("the bridge returned HTTP %d", status)
	u.After = wire.RetryAfter(header, now)
	return u
}

type mediaResponse struct {
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

// These errors do not quote the response, because it is untrusted.
var (
	errInvalidResponse = wire.Unavailable("the response does not follow the bridge API")
	errCursor          = wire.Unavailable("the cursor in the response is too long or has control characters")
)

// readPage decodes a page of media. It skips invalid items. It returns an error if the page itself is invalid, or if
// all of its items are invalid.
func readPage(body []byte, q provider.Query, now time.Time) (provider.Page, error) {
	var parsed mediaResponse
	if err := json.Unmarshal(body, &parsed); err != nil {
		return provider.Page{}, errInvalidResponse
	}
	if parsed.Items == nil {
		return provider.Page{}, wire.Unavailable("the response has no items")
	}
	page := provider.Page{Items: uniqueItems(parsed.Items, q.Limit, now)}
	if len(parsed.Items) > 0 && len(page.Items) == 0 && q.Limit > 0 {
		return provider.Page{}, wire.Unavailable("none of the %d items in the response is valid", len(parsed.Items))
	}
	if !provider.HasPages(q.Type) {
		return page, nil
	}
	if !wire.IsCursor(parsed.Next) {
		return provider.Page{}, errCursor
	}
	page.Next = parsed.Next
	return page, nil
}

// uniqueItems returns at most limit valid items with distinct IDs.
func uniqueItems(raw []json.RawMessage, limit int, now time.Time) []provider.Item {
	var items []provider.Item
	seen := map[string]bool{}
	for _, text := range raw {
		if len(items) >= limit {
			break
		}
		newItem, ok := readItem(text, now)
		if ok && !seen[newItem.ID] {
			seen[newItem.ID] = true
			items = append(items, newItem)
		}
	}
	return items
}

func readItem(text json.RawMessage, now time.Time) (provider.Item, bool) {
	var parsed item
	if !wire.Decode(text, &parsed) || parsed.ID == "" ||
		parsed.Kind != provider.Image && parsed.Kind != provider.Video ||
		!wire.IsURL(parsed.URL) {
		return provider.Item{}, false
	}
	out := provider.Item{
		ID: wire.ID(parsed.ID), Kind: parsed.Kind, URL: parsed.URL, TakenAt: wire.ParseTime(parsed.TakenAt,
			now.AddDate(0, 0, 1)),
		Caption: wire.Text(parsed.Caption, wire.MaxText), Width: parseDimension(parsed.Width),
		Height: parseDimension(parsed.Height),
	}
	if parsed.Kind == provider.Video {
		out.Duration = wire.VideoDuration(parsed.Duration)
	}
	return out, true
}

// parseDimension returns a width or height, or 0 if it is invalid.
func parseDimension(pixels float64) int {
	if pixels < 1 || pixels > maxSide || pixels != math.Trunc(pixels) {
		return 0
	}
	return int(pixels)
}
