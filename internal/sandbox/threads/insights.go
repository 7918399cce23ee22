package threads

import (
	"net/http"

	"pressroom.example/pressroom/internal/sandbox/graph"
	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

var postMetrics = graph.Metrics{
	"views":   func(c insights.Counts) any { return c.Views },
	"likes":   func(c insights.Counts) any { return c.Likes },
	"replies": func(c insights.Counts) any { return c.Comments },
	"reposts": func(c insights.Counts) any { return c.Shares - c.Shares/4 },
	"quotes":  func(c insights.Counts) any { return c.Shares / 4 },
	"shares":  func(c insights.Counts) any { return c.Saves / 3 },
}

const insightsScope = "threads_manage_insights"

// accountInsights returns the caller's number of followers. Other metrics of accounts are not supported.
func (n *Network) accountInsights(r *http.Request) (any, error) {
	var response any
	err := n.AsCaller(r, func(t store.Tx, a store.Account, token store.Token) error {
		if err := n.RequireScope(r.Context(), t, token, insightsScope); err != nil {
			return err
		}
		if r.Form.Get("metric") != "followers_count" {
			return graph.InvalidParameter("metric must be followers_count in this sandbox")
		}
		response = map[string]any{"data": []map[string]any{{
			"name": "followers_count", "period": "day",
			"total_value": map[string]any{"value": insights.Followers(Name, a.ID, n.Now())},
		}}}
		return nil
	})
	return response, err
}
