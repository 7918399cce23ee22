package instagram

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

var _ network.Collector = (*Network)(nil)

// collectFields lists the fields of posts that are requested. The network omits the number of likes if the account
// hides it.
const collectFields = "id,caption,media_type,media_product_type,permalink,timestamp,like_count,comments_count"

// insightMetrics lists metrics that are available with both sign-in methods. The metric views replaced impressions and
// plays.
var insightMetrics = []string{"views", "reach", "saved", "likes", "comments", "shares"}

// listedMedia is a post in the account's list of posts.
type listedMedia struct {
	ID        string `json:"id"`
	Caption   string `json:"caption"`
	Type      string `json:"media_type"`
	Product   string `json:"media_product_type"`
	Permalink string `json:"permalink"`
	Timestamp string `json:"timestamp"`
	Likes     *int64 `json:"like_count"`
	Comments  *int64 `json:"comments_count"`
}

// Collect returns the account's posts, with their insights if the person granted access to them.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	collection, err := n.collect(ctx, g, since, limit)
	return collection, graph.DowngradeMissingPermission(err)
}

func (n *Network) collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	var me struct {
		Followers *int64 `json:"followers_count"`
		Picture   string `json:"profile_picture_url"`
	}
	fields := url.Values{"fields": {"followers_count,profile_picture_url"}}
	err := n.Client.Do(ctx, n.NewCall(g, http.MethodGet, g.Account, fields, &me))
	if err != nil {
		return network.Collection{}, err
	}
	out := network.Collection{Followers: me.Followers, Picture: network.WebURL(me.Picture), NoPicture: me.Picture == ""}
	posts, truncated, err := graph.ListSince(ctx, n.Client,
		n.NewCall(g, http.MethodGet, g.Account+"/media", url.Values{"fields": {collectFields}}, nil), since, limit,
		func(m listedMedia) time.Time { return graph.ParseTime(m.Timestamp) })
	out.Truncated = truncated
	if err != nil {
		return out, err
	}
	metrics := graph.MetricsReader{
		Names: insightMetrics,
		Fetch: func(ctx context.Context, postID string, metrics []string) (graph.Metrics, error) {
			return n.Client.Insights(ctx, n.NewCall(g, http.MethodGet, postID+"/insights", nil, nil), metrics)
		},
	}
	for _, m := range posts {
		if !graph.IsID(m.ID) {
			out.Truncated = true
			continue
		}
		insights, err := metrics.Read(ctx, m.format(), m.ID)
		if err != nil {
			return out, err
		}
		out.Posts = append(out.Posts, m.collectedPost(insights))
	}
	return out, nil
}

func (m listedMedia) collectedPost(insights graph.Metrics) network.CollectedPost {
	return network.CollectedPost{
		ID: m.ID, URL: network.WebURL(m.Permalink), Text: m.Caption, Format: m.format(),
		PostedAt: graph.ParseTime(m.Timestamp),
		Reach:    insights.Get("reach"), Views: insights.Get("views"),
		Likes:    graph.FirstKnown(m.Likes, insights.Get("likes")),
		Comments: graph.FirstKnown(m.Comments, insights.Get("comments")),
		Shares:   insights.Get("shares"), Saves: insights.Get("saved"),
	}
}

func (m listedMedia) format() string {
	switch {
	case m.Product == "STORY":
		return network.FormatStory
	case m.Product == "REELS":
		return network.FormatReel
	case m.Type == "CAROUSEL_ALBUM":
		return network.FormatCarousel
	case m.Type == "VIDEO":
		return network.FormatVideo
	case m.Type == "IMAGE":
		return network.FormatImage
	}
	return ""
}
