package x

import (
	"cmp"
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
	linkWeight      = 23             // number of characters that a link of any length counts as
	duplicateWindow = 24 * time.Hour // how long a repeated text is rejected
	timeFormat      = "2006-01-02T15:04:05.000Z"
)

// postRequest is a post in the form in which a client sends it. The sandbox rejects unknown members.
type postRequest struct {
	postOptions

	Text  string `json:"text"`
	Media struct {
		IDs []string `json:"media_ids"`
	} `json:"media"`
	Reply struct {
		To string `json:"in_reply_to_tweet_id"`
	} `json:"reply"`
}

// postBody is the stored body of a post. In its text, a short link replaces each link, and another short link
// represents the media.
type postBody struct {
	postOptions

	Text  string         `json:"text"`
	Links []postLink     `json:"links"`
	Root  string         `json:"root,omitempty"` // ID of the first post of the thread
	Keys  []string       `json:"keys"`           // media keys
	Files []store.Medium `json:"files"`          // prevents the files from being deleted as unreferenced
}

type postLink struct {
	Start int    `json:"start"` // Start and End count characters
	End   int    `json:"end"`
	Short string `json:"url"`
	Full  string `json:"expanded_url"`
	Media string `json:"media_key,omitempty"`
}

// createPost publishes a post. When createPost returns, the post is on disk.
func (n *Network) createPost(r *http.Request) (any, error) {
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
		if body, err = n.newBody(r.Context(), t, a, in); err != nil {
			return store.Post{}, token, err
		}
		if err := n.addOptions(r.Context(), t, in, &body); err != nil {
			return store.Post{}, token, err
		}
		if body.Root, err = n.findRoot(r.Context(), t, in.Reply.To); err != nil {
			return store.Post{}, token, err
		}
		p, err := n.newPost(r.Context(), t, a, in.Text, body)
		p.ReplyTo = in.Reply.To
		return p, token, err
	})
	return wrapData(map[string]any{"id": id, "text": body.Text, "edit_history_post_ids": []string{id}}), err
}

// findRoot returns the ID of the first post of the thread that contains replyTo, or "" if replyTo is empty. It returns
// an error if replyTo does not exist.
func (n *Network) findRoot(ctx context.Context, t store.Tx, replyTo string) (string, error) {
	if replyTo == "" {
		return "", nil
	}
	p, found, err := t.Post(ctx, Name, replyTo)
	if err == nil && !found {
		err = &rest.Error{
			Status: http.StatusForbidden, Message: "You attempted to reply to a Post that is deleted or not visible to you.",
		}
	}
	return cmp.Or(parseBody(p).Root, replyTo), err
}

