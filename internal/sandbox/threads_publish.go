package sandbox

import "net/http"

// describe returns the object with an id: an account, a container or a post of the caller.
func (n *threads) describe(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(t tx, a account, _ oauthToken) error {
		var err error
		answer, err = n.object(r, t, a, r.PathValue("id"))
		return err
	})
	return answer, err
}

func (n *threads) object(r *http.Request, t tx, a account, id string) (map[string]any, error) {
	if id == "me" || id == a.id {
		return pick(r, map[string]any{"id": a.id, "username": a.handle, "name": a.displayName}), nil
	}
	c, found, err := findContainer(r.Context(), t, threadsName, id)
	if err != nil {
		return nil, err
	}
	if found && c.account == a.id {
		if err := c.untold(threadsName, n.now()); err != nil {
			return nil, err
		}
		all := map[string]any{"id": id, "status": c.status(n.now(), n.ready)}
		if all["status"] == "ERROR" {
			all["error_message"] = c.failure
		}
		return pick(r, all), nil
	}
	p, found, err := t.post(r.Context(), threadsName, id)
	if err != nil {
		return nil, err
	}
	if !found || p.account != a.id {
		return nil, errNoObject
	}
	return pick(r, n.thread(r, p)), nil
}

// thread returns a post in the API's form.
func (n *threads) thread(r *http.Request, p post) map[string]any {
	return map[string]any{
		"id": p.id, "text": p.text, "media_type": mediaTypeOf(p), "timestamp": p.at.Format(graphTime), "username": p.handle,
		"permalink": n.baseURL(r) + "/" + threadsName + "/web/@" + p.handle + "/post/" + p.id,
	}
}

func (n *threads) listPosts(r *http.Request) (any, error) {
	return n.list(r, func(p post) (map[string]any, error) { return pick(r, n.thread(r, p)), nil })
}
