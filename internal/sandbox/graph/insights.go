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

var errNoPermission = &Error{
	Status: http.StatusBadRequest, Code: 10, Message: "Application does not have permission for this action",
}

// Metrics maps the API's names of a network's post metrics to functions that return their values.
type Metrics map[string]func(insights.Counts) any

// Response returns the response with the requested metrics of a post. It returns an error for an unknown metric.
func (m Metrics) Response(r *http.Request, id string, counts insights.Counts) (any, error) {
	data := []map[string]any{}
	for i, name := range strings.Split(r.Form.Get("metric"), ",") {
		metric, ok := m[name]
		if !ok {
			return nil,
				InvalidParameter("metric[" + strconv.Itoa(i) + "] must be one of the values that this sandbox supports")
		}
		data = append(data, map[string]any{
			"name": name, "period": "lifetime", "title": name, "id": id + "/insights/" + name + "/lifetime",
			"values": []map[string]any{{"value": metric(counts)}},
		})
	}
	return map[string]any{"data": data}, nil
}

// RequireScope returns an error unless the token has at least one of the scopes.
func (api *API) RequireScope(ctx context.Context, t store.Tx, token store.Token, scopes ...string) error {
	granted, err := t.Scopes(ctx, api.Platform, token.Session)
	if err == nil && !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(granted, scope) }) {
		err = errNoPermission
	}
	return err
}

// Insights returns the call that responds with the metrics of one of the caller's posts. The token must have one of the
// scopes.
func (api *API) Insights(m Metrics, scopes ...string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var p store.Post
		err := api.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
			if err := api.RequireScope(r.Context(), t, token, scopes...); err != nil {
				return err
			}
			var found bool
			var err error
			p, found, err = t.Post(r.Context(), api.Platform, r.PathValue("id"))
			if err == nil && (!found || p.Account != a.ID) {
				err = ErrNoObject
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return m.Response(r, p.ID, insights.Count(p, api.Now()))
	}
}

// ParseOffset returns the offset that the request's cursor contains.
func ParseOffset(r *http.Request) (int, error) {
	text := r.Form.Get("after")
	if text == "" {
		return 0, nil
	}
	offset, err := strconv.Atoi(text)
	if err != nil || offset < 0 {
		return 0, InvalidParameter("after must be a cursor from a previous response")
	}
	return offset, nil
}

// Page returns the response with a page of a list. The response contains cursors if data has limit items.
func (api *API) Page(r *http.Request, data []map[string]any, limit, offset int) map[string]any {
	if len(data) < limit {
		return map[string]any{"data": data}
	}
	after := strconv.Itoa(offset + len(data))
	return map[string]any{"data": data, "paging": map[string]any{
		"cursors": map[string]string{"before": strconv.Itoa(offset), "after": after},
		"next":    api.BaseURL(r) + "/" + api.Platform + r.URL.Path + "?after=" + after,
	}}
}
