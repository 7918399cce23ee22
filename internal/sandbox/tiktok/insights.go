package tiktok

import (
	"maps"
	"net/http"
	"slices"
	"strconv"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// fieldScopes maps the fields of an account to the scopes that they require in addition to user.info.basic.
var fieldScopes = map[string]string{
	"username":       "user.info.profile",
	"follower_count": "user.info.stats", "following_count": "user.info.stats", "likes_count": "user.info.stats",
	"video_count": "user.info.stats",
}

// postFields lists the fields of a listed post.
var postFields = []string{
	"id", "create_time", "cover_image_url", "share_url", "video_description", "duration", "height", "width", "title",
	"embed_html", "embed_link",
	"like_count", "comment_count", "share_count", "view_count", "is_aigc",
}

// checkFields returns an error for a field that a listed post does not have.
func checkFields(fields []string) error {
	for _, field := range fields {
		if !slices.Contains(postFields, field) {
			return invalidParams("The fields are invalid: " + field)
		}
	}
	return nil
}

// authenticateFields returns the caller of a request. The token must have the scopes that the fields require.
func (n *Network) authenticateFields(r *http.Request, t store.Tx, fields []string) (caller, error) {
	scopes := map[string]bool{"user.info.basic": true}
	for _, field := range fields {
		if scope, ok := fieldScopes[field]; ok {
			scopes[scope] = true
		}
	}
	var a caller
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		var err error
		if a, err = n.authenticate(r, t, scope); err != nil {
			return caller{}, err
		}
	}
	return a, nil
}

// metrics returns the metrics of a post.
func (n *Network) metrics(r *http.Request, t store.Tx, p publication) (map[string]any, error) {
	post, found, err := t.Post(r.Context(), Name, strconv.FormatInt(p.postID(), 10))
	if err != nil || !found {
		return nil, err
	}
	counts := insights.Count(post, n.Now())
	return map[string]any{
		"view_count": counts.Views, "like_count": counts.Likes, "comment_count": counts.Comments,
		"share_count": counts.Shares,
	}, nil
}
