package shell

import (
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
)

// Do runs an operation for the person who is signed in, in the team that the person looks at, with the checks, the
// limits and the prices that it has for programs. A form's sending is known by its field "once": sent twice, it is done
// once.
func (f *Frame) Do(r *http.Request, tool string, args operation.Arguments) (pipeline.Outcome, error) {
	op := f.Registry.Tool(tool)
	if op == nil {
		return pipeline.Outcome{}, fmt.Errorf("the app asks for the operation %s, which is not there", tool)
	}
	v := VisitorOf(r.Context())
	if v == nil {
		return pipeline.Outcome{}, apierr.Missing()
	}
	actor, err := f.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	key, err := f.keyOf(r, op)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	return f.Pipeline.Call(r.Context(), pipeline.Request{
		Operation: op, Person: actor, Key: key, RequestID: uuid.NewString(),
		Arguments: func() (operation.Arguments, error) { return args, nil },
	})
}

const (
	onceTime  = "20060102T150405"
	onceLives = 12 * time.Hour // less than a repeat is remembered for
)

// keyOf is the Idempotency-Key of a form's sending.
func (f *Frame) keyOf(r *http.Request, op *operation.Operation) (pipeline.Key, error) {
	if op.Key == operation.KeyRefused {
		return pipeline.Key{}, nil
	}
	once := r.PostFormValue("once")
	if len(once) <= len(onceTime) {
		return pipeline.Key{}, errStale
	}
	shown, err := time.Parse(onceTime, once[:len(onceTime)])
	if age := f.DB.Now().Sub(shown); err != nil || age > onceLives || age < -time.Minute {
		return pipeline.Key{}, errStale
	}
	return pipeline.Key{Given: true, Text: once}, nil
}

var errStale = apierr.Invalid(apierr.Malformed, "once", "This page has expired. Reload it and try again.")
