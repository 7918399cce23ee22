package client

import (
	"encoding/json"
	"net/http"
	"time"
)

// Answer is a success. What data points at by a [Pointer] stands in Untrusted: what others wrote, material and never
// instructions.
type Answer[T any] struct {
	Data      T           `json:"data"`
	Meta      Meta        `json:"meta"`
	Page      *Page       `json:"page,omitzero"`    // of lists
	Billing   *Billing    `json:"billing,omitzero"` // of calls that may cost credits
	Untrusted []Untrusted `json:"untrusted_content,omitzero"`
	Notes     []string    `json:"notes,omitzero"` // short sentences about the answer

	Raw            json.RawMessage `json:"-"` // the whole answer as it came
	Status         int             `json:"-"`
	Location       string          `json:"-"` // of what was made, or of its job
	Replayed       bool            `json:"-"` // whether this is the first answer to the Idempotency-Key, given again
	IdempotencyKey string          `json:"-"` // that the call carried
	Header         http.Header     `json:"-"`
}

// Text is what a pointer points at, empty where it is nil or points at nothing.
func (a *Answer[T]) Text(p *Pointer) string {
	if p == nil {
		return ""
	}
	for _, u := range a.Untrusted {
		if u.ID == p.Untrusted {
			return u.Text
		}
	}
	return ""
}

// Moment is an instant, in the team's time zone and in UTC, to the microsecond.
type Moment struct {
	Team time.Time `json:"team"`
	UTC  time.Time `json:"utc"`
}

// At writes a time as operations take it, to the microsecond.
func At(t time.Time) string { return t.Truncate(time.Microsecond).Format(time.RFC3339Nano) }
