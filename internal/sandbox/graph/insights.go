package graph

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

var errWithheld = &Error{
	Status: http.StatusBadRequest, Code: 10, Message: "Application does not have permission for this action",
}

// Metrics are the metrics of a network's posts by name.
type Metrics map[string]func(insights.Counts) any

// Answer returns the requested metrics. An unknown metric fails the request.
func (m Metrics) Answer(r *http.Request, id string, counts insights.Counts) (any, error) {
	data := []map[string]any{}
	for i, name := range strings.Split(r.Form.Get("metric"), ",") {
		of, known := m[name]
		if !known {
			return nil,
				InvalidParameter("metric[" + strconv.Itoa(i) + "] must be one of the values that this sandbox has")
		}
		data = append(data, map[string]any{
			"name": name, "period": "lifetime", "title": name, "id": id + "/insights/" + name + "/lifetime",
			"values": []map[string]any{{"value": of(counts)}},
		})
	}
	return map[string]any{"data": data}, nil
}

// RequireScope refuses a session that was granted none of the scopes.
func (n *API) RequireScope(ctx context.Context, t store.Tx, token store.Token, scopes ...string) error {
	given, err := t.Scopes(ctx, n.Platform, token.Session)
	if err == nil && !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(given, scope) }) {
		err = errWithheld
	}
	return err
}

// Insights returns the call for the metrics of the caller's own post, which needs one of the scopes.
func (n *API) Insights(m Metrics, scopes ...string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var p store.Post
		err := n.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
			if err := n.RequireScope(r.Context(), t, token, scopes...); err != nil {
				return err
			}
			var found bool
			var err error
			p, found, err = t.Post(r.Context(), n.Platform, r.PathValue("id"))
			if err == nil && (!found || p.Account != a.ID) {
				err = ErrNoObject
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return m.Answer(r, p.ID, insights.Count(p, n.Now()))
	}
}

// ParseOffset returns the offset of the request's cursor.
func ParseOffset(r *http.Request) (int, error) {
	text := r.Form.Get("after")
	if text == "" {
		return 0, nil
	}
	read, err := strconv.Atoi(text)
	if err != nil || read < 0 {
		return 0, InvalidParameter("after has to be a cursor that was given")
	}
	return read, nil
}

// Page returns a page of a list, with a cursor unless the page is the last.
func (n *API) Page(r *http.Request, data []map[string]any, limit, read int) map[string]any {
	if len(data) < limit {
		return map[string]any{"data": data}
	}
	after := strconv.Itoa(read + len(data))
	return map[string]any{"data": data, "paging": map[string]any{
		"cursors": map[string]string{"before": strconv.Itoa(read), "after": after},
		"next":    n.BaseURL(r) + "/" + n.Platform + r.URL.Path + "?after=" + after,
	}}
}
