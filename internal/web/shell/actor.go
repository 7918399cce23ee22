package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
)

// NewCall returns an operation.Call made by the visitor in the selected team, for an action that is not an API
// operation. It checks the membership and the gates, but not limits, the idempotency key or the price. op names the
// action.
func (s *Shell) NewCall(r *http.Request, op string) (operation.Call, error) {
	v := VisitorOf(r.Context())
	if v == nil {
		return operation.Call{}, apierr.ItemNotFound()
	}
	actor, err := s.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err == nil {
		err = pipeline.CheckGates(actor)
	}
	return operation.Call{Actor: actor, Operation: op, RequestID: uuid.NewString(), Now: s.DB.Now()}, err
}

// Result returns the result of an operation. If the submission was a repeat, the outcome contains the stored result as
// JSON, and Result decodes it.
func Result[T any](o pipeline.Outcome) (T, error) {
	if data, ok := o.Data.(T); ok {
		return data, nil
	}
	var out T
	stored, ok := o.Data.(json.RawMessage)
	if !ok {
		return out, fmt.Errorf("the result of %s has the unexpected type %T", o.Call.Operation, o.Data)
	}
	if err := json.Unmarshal(stored, &out); err != nil {
		return out, fmt.Errorf("decoding the stored result of %s: %w", o.Call.Operation, err)
	}
	return out, nil
}

// Run is like Do, but also returns the result of the operation as a T.
func Run[T any](s *Shell, r *http.Request, name string, args operation.Arguments) (T, pipeline.Outcome, error) {
	outcome, err := s.Do(r, name, args)
	if err != nil {
		var zero T
		return zero, outcome, err
	}
	data, err := Result[T](outcome)
	return data, outcome, err
}

// FormError is an error to show in a form. Text is in the visitor's language. Field is the invalid argument, or "".
type FormError struct{ Text, Field string }

// SetRetryAfter sets the Retry-After header field (RFC 9110, section 10.2.3) if err states how long to wait before a
// retry.
func SetRetryAfter(w http.ResponseWriter, err error) {
	if wait := apierr.FromError(err).RetryAfter; wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
}

// FormErrorOf returns the form error for err and true. names maps argument names to the labels of the form's fields. If
// the person cannot correct the error in the form, it writes the error response and returns false.
func (s *Shell) FormErrorOf(w http.ResponseWriter, r *http.Request, err error,
	names map[string]string) (FormError, bool) {
	apiErr := apierr.FromError(err)
	field, _ := apiErr.Context["argument"].(string)
	if apiErr.IsServerError() || apiErr.Code == apierr.NotFound && field == "" {
		s.ShowError(w, r, err)
		return FormError{}, false
	}
	SetRetryAfter(w, err)
	text := s.Detail(r, err)
	if apiErr.Code == apierr.NotFound && apiErr.Detail == apierr.ItemNotFound().Detail { // not specific to forms
		text = s.T(r, "Something that you selected no longer exists. Reload the page and select again.")
	}
	if name := names[field]; name != "" {
		text = strings.ReplaceAll(text, "The argument "+field, "The field “"+name+"”")
		text = strings.ReplaceAll(text, "„"+field+"“", "„"+TranslateText(s.Language(r),
			name)+"“") // German texts quote arguments
	}
	return FormError{text, field}, true
}

// SwitchToTeamOf handles an error for a requested item. If a GET failed with not_found, but another of the visitor's
// open teams has the item, it selects that team and redirects to the item. Otherwise it shows an error page. findTeam
// returns which of the given teams has the item, or an error if none has it.
func (s *Shell) SwitchToTeamOf(
	w http.ResponseWriter, r *http.Request, err error, findTeam func(context.Context, []int64) (int64, error),
) {
	if !apierr.Is(err, apierr.NotFound) || r.Method != http.MethodGet {
		s.ShowError(w, r, err)
		return
	}
	v := VisitorOf(r.Context())
	ids := []int64{}
	for _, t := range v.Teams {
		if !t.Closed && t.ID != v.Team.ID {
			ids = append(ids, t.ID)
		}
	}
	if len(ids) == 0 {
		s.NotFound(w, r)
		return
	}
	team, err := findTeam(r.Context(), ids)
	if err != nil {
		s.ShowError(w, r, err)
		return
	}
	s.SwitchTeam(w, r, TeamOrFirst(v.Account, team), r.URL.RequestURI())
}

// PathID returns the path value with the given name as a positive integer ID. It returns a not_found error for other
// values.
func PathID(r *http.Request, name string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || id < 1 {
		return 0, apierr.ItemNotFound()
	}
	return id, nil
}
