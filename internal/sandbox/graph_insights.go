package sandbox

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

var errWithheld = &graphError{
	status: http.StatusBadRequest, code: 10, message: "Application does not have permission for this action",
}

// metrics are the metrics of a network's posts by name.
type metrics map[string]func(tally) any

// told returns the requested metrics. An unknown one fails the request.
func (m metrics) told(r *http.Request, id string, counts tally) (any, error) {
	data := []map[string]any{}
	for i, name := range strings.Split(r.Form.Get("metric"), ",") {
		of, known := m[name]
		if !known {
			return nil,
				invalidParameter("metric[" + strconv.Itoa(i) + "] must be one of the values that this sandbox has")
		}
		data = append(data, map[string]any{
			"name": name, "period": "lifetime", "title": name, "id": id + "/insights/" + name + "/lifetime",
			"values": []map[string]any{{"value": of(counts)}},
		})
	}
	return map[string]any{"data": data}, nil
}

// may refuses a session that was granted none of the scopes.
func (n *graphAPI) may(ctx context.Context, t tx, token oauthToken, scopes ...string) error {
	given, err := t.scopes(ctx, n.platform, token.session)
	if err == nil && !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(given, scope) }) {
		err = errWithheld
	}
	return err
}

// insights returns the call for the metrics of the caller's own post, which needs one of the scopes.
func (n *graphAPI) insights(m metrics, scopes ...string) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var p post
		err := n.caller(r, func(t tx, a account, token oauthToken) error {
			if err := n.may(r.Context(), t, token, scopes...); err != nil {
				return err
			}
			var found bool
			var err error
			p, found, err = t.post(r.Context(), n.platform, r.PathValue("id"))
			if err == nil && (!found || p.account != a.id) {
				err = errNoObject
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		return m.told(r, p.id, count(p, n.now()))
	}
}

// behind returns the offset of the request's cursor.
func behind(r *http.Request) (int, error) {
	text := r.Form.Get("after")
	if text == "" {
		return 0, nil
	}
	read, err := strconv.Atoi(text)
	if err != nil || read < 0 {
		return 0, invalidParameter("after has to be a cursor that was given")
	}
	return read, nil
}

// leaf returns a page of a list, with a cursor unless the page is the last.
func (n *graphAPI) leaf(r *http.Request, data []map[string]any, limit, read int) map[string]any {
	if len(data) < limit {
		return map[string]any{"data": data}
	}
	after := strconv.Itoa(read + len(data))
	return map[string]any{"data": data, "paging": map[string]any{
		"cursors": map[string]string{"before": strconv.Itoa(read), "after": after},
		"next":    n.baseURL(r) + "/" + n.platform + r.URL.Path + "?after=" + after,
	}}
}
