package tiktok

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	scopeUserBasic            = "user.info.basic" // scope for reading the picture
	scopeUserStats            = "user.info.stats" // scope for reading the follower count
	maxPages                  = 100               // maximum pages read from a list; a page may have few posts
	codeScopeNotAuthorized    = "scope_not_authorized"
	codeScopePermissionMissed = "scope_permission_missed"
)

// postFields and countFields are the fields of each post that Collect requests.
var (
	postFields  = []string{"id", "create_time", "duration", "title", "video_description", "share_url"}
	countFields = []string{"view_count", "like_count", "comment_count", "share_count"}
)

var _ network.PartialLister = (*Network)(nil)

// ListsPartially marks the network as a network.PartialLister: it lists only public posts, and perhaps no photos.
func (*Network) ListsPartially() {}

// Collect returns the account's public posts with their metrics. Source:
// https://developers.tiktok.com/doc/tiktok-api-v2-video-list.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	followers, picture, err := n.readProfile(ctx, g)
	if err = scopeError(err); err != nil && !network.IsWithheld(err) {
		return network.Collection{}, err
	}
	var posts []network.CollectedPost
	supported, err := network.SupportedMetrics(countFields, func(counts []string) error {
		maxPosts := limit
		if len(counts) < len(countFields) {
			maxPosts = 1 // only to find out whether the network supports the metric
		}
		var err error
		posts, err = n.listPosts(ctx, g, since, maxPosts, counts)
		return err
	})
	if err == nil && len(supported) < len(countFields) {
		posts, err = n.listPosts(ctx, g, since, limit, supported)
	}
	collected := network.Collection{Followers: followers, Picture: picture, Posts: network.Newest(posts, since, limit)}
	return collected, scopeError(err)
}

// scopeError changes the class of a missing scope from ReconnectRequired to AppNotApproved, because the account can
// still publish and does not have to be reconnected.
func scopeError(err error) error {
	netErr, ok := errors.AsType[*network.Error](err)
	if !ok || netErr.Code != codeScopeNotAuthorized && netErr.Code != codeScopePermissionMissed {
		return network.DowngradeForbidden(err)
	}
	newErr := *netErr
	newErr.Class = network.AppNotApproved
	return &newErr
}

// readProfile returns the follower count and the URL of the picture, each only if its scope was granted.
func (n *Network) readProfile(ctx context.Context, g network.Grant) (*int64, string, error) {
	var fields []string
	if slices.Contains(g.Scopes, scopeUserBasic) {
		fields = append(fields, "avatar_url")
	}
	if slices.Contains(g.Scopes, scopeUserStats) {
		fields = append(fields, "follower_count")
	}
	if len(fields) == 0 {
		return nil, "", nil
	}
	var response struct {
		User struct {
			Followers *int64 `json:"follower_count"`
			Avatar    string `json:"avatar_url"`
		} `json:"user"`
	}
	call := network.Call{Method: http.MethodGet, Query: url.Values{"fields": {strings.Join(fields, ",")}}}
	err := n.callAPI(ctx, g, call, "user/info/", &response)
	return network.NonNegative(response.User.Followers), network.WebURL(response.User.Avatar), err
}

// countedPost is a listed post with its counts.
type countedPost struct {
	listedPost

	Views    *int64 `json:"view_count"`
	Likes    *int64 `json:"like_count"`
	Comments *int64 `json:"comment_count"`
	Shares   *int64 `json:"share_count"`
}

// listPosts returns the account's posts since a time, newest first. It reads pages until it has limit posts.
func (n *Network) listPosts(
	ctx context.Context, g network.Grant, since time.Time, limit int, counts []string,
) ([]network.CollectedPost, error) {
	var posts []network.CollectedPost
	body := map[string]int64{"max_count": pageSize}
	for range maxPages {
		var page struct {
			Videos []countedPost `json:"videos"`
			Cursor int64         `json:"cursor"` // Unix milliseconds
			More   bool          `json:"has_more"`
		}
		c := newPostCall(network.PurposeRead, body)
		c.Query = url.Values{"fields": {strings.Join(slices.Concat(postFields, counts), ",")}}
		if err := n.callAPI(ctx, g, c, "video/list/", &page); err != nil {
			return posts, err
		}
		for _, v := range page.Videos {
			if numericID.MatchString(v.ID) && v.Created > 0 {
				posts = append(posts, v.collectedPost(n, g))
			}
		}
		isPast := page.Cursor < since.UnixMilli() || body["cursor"] != 0 && page.Cursor >= body["cursor"]
		if !page.More || isPast || len(posts) >= limit {
			break
		}
		body = map[string]int64{"max_count": pageSize, "cursor": page.Cursor}
	}
	return posts, nil
}

// collectedPost returns the post's metrics. A post without a duration is assumed to consist of photos. This assumption
// is unconfirmed. TikTok does not report the number of photos.
func (c countedPost) collectedPost(n *Network, g network.Grant) network.CollectedPost {
	r := c.receipt(n, g)
	format := network.FormatVideo
	if c.Duration == 0 {
		format = network.FormatImage
	}
	return network.CollectedPost{
		ID: c.ID, URL: r.Permalink, Text: cmp.Or(strings.TrimSpace(c.Description), strings.TrimSpace(c.Title)),
		Format: format, PostedAt: r.At,
		Views: network.NonNegative(c.Views), Likes: network.NonNegative(c.Likes), Comments: network.NonNegative(c.Comments),
		Shares: network.NonNegative(c.Shares),
	}
}
