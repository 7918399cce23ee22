package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	usualPage = 25 // posts
	mostPage  = 100
)

// launch is what a publication came to. Also a refusal may have changed something: a marker has acted.
type launch struct {
	post    string
	refused error
	wait    time.Duration // come back after this
}

// publish shows a container's post to everybody, on disk when it returns.
func (n *graphAPI) publish(r *http.Request) (any, error) {
	for waited := false; ; waited = true {
		var out launch
		err := n.caller(r, func(t tx, a account, token oauthToken) error {
			var err error
			out, err = n.tryPublish(r, t, a, token, waited)
			return err
		})
		if err != nil {
			return nil, err
		}
		if out.wait == 0 {
			return map[string]string{"id": out.post}, out.refused
		}
		if !n.pause(out.wait) {
			return nil, errGraphInternal
		}
	}
}

func (n *graphAPI) tryPublish(r *http.Request, t tx, a account, token oauthToken, waited bool) (launch, error) {
	c, found, err := t.container(r.Context(), n.platform, r.Form.Get("creation_id"))
	if err != nil {
		return launch{}, err
	}
	if !found || c.account != a.id || c.item {
		return launch{}, &graphError{
			status: http.StatusBadRequest, code: 24, subcode: 2207006, message: "The requested resource does not exist",
		}
	}
	switch c.status(n.now(), n.ready) {
	case "PUBLISHED":
		return launch{}, invalidParameter("The container has been published already")
	case "EXPIRED":
		return launch{}, &graphError{
			status: http.StatusBadRequest, code: 24, subcode: 2207008, message: "The container has expired",
		}
	case "FINISHED":
		return n.launch(r.Context(), t, c, token, waited)
	}
	return launch{}, errNotReady
}

// launch lets the markers act, then keeps the post.
func (n *graphAPI) launch(ctx context.Context, t tx, c container, token oauthToken, waited bool) (launch, error) {
	marks := readMarkers(c.text, n.platform)
	key := c.account + " " + contentID([]byte(c.text)) // containers are new each time
	if out, acted, err := n.actBefore(ctx, t, marks, key, token.session); err != nil || acted {
		return out, err
	}
	if marks.slow > 0 && !waited {
		return launch{wait: marks.slow}, nil
	}
	body, err := json.Marshal(map[string]any{"media_type": listedForms[c.form], "media": c.media})
	if err != nil {
		return launch{}, fmt.Errorf("writing a post: %w", err)
	}
	err = t.keepPost(ctx, post{
		platform: n.platform, account: c.account, id: c.postID(), text: c.text, media: c.media, at: n.now(),
		version: c.id(), body: body,
	})
	if err == nil {
		err = t.publishContainer(ctx, c)
	}
	if err != nil {
		return launch{}, err
	}
	out := launch{post: c.postID()}
	lost, err := loses(ctx, t, n.platform, marks, key)
	if lost {
		out.refused = errCut
	}
	return out, err
}

// actBefore lets the markers act that keep a post from being published. It is true where one did.
func (n *graphAPI) actBefore(ctx context.Context, t tx, marks markers, key, session string) (launch, bool, error) {
	if marks.has(markReject) {
		return launch{refused: &graphError{
			status: http.StatusBadRequest, code: 4, subcode: 2207051,
			message: "This content cannot be posted (asked for by a sandbox marker)",
		}}, true, nil
	}
	if dead, err := once(ctx, t, n.platform, marks, key, markExpiredToken); err != nil || dead {
		if err == nil {
			err = t.killSession(ctx, n.platform, session)
		}
		return launch{refused: errSessionExpired}, true, err
	}
	if marks.has(markRateLimit) {
		return launch{refused: errRate}, true, nil
	}
	failing, err := once(ctx, t, n.platform, marks, key, markError)
	return launch{refused: errGraphInternal}, failing, err
}

// listedForms are what posts are called once they are published.
var listedForms = map[string]string{
	"TEXT": "TEXT_POST", "IMAGE": "IMAGE", "VIDEO": "VIDEO", "REELS": "VIDEO", "CAROUSEL": "CAROUSEL_ALBUM",
}

// listed is what the API calls the form of a post.
func (p post) listed() string {
	var kept struct {
		Type string `json:"media_type"`
	}
	_ = json.Unmarshal(p.body, &kept) // it was written by launch
	return kept.Type
}

// list lists the caller's posts, the newest first, from a Unix time on, each as tell tells it.
func (n *graphAPI) list(r *http.Request, tell func(post) (map[string]any, error)) (any, error) {
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
		held, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`, n.platform,
			a.id, since, limit, read)
		if err == nil {
			err = untoldAmong(held, n.now())
		}
		for _, p := range held {
			if err == nil {
				var told map[string]any
				told, err = tell(p)
				data = append(data, told)
			}
		}
		return err
	})
	return n.leaf(r, data, limit, read), err
}

// readPage is from when on, in Unix milliseconds, and how many.
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
