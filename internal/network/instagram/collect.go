package instagram

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

var _ network.Collector = (*Network)(nil)

// What is asked for of posts. Likes are left out by the network where the account hides them.
const collectFields = "id,caption,media_type,media_product_type,permalink,timestamp,like_count,comments_count"

// insightMetrics are known to both ways of signing in; views took the place of impressions and plays.
var insightMetrics = []string{"views", "reach", "saved", "likes", "comments", "shares"}

// media is a post as the account's list tells it.
type media struct {
	ID        string `json:"id"`
	Caption   string `json:"caption"`
	Type      string `json:"media_type"`
	Product   string `json:"media_product_type"`
	Permalink string `json:"permalink"`
	Timestamp string `json:"timestamp"`
	Likes     *int64 `json:"like_count"`
	Comments  *int64 `json:"comments_count"`
}

// Collect tells of the account's posts, with their insights where the person allowed those.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, most int) (network.Collected, error) {
	told, err := n.collect(ctx, g, since, most)
	return told, graph.Spare(err)
}

func (n *Network) collect(ctx context.Context, g network.Grant, since time.Time, most int) (network.Collected, error) {
	var me struct {
		Followers *int64 `json:"followers_count"`
	}
	if err := n.Client.Do(ctx,
		n.On(g, http.MethodGet, g.Account, url.Values{"fields": {"followers_count"}}, &me)); err != nil {
		return network.Collected{}, err
	}
	out := network.Collected{Followers: me.Followers}
	posts, cut, err := graph.Listed(ctx, n.Client,
		n.On(g, http.MethodGet, g.Account+"/media", url.Values{"fields": {collectFields}}, nil), since, most,
		func(m media) time.Time { return graph.Time(m.Timestamp) })
	out.Cut = cut
	if err != nil {
		return out, err
	}
	metrics := graph.Metrics{Names: insightMetrics,
		Ask: func(ctx context.Context, post string, metrics []string) (graph.Figures, error) {
			return n.Client.Insights(ctx, n.On(g, http.MethodGet, post+"/insights", nil, nil), metrics)
		}}
	for _, m := range posts {
		if !graph.IsID(m.ID) {
			out.Cut = true
			continue
		}
		figures, err := metrics.Of(ctx, m.format(), m.ID)
		if err != nil {
			return out, err
		}
		out.Posts = append(out.Posts, m.figures(figures))
	}
	return out, nil
}

func (m media) figures(insights graph.Figures) network.Figures {
	return network.Figures{
		ID: m.ID, URL: network.WebAddress(m.Permalink), Text: m.Caption, Format: m.format(),
		PostedAt: graph.Time(m.Timestamp),
		Reach:    insights.Told("reach"), Views: insights.Told("views"),
		Likes:    graph.Either(m.Likes, insights.Told("likes")),
		Comments: graph.Either(m.Comments, insights.Told("comments")),
		Shares:   insights.Told("shares"), Saves: insights.Told("saved"),
	}
}

func (m media) format() string {
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
