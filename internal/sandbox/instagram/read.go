package instagram

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// describe returns the object whose ID is in the path: an account, a Page, or a container or post of the caller.
func (n *Network) describe(r *http.Request) (any, error) {
	var response map[string]any
	err := n.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
		object, err := n.findObject(r, t, a, token)
		if err == nil {
			response, err = pickFields(r, object)
		}
		return err
	})
	return response, err
}

// pickFields is like graph.PickFields, but it returns an error for unknown fields.
func pickFields(r *http.Request, values map[string]any) (map[string]any, error) {
	for field := range strings.SplitSeq(r.Form.Get("fields"), ",") {
		if _, ok := values[field]; !ok && field != "" {
			return nil, graph.InvalidParameter("Tried accessing nonexisting field (" + field + ")")
		}
	}
	return graph.PickFields(r, values), nil
}

func (n *Network) findObject(r *http.Request, t store.Tx, a store.Account, token store.Token) (map[string]any, error) {
	id := r.PathValue("id")
	if id == a.ID {
		return map[string]any{
			"id": a.ID, "username": a.Handle, "name": a.DisplayName,
			"followers_count":     insights.Followers(Name, a.ID, n.Now()),
			"profile_picture_url": n.PictureURL(r, a.DisplayName),
		}, nil
	}
	page, found, err := n.findPage(r, t, a, id)
	if err != nil {
		return nil, err
	}
	if found {
		return n.pageView(r, t, page, token)
	}
	c, found, err := graph.FindContainer(r.Context(), t, n.Platform, id)
	if err != nil {
		return nil, err
	}
	if found && c.Account == a.ID {
		if err := c.Withhold(n.Platform, n.Now()); err != nil {
			return nil, err
		}
		state := c.Status(n.Now(), n.ProcessingTime)
		return map[string]any{"id": id, "status_code": state, "status": statusTexts[state] + c.Failure}, nil
	}
	p, found, err := t.Post(r.Context(), n.Platform, id)
	if err == nil && (!found || p.Account != a.ID) {
		err = graph.ErrNoObject
	}
	return n.postView(r, p), err
}

// statusTexts maps the status of a container to its description. For a failure, a subcode follows the description.
var statusTexts = map[string]string{
	"IN_PROGRESS": "In Progress: Media is still being processed.",
	"FINISHED":    "Finished: Media has been uploaded and it is ready to be published.",
	"PUBLISHED":   "Published: Media has been successfully published.",
	"EXPIRED":     "Expired: Media was not published in time.",
	"ERROR":       "Error: Media upload has failed with error code ",
}

// postView returns a post in the API's format.
func (n *Network) postView(r *http.Request, p store.Post) map[string]any {
	counts := insights.Count(p, n.Now())
	return map[string]any{
		"id": p.ID, "caption": p.Text, "media_type": graph.MediaType(p), "media_product_type": productType(p),
		"like_count": counts.Likes, "comments_count": counts.Comments, "timestamp": p.At.Format(graph.TimeFormat),
		"username":  p.Handle,
		"permalink": n.BaseURL(r) + "/" + n.Platform + "/web/p/" + p.ID,
	}
}

func (n *Network) listPosts(r *http.Request) (any, error) {
	return n.List(r, func(p store.Post) (map[string]any, error) { return pickFields(r, n.postView(r, p)) })
}

func (n *Network) listStories(r *http.Request) (any, error) {
	return n.ListStories(r, func(p store.Post) (map[string]any, error) { return pickFields(r, n.postView(r, p)) })
}
