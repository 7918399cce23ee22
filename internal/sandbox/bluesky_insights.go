package sandbox

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// getProfile returns an account's profile with its number of followers. It needs a token, as the server passes the call
// on to the network's view.
func (b *bluesky) getProfile(r *http.Request) (any, error) {
	actor := r.URL.Query().Get("actor")
	if err := need("actor", actor); err != nil {
		return nil, err
	}
	var answer map[string]any
	err := b.store.in(r.Context(), func(t tx) error {
		if _, _, err := b.authorize(r, t); err != nil {
			return err
		}
		a, err := b.actor(r, t, actor)
		if err != nil {
			return err
		}
		posts, err := t.posts(r.Context(), `where p.platform = ? and p.account = ?`, blueskyName, a.id)
		answer = map[string]any{
			"did": a.id, "handle": a.handle, "displayName": a.displayName, "postsCount": len(posts), "followsCount": 0,
			"followersCount": followers(blueskyName, a.id, b.now()),
		}
		return err
	})
	return answer, err
}

func (b *bluesky) actor(r *http.Request, t tx, name string) (account, error) {
	a, found, err := t.account(r.Context(), blueskyName, name)
	if err == nil && !found {
		err = invalidRequest("Profile not found")
	}
	return a, err
}

// getAuthorFeed lists an account's posts with their counts, the newest first. It needs a token too.
func (b *bluesky) getAuthorFeed(r *http.Request) (any, error) {
	query := r.URL.Query()
	limit, read := 50, 0
	var err error
	if text := query.Get("limit"); text != "" {
		limit, err = strconv.Atoi(text)
	}
	if text := query.Get("cursor"); text != "" && err == nil {
		read, err = strconv.Atoi(text)
	}
	if err != nil || limit < 1 || limit > 100 || read < 0 {
		return nil, invalidRequest("limit must be between 1 and 100, and cursor one that was given")
	}
	answer := map[string]any{}
	err = b.store.in(r.Context(), func(t tx) error {
		if _, _, err := b.authorize(r, t); err != nil {
			return err
		}
		a, err := b.actor(r, t, query.Get("actor"))
		if err != nil {
			return err
		}
		posts, err := t.posts(r.Context(),
			`where p.platform = ? and p.account = ? order by p.at desc, p.seq desc limit ? offset ?`, blueskyName, a.id,
			limit, read)
		feed := make([]map[string]any, len(posts))
		for i, p := range posts {
			feed[i] = map[string]any{"post": b.viewed(p)}
		}
		answer["feed"] = feed
		if len(posts) == limit {
			answer["cursor"] = strconv.Itoa(read + limit)
		}
		return err
	})
	return answer, err
}

// viewed returns a post as the network's view shows it.
func (b *bluesky) viewed(p post) map[string]any {
	counts := count(p, b.now())
	return map[string]any{
		"uri": p.id, "cid": p.version,
		"author": map[string]any{"did": p.account, "handle": p.handle, "displayName": p.displayName},
		"record": json.RawMessage(p.body), "indexedAt": p.at.Format(time.RFC3339Nano),
		"likeCount": counts.likes, "repostCount": counts.shares - counts.shares/4, "quoteCount": counts.shares / 4,
		"replyCount": counts.comments, "bookmarkCount": counts.saves,
	}
}
