package linkedin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"pressroom.example/pressroom/internal/sandbox/base"
	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

const (
	maxText         = 3000 // UTF-16 code units of the visible text
	maxImages       = 20
	duplicateWindow = 24 * time.Hour // how long a repeated text is rejected
	defaultPageSize = 10
	maxPageSize     = 100
)

// postMedia is a post's reference to an image or a video.
type postMedia struct {
	ID    string `json:"id"`
	Alt   string `json:"altText,omitempty"`
	Title string `json:"title,omitempty"`
}

type imageSet struct {
	Images []postMedia `json:"images"`
}

type content struct {
	Media      *postMedia `json:"media,omitempty"`
	MultiImage *imageSet  `json:"multiImage,omitempty"`
	Article    *article   `json:"article,omitempty"`
	Poll       *poll      `json:"poll,omitempty"`
}

// post is a post in the API's format.
type post struct {
	Author       string `json:"author"`
	Commentary   string `json:"commentary"` // in LinkedIn's "little text" format
	Visibility   string `json:"visibility"`
	Distribution struct {
		Feed     string   `json:"feedDistribution"`
		Targets  []any    `json:"targetEntities"`
		Channels []string `json:"thirdPartyDistributionChannels"`
	} `json:"distribution"`
	Content   *content `json:"content,omitempty"`
	Lifecycle string   `json:"lifecycleState"`
	NoReshare bool     `json:"isReshareDisabledByAuthor"`
}

func (p post) media() []postMedia {
	switch {
	case p.Content == nil:
		return nil
	case p.Content.Media != nil:
		return []postMedia{*p.Content.Media}
	case p.Content.MultiImage != nil:
		return p.Content.MultiImage.Images
	}
	return nil
}

// isValid reports whether the content is one medium, a valid number of images, an article or a poll.
func (c content) isValid() bool {
	members := 0
	for _, isSet := range []bool{c.Media != nil, c.MultiImage != nil, c.Article != nil, c.Poll != nil} {
		if isSet {
			members++
		}
	}
	switch {
	case members != 1:
		return false
	case c.MultiImage != nil:
		return len(c.MultiImage.Images) >= 2 && len(c.MultiImage.Images) <= maxImages
	case c.Article != nil:
		return c.Article.isValid()
	case c.Poll != nil:
		return c.Poll.isValid()
	}
	return true
}

// check returns an error if the post is invalid. text is its visible text.
func (p post) check(text string) error {
	switch {
	case !p.hasVisibility() || p.Lifecycle != "PUBLISHED" || p.Distribution.Feed != "MAIN_FEED":
		return invalidRequest("visibility, lifecycleState or feedDistribution has a value that the sandbox does not support")
	case p.Content != nil && !p.Content.isValid():
		return invalidRequest("content must have one valid member, and multiImage 2 to 20 images")
	case p.Content == nil && text == "":
		return newInputError("MISSING_FIELD", "commentary or content is required",
			"A post needs a text or content")
	case len(utf16.Encode([]rune(text))) > maxText:
		return newInputError("FIELD_LENGTH_TOO_LONG", "commentary is too long",
			"commentary exceeds the maximum length of 3000 characters")
	}
	return nil
}

// hasVisibility reports whether the author may publish with the post's visibility. An organization has no connections.
func (p post) hasVisibility() bool {
	return p.Visibility == "PUBLIC" || p.Visibility == "CONNECTIONS" && strings.HasPrefix(p.Author, "urn:li:person:")
}

// createPost publishes a post. When createPost returns, the post is on disk.
func (n *Network) createPost(r *http.Request) (any, error) {
	var in post
	if err := readBody(r, &in); err != nil {
		return nil, err
	}
	urn, err := n.Publish(errInternal, func(waited bool) (marker.Outcome, error) {
		var outcome marker.Outcome
		err := n.asCaller(r, func(t store.Tx, c caller) error {
			var err error
			outcome, err = n.tryPublish(r.Context(), t, c, in, waited)
			return err
		})
		return outcome, err
	})
	return newPostResponse(urn), err
}

// markerErrors contains the errors that markers can request.
var markerErrors = marker.MarkerErrors{
	RejectErr: newInputError("INVALID_CONTENT", "This content cannot be posted",
		"This content cannot be posted (requested by a sandbox marker)"),
	ExpiredTokenErr: errRevoked, RateLimitErr: errRateLimited, FailureErr: errInternal,
}

func (n *Network) tryPublish(
	ctx context.Context, t store.Tx, c caller, in post, waited bool,
) (marker.Outcome, error) {
	if err := c.checkAuthor(in.Author); err != nil {
		return marker.Outcome{}, err
	}
	text := visibleText(in.Commentary)
	if err := in.check(text); err != nil {
		return marker.Outcome{}, err
	}
	media, err := n.postMedia(ctx, t, in)
	if err == nil {
		err = n.checkThumbnail(ctx, t, in)
	}
	if err != nil {
		return marker.Outcome{}, err
	}
	attempt := marker.Attempt{
		Platform: Name, Account: in.Author, Text: text, Session: c.session, Waited: waited,
	}
	return attempt.Publish(ctx, t, markerErrors, func() (string, error) {
		if err := n.rejectDuplicate(ctx, t, in.Author, text); err != nil {
			return "", err
		}
		return n.save(ctx, t, in, text, media)
	})
}

// newPostResponse returns the handler that sends the response for a new post. The post's URN is only in a header.
func newPostResponse(urn string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Restli-Id", urn)
		w.Header().Set("X-LinkedIn-Id", urn)
		w.WriteHeader(http.StatusCreated)
	})
}

