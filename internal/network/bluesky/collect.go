package bluesky

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

var _ network.Collector = (*Network)(nil)

const (
	pageSize = "100" // posts per page
	maxPages = 20
)

// Collect returns the account's posts, but not its replies, with their public counts. The account's server forwards the
// requests to its app view, which has the counts. Without an app view, the posts have no counts. Bluesky does not count
// views.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	var profile struct {
		Followers *int64 `json:"followersCount"`
		Avatar    string `json:"avatar"`
	}
	err := n.read(ctx, g, "app.bsky.actor.getProfile", url.Values{"actor": {g.Account}}, &profile)
	if lacksAppView(err) {
		return n.collectRecords(ctx, g, since, limit)
	}
	if err != nil {
		return network.Collection{}, err
	}
	collection, err := n.collectPages(since, limit, func(cursor string) ([]feedItem, string, error) {
		var page struct {
			Feed   []feedEntry `json:"feed"`
			Cursor string      `json:"cursor"`
		}
		err := n.read(ctx, g, "app.bsky.feed.getAuthorFeed",
			pageParams(url.Values{"actor": {g.Account}, "filter": {"posts_no_replies"}}, cursor), &page)
		return n.newFeedItems(g, page.Feed), page.Cursor, err
	})
	collection.Followers, collection.Picture = profile.Followers, network.WebURL(profile.Avatar)
	collection.NoPicture = profile.Avatar == ""
	return collection, err
}

// read calls a method of the account's server with the account's token.
func (n *Network) read(ctx context.Context, g network.Grant, method string, params url.Values, out any) error {
	return n.call(ctx, call{
		purpose: network.PurposeRead, verb: http.MethodGet, method: method, server: g.Server, token: g.AccessToken,
		params: params, out: out,
	})
}

// lacksAppView reports whether err means that the server has no app view or cannot reach it.
func lacksAppView(err error) bool {
	netErr, ok := errors.AsType[*network.Error](err)
	return ok && (netErr.Status == http.StatusNotImplemented ||
		slices.Contains([]string{"MethodNotImplemented", "UpstreamFailure"}, netErr.Code))
}

// feedItem is one item of a list. own is true if the item is one of the account's own posts; others are skipped.
type feedItem struct {
	network.CollectedPost

	isOwn bool
}

// collectPages reads the pages of a list, newest first, until it reaches a post older than since or has limit posts.
func (n *Network) collectPages(
	since time.Time, limit int, next func(cursor string) ([]feedItem, string, error),
) (network.Collection, error) {
	var collection network.Collection
	cursor := ""
	for range maxPages {
		items, nextCursor, err := next(cursor)
		if err != nil {
			return collection, err
		}
		for _, item := range items {
			switch {
			case !item.isOwn || item.PostedAt.IsZero():
				continue
			case item.PostedAt.Before(since):
				return collection, nil
			case len(collection.Posts) >= limit:
				collection.Truncated = true
				return collection, nil
			}
			collection.Posts = append(collection.Posts, item.CollectedPost)
		}
		if nextCursor == "" || nextCursor == cursor {
			return collection, nil
		}
		cursor = nextCursor
	}
	collection.Truncated = true
	return collection, nil
}

// pageParams returns params with the page size and the cursor of the next page.
func pageParams(params url.Values, cursor string) url.Values {
	params.Set("limit", pageSize)
	if cursor != "" {
		params.Set("cursor", cursor)
	}
	return params
}

// feedEntry is an item of the account's feed.
type feedEntry struct {
	Post struct {
		URI    string `json:"uri"`
		Author struct {
			DID string `json:"did"`
		} `json:"author"`
		Record    postRecord `json:"record"`
		IndexedAt string     `json:"indexedAt"`
		Likes     *int64     `json:"likeCount"`
		Reposts   *int64     `json:"repostCount"`
		Replies   *int64     `json:"replyCount"`
		Quotes    *int64     `json:"quoteCount"`
		Bookmarks *int64     `json:"bookmarkCount"`
	} `json:"post"`
	Reason *struct{} `json:"reason"` // set for a repost and for a pinned post
}