// newBody checks a request and returns the body of its post.
func (n *Network) newBody(ctx context.Context, t store.Tx, a store.Account, in postRequest) (postBody, error) {
	uploads, err := n.attachments(ctx, t, a, in.Media.IDs)
	switch {
	case err != nil:
		return postBody{}, err
	case strings.TrimSpace(in.Text) == "" && len(uploads) == 0:
		return postBody{}, invalidRequest("A post needs a text or media.")
	case weight(in.Text) > maxText:
		return postBody{}, invalidRequest("Your Post text is too long.")
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

// attachments returns the uploads with the given IDs. It returns an error unless they are up to four images, or one
// video or GIF.
func (n *Network) attachments(ctx context.Context, t store.Tx, a store.Account, ids []string) ([]upload, error) {
	errMedia := invalidRequest("Your media IDs are invalid.")
	var uploads []upload
	for i, id := range ids {
		u, err := n.ownUpload(ctx, t, a, id)
		if errors.Is(err, n.Errors.NotFound) {
			return nil, errMedia
		}
		if err != nil {
			return nil, err
		}
		mustBeAlone := u.category != "tweet_image"
		processing := mustBeAlone && n.Now().Before(u.finalizedAt.Add(n.ProcessingTime))
		if u.cid == "" || u.isInvalid || processing || mustBeAlone && len(ids) > 1 || i > 3 || slices.Contains(ids[:i], id) {
			return nil, errMedia
		}
		uploads = append(uploads, u)
	}
	return uploads, nil
}

// weight returns the length of a text. Every link counts as linkWeight characters. Every other character counts as one,
// which is not the case on the real X.
func weight(text string) int {
	plain := base.LinkPattern.ReplaceAllLiteralString(text, "")
	return utf8.RuneCountInString(plain) + linkWeight*len(base.LinkPattern.FindAllString(text, -1))
}

// escaper escapes the characters that X escapes.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func newPostBody(a store.Account, text string, uploads []upload) postBody {
	body := postBody{Keys: []string{}, Files: []store.Medium{}}
	var out strings.Builder
	addLink := func(expanded, media string) {
		short := "https://t.co/" + base.NewID()[:10]
		start := utf8.RuneCountInString(out.String())
		out.WriteString(short)
		body.Links = append(body.Links,
			postLink{Start: start, End: start + len(short), Short: short, Full: expanded, Media: media})
	}
	lastEnd := 0
	for _, match := range base.LinkPattern.FindAllStringIndex(text, -1) {
		expanded := strings.TrimRight(text[match[0]:match[1]], ".,;:!?)")
		out.WriteString(escaper.Replace(text[lastEnd:match[0]]))
		addLink(expanded, "")
		lastEnd = match[0] + len(expanded)
	}
	out.WriteString(escaper.Replace(text[lastEnd:]))
	for i, u := range uploads {
		if i == 0 {
			out.WriteString(" ")
			addLink("https://x.com/"+a.Handle+"/status/1/photo/1", mediaKey(u))
		}
		body.Keys = append(body.Keys, mediaKey(u))
		body.Files = append(body.Files, store.NewMedium(Name, a.ID, store.Blob{CID: u.cid, MIME: u.mime}, u.alt))
	}
	body.Text = strings.TrimSpace(out.String())
	return body
}

// newPost returns a post of the account with a new ID. As on X, the ID contains the time of the post.
func (n *Network) newPost(
	ctx context.Context, t store.Tx, a store.Account, text string, body postBody,
) (store.Post, error) {
	next, err := t.NextPost(ctx)
	if err != nil {
		return store.Post{}, err
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return store.Post{}, fmt.Errorf("writing a post: %w", err)
	}
	const epoch, bits = 1288834974657, 22 // X's epoch in Unix milliseconds; bits after the time
	now := n.Now()
	id := strconv.FormatInt((now.UnixMilli()-epoch)<<bits|next%(1<<bits), 10)
	return store.Post{
		Platform: Name, Account: a.ID, ID: id, Text: text, Media: body.Files, At: now, Version: id, Body: encoded,
	}, nil
}

// listPosts lists an account's posts since a time, newest first.
func (n *Network) listPosts(r *http.Request) (any, error) {
	page, err := n.parsePage(r.Form)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	meta := map[string]any{}
	response := map[string]any{"meta": meta}
	err = n.AsCaller(r, func(t store.Tx, _ store.Account, _ store.Token) error {
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? order by p.seq desc limit ? offset ?`,
			Name, r.PathValue("id"), page.since.UnixMilli(), page.limit+1, page.offset)
		if len(posts) > page.limit {
			posts = posts[:page.limit]
			meta["next_token"] = strconv.Itoa(page.offset + page.limit)
		}
		if err == nil {
			err = marker.WithholdAny(posts, n.Now())
		}
		for _, p := range posts {
			data = append(data, n.postView(p, r.Form.Get("post.fields")))
		}
		if included := includes(r.Form, posts); included != nil {
			response["includes"] = included
		}
		return err
	})
	meta["result_count"] = len(data)
	if len(data) > 0 {
		response["data"] = data
	}
	return response, err
}
