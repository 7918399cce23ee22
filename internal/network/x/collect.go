package x

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	minPageSize       = 5                   // smallest page size
	maxPageSize       = 100                 // largest page size, also for lookups by ID
	privateMetricsAge = 30 * 24 * time.Hour // age up to which X returns a post's non-public metrics
	minStartYear      = 2011                // earliest year of start_time
)

// postFields are the fields of each post that Collect requests. privateMetrics are visible only to the author.
const (
	postFields     = "attachments,created_at,entities"
	publicMetrics  = "public_metrics"
	privateMetrics = "non_public_metrics,organic_metrics"
)

var _ network.Collector = (*Network)(nil)

// Collect returns the account's posts, without reposts and replies. Posts of the last 30 days have link clicks.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	followers, picture, err := n.readProfile(ctx, g)
	if err != nil && !network.IsWithheld(err) {
		return network.Collection{}, err
	}
	posts, err := n.listPosts(ctx, g, since, limit, postFields+","+publicMetrics)
	if network.IsWithheld(err) {
		posts, err = n.listPosts(ctx, g, since, limit, postFields)
	}
	collected := network.Collection{Followers: followers, Picture: picture, Posts: network.Newest(posts, since, limit)}
	if err != nil {
		return collected, network.DowngradeForbidden(err)
	}
	if err := n.addClicks(ctx, g, collected.Posts); err != nil && !network.IsWithheld(err) {
		return collected, err
	}
	return collected, nil
}

// readProfile returns the follower count and the URL of the picture.
func (n *Network) readProfile(ctx context.Context, g network.Grant) (*int64, string, error) {
	var me struct {
		Data struct {
			Metrics struct {
				Followers *int64 `json:"followers_count"`
			} `json:"public_metrics"`
			Picture string `json:"profile_image_url"`
		} `json:"data"`
	}
	c := n.newCall(g, http.MethodGet, "users/me")
	c.Query = url.Values{"user.fields": {publicMetrics + ",profile_image_url"}}
	err := n.do(ctx, c, &me)
	// The URL is for 48 by 48 pixels. Another suffix returns a larger picture.
	large := strings.Replace(me.Data.Picture, "_normal.", "_400x400.", 1)
	return network.NonNegative(me.Data.Metrics.Followers), network.WebURL(large), err
}

// countedPost is a listed post with its public counts.
type countedPost struct {
	tweet

	Public struct {
		Impressions *int64 `json:"impression_count"`
		Likes       *int64 `json:"like_count"`
		Replies     *int64 `json:"reply_count"`
		Reposts     *int64 `json:"repost_count"`
		Retweets    *int64 `json:"retweet_count"` // the former name of reposts
		Quotes      *int64 `json:"quote_count"`
		Bookmarks   *int64 `json:"bookmark_count"`
	} `json:"public_metrics"`
}

// postPage is a page of the account's posts, with the types of their media.
type postPage struct {
	Data     []countedPost `json:"data"`
	Includes struct {
		Media []struct {
			Key  string `json:"media_key"`
			Type string `json:"type"`
		} `json:"media"`
	} `json:"includes"`
	Meta struct {
		Next string `json:"next_token"`
	} `json:"meta"`
}

// listPosts returns the account's posts since a time. It reads pages until it has limit posts.
func (n *Network) listPosts(
	ctx context.Context, g network.Grant, since time.Time, limit int, fields string,
) ([]network.CollectedPost, error) {
	var posts []network.CollectedPost
	next := ""
	for len(posts) < limit {
		c := n.newCall(g, http.MethodGet, "users/"+url.PathEscape(g.Account)+"/tweets")
		c.Query = url.Values{
			"max_results": {strconv.Itoa(min(max(limit-len(posts), minPageSize), maxPageSize))}, "post.fields": {fields},
			"exclude": {"replies,retweets"}, "expansions": {"attachments.media_keys"}, "media.fields": {"type"},
		}
		if since.Year() >= minStartYear {
			c.Query.Set("start_time", since.UTC().Format(time.RFC3339))
		}
		if next != "" {
			c.Query.Set("pagination_token", next)
		}
		var page postPage
		if err := n.do(ctx, c, &page); err != nil {
			return posts, err
		}
		posts = append(posts, n.collectedPosts(g, page)...)
		if page.Meta.Next == "" || page.Meta.Next == next {
			break
		}
		next = page.Meta.Next
	}
	return posts, nil
}