// postRecord has the fields of a post's record that Collect reads.
type postRecord struct {
	Text      string    `json:"text"`
	CreatedAt string    `json:"createdAt"`
	Reply     *struct{} `json:"reply"`
	Embed     embedView `json:"embed"`
}

// embedView is an embed of a post.
type embedView struct {
	Type   string     `json:"$type"`
	Images []struct{} `json:"images"`
	Media  *embedView `json:"media"` // set if the post also quotes another post
}

func (n *Network) newFeedItems(g network.Grant, entries []feedEntry) []feedItem {
	out := make([]feedItem, len(entries))
	for i, e := range entries {
		p := e.Post
		out[i] = n.newFeedItem(g, p.URI, p.Record)
		out[i].isOwn = out[i].isOwn && e.Reason == nil && p.Author.DID == g.Account
		// Clients choose a record's creation time. If it is later than the time of indexing, the latter is used.
		if indexed := parseTime(p.IndexedAt); !indexed.IsZero() && indexed.Before(out[i].PostedAt) {
			out[i].PostedAt = indexed
		}
		out[i].Likes, out[i].Comments, out[i].Saves = p.Likes, p.Replies, p.Bookmarks
		out[i].Shares = network.Sum(p.Reposts, p.Quotes)
	}
	return out
}

// parseTime parses an RFC 3339 time and returns it in UTC, or zero if it is invalid.
func parseTime(text string) time.Time {
	t, _ := time.Parse(time.RFC3339, text) // zero if it is not a time
	return t.UTC()
}

// newFeedItem converts a record to a post without counts.
func (n *Network) newFeedItem(g network.Grant, uri string, r postRecord) feedItem {
	rkey, ok := strings.CutPrefix(uri, "at://"+g.Account+"/"+postCollection+"/")
	return feedItem{isOwn: ok && r.Reply == nil, CollectedPost: network.CollectedPost{
		ID: uri, URL: n.opts.WebURL + "/profile/" + url.PathEscape(g.Username) + "/post/" + url.PathEscape(rkey),
		Text: r.Text, Format: r.Embed.format(), PostedAt: parseTime(r.CreatedAt),
	}}
}

func (e embedView) format() string {
	switch e.Type {
	case "":
		return network.FormatText
	case "app.bsky.embed.images", "app.bsky.embed.gallery":
		if len(e.Images) > 1 {
			return network.FormatCarousel
		}
		return network.FormatImage
	case "app.bsky.embed.video":
		return network.FormatVideo
	case "app.bsky.embed.external":
		return network.FormatLink
	case "app.bsky.embed.record":
		return network.FormatText
	case "app.bsky.embed.recordWithMedia":
		if e.Media != nil && e.Media.Type != e.Type {
			return e.Media.format()
		}
	}
	return ""
}

// collectRecords returns an account's posts from its repository, for a server without an app view. The posts have no
// counts.
func (n *Network) collectRecords(
	ctx context.Context, g network.Grant, since time.Time, limit int,
) (network.Collection, error) {
	return n.collectPages(since, limit, func(cursor string) ([]feedItem, string, error) {
		var page struct {
			Records []struct {
				URI   string     `json:"uri"`
				Value postRecord `json:"value"`
			} `json:"records"`
			Cursor string `json:"cursor"`
		}
		err := n.read(ctx, g, "com.atproto.repo.listRecords",
			pageParams(url.Values{"repo": {g.Account}, "collection": {postCollection}}, cursor), &page)
		out := make([]feedItem, len(page.Records))
		for i, r := range page.Records {
			out[i] = n.newFeedItem(g, r.URI, r.Value)
		}
		return out, page.Cursor, err
	})
}
