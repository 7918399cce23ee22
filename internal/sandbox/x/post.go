package x

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/rest"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxText         = 280
	linkWeight      = 23
	duplicateWindow = 24 * time.Hour // time for which a repeated text is refused
	timeFormat      = "2006-01-02T15:04:05.000Z"
)

// postRequest is a post as a client sends it. Other members are refused.
type postRequest struct {
	Text  string `json:"text"`
	Media struct {
		IDs []string `json:"media_ids"`
	} `json:"media"`
}

// postBody is a post's text as the network shows it. Each link is replaced by a short one, and one more stands for the
// media.
type postBody struct {
	Text  string         `json:"text"`
	Links []postLink     `json:"links"`
	Keys  []string       `json:"keys"`
	Files []store.Medium `json:"files"` // which the account's files are kept for
}

type postLink struct {
	Start int    `json:"start"` // characters, as is End
	End   int    `json:"end"`
	Short string `json:"url"`
	Full  string `json:"expanded_url"`
	Media string `json:"media_key,omitempty"`
}

// create publishes a post, on disk when it answers.
func (n *Network) create(r *http.Request) (any, error) {
	var in postRequest
	if readStrictly(r.Body, &in) != nil {
		return nil, n.Errors.Unreadable
	}
	var body postBody
	id, err := n.PublishPost(r, func(t store.Tx) (store.Post, store.Token, error) {
		a, token, err := n.Authenticate(r, t)
		if err == nil && (isUnpaid(token) || marker.Read(in.Text, Name).Has(marker.Unapproved)) {
			err = errCredit
		}
		if err != nil {
			return store.Post{}, token, err
		}
		p := store.Post{Platform: Name, Account: a.ID, Text: in.Text, At: n.Now()}
		if body, err = n.compose(r.Context(), t, a, in); err != nil {
			return store.Post{}, token, err
		}
		p.Media = body.Files
		err = n.number(r.Context(), t, &p, body)
		return p, token, err
	})
	return dataOf(map[string]any{"id": id, "text": body.Text, "edit_history_post_ids": []string{id}}), err
}

// compose checks a post and returns its body.
func (n *Network) compose(ctx context.Context, t store.Tx, a store.Account, in postRequest) (postBody, error) {
	uploads, err := n.attachments(ctx, t, a, in.Media.IDs)
	switch {
	case err != nil:
		return postBody{}, err
	case strings.TrimSpace(in.Text) == "" && len(uploads) == 0:
		return postBody{}, invalid("A post needs a text or media.")
	case weight(in.Text) > maxText:
		return postBody{}, invalid("Your Post text is too long.")
	}
	duplicates, err := t.Posts(ctx, `where p.platform = ? and p.account = ? and p.text = ? and p.at > ?`, Name, a.ID,
		in.Text, n.Now().Add(-duplicateWindow).UnixMilli())
	if err == nil && len(duplicates) > 0 {
		err = &rest.Error{
			Status: http.StatusForbidden, Message: "You are not allowed to create a Post with duplicate content.",
		}
	}
	return newPostBody(a, in.Text, uploads), err
}

// attachments returns a post's uploads: up to four images, or one video or GIF.
func (n *Network) attachments(ctx context.Context, t store.Tx, a store.Account, ids []string) ([]upload, error) {
	errMedia := invalid("Your media IDs are invalid.")
	var found []upload
	for i, id := range ids {
		u, err := n.ownUpload(ctx, t, a, id)
		if errors.Is(err, n.Errors.NotFound) {
			return nil, errMedia
		}
		if err != nil {
			return nil, err
		}
		alone := u.category != "tweet_image"
		processing := alone && n.Now().Before(u.ended.Add(n.Ready))
		if u.cid == "" || u.failed || processing || alone && len(ids) > 1 || i > 3 || slices.Contains(ids[:i], id) {
			return nil, errMedia
		}
		found = append(found, u)
	}
	return found, nil
}

// weight counts more leniently than the network: a link by its fixed weight, the rest by character.
func weight(text string) int {
	rest := base.LinkPattern.ReplaceAllLiteralString(text, "")
	return utf8.RuneCountInString(rest) + linkWeight*len(base.LinkPattern.FindAllString(text, -1))
}

// escaper escapes three characters as the network does.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// newPostBody returns the body of a post.
func newPostBody(a store.Account, text string, uploads []upload) postBody {
	body := postBody{Keys: []string{}, Files: []store.Medium{}}
	var out strings.Builder
	link := func(full, media string) {
		short := "https://t.co/" + base.NewID()[:10]
		start := utf8.RuneCountInString(out.String())
		out.WriteString(short)
		body.Links = append(body.Links,
			postLink{Start: start, End: start + len(short), Short: short, Full: full, Media: media})
	}
	at := 0
	for _, found := range base.LinkPattern.FindAllStringIndex(text, -1) {
		full := strings.TrimRight(text[found[0]:found[1]], ".,;:!?)")
		out.WriteString(escaper.Replace(text[at:found[0]]))
		link(full, "")
		at = found[0] + len(full)
	}
	out.WriteString(escaper.Replace(text[at:]))
	for i, u := range uploads {
		if i == 0 {
			out.WriteString(" ")
			link("https://x.com/"+a.Handle+"/status/1/photo/1", mediaKey(u))
		}
		body.Keys = append(body.Keys, mediaKey(u))
		body.Files = append(body.Files, store.NewMedium(Name, a.ID, store.Blob{CID: u.cid, MIME: u.mime}, u.alt))
	}
	body.Text = strings.TrimSpace(out.String())
	return body
}

// number sets the post's ID, which like all of X's contains its time.
func (n *Network) number(ctx context.Context, t store.Tx, p *store.Post, body postBody) error {
	next, err := t.NextPost(ctx)
	if err != nil {
		return err
	}
	const epoch, bits = 1288834974657, 22 // of X's IDs, in milliseconds
	p.ID = strconv.FormatInt((p.At.UnixMilli()-epoch)<<bits|next%(1<<bits), 10)
	p.Version = p.ID
	if p.Body, err = json.Marshal(body); err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	return nil
}

// list lists an account's posts since a time, the newest first.
func (n *Network) list(r *http.Request) (any, error) {
	page, err := n.parsePage(r.Form)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	meta := map[string]any{}
	answer := map[string]any{"meta": meta}
	err = n.Store.InTx(r.Context(), func(t store.Tx) error {
		if _, _, err := n.Authenticate(r, t); err != nil {
			return err
		}
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`,
			Name, r.PathValue("id"), page.from.UnixMilli(), page.limit+1, page.skip)
		if len(posts) > page.limit {
			posts = posts[:page.limit]
			meta["next_token"] = strconv.Itoa(page.skip + page.limit)
		}
		if err == nil {
			err = marker.WithholdAny(posts, n.Now())
		}
		for _, p := range posts {
			data = append(data, n.view(p, r.Form.Get("post.fields")))
		}
		if included := includes(r.Form, posts); included != nil {
			answer["includes"] = included
		}
		return err
	})
	meta["result_count"] = len(data)
	if len(data) > 0 {
		answer["data"] = data
	}
	return answer, err
}
