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

// metrics are what a network tells of posts, by their names.
type metrics map[string]func(tally) any

// told are the figures that a request asks for, each as the last of a row of values. One that the network does not have
// costs all.
func (m metrics) told(r *http.Request, id string, counted tally) (any, error) {
	data := []map[string]any{}
	for i, name := range strings.Split(r.Form.Get("metric"), ",") {
		of, known := m[name]
		if !known {
			return nil,
				invalidParameter("metric[" + strconv.Itoa(i) + "] must be one of the values that this sandbox has")
		}
		data = append(data, map[string]any{
			"name": name, "period": "lifetime", "title": name, "id": id + "/insights/" + name + "/lifetime",
			"values": []map[string]any{{"value": of(counted)}},
		})
	}
	return map[string]any{"data": data}, nil
}

// may refuses a session at whose consent a scope was not given.
func (n *graphAPI) may(ctx context.Context, t tx, token oauthToken, scopes ...string) error {
	given, err := t.scopes(ctx, n.platform, token.session)
	if err == nil && !slices.ContainsFunc(scopes, func(scope string) bool { return slices.Contains(given, scope) }) {
		err = errWithheld
	}
	return err
}

// insights tells the figures of the caller's own post, where one of the scopes was given.
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

// behind is how many of a list a request has read already, by the cursor that it got.
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

// leaf is a page of a list, with a cursor to the next where there may be one.
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
