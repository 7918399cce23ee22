package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// tiktokScopes are the scopes that fields of an account need besides the basic one.
var tiktokScopes = map[string]string{
	"username":       "user.info.profile",
	"follower_count": "user.info.stats", "following_count": "user.info.stats", "likes_count": "user.info.stats",
	"video_count": "user.info.stats",
}

// tiktokFields are the fields of a listed post.
var tiktokFields = []string{
	"id", "create_time", "cover_image_url", "share_url", "video_description", "duration", "height", "width", "title",
	"embed_html", "embed_link",
	"like_count", "comment_count", "share_count", "view_count", "is_aigc",
}

// tiktokUnknown refuses fields that a listed post does not have.
func tiktokUnknown(fields []string) error {
	for _, field := range fields {
		if !slices.Contains(tiktokFields, field) {
			return tiktokInvalid("The fields are invalid: " + field)
		}
	}
	return nil
}

// callerFor returns the caller of a request, whose token must have the scopes of these fields.
func (n *tiktok) callerFor(r *http.Request, t tx, fields []string) (tiktokCaller, error) {
	scopes := map[string]bool{"user.info.basic": true}
	for _, field := range fields {
		if scope, special := tiktokScopes[field]; special {
			scopes[scope] = true
		}
	}
	var a tiktokCaller
	for _, scope := range slices.Sorted(maps.Keys(scopes)) {
		var err error
		if a, err = n.caller(r, t, scope); err != nil {
			return tiktokCaller{}, err
		}
	}
	return a, nil
}

// figures returns the counts of a post.
func (n *tiktok) figures(r *http.Request, t tx, p tiktokPublish) (map[string]any, error) {
	kept, found, err := t.post(r.Context(), tiktokName, strconv.FormatInt(p.postID(), 10))
	if err != nil || !found {
		return nil, err
	}
	counts := count(kept, n.now())
	return map[string]any{
		"view_count": counts.views, "like_count": counts.likes, "comment_count": counts.comments,
		"share_count": counts.shares,
	}, nil
}