func (n *Network) collectedPosts(g network.Grant, page postPage) []network.CollectedPost {
	kinds := map[string]string{}
	for _, medium := range page.Includes.Media {
		kinds[medium.Key] = medium.Type
	}
	var posts []network.CollectedPost
	for _, p := range page.Data {
		if !isID(p.ID) || p.Created.IsZero() {
			continue
		}
		reposts := p.Public.Reposts
		if reposts == nil {
			reposts = p.Public.Retweets
		}
		posts = append(posts, network.CollectedPost{
			ID: p.ID, URL: n.receipt(g, p.ID).Permalink, Text: strings.TrimSpace(p.originalText()), Format: p.format(kinds),
			PostedAt: p.Created.UTC(),
			Views:    network.NonNegative(p.Public.Impressions), Likes: network.NonNegative(p.Public.Likes),
			Comments: network.NonNegative(p.Public.Replies),
			Shares:   network.Sum(reposts, p.Public.Quotes), Saves: network.NonNegative(p.Public.Bookmarks),
		})
	}
	return posts
}

// format returns the format of a post with the given media types. It returns "" if the type of the only item is
// unknown.
func (t tweet) format(kinds map[string]string) string {
	switch media := t.Attachments.Media; {
	case len(media) > 1:
		return network.FormatCarousel
	case len(media) == 1:
		return map[string]string{
			"photo": network.FormatImage, "animated_gif": network.FormatImage, "video": network.FormatVideo,
		}[kinds[media[0]]]
	}
	for _, link := range t.Entities.Links {
		if link.Media == "" {
			return network.FormatLink
		}
	}
	return network.FormatText
}

// addClicks adds the link clicks. The network reports them only to the author and for 30 days.
func (n *Network) addClicks(ctx context.Context, g network.Grant, posts []network.CollectedPost) error {
	recentCount := slices.IndexFunc(posts, func(p network.CollectedPost) bool {
		return n.opts.Now().Sub(p.PostedAt) >= privateMetricsAge
	})
	if recentCount < 0 {
		recentCount = len(posts)
	}
	for batch := range slices.Chunk(posts[:recentCount], maxPageSize) {
		if err := n.addClickBatch(ctx, g, batch); err != nil {
			return err
		}
	}
	return nil
}

func (n *Network) addClickBatch(ctx context.Context, g network.Grant, posts []network.CollectedPost) error {
	type private struct {
		Clicks *int64 `json:"url_link_clicks"`
	}
	var response struct {
		Data []struct {
			ID      string  `json:"id"`
			All     private `json:"non_public_metrics"`
			Organic private `json:"organic_metrics"` // excludes views and clicks from ads
		} `json:"data"`
	}
	ids := make([]string, len(posts))
	indexByID := map[string]int{}
	for i, p := range posts {
		ids[i], indexByID[p.ID] = p.ID, i
	}
	c := n.newCall(g, http.MethodGet, "tweets")
	c.Query = url.Values{"ids": {strings.Join(ids, ",")}, "post.fields": {privateMetrics}}
	if err := n.do(ctx, c, &response); err != nil {
		return err
	}
	for _, p := range response.Data {
		i, requested := indexByID[p.ID]
		if !requested {
			continue
		}
		if posts[i].Clicks = network.NonNegative(p.All.Clicks); posts[i].Clicks == nil {
			posts[i].Clicks = network.NonNegative(p.Organic.Clicks)
		}
	}
	return nil
}
