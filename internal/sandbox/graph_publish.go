package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

const (
	usualPage = 25 // posts
	mostPage  = 100
)

// publish publishes a container's post, on disk when it returns.
func (n *graphAPI) publish(r *http.Request) (any, error) {
	id, err := n.shared.publish(errGraphInternal, func(waited bool) (outcome, error) {
		var out outcome
		err := n.caller(r, func(t tx, a account, token oauthToken) error {
			c, err := n.publishable(r, t, a)
			if err == nil {
				out, err = n.tryPublish(r.Context(), t, c, token, waited)
			}
			return err
		})
		return out, err
	})
	return map[string]string{"id": id}, err
}

// publishable returns the container that a request publishes, and fails if it is not ready.
func (n *graphAPI) publishable(r *http.Request, t tx, a account) (container, error) {
	c, found, err := findContainer(r.Context(), t, n.platform, r.Form.Get("creation_id"))
	if err != nil {
		return container{}, err
	}
	if !found || c.account != a.id || c.item {
		return container{}, &graphError{
			status: http.StatusBadRequest, code: 24, subcode: 2207006, message: "The requested resource does not exist",
		}
	}
	switch c.status(n.now(), n.ready) {
	case "PUBLISHED":
		return container{}, invalidParameter("The container has been published already")
	case "EXPIRED":
		return container{}, &graphError{
			status: http.StatusBadRequest, code: 24, subcode: 2207008, message: "The container has expired",
		}
	case "FINISHED":
		return c, nil
	}
	return container{}, errNotReady
}

// graphRefusals are the refusals that markers ask for.
var graphRefusals = refusals{
	rejected: &graphError{
		status: http.StatusBadRequest, code: 4, subcode: 2207051,
		message: "This content cannot be posted (asked for by a sandbox marker)",
	},
	expired: errSessionExpired, rateLimited: errRate, failed: errGraphInternal,
}

func (n *graphAPI) tryPublish(ctx context.Context, t tx, c container, token oauthToken, waited bool) (outcome, error) {
	publication := attempt{
		platform: n.platform, account: c.account, text: c.text, session: token.session, waited: waited,
	}
	return publication.publish(ctx, t, graphRefusals, func() (string, error) {
		body, err := json.Marshal(map[string]any{"media_type": listedForms[c.form], "media": c.media})
		if err != nil {
			return "", fmt.Errorf("writing a post: %w", err)
		}
		err = t.keepPost(ctx, post{
			platform: n.platform, account: c.account, id: c.postID(), text: c.text, media: c.media, at: n.now(),
			version: c.id(), body: body,
		})
		if err == nil {
			err = markContainerPublished(ctx, t, c)
		}
		return c.postID(), err
	})
}

// listedForms maps the forms of containers to the media types of posts.
var listedForms = map[string]string{
	"TEXT": "TEXT_POST", "IMAGE": "IMAGE", "VIDEO": "VIDEO", "REELS": "VIDEO", "CAROUSEL": "CAROUSEL_ALBUM",
}

// mediaTypeOf returns the media type of a post.
func mediaTypeOf(p post) string {
	var body struct {
		Type string `json:"media_type"`
	}
	_ = json.Unmarshal(p.body, &body) // tryPublish wrote it
	return body.Type
}

// list lists the caller's posts since a Unix time, the newest first, each in the form of view.
func (n *graphAPI) list(r *http.Request, view func(post) (map[string]any, error)) (any, error) {
	since, limit, err := readPage(r)
	if err != nil {
		return nil, err
	}
	read, err := behind(r)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	err = n.caller(r, func(t tx, a account, _ oauthToken) error {
		posts, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`, n.platform,
			a.id, since, limit, read)
		if err == nil {
			err = untoldAmong(posts, n.now())
		}
		for _, p := range posts {
			if err == nil {
				var item map[string]any
				item, err = view(p)
				data = append(data, item)
			}
		}
		return err
	})
	return n.leaf(r, data, limit, read), err
}

// readPage returns the start in Unix milliseconds and the limit of a list.
func readPage(r *http.Request) (int64, int, error) {
	since, limit := int64(0), usualPage
	var err error
	if text := r.Form.Get("since"); text != "" {
		since, err = strconv.ParseInt(text, 10, 40)
	}
	if text := r.Form.Get("limit"); text != "" && err == nil {
		limit, err = strconv.Atoi(text)
	}
	if err != nil || limit < 1 || limit > mostPage {
		return 0, 0, invalidParameter("since has to be a Unix time, and limit a number from 1 to 100")
	}
	return since * 1000, limit, nil
}

// earlierPrefix is the prefix of the ids of earlier posts.
const earlierPrefix = "16"

// formEarlierMedia sets the id and the body of an earlier post on Instagram or Threads.
func formEarlierMedia(p *post) error {
	form := "TEXT"
	if len(p.media) > 0 {
		form = "IMAGE"
	}
	var err error
	p.id = fmt.Sprintf(earlierPrefix+"%015d", p.at.UnixMilli())
	p.version = p.id
	if p.body, err = json.Marshal(map[string]any{"media_type": listedForms[form], "media": p.media}); err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	return nil
}
