package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

var _ network.Collector = (*Network)(nil)

// insightsScope is requested on the consent page. Without it, fewer metrics are available.
const insightsScope = "read_insights"

const (
	aboutFields = "followers_count,picture.width(200).height(200)"
	plainFields = "id,message,created_time,permalink_url,attachments,shares"
	countFields = plainFields + ",reactions.limit(0).summary(total_count),comments.limit(0).summary(total_count)"
)

// insightMetrics lists the metrics that replaced impressions and reach in June 2026.
var insightMetrics = []string{
	"post_media_view", "post_total_media_view_unique", "post_clicks", "post_reactions_by_type_total",
}

// countedPost is a listed post with its numbers of shares, reactions and comments.
type countedPost struct {
	listedPost

	Shares    *struct{ Count *int64 } `json:"shares"`
	Reactions summary                 `json:"reactions"`
	Comments  summary                 `json:"comments"`
}

type summary struct {
	Summary struct {
		Total *int64 `json:"total_count"`
	} `json:"summary"`
}

// Collect returns the Page's posts, with their insights if the person granted access to them. Facebook does not provide
// insights for Pages with fewer than a hundred likes.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	collection, err := n.collect(ctx, g, since, limit)
	return collection, graph.DowngradeMissingPermission(err)
}

func (n *Network) collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	var page struct {
		Followers *int64 `json:"followers_count"`
		Picture   struct {
			Data struct {
				URL        string `json:"url"`
				Silhouette bool   `json:"is_silhouette"` // true if the Page has no picture
			} `json:"data"`
		} `json:"picture"`
	}
	err := n.graph.Do(ctx, n.newCall(g, http.MethodGet, g.Account, url.Values{"fields": {aboutFields}}, &page))
	if err != nil {
		return network.Collection{}, err
	}
	out := network.Collection{Followers: page.Followers, NoPicture: page.Picture.Data.Silhouette}
	if picture := page.Picture.Data; !picture.Silhouette {
		out.Picture = network.WebURL(picture.URL)
	}
	posts, truncated, err := n.listPosts(ctx, g, since, limit)
	out.Truncated = truncated
	if err != nil {
		return out, err
	}
	metrics := graph.MetricsReader{
		Names: insightMetrics,
		Fetch: func(ctx context.Context, postID string, metrics []string) (graph.Metrics, error) {
			return n.graph.Insights(ctx, n.newCall(g, http.MethodGet, postID+"/insights", nil, nil), metrics)
		},
	}
	for _, p := range posts {
		if !graph.IsID(p.ID) {
			out.Truncated = true
			continue
		}
		insights, err := metrics.Read(ctx, p.format(), p.ID)
		if err != nil {
			return out, err
		}
		out.Posts = append(out.Posts, n.collectedPost(p, insights))
	}
	return out, nil
}

// listPosts lists the Page's posts with their counts, or without counts if Facebook rejects them.
func (n *Network) listPosts(ctx context.Context, g network.Grant, since time.Time, limit int) ([]countedPost, bool, error) {
	list := func(fields string) ([]countedPost, bool, error) {
		return graph.ListSince(ctx, n.graph,
			n.newCall(g, http.MethodGet, g.Account+"/published_posts", url.Values{"fields": {fields}}, nil), since, limit,
			func(c countedPost) time.Time { return graph.ParseTime(c.Created) })
	}
	posts, truncated, err := list(countFields)
	netErr, ok := errors.AsType[*network.Error](graph.DowngradeMissingPermission(err))
	if ok && (netErr.Class == network.AppNotApproved || netErr.Class == network.Rejected) {
		return list(plainFields)
	}
	return posts, truncated, err
}

func (n *Network) collectedPost(p countedPost, insights graph.Metrics) network.CollectedPost {
	out := network.CollectedPost{
		ID: p.ID, URL: n.absoluteURL(p.Permalink), Text: p.Message, Format: p.format(), PostedAt: graph.ParseTime(p.Created),
		Reach: insights.Get("post_total_media_view_unique"), Views: insights.Get("post_media_view"),
		Clicks:   insights.Get("post_clicks"),
		Likes:    graph.FirstKnown(p.Reactions.Summary.Total, insights.Get("post_reactions_by_type_total")),
		Comments: p.Comments.Summary.Total,
	}
	if p.Shares != nil {
		out.Shares = p.Shares.Count
	}
	return out
}

func (c countedPost) format() string {
	if len(c.Attachments.Data) == 0 {
		return network.FormatText
	}
	switch kind := c.Attachments.Data[0].Type; {
	case strings.HasPrefix(kind, "video") && strings.Contains(c.Permalink, "/reel/"):
		return network.FormatReel
	case kind == "album":
		return network.FormatCarousel
	case kind == "photo":
		return network.FormatImage
	case strings.HasPrefix(kind, "video"):
		return network.FormatVideo
	case kind == "share":
		return network.FormatLink
	}
	return ""
}
