package threads

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"pressroom/internal/network"
	"pressroom/internal/network/graph"
)

var _ network.Collector = (*Network)(nil)

var insightMetrics = []string{"views", "likes", "replies", "reposts", "quotes", "shares"}

// repost is the form of somebody else's post that the account shows: no post of its own.
const repost = "REPOST_FACADE"

// thread is a post as the account's list tells it.
type thread struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Type      string `json:"media_type"`
	Permalink string `json:"permalink"`
	Timestamp string `json:"timestamp"`
}

// Collect tells of the account's posts, with their insights where the person allowed those. The network tells no reach.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, most int) (network.Collected, error) {
	told, err := n.collect(ctx, g, since, most)
	return told, graph.Spare(err)
}

func (n *Network) collect(ctx context.Context, g network.Grant, since time.Time, most int) (network.Collected, error) {
	insights := func(path string) func(context.Context, []string) (graph.Figures, error) {
		return func(ctx context.Context, metrics []string) (graph.Figures, error) {
			return n.Client.Insights(ctx, n.On(g, http.MethodGet, path, nil, nil), metrics)
		}
	}
	var out network.Collected
	account := graph.Metrics{Names: []string{"followers_count"},
		Ask: func(ctx context.Context, _ string, metrics []string) (graph.Figures, error) {
			return insights("me/threads_insights")(ctx, metrics)
		}}
	figures, err := account.Of(ctx, "", "")
	if err != nil {
		return out, err
	}
	out.Followers = figures.Told("followers_count")
	posts, cut, err := graph.Listed(ctx, n.Client,
		n.On(g, http.MethodGet, "me/threads", url.Values{"fields": {"id,text,timestamp,permalink,media_type"}}, nil),
		since, most,
		func(t thread) time.Time { return graph.Time(t.Timestamp) })
	out.Cut = cut
	if err != nil {
		return out, err
	}
	metrics := graph.Metrics{Names: insightMetrics,
		Ask: func(ctx context.Context, post string, metrics []string) (graph.Figures, error) {
			return insights(post+"/insights")(ctx, metrics)
		}}
	for _, t := range posts {
		if !graph.IsID(t.ID) || t.Type == repost {
			out.Cut = out.Cut || t.Type != repost
			continue
		}
		figures, err := metrics.Of(ctx, "", t.ID)
		if err != nil {
			return out, err
		}
		out.Posts = append(out.Posts, t.figures(figures))
	}
	return out, nil
}

func (t thread) figures(insights graph.Figures) network.Figures {
	return network.Figures{
		ID: t.ID, URL: network.WebAddress(t.Permalink), Text: t.Text, Format: formats[t.Type],
		PostedAt: graph.Time(t.Timestamp),
		Views:    insights.Told("views"), Likes: insights.Told("likes"), Comments: insights.Told("replies"),
		Shares: network.Sum(insights.Told("reposts"), insights.Told("quotes"), insights.Told("shares")),
	}
}

var formats = map[string]string{
	"TEXT_POST": network.FormatText, "IMAGE": network.FormatImage, "VIDEO": network.FormatVideo,
	"CAROUSEL_ALBUM": network.FormatCarousel,
}
