package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// pinterestShown is what is kept of a pin besides its description.
type pinterestShown struct {
	Board string   `json:"board"`
	Title string   `json:"title"`
	Link  string   `json:"link"`
	Alt   string   `json:"alt"`
	Form  string   `json:"form"`  // what the network calls the kind of pin
	Files []medium `json:"files"` // which the account's files are kept for
}

// create shows a pin to everybody, on disk when it answers.
func (n *pinterest) create(r *http.Request) (any, error) {
	asked, err := readPinterestPin(r)
	if err != nil {
		return nil, err
	}
	owner := ""
	err = n.byCaller(r, func(_ tx, a account, _ oauthToken) error {
		owner = a.id
		if !n.hasBoard(a, asked.Board) {
			return &xError{status: http.StatusNotFound, code: 40, message: "Board not found."}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	images, err := n.images(r.Context(), owner, asked.Source)
	if err != nil {
		return nil, err
	}
	var made post
	_, err = n.show(r, func(t tx, waited bool) (launch, error) {
		a, token, err := n.caller(r, t)
		if err != nil {
			return launch{}, err
		}
		if made, err = n.compose(r.Context(), t, a, asked, images); err != nil {
			return launch{}, err
		}
		return n.launch(r.Context(), t, made, token, waited)
	})
	return pinterestTold(made), err
}

// compose makes the post of what was asked for.
func (n *pinterest) compose(ctx context.Context, t tx, a account, asked pinterestPin, images []medium) (post, error) {
	shown := pinterestShown{
		Board: asked.Board, Title: asked.Title, Link: asked.Link, Alt: asked.Alt, Form: "image", Files: images,
	}
	if len(images) > 1 {
		shown.Form = "multiple_images"
	}
	if asked.Source.Type == "video_id" {
		film, err := n.film(ctx, t, a, asked.Source)
		if err != nil {
			return post{}, err
		}
		shown.Form, shown.Files = "video", []medium{film}
	}
	shown.Files[0].Alt = asked.Alt
	next, err := t.nextPost(ctx)
	if err != nil {
		return post{}, fmt.Errorf("numbering a pin: %w", err)
	}
	p := post{
		platform: pinterestName, account: a.id, id: fmt.Sprintf("9%017d", next), text: asked.Description,
		media: shown.Files, at: n.now(),
	}
	p.version = p.id
	if p.body, err = json.Marshal(shown); err != nil {
		return post{}, fmt.Errorf("writing a pin: %w", err)
	}
	return p, nil
}

// film is the video that a pin names, which needs a cover.
func (n *pinterest) film(ctx context.Context, t tx, a account, source pinterestSource) (medium, error) {
	u, found, err := t.pinterestUpload(ctx, source.Video)
	switch {
	case err != nil:
		return medium{}, err
	case !found || u.account != a.id || u.status(n.now(), n.ready) != "succeeded":
		return medium{}, pinterestInvalid("The video is not ready to be pinned")
	case source.KeyFrame == nil && source.CoverURL == "" && source.CoverData == "":
		return medium{}, pinterestInvalid("A video needs a cover")
	}
	return medium{Path: pinterestName + "/media/" + a.id + "/" + u.cid, Type: u.kind}, nil
}

// listPins lists a board's pins, the newest first.
func (n *pinterest) listPins(r *http.Request) (any, error) {
	var page any
	err := n.byCaller(r, func(t tx, a account, _ oauthToken) error {
		board := r.PathValue("board")
		if !n.hasBoard(a, board) {
			return &xError{status: http.StatusNotFound, code: 40, message: "Board not found."}
		}
		held, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? and json_extract(cast(p.body as text), '$.board') = ? order by p.seq desc`, pinterestName, a.id, board)
		if err == nil {
			err = untoldAmong(held, n.now())
		}
		if err != nil {
			return err
		}
		all := []map[string]any{}
		for _, p := range held {
			told := pinterestTold(p)
			if r.Form.Get("pin_metrics") == "true" {
				told["pin_metrics"] = n.metrics(p)
			}
			all = append(all, told)
		}
		page, err = n.page(r, all)
		return err
	})
	return page, err
}

// pinterestTold is a pin as the API tells it.
func pinterestTold(p post) map[string]any {
	var shown pinterestShown
	_ = json.Unmarshal(p.body, &shown) // it was written by compose
	media := map[string]any{"media_type": shown.Form}
	if len(shown.Files) > 1 {
		items := []map[string]any{}
		for range shown.Files {
			items = append(items, map[string]any{"item_type": "image"})
		}
		media["items"] = items
	}
	return map[string]any{
		"id": p.id, "created_at": p.at.UTC().Format(time.RFC3339), "board_id": shown.Board, "title": shown.Title,
		"description": p.text,
		"link":        shown.Link, "alt_text": shown.Alt, "media": media, "is_owner": true,
	}
}
