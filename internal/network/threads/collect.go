package threads

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/graph"
)

var _ network.Collector = (*Network)(nil)

var insightMetrics = []string{"views", "likes", "replies", "reposts", "quotes", "shares"}

// repostType is the media type of a post by another account that this account reposted. Collect skips such posts.
const repostType = "REPOST_FACADE"

// thread is a post in the account's list of posts.
type thread struct {
	ID        string `json:"id"`
	Text      string `json:"text"`
	Type      string `json:"media_type"`
	Permalink string `json:"permalink"`
	Timestamp string `json:"timestamp"`
}

// Collect returns the account's posts, with their insights if the person granted access to them. Threads does not
// provide reach.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	collection, err := n.collect(ctx, g, since, limit)
	return collection, graph.DowngradeMissingPermission(err)
}

func (n *Network) collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	insights := func(ctx context.Context, path string, metrics []string) (graph.Metrics, error) {
		return n.Client.Insights(ctx, n.NewCall(g, http.MethodGet, path, nil, nil), metrics)
	}
	var out network.Collection
	account := graph.MetricsReader{
		Names: []string{"followers_count"},
		Fetch: func(ctx context.Context, _ string, metrics []string) (graph.Metrics, error) {
			return insights(ctx, "me/threads_insights", metrics)
		},
	}
	values, err := account.Read(ctx, "", "")
	if err != nil {
		return out, err
	}
	out.Followers = values.Get("followers_count")
	out.Picture, out.NoPicture = n.readPicture(ctx, g)
	posts, truncated, err := graph.ListSince(ctx, n.Client,
		n.NewCall(g, http.MethodGet, "me/threads", url.Values{"fields": {"id,text,timestamp,permalink,media_type"}}, nil),
		since, limit, func(t thread) time.Time { return graph.ParseTime(t.Timestamp) })
	out.Truncated = truncated
	if err != nil {
		return out, err
	}
	metrics := graph.MetricsReader{
		Names: insightMetrics,
		Fetch: func(ctx context.Context, postID string, metrics []string) (graph.Metrics, error) {
			return insights(ctx, postID+"/insights", metrics)
		},
	}
	for _, t := range posts {
		if !graph.IsID(t.ID) || t.Type == repostType {
			out.Truncated = out.Truncated || t.Type != repostType
			continue
		}
		values, err := metrics.Read(ctx, "", t.ID)
		if err != nil {
			return out, err
		}
		out.Posts = append(out.Posts, t.collectedPost(values))
	}
	return out, nil
}

// readPicture returns the URL of the account's picture. It reports true if the account has no picture. If the call
// fails, it returns zero values, because the collection must continue.
func (n *Network) readPicture(ctx context.Context, g network.Grant) (string, bool) {
	var me struct {
		Picture string `json:"threads_profile_picture_url"`
	}
	fields := url.Values{"fields": {"threads_profile_picture_url"}}
	if n.Client.Do(ctx, n.NewCall(g, http.MethodGet, "me", fields, &me)) != nil {
		return "", false
	}
	return network.WebURL(me.Picture), me.Picture == ""
}

func (t thread) collectedPost(insights graph.Metrics) network.CollectedPost {
	return network.CollectedPost{
		ID: t.ID, URL: network.WebURL(t.Permalink), Text: t.Text, Format: formats[t.Type],
		PostedAt: graph.ParseTime(t.Timestamp),
		Views:    insights.Get("views"), Likes: insights.Get("likes"), Comments: insights.Get("replies"),
		Shares: network.Sum(insights.Get("reposts"), insights.Get("quotes"), insights.Get("shares")),
	}
}

var formats = map[string]string{
	"TEXT_POST": network.FormatText, "IMAGE": network.FormatImage, "VIDEO": network.FormatVideo,
	"CAROUSEL_ALBUM": network.FormatCarousel,
}
