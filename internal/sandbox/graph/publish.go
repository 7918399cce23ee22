package graph

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Sizes of pages.
const (
	DefaultPageSize = 25 // posts
	MaxPageSize     = 100
)

// PublishContainer publishes a container. When PublishContainer returns, the post is on disk.
func (api *API) PublishContainer(r *http.Request) (any, error) {
	id, err := api.Publish(ErrInternal, func(waited bool) (marker.Outcome, error) {
		var outcome marker.Outcome
		err := api.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
			if err := api.RequireScope(r.Context(), t, token, api.PublishScopes...); err != nil {
				return err
			}
			c, err := api.findPublishable(r, t, a)
			if err == nil {
				outcome, err = api.tryPublish(r.Context(), t, c, token, waited)
			}
			return err
		})
		return outcome, err
	})
	return map[string]string{"id": id}, err
}

// findPublishable returns the container that a request publishes. It returns an error if the container is not ready.
func (api *API) findPublishable(r *http.Request, t store.Tx, a store.Account) (Container, error) {
	c, found, err := FindContainer(r.Context(), t, api.Platform, r.Form.Get("creation_id"))
	if err != nil {
		return Container{}, err
	}
	if !found || c.Account != a.ID || c.IsItem {
		return Container{}, &Error{
			Status: http.StatusBadRequest, Code: 24, Subcode: 2207006, Message: "The requested resource does not exist",
		}
	}
	switch c.Status(api.Now(), api.ProcessingTime) {
	case "PUBLISHED":
		return Container{}, InvalidParameter("The container has been published already")
	case "EXPIRED":
		return Container{}, &Error{
			Status: http.StatusBadRequest, Code: 24, Subcode: 2207008, Message: "The container has expired",
		}
	case "FINISHED":
		return c, c.checkVisible(api.Platform, api.Now(), api.ProcessingTime+notFoundDuration)
	}
	return Container{}, errNotReady
}

// markerErrors contains the errors that markers can request.
var markerErrors = marker.MarkerErrors{
	RejectErr: &Error{
		Status: http.StatusBadRequest, Code: 4, Subcode: 2207051,
		Message: "This content cannot be posted (requested by a sandbox marker)",
	},
	ExpiredTokenErr: ErrSessionExpired, RateLimitErr: ErrRateLimited, FailureErr: ErrInternal,
}

func (api *API) tryPublish(
	ctx context.Context, t store.Tx, c Container, token store.Token, waited bool,
) (marker.Outcome, error) {
	attempt := marker.Attempt{
		Platform: api.Platform, Account: c.Account, Text: c.Text, Session: token.Session, Waited: waited,
	}
	return attempt.Publish(ctx, t, markerErrors, func() (string, error) {
		body, err := json.Marshal(map[string]any{
			"media_type": c.postMediaType(), "media": c.Media, "options": c.Options,
		})
		if err != nil {
			return "", fmt.Errorf("writing a post: %w", err)
		}
		err = t.SavePost(ctx, store.Post{
			Platform: api.Platform, Account: c.Account, ID: c.PostID(), Text: c.Text, Media: c.Media, At: api.Now(),
			Version: c.ID(), Body: body, Audience: Audience(token.Client), ReplyTo: c.ReplyTo,
			Format: c.format(),
		})
		if err == nil {
			err = MarkContainerPublished(ctx, t, c)
		}
		return c.PostID(), err
	})
}

// MediaTypeStories is the media type of a container for a story.
const MediaTypeStories = "STORIES"

// format returns the format of the container's post.
func (c Container) format() string {
	if c.MediaType == MediaTypeStories {
		return store.FormatStory
	}
	return ""
}

// postMediaType returns the media type of the container's post.
func (c Container) postMediaType() string {
	switch {
	case c.MediaType != MediaTypeStories:
		return PostMediaTypes[c.MediaType]
	case len(c.Media) > 0 && c.Media[0].IsVideo():
		return PostMediaTypes["VIDEO"]
	}
	return PostMediaTypes["IMAGE"]
}

