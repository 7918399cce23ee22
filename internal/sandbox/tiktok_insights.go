package sandbox

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
)

// tiktokScopes are what the fields of an account need; the others are in the basic one.
var tiktokScopes = map[string]string{
	"username":       "user.info.profile",
	"follower_count": "user.info.stats", "following_count": "user.info.stats", "likes_count": "user.info.stats",
	"video_count": "user.info.stats",
}

// tiktokFields are those of a post that the list knows.
var tiktokFields = []string{
	"id", "create_time", "cover_image_url", "share_url", "video_description", "duration", "height", "width", "title",
	"embed_html", "embed_link",
	"like_count", "comment_count", "share_count", "view_count", "is_aigc",
}

// tiktokUnknown is the refusal of a field that the list does not know; nil where it knows all.
func tiktokUnknown(fields []string) error {
	for _, field := range fields {
		if !slices.Contains(tiktokFields, field) {
			return tiktokInvalid("The fields are invalid: " + field)
		}
	}
	return nil
}

// callerFor is whom the request's token speaks for, where that may know all of these fields of the account.
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

// figures are what is counted at a post, as the list tells it.
func (n *tiktok) figures(r *http.Request, t tx, p tiktokPublish) (map[string]any, error) {
	kept, found, err := t.post(r.Context(), tiktokName, strconv.FormatInt(p.postID(), 10))
	if err != nil || !found {
		return nil, err
	}
	counted := count(kept, n.now())
	return map[string]any{
		"view_count": counted.views, "like_count": counted.likes, "comment_count": counted.comments,
		"share_count": counted.shares,
	}, nil
}
