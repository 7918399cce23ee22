package pinterest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// pinBody contains the fields of a pin that are stored in addition to its description.
type pinBody struct {
	Board   string         `json:"board"`
	Section string         `json:"section,omitempty"`
	Title   string         `json:"title"`
	Link    string         `json:"link"`
	Alt     string         `json:"alt"`
	Form    string         `json:"form"`  // media type of the pin, as in the API
	Files   []store.Medium `json:"files"` // prevents the files from being deleted as unreferenced
}

// trialClient is the suffix of the ID of an app with Trial access.
const trialClient = "-trial"

// errTrial is the error that the real Pinterest returns for an app with Trial access.
var errTrial = &rest.Error{
	Status: http.StatusForbidden, Code: 29, Message: "Apps with Trial access may not create Pins in production " +
		"https://api.pinterest.com - use API Sandbox https://api-sandbox.pinterest.com instead.",
}

// createPin publishes a pin. When createPin returns, the pin is on disk.
func (n *Network) createPin(r *http.Request) (any, error) {
	in, err := parsePin(r)
	if err != nil {
		return nil, err
	}
	if marker.Read(in.Description, Name).Has(marker.Unapproved) {
		return nil, errTrial
	}
	owner := ""
	err = n.AsCaller(r, func(_ store.Tx, a store.Account, token store.Token) error {
		owner = a.ID
		if strings.HasSuffix(token.Client, trialClient) {
			return errTrial
		}
		if !n.hasBoard(a, in.Board) {
			return errBoard
		}
		if in.Section != "" && !hasSection(in.Board, in.Section) {
			return errSection
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
	var post store.Post
	_, err = n.PublishPost(r, func(t store.Tx) (store.Post, store.Token, error) {
		a, token, err := n.Authenticate(r, t)
		if err == nil {
			post, err = n.newPin(r.Context(), t, a, in, images)
		}
		return post, token, err
	})
	return pinView(post), err
}

// newPin returns a new pin.
func (n *Network) newPin(
	ctx context.Context, t store.Tx, a store.Account, in pinRequest, images []store.Medium,
) (store.Post, error) {
	body := pinBody{
		Board: in.Board, Section: in.Section, Title: in.Title, Link: in.Link, Alt: in.Alt, Form: "image", Files: images,
	}
	if len(images) > 1 {
		body.Form = "multiple_images"
	}
	if in.Source.Type == "video_id" {
		video, err := n.video(ctx, t, a, in.Source)
		if err != nil {
			return store.Post{}, err
		}
		body.Form, body.Files = "video", []store.Medium{video}
	}
	body.Files[0].Alt = in.Alt
	next, err := t.NextPost(ctx)
	if err != nil {
		return store.Post{}, err
	}
	p := store.Post{
		Platform: Name, Account: a.ID, ID: fmt.Sprintf("9%017d", next), Text: in.Description,
		Media: body.Files, At: n.Now(),
	}
	p.Version = p.ID
	if p.Body, err = json.Marshal(body); err != nil {
		return store.Post{}, fmt.Errorf("writing a pin: %w", err)
	}
	return p, nil
}

// video returns the video of a new pin. The pin must have a cover.
func (n *Network) video(ctx context.Context, t store.Tx, a store.Account, source mediaSource) (store.Medium, error) {
	u, found, err := findUpload(ctx, t, source.Video)
	switch {
	case err != nil:
		return store.Medium{}, err
	case !found || u.account != a.ID || u.status(n.Now(), n.ProcessingTime) != "succeeded":
		return store.Medium{}, invalidRequest("The video is not ready to be pinned")
	case source.KeyFrame == nil && source.CoverURL == "" && source.CoverData == "":
		return store.Medium{}, invalidRequest("A video needs a cover")
	}
	return store.NewMedium(Name, a.ID, store.Blob{CID: u.cid, MIME: u.mime}, ""), nil
}

// listPins lists a board's pins, newest first.
func (n *Network) listPins(r *http.Request) (any, error) {
	var page any
	err := n.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		board := r.PathValue("board")
		if !n.hasBoard(a, board) {
			return errBoard
		}
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? and json_extract(cast(p.body as text), '$.board') = ?
			order by p.seq desc`, Name, a.ID, board)
		if err == nil {
			err = marker.WithholdAny(posts, n.Now())
		}
		if err != nil {
			return err
		}
		pins := []map[string]any{}
		for _, p := range posts {
			pin := pinView(p)
			if r.Form.Get("pin_metrics") == "true" {
				pin["pin_metrics"] = n.metrics(p)
			}
			pins = append(pins, pin)
		}
		page, err = n.page(r, pins)
		return err
	})
	return page, err
}

// pinView returns a pin in the API's format.
func pinView(p store.Post) map[string]any {
	var body pinBody
	_ = json.Unmarshal(p.Body, &body) // newPin encoded it
	media := map[string]any{"media_type": body.Form}
	if len(body.Files) > 1 {
		items := []map[string]any{}
		for range body.Files {
			items = append(items, map[string]any{"item_type": "image"})
		}
		media["items"] = items
	}
	view := map[string]any{
		"id": p.ID, "created_at": p.At.UTC().Format(time.RFC3339), "board_id": body.Board, "title": body.Title,
		"description": p.Text,
		"link":        body.Link, "alt_text": body.Alt, "media": media, "is_owner": true,
	}
	if body.Section != "" {
		view["board_section_id"] = body.Section
	}
	return view
}
