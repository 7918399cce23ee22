package graph

import (
	"context"
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/marker"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// Comments describes how a network handles comments that accounts publish on their own posts.
type Comments struct {
	// AsCaller calls a function in a transaction with the account of the request's token.
	AsCaller  func(*http.Request, func(store.Tx, store.Account, store.Token) error) error
	MaxLength int      // characters
	Scopes    []string // a token must have one of these scopes
	// NewID returns the ID of a new comment on a post.
	NewID func(post store.Post) string
	// View returns a comment in the API's format.
	View func(r *http.Request, comment store.Post) map[string]any
}

// CreateComment returns the call that adds a comment to a post of the caller.
func (api *API) CreateComment(c Comments) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id, err := api.Publish(ErrInternal, func(waited bool) (marker.Outcome, error) {
			var outcome marker.Outcome
			err := api.onOwnPost(r, c, func(t store.Tx, p store.Post, token store.Token) error {
				text := r.Form.Get("message")
				if strings.TrimSpace(text) == "" || len([]rune(text)) > c.MaxLength {
					return InvalidParameter("The comment is empty or too long")
				}
				var err error
				outcome, err = api.tryComment(r.Context(), t, c, p, text, token, waited)
				return err
			})
			return outcome, err
		})
		return map[string]string{"id": id}, err
	}
}

// onOwnPost calls do with the caller's post that has the ID in the path.
func (api *API) onOwnPost(r *http.Request, c Comments, do func(store.Tx, store.Post, store.Token) error) error {
	return c.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
		if err := api.RequireScope(r.Context(), t, token, c.Scopes...); err != nil {
			return err
		}
		p, found, err := t.Post(r.Context(), api.Platform, r.PathValue("id"))
		if err == nil && (!found || p.Account != a.ID || p.Format == store.FormatStory) {
			err = ErrNoObject
		}
		if err != nil {
			return err
		}
		return do(t, p, token)
	})
}

func (api *API) tryComment(
	ctx context.Context, t store.Tx, c Comments, p store.Post, text string, token store.Token, waited bool,
) (marker.Outcome, error) {
	attempt := marker.Attempt{Platform: api.Platform, Account: p.Account, Text: text, Session: token.Session, Waited: waited}
	return attempt.Publish(ctx, t, markerErrors, func() (string, error) {
		id := c.NewID(p)
		return id, t.SavePost(ctx, store.Post{
			Platform: api.Platform, Account: p.Account, ID: id, Text: text, At: api.Now(), Version: id, Body: []byte("{}"),
			Audience: Audience(token.Client), ReplyTo: p.ID,
		})
	})
}

// ListComments returns the call that lists the comments on a post of the caller, newest first.
func (api *API) ListComments(c Comments) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		data := []map[string]any{}
		err := api.onOwnPost(r, c, func(t store.Tx, p store.Post, _ store.Token) error {
			comments, err := t.Posts(r.Context(), `where p.platform = ? and r.reply_to = ? order by p.seq desc limit ?`,
				api.Platform, p.ID, MaxPageSize)
			if err == nil {
				err = marker.WithholdAny(comments, api.Now())
			}
			for _, comment := range comments {
				data = append(data, PickFields(r, c.View(r, comment)))
			}
			return err
		})
		return map[string]any{"data": data}, err
	}
}