// asset returns the image or video with the given URN. It returns an error if the caller may not use it.
func (c caller) asset(ctx context.Context, t store.Tx, urn string) (asset, error) {
	a, found, err := findAsset(ctx, t, urn)
	switch {
	case err != nil:
		return asset{}, err
	case !found:
		return asset{}, errNotFound
	}
	return a, c.checkAuthor(a.owner)
}

// postMedia returns the media of a post. It returns an error unless all media belong to the author and are ready.
func (n *Network) postMedia(ctx context.Context, t store.Tx, in post) ([]store.Medium, error) {
	var media []store.Medium
	for _, m := range in.media() {
		a, found, err := findAsset(ctx, t, m.ID)
		switch {
		case err != nil:
			return nil, err
		case !found || a.owner != in.Author || a.isVideo && in.Content.Media == nil:
			return nil, invalidRequest("The post refers to media that the author may not use in this way")
		case a.status(n.Now(), n.ProcessingTime) != "AVAILABLE":
			return nil, invalidRequest("The media are not ready to be published")
		}
		media = append(media, store.NewMedium(Name, a.owner, a.blob, m.Alt))
	}
	return media, nil
}

// rejectDuplicate returns an error if the author has published the same text within duplicateWindow.
func (n *Network) rejectDuplicate(ctx context.Context, t store.Tx, author, text string) error {
	if text == "" {
		return nil
	}
	duplicates, err := t.Posts(ctx, `where p.platform = ? and p.account = ? and p.text = ? and p.at > ?
		and r.reply_to is null`,
		Name, author, text, n.Now().Add(-duplicateWindow).UnixMilli())
	if err == nil && len(duplicates) > 0 {
		err = newInputError("DUPLICATE_POST", "Duplicate post is detected",
			"Content is a duplicate of "+duplicates[0].ID)
	}
	return err
}

// save stores the post under a new URN.
func (n *Network) save(ctx context.Context, t store.Tx, in post, text string, media []store.Medium) (string, error) {
	next, err := t.NextPost(ctx)
	if err != nil {
		return "", err
	}
	body, err := json.Marshal(map[string]any{"post": in, "media": media})
	if err != nil {
		return "", fmt.Errorf("writing a post: %w", err)
	}
	urn := fmt.Sprintf("urn:li:share:7%018d", next)
	return urn, t.SavePost(ctx,
		store.Post{
			Platform: Name, Account: in.Author, ID: urn, Text: text, Media: media, At: n.Now(),
			Version: base.NewID(), Body: body,
		})
}

// listPosts lists an author's posts, newest first.
func (n *Network) listPosts(r *http.Request) (any, error) {
	query := r.URL.Query()
	count := defaultPageSize
	var err error
	if text := query.Get("count"); text != "" {
		count, err = strconv.Atoi(text)
	}
	if err != nil || count < 1 || count > maxPageSize || query.Get("q") != "author" ||
		!slices.Contains([]string{"", "CREATED", "LAST_MODIFIED"}, query.Get("sortBy")) {
		return nil, invalidRequest("q must be author, count a number from 1 to 100, sortBy CREATED or LAST_MODIFIED")
	}
	start, err := strconv.Atoi(cmp.Or(query.Get("start"), "0"))
	if err != nil || start < 0 {
		return nil, invalidRequest("start must be a number of posts")
	}
	elements := []any{}
	err = n.asCaller(r, func(t store.Tx, c caller) error {
		author := query.Get("author")
		if err := c.requireScope(author, scopeReadMember, scopeReadCompany); err != nil {
			return err
		}
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? and r.reply_to is null order by p.at desc, p.seq desc limit ? offset ?`, Name,
			author, count, start)
		if err == nil {
			err = marker.WithholdAny(posts, n.Now())
		}
		for _, p := range posts {
			elements = append(elements, postView(p))
		}
		return err
	})
	return newPage(elements, start, count), err
}

// newPage returns the response to a call that lists elements.
func newPage(elements []any, start, count int) map[string]any {
	return map[string]any{
		"elements": elements, "paging": map[string]any{"start": start, "count": count, "links": []any{}},
	}
}

func postView(p store.Post) map[string]any {
	var body struct {
		Post post `json:"post"`
	}
	_ = json.Unmarshal(p.Body, &body) // save encoded it
	view := map[string]any{
		"id": p.ID, "author": body.Post.Author, "commentary": body.Post.Commentary, "visibility": body.Post.Visibility,
		"distribution": body.Post.Distribution, "lifecycleState": body.Post.Lifecycle,
		"isReshareDisabledByAuthor": body.Post.NoReshare,
		"createdAt":                 p.At.UnixMilli(), "publishedAt": p.At.UnixMilli(),
		"lastModifiedAt": p.At.UnixMilli(),
	}
	if body.Post.Content != nil {
		view["content"] = body.Post.Content
	}
	return view
}

// describeAsset returns the status of an image or a video. It requires a scope that allows reading.
func (n *Network) describeAsset(r *http.Request) (any, error) {
	var response map[string]any
	err := n.asCaller(r, func(t store.Tx, c caller) error {
		if !slices.Contains(c.scopes, scopeReadCompany) {
			return errDenied
		}
		a, err := c.asset(r.Context(), t, r.PathValue("urn"))
		response = map[string]any{"id": a.id, "owner": a.owner, "status": a.status(n.Now(), n.ProcessingTime)}
		if response["status"] == "PROCESSING_FAILED" {
			response["processingFailureReason"] = "The file is not a supported image or video"
		}
		return err
	})
	return response, err
}
