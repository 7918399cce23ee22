package facebook

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

var _ network.Collector = (*Network)(nil)

// insightsScope is asked for at the consent; a Page whose person withheld it is told fewer figures.
const insightsScope = "read_insights"

const (
	plainFields = "id,message,created_time,permalink_url,attachments,shares"
	countFields = plainFields + ",reactions.limit(0).summary(total_count),comments.limit(0).summary(total_count)"
)

// insightMetrics are those of posts since June 2026, when impressions and reach were renamed and the old ones removed.
var insightMetrics = []string{
	"post_media_view", "post_total_media_view_unique", "post_clicks", "post_reactions_by_type_total",
}

// counted is a post with what stands below it.
type counted struct {
	listed

	Shares    *struct{ Count *int64 } `json:"shares"`
	Reactions summary                 `json:"reactions"`
	Comments  summary                 `json:"comments"`
}

type summary struct {
	Summary struct {
		Total *int64 `json:"total_count"`
	} `json:"summary"`
}

// Collect tells of the Page's posts, with their insights where the person allowed those. The network has none for Pages
// with fewer than a hundred likes.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, most int) (network.Collected, error) {
	told, err := n.collect(ctx, g, since, most)
	return told, graph.Spare(err)
}

func (n *Network) collect(ctx context.Context, g network.Grant, since time.Time, most int) (network.Collected, error) {
	var page struct {
		Followers *int64 `json:"followers_count"`
	}
	if err := n.graph.Do(ctx,
		n.on(g, http.MethodGet, g.Account, url.Values{"fields": {"followers_count"}}, &page)); err != nil {
		return network.Collected{}, err
	}
	out := network.Collected{Followers: page.Followers}
	posts, cut, err := n.posts(ctx, g, since, most)
	out.Cut = cut
	if err != nil {
		return out, err
	}
	metrics := graph.Metrics{Names: insightMetrics,
		Ask: func(ctx context.Context, post string, metrics []string) (graph.Figures, error) {
			return n.graph.Insights(ctx, n.on(g, http.MethodGet, post+"/insights", nil, nil), metrics)
		}}
	for _, p := range posts {
		if !graph.IsID(p.ID) {
			out.Cut = true
			continue
		}
		figures, err := metrics.Of(ctx, p.format(), p.ID)
		if err != nil {
			return out, err
		}
		out.Posts = append(out.Posts, n.figures(p, figures))
	}
	return out, nil
}

// posts lists the Page's posts with what stands below them, or without where that may not be read.
func (n *Network) posts(ctx context.Context, g network.Grant, since time.Time, most int) ([]counted, bool, error) {
	list := func(fields string) ([]counted, bool, error) {
		return graph.Listed(ctx, n.graph,
			n.on(g, http.MethodGet, g.Account+"/published_posts", url.Values{"fields": {fields}}, nil), since, most,
			func(c counted) time.Time { return graph.Time(c.Created) })
	}
	posts, cut, err := list(countFields)
	said, ok := errors.AsType[*network.Error](graph.Spare(err))
	if ok && (said.Class == network.Unapproved || said.Class == network.Rejected) {
		return list(plainFields)
	}
	return posts, cut, err
}

func (n *Network) figures(p counted, insights graph.Figures) network.Figures {
	out := network.Figures{
		ID: p.ID, URL: n.address(p.Permalink), Text: p.Message, Format: p.format(), PostedAt: graph.Time(p.Created),
		Reach: insights.Told("post_total_media_view_unique"), Views: insights.Told("post_media_view"),
		Clicks:   insights.Told("post_clicks"),
		Likes:    graph.Either(p.Reactions.Summary.Total, insights.Told("post_reactions_by_type_total")),
		Comments: p.Comments.Summary.Total,
	}
	if p.Shares != nil {
		out.Shares = p.Shares.Count
	}
	return out
}

func (p counted) format() string {
	if len(p.Attachments.Data) == 0 {
		return network.FormatText
	}
	switch kind := p.Attachments.Data[0].Type; {
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
