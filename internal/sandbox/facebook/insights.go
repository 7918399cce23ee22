package facebook

import (
	"net/http"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// postMetrics contains the post metrics that Facebook has not deprecated.
var postMetrics = graph.Metrics{
	"post_media_view":              func(c insights.Counts) any { return c.Views },
	"post_total_media_view_unique": func(c insights.Counts) any { return c.Reach },
	"post_clicks":                  func(c insights.Counts) any { return c.Clicks },
	"post_reactions_by_type_total": func(c insights.Counts) any {
		return map[string]int64{"like": c.Likes - c.Likes/3, "love": c.Likes / 3}
	},
}

const insightsScope = "read_insights"

func (n *Network) postInsights(r *http.Request) (any, error) {
	var p store.Post
	err := n.asPage(r, func(t store.Tx, a store.Account, token store.Token) error {
		if err := n.RequireScope(r.Context(), t, token, insightsScope); err != nil {
			return err
		}
		var err error
		p, err = findPost(r, t, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	return postMetrics.Response(r, r.PathValue("id"), insights.Count(p, n.Now()))
}

// findPost returns the Page's post with the ID in the path. The post of a video is stored under the video's ID.
func findPost(r *http.Request, t store.Tx, a store.Account) (store.Post, error) {
	id := r.PathValue("id")
	for _, id := range []string{id, strings.TrimPrefix(id, a.ID+"_")} {
		p, found, err := t.Post(r.Context(), Name, id)
		if err != nil || found && p.Account == a.ID {
			return p, err
		}
	}
	return store.Post{}, graph.ErrNoObject
}

// addCounts adds the counts of a post to its view. Like Facebook, it omits the number of shares if it is 0.
func addCounts(c insights.Counts, view map[string]any) map[string]any {
	summary := func(total int64) map[string]any {
		return map[string]any{"data": []any{}, "summary": map[string]int64{"total_count": total}}
	}
	view["reactions"], view["comments"] = summary(c.Likes), summary(c.Comments)
	if c.Shares > 0 {
		view["shares"] = map[string]int64{"count": c.Shares}
	}
	return view
}
