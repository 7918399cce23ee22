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

	"pressroom/internal/apierr"
	"pressroom/internal/core/operation"
	"pressroom/internal/core/pipeline"
)

// Acting is the visitor as services know who asks, for what no operation does: in the team that is looked at, with what
// stands in the way of operations standing in the way of this too.
func (f *Frame) Acting(r *http.Request, what string) (operation.Call, error) {
	v := VisitorOf(r.Context())
	if v == nil {
		return operation.Call{}, apierr.Missing()
	}
	actor, err := f.Teams.InApp(r.Context(), v.ID, v.Team.ID)
	if err == nil {
		err = pipeline.Gates(actor)
	}
	return operation.Call{Actor: actor, Operation: what, RequestID: uuid.NewString(), Now: f.DB.Now()}, err
}

// Read is the answer of an operation. One that was given before to the same sending is kept as JSON.
func Read[T any](o pipeline.Outcome) (T, error) {
	if data, ok := o.Data.(T); ok {
		return data, nil
	}
	var out T
	kept, ok := o.Data.(json.RawMessage)
	if !ok {
		return out, fmt.Errorf("%s answered with %T", o.Call.Operation, o.Data)
	}
	if err := json.Unmarshal(kept, &out); err != nil {
		return out, fmt.Errorf("reading a kept answer of %s: %w", o.Call.Operation, err)
	}
	return out, nil
}

// Ask is Do with its answer read.
func Ask[T any](f *Frame, r *http.Request, tool string, args operation.Arguments) (T, pipeline.Outcome, error) {
	outcome, err := f.Do(r, tool, args)
	if err != nil {
		var none T
		return none, outcome, err
	}
	data, err := Read[T](outcome)
	return data, outcome, err
}

// Wrong is what a form tells of a refusal: the sentence, and the field that it is about where that is known.
type Wrong struct{ Text, Field string }

// WrongAt is what a form has to tell of a refusal, with the names that its fields have on the page. It is false for
// what no form can mend, which is answered.
func (f *Frame) WrongAt(w http.ResponseWriter, r *http.Request, err error, names map[string]string) (Wrong, bool) {
	told := apierr.Of(err)
	field, _ := told.Context["argument"].(string)
	if told.IsServerError() || told.Code == apierr.NotFound && field == "" {
		f.Refuse(w, r, err)
		return Wrong{}, false
	}
	if told.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(told.RetryAfter/time.Second)))
	}
	text := told.Detail
	if told.Code == apierr.NotFound && text == apierr.Missing().Detail { // which speaks of keys
		text = "Something that was chosen is not there any more. Look at the page anew and choose again."
	}
	if name := names[field]; name != "" {
		text = strings.ReplaceAll(text, "The argument "+field, "The field “"+name+"”")
	}
	return Wrong{text, field}, true
}

// Elsewhere leads a person to an item of another team of theirs, which is looked at from then on; whatever else is not
// there stays so. Home tells which of some teams the item is of.
func (f *Frame) Elsewhere(
	w http.ResponseWriter, r *http.Request, err error, home func(context.Context, []int64) (int64, error),
) {
	if !apierr.Is(err, apierr.NotFound) || r.Method != http.MethodGet {
		f.Refuse(w, r, err)
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
		f.Missing(w, r)
		return
	}
	team, err := home(r.Context(), ids)
	if err != nil {
		f.Refuse(w, r, err)
		return
	}
	f.Turn(w, r, LookedAt(v.Account, team), r.URL.RequestURI())
}

// IDIn is the number of an item in the address.
func IDIn(r *http.Request, name string) (int64, error) {
	id, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || id < 1 {
		return 0, apierr.Missing()
	}
	return id, nil
}
