package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// pinterestShown is what is stored of a pin besides its description.
type pinterestShown struct {
	Board string   `json:"board"`
	Title string   `json:"title"`
	Link  string   `json:"link"`
	Alt   string   `json:"alt"`
	Form  string   `json:"form"`  // what the network calls the kind of pin
	Files []medium `json:"files"` // which the account's files are kept for
}

// create publishes a pin, on disk when it answers.
func (n *pinterest) create(r *http.Request) (any, error) {
	in, err := readPinterestPin(r)
	if err != nil {
		return nil, err
	}
	owner := ""
	err = n.byCaller(r, func(_ tx, a account, _ oauthToken) error {
		owner = a.id
		if !n.hasBoard(a, in.Board) {
			return &xError{status: http.StatusNotFound, code: 40, message: "Board not found."}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	images, err := n.images(r.Context(), owner, in.Source)
	if err != nil {
		return nil, err
	}
	var made post
	_, err = n.show(r, func(t tx) (post, oauthToken, error) {
		a, token, err := n.caller(r, t)
		if err == nil {
			made, err = n.compose(r.Context(), t, a, in, images)
		}
		return made, token, err
	})
	return pinterestTold(made), err
}

// compose returns the post of a pin.
func (n *pinterest) compose(ctx context.Context, t tx, a account, in pinterestPin, images []medium) (post, error) {
	body := pinterestShown{
		Board: in.Board, Title: in.Title, Link: in.Link, Alt: in.Alt, Form: "image", Files: images,
	}
	if len(images) > 1 {
		body.Form = "multiple_images"
	}
	if in.Source.Type == "video_id" {
		film, err := n.film(ctx, t, a, in.Source)
		if err != nil {
			return post{}, err
		}
		body.Form, body.Files = "video", []medium{film}
	}
	body.Files[0].Alt = in.Alt
	next, err := t.nextPost(ctx)
	if err != nil {
		return post{}, err
	}
	p := post{
		platform: pinterestName, account: a.id, id: fmt.Sprintf("9%017d", next), text: in.Description,
		media: body.Files, at: n.now(),
	}
	p.version = p.id
	if p.body, err = json.Marshal(body); err != nil {
		return post{}, fmt.Errorf("writing a pin: %w", err)
	}
	return p, nil
}

// film returns the video of a pin, which needs a cover.
func (n *pinterest) film(ctx context.Context, t tx, a account, source pinterestSource) (medium, error) {
	u, found, err := findPinterestUpload(ctx, t, source.Video)
	switch {
	case err != nil:
		return medium{}, err
	case !found || u.account != a.id || u.status(n.now(), n.ready) != "succeeded":
		return medium{}, pinterestInvalid("The video is not ready to be pinned")
	case source.KeyFrame == nil && source.CoverURL == "" && source.CoverData == "":
		return medium{}, pinterestInvalid("A video needs a cover")
	}
	return newMedium(pinterestName, a.id, blobRef{cid: u.cid, mime: u.kind}, ""), nil
}

// listPins lists a board's pins, the newest first.
func (n *pinterest) listPins(r *http.Request) (any, error) {
	var page any
	err := n.byCaller(r, func(t tx, a account, _ oauthToken) error {
		board := r.PathValue("board")
		if !n.hasBoard(a, board) {
			return &xError{status: http.StatusNotFound, code: 40, message: "Board not found."}
		}
		posts, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and json_extract(cast(p.body as text), '$.board') = ?
			order by p.seq desc`, pinterestName, a.id, board)
		if err == nil {
			err = untoldAmong(posts, n.now())
		}
		if err != nil {
			return err
		}
		all := []map[string]any{}
		for _, p := range posts {
			pin := pinterestTold(p)
			if r.Form.Get("pin_metrics") == "true" {
				pin["pin_metrics"] = n.metrics(p)
			}
			all = append(all, pin)
		}
		page, err = n.page(r, all)
		return err
	})
	return page, err
}

// pinterestTold returns a pin in the API's form.
func pinterestTold(p post) map[string]any {
	var body pinterestShown
	_ = json.Unmarshal(p.body, &body) // compose wrote it
	media := map[string]any{"media_type": body.Form}
	if len(body.Files) > 1 {
		items := []map[string]any{}
		for range body.Files {
			items = append(items, map[string]any{"item_type": "image"})
		}
		media["items"] = items
	}
	return map[string]any{
		"id": p.id, "created_at": p.at.UTC().Format(time.RFC3339), "board_id": body.Board, "title": body.Title,
		"description": p.text,
		"link":        body.Link, "alt_text": body.Alt, "media": media, "is_owner": true,
	}
}
