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

// Call returns a call of the visitor in the selected team, for actions without an API operation. It makes the same checks as
// operations.
func (s *Shell) Call(r *http.Request, what string) (operation.Call, error) {
	v := VisitorOf(r.Context())
	if v == nil {
		return operation.Call{}, apierr.Missing()
	}
	actor, err := s.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err == nil {
		err = pipeline.Gates(actor)
	}
	return operation.Call{Actor: actor, Operation: what, RequestID: uuid.NewString(), Now: s.DB.Now()}, err
}

// Result returns the answer of an operation. The answer to a repeated submission is stored as JSON.
func Result[T any](o pipeline.Outcome) (T, error) {
	if data, ok := o.Data.(T); ok {
		return data, nil
	}
	var out T
	kept, ok := o.Data.(json.RawMessage)
	if !ok {
		return out, fmt.Errorf("%s answered with %T", o.Call.Operation, o.Data)
	}
	if err := json.Unmarshal(kept, &out); err != nil {
		return out, fmt.Errorf("reading a stored answer of %s: %w", o.Call.Operation, err)
	}
	return out, nil
}

// Run is like Do and decodes the answer.
func Run[T any](s *Shell, r *http.Request, tool string, args operation.Arguments) (T, pipeline.Outcome, error) {
	outcome, err := s.Do(r, tool, args)
	if err != nil {
		var none T
		return none, outcome, err
	}
	data, err := Result[T](outcome)
	return data, outcome, err
}

// FormError is what a form shows about a rejected submission: a sentence and, if known, the field.
type FormError struct{ Text, Field string }

// SetRetryAfter sets the Retry-After header field (RFC 9110, section 10.2.3) if waiting helps against an error.
func SetRetryAfter(w http.ResponseWriter, err error) {
	if wait := apierr.FromError(err).RetryAfter; wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(wait/time.Second)))
	}
}

// FormErrorOf returns the form error for err, with the page's names of the fields. It answers the request and
// reports false if the form cannot correct the error.
func (s *Shell) FormErrorOf(w http.ResponseWriter, r *http.Request, err error,
	names map[string]string) (FormError, bool) {
	told := apierr.FromError(err)
	field, _ := told.Context["argument"].(string)
	if told.IsServerError() || told.Code == apierr.NotFound && field == "" {
		s.ShowError(w, r, err)
		return FormError{}, false
	}
	SetRetryAfter(w, err)
	text := s.Detail(r, err)
	if told.Code == apierr.NotFound && told.Detail == apierr.Missing().Detail { // its text is about API keys
		text = s.T(r, "Something that you selected no longer exists. Reload the page and select again.")
	}
	if name := names[field]; name != "" {
		text = strings.ReplaceAll(text, "The argument "+field, "The field “"+name+"”")
		text = strings.ReplaceAll(text, "„"+field+"“", "„"+Text(s.Language(r), name)+"“") // as German texts name arguments
	}
	return FormError{text, field}, true
}

// SwitchToTeamOf selects another team of the person if that team has the requested item, and redirects to the item. home
// returns which of the given teams has the item. If none has it, the error is unchanged.
func (s *Shell) SwitchToTeamOf(
	w http.ResponseWriter, r *http.Request, err error, home func(context.Context, []int64) (int64, error),
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
	team, err := home(r.Context(), ids)
	if err != nil {
		s.ShowError(w, r, err)
		return
	}
	s.SwitchTeam(w, r, TeamOrFirst(v.Account, team), r.URL.RequestURI())
}

// PathID returns the id of an item in the path.
func PathID(r *http.Request, name string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || id < 1 {
		return 0, apierr.Missing()
	}
	return id, nil
}
