package threads

import (
	"errors"
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// describe returns the object whose ID is in the path: the caller's account, or a container or post of the caller.
func (n *Network) describe(r *http.Request) (any, error) {
	var response map[string]any
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		var err error
		response, err = n.findObject(r, t, a, r.PathValue("id"))
		return err
	})
	return response, err
}

func (n *Network) findObject(r *http.Request, t store.Tx, a store.Account, id string) (map[string]any, error) {
	if id == "me" || id == a.ID {
		return graph.PickFields(r, map[string]any{
			"id": a.ID, "username": a.Handle, "name": a.DisplayName,
			"threads_profile_picture_url": n.PictureURL(r, a.DisplayName),
		}), nil
	}
	c, found, err := graph.FindContainer(r.Context(), t, Name, id)
	if err != nil {
		return nil, err
	}
	if found && c.Account == a.ID {
		if err := errors.Join(c.Withhold(Name, n.Now()), c.CheckVisible(Name, n.Now())); err != nil {
			return nil, err
		}
		all := map[string]any{"id": id, "status": c.Status(n.Now(), n.ProcessingTime)}
		if all["status"] == "ERROR" {
			all["error_message"] = c.Failure
		}
		return graph.PickFields(r, all), nil
	}
	p, found, err := t.Post(r.Context(), Name, id)
	if err != nil {
		return nil, err
	}
	if !found || p.Account != a.ID {
		return nil, graph.ErrNoObject
	}
	return graph.PickFields(r, n.postView(r, p)), nil
}

// postView returns a post in the API's format.
func (n *Network) postView(r *http.Request, p store.Post) map[string]any {
	view := map[string]any{
		"id": p.ID, "text": p.Text, "media_type": graph.MediaType(p), "timestamp": p.At.Format(graph.TimeFormat),
		"username":  p.Handle,
		"permalink": n.BaseURL(r) + "/" + Name + "/web/@" + p.Handle + "/post/" + p.ID,
	}
	if p.ReplyTo != "" {
		view["is_reply"], view["replied_to"] = true, map[string]string{"id": p.ReplyTo}
	}
	addOptionFields(view, graph.Options(p))
	return view
}

func (n *Network) listPosts(r *http.Request) (any, error) {
	return n.List(r, func(p store.Post) (map[string]any, error) { return graph.PickFields(r, n.postView(r, p)), nil })
}

const repliesScope = "threads_read_replies"

func (n *Network) listReplies(r *http.Request) (any, error) {
	err := n.AsCaller(r, func(t store.Tx, _ store.Account, token store.Token) error {
		return n.RequireScope(r.Context(), t, token, repliesScope)
	})
	if err != nil {
		return nil, err
	}
	return n.ListReplies(r, func(p store.Post) (map[string]any, error) { return graph.PickFields(r, n.postView(r, p)), nil })
}
