package sandbox

import (
	"net/http"
	"strings"
)

// describe returns the object with an id: an account, a Page, a container or a post of the caller.
func (n *instagram) describe(r *http.Request) (any, error) {
	var answer map[string]any
	err := n.caller(r, func(t tx, a account, token oauthToken) error {
		all, err := n.object(r, t, a, token)
		if err == nil {
			answer, err = instagramPick(r, all)
		}
		return err
	})
	return answer, err
}

// instagramPick is graph.PickFields for a network that refuses unknown fields.
func instagramPick(r *http.Request, all map[string]any) (map[string]any, error) {
	for field := range strings.SplitSeq(r.Form.Get("fields"), ",") {
		if _, known := all[field]; !known && field != "" {
			return nil, invalidParameter("Tried accessing nonexisting field (" + field + ")")
		}
	}
	return pick(r, all), nil
}

func (n *instagram) object(r *http.Request, t tx, a account, token oauthToken) (map[string]any, error) {
	id := r.PathValue("id")
	if id == a.id {
		return map[string]any{
			"id": a.id, "username": a.handle, "name": a.displayName,
			"followers_count": followers(instagramName, a.id, n.now()),
		}, nil
	}
	page, found, err := n.pageOf(r, t, a, id)
	if err != nil {
		return nil, err
	}
	if found {
		return n.openPage(r, t, page, token)
	}
	c, found, err := findContainer(r.Context(), t, n.platform, id)
	if err != nil {
		return nil, err
	}
	if found && c.account == a.id {
		if err := c.untold(n.platform, n.now()); err != nil {
			return nil, err
		}
		state := c.status(n.now(), n.ready)
		return map[string]any{"id": id, "status_code": state, "status": instagramStatus[state] + c.failure}, nil
	}
	p, found, err := t.post(r.Context(), n.platform, id)
	if err == nil && (!found || p.account != a.id) {
		err = errNoObject
	}
	return n.told(r, p), err
}

// instagramStatus describes the statuses of containers. A failure is followed by its subcode.
var instagramStatus = map[string]string{
	"IN_PROGRESS": "In Progress: Media is still being processed.",
	"FINISHED":    "Finished: Media has been uploaded and it is ready to be published.",
	"PUBLISHED":   "Published: Media has been successfully published.",
	"EXPIRED":     "Expired: Media was not published in time.",
	"ERROR":       "Error: Media upload has failed with error code ",
}

// told returns a post in the API's form.
func (n *instagram) told(r *http.Request, p post) map[string]any {
	counts := count(p, n.now())
	return map[string]any{
		"id": p.id, "caption": p.text, "media_type": mediaTypeOf(p), "media_product_type": instagramProduct(p),
		"like_count": counts.likes, "comments_count": counts.comments, "timestamp": p.at.Format(graphTime),
		"username":  p.handle,
		"permalink": n.baseURL(r) + "/" + n.platform + "/web/p/" + p.id,
	}
}

func (n *instagram) listPosts(r *http.Request) (any, error) {
	return n.list(r, func(p post) (map[string]any, error) { return instagramPick(r, n.told(r, p)) })
}
