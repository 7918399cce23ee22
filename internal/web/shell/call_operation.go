package shell

import (
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// Do runs an operation for the visitor in the selected team, with the checks, limits and prices of the API. The form
// field "once" is the idempotency key, so a repeated submission has no further effect.
func (s *Shell) Do(r *http.Request, name string, args operation.Arguments) (pipeline.Outcome, error) {
	op := s.Registry.Tool(name)
	if op == nil {
		return pipeline.Outcome{}, fmt.Errorf("unknown operation %s", name)
	}
	v := VisitorOf(r.Context())
	if v == nil {
		return pipeline.Outcome{}, apierr.ItemNotFound()
	}
	actor, err := s.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	key, err := s.idempotencyKey(r, op)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	return s.Pipeline.Call(r.Context(), pipeline.Request{
		Operation: op, Person: actor, IdempotencyKey: key, RequestID: uuid.NewString(),
		Arguments: func() (operation.Arguments, error) { return args, nil },
	})
}

const (
	onceTimeFormat = "20060102T150405"
	onceLifetime   = 12 * time.Hour // shorter than the retention of idempotency keys
)

// idempotencyKey returns the idempotency key of a form submission, or no key if the operation rejects keys. It returns
// errStale if the field "once" is missing, invalid or older than onceLifetime.
func (s *Shell) idempotencyKey(r *http.Request, op *operation.Operation) (pipeline.Key, error) {
	if op.Key == operation.KeyRejected {
		return pipeline.Key{}, nil
	}
	token := r.PostFormValue("once")
	if len(token) <= len(onceTimeFormat) {
		return pipeline.Key{}, errStale
	}
	issuedAt, err := time.Parse(onceTimeFormat, token[:len(onceTimeFormat)])
	if age := s.DB.Now().Sub(issuedAt); err != nil || age > onceLifetime || age < -time.Minute {
		return pipeline.Key{}, errStale
	}
	return pipeline.Key{Given: true, Text: token}, nil
}

var errStale = apierr.Invalid(apierr.Malformed, "once", "This page has expired. Reload it and try again.")
