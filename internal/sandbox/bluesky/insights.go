package bluesky

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// getProfile returns an account's profile with its number of followers. It requires a token, because the real server
// forwards the call to the app view.
func (b *Network) getProfile(r *http.Request) (any, error) {
	actor := r.URL.Query().Get("actor")
	if err := requireValues("actor", actor); err != nil {
		return nil, err
	}
	var response map[string]any
	err := b.Store.InTx(r.Context(), func(t store.Tx) error {
		if _, _, err := b.authorize(r, t); err != nil {
			return err
		}
		a, err := b.findActor(r, t, actor)
		if err != nil {
			return err
		}
		posts, err := t.Posts(r.Context(), `where p.platform = ? and p.account = ?`, Name, a.ID)
		response = map[string]any{
			"did": a.ID, "handle": a.Handle, "displayName": a.DisplayName, "postsCount": len(posts), "followsCount": 0,
			"followersCount": insights.Followers(Name, a.ID, b.Now()), "avatar": b.PictureURL(r, a.DisplayName),
		}
		return err
	})
	return response, err
}

func (b *Network) findActor(r *http.Request, t store.Tx, name string) (store.Account, error) {
	a, found, err := t.Account(r.Context(), Name, name)
	if err == nil && !found {
		err = invalidRequest("Profile not found")
	}
	return a, err
}

// getAuthorFeed lists an account's posts with their counts, newest first. Like getProfile, it requires a token.
func (b *Network) getAuthorFeed(r *http.Request) (any, error) {
	query := r.URL.Query()
	limit, offset := 50, 0
	var err error
	if text := query.Get("limit"); text != "" {
		limit, err = strconv.Atoi(text)
	}
	if text := query.Get("cursor"); text != "" && err == nil {
		offset, err = strconv.Atoi(text)
	}
	if err != nil || limit < 1 || limit > 100 || offset < 0 {
		return nil, invalidRequest("limit must be between 1 and 100, and cursor a value from a previous response")
	}
	response := map[string]any{}
	err = b.Store.InTx(r.Context(), func(t store.Tx) error {
		if _, _, err := b.authorize(r, t); err != nil {
			return err
		}
		a, err := b.findActor(r, t, query.Get("actor"))
		if err != nil {
			return err
		}
		posts, err := t.Posts(r.Context(),
			`where p.platform = ? and p.account = ? order by p.at desc, p.seq desc limit ? offset ?`, Name, a.ID,
			limit, offset)
		feed := make([]map[string]any, len(posts))
		for i, p := range posts {
			feed[i] = map[string]any{"post": b.postView(p)}
		}
		response["feed"] = feed
		if len(posts) == limit {
			response["cursor"] = strconv.Itoa(offset + limit)
		}
		return err
	})
	return response, err
}

// postView returns a post with its counts in the API's format.
func (b *Network) postView(p store.Post) map[string]any {
	counts := insights.Count(p, b.Now())
	return map[string]any{
		"uri": p.ID, "cid": p.Version,
		"author": map[string]any{"did": p.Account, "handle": p.Handle, "displayName": p.DisplayName},
		"record": json.RawMessage(p.Body), "indexedAt": p.At.Format(time.RFC3339Nano),
		"likeCount": counts.Likes, "repostCount": counts.Shares - counts.Shares/4, "quoteCount": counts.Shares / 4,
		"replyCount": counts.Comments, "bookmarkCount": counts.Saves,
	}
}