// PostMediaTypes maps the media types of containers to the media types of posts.
var PostMediaTypes = map[string]string{
	"TEXT": "TEXT_POST", "IMAGE": "IMAGE", "VIDEO": "VIDEO", "REELS": "VIDEO", "CAROUSEL": "CAROUSEL_ALBUM",
}

// MediaType returns the media type of a post.
func MediaType(p store.Post) string {
	var body struct {
		Type string `json:"media_type"`
	}
	_ = json.Unmarshal(p.Body, &body) // tryPublish encoded it
	return body.Type
}

// Options returns the options of a post.
func Options(p store.Post) map[string]string {
	var body struct {
		Options map[string]string `json:"options"`
	}
	_ = json.Unmarshal(p.Body, &body) // tryPublish encoded it
	return body.Options
}

// List lists the caller's posts since a time, newest first. It omits replies and stories. view returns a post in the
// API's format.
func (api *API) List(r *http.Request, view func(store.Post) (map[string]any, error)) (any, error) {
	return api.list(r, "r.reply_to is null and f.format is null", view)
}

const storyLifetime = 24 * time.Hour

// ListStories is like List, but lists the caller's stories of the last storyLifetime.
func (api *API) ListStories(r *http.Request, view func(store.Post) (map[string]any, error)) (any, error) {
	since := strconv.FormatInt(api.Now().Add(-storyLifetime).UnixMilli(), 10)
	return api.list(r, "f.format = '"+store.FormatStory+"' and p.at > "+since, view)
}

// ListReplies is like List, but lists the caller's replies.
func (api *API) ListReplies(r *http.Request, view func(store.Post) (map[string]any, error)) (any, error) {
	return api.list(r, "r.reply_to is not null", view)
}

func (api *API) list(r *http.Request, condition string, view func(store.Post) (map[string]any, error)) (any, error) {
	since, limit, err := ParsePage(r)
	if err != nil {
		return nil, err
	}
	offset, err := ParseOffset(r)
	if err != nil {
		return nil, err
	}
	data := []map[string]any{}
	err = api.AsCaller(r, func(t store.Tx, a store.Account, _ store.Token) error {
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? and p.at >= ? and `+condition+` order by p.seq desc limit ? offset ?`, api.Platform,
			a.ID, since, limit, offset)
		if err == nil {
			err = marker.WithholdAny(posts, api.Now())
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
	return api.Page(r, data, limit, offset), err
}

// ParsePage parses the request parameters since and limit of a list. It returns since in Unix milliseconds.
func ParsePage(r *http.Request) (int64, int, error) {
	since, limit := int64(0), DefaultPageSize
	var err error
	if text := r.Form.Get("since"); text != "" {
		since, err = strconv.ParseInt(text, 10, 40)
	}
	if text := r.Form.Get("limit"); text != "" && err == nil {
		limit, err = strconv.Atoi(text)
	}
	if err != nil || limit < 1 || limit > MaxPageSize {
		return 0, 0, InvalidParameter("since must be a Unix time, and limit a number from 1 to 100")
	}
	return since * 1000, limit, nil
}

// priorPostPrefix is the prefix of the IDs of prior posts.
const priorPostPrefix = "16"

// FormatPriorPost sets the ID and the body of a prior post on Instagram or Threads.
func FormatPriorPost(p *store.Post) error {
	mediaType := "TEXT"
	if len(p.Media) > 0 {
		mediaType = "IMAGE"
	}
	var err error
	p.ID = fmt.Sprintf(priorPostPrefix+"%015d", p.At.UnixMilli())
	p.Version = p.ID
	if p.Body, err = json.Marshal(map[string]any{"media_type": PostMediaTypes[mediaType], "media": p.Media}); err != nil {
		return fmt.Errorf("writing a post: %w", err)
	}
	return nil
}
