package sandbox

import "net/http"

var threadsMetrics = metrics{
	"views":   func(c tally) any { return c.views },
	"likes":   func(c tally) any { return c.likes },
	"replies": func(c tally) any { return c.comments },
	"reposts": func(c tally) any { return c.shares - c.shares/4 },
	"quotes":  func(c tally) any { return c.shares / 4 },
	"shares":  func(c tally) any { return c.saves / 3 },
}

const threadsInsightsScope = "threads_manage_insights"

// accountInsights returns the number of the caller's followers. Other metrics of accounts are not supported.
func (n *threads) accountInsights(r *http.Request) (any, error) {
	var answer any
	err := n.caller(r, func(t tx, a account, token oauthToken) error {
		if err := n.may(r.Context(), t, token, threadsInsightsScope); err != nil {
			return err
		}
		if r.Form.Get("metric") != "followers_count" {
			return invalidParameter("metric has to be followers_count in this sandbox")
		}
		answer = map[string]any{"data": []map[string]any{{
			"name": "followers_count", "period": "day",
			"total_value": map[string]any{"value": followers(threadsName, a.id, n.now())},
		}}}
		return nil
	})
	return answer, err
}
