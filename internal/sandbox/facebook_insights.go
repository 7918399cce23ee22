package sandbox

import (
	"net/http"
	"strings"
)

// facebookMetrics are the metrics of posts that the network still offers.
var facebookMetrics = metrics{
	"post_media_view":              func(c tally) any { return c.views },
	"post_total_media_view_unique": func(c tally) any { return c.reach },
	"post_clicks":                  func(c tally) any { return c.clicks },
	"post_reactions_by_type_total": func(c tally) any {
		return map[string]int64{"like": c.likes - c.likes/3, "love": c.likes / 3}
	},
}

const facebookInsightsScope = "read_insights"

func (n *facebook) postInsights(r *http.Request) (any, error) {
	var p post
	err := n.page(r, func(t tx, a account, token oauthToken) error {
		if err := n.may(r.Context(), t, token, facebookInsightsScope); err != nil {
			return err
		}
		var err error
		p, err = findFacebookPost(r, t, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	return facebookMetrics.told(r, r.PathValue("id"), count(p, n.now()))
}

// findFacebookPost returns the Page's post that the path names. A video's post is stored under the video's id.
func findFacebookPost(r *http.Request, t tx, a account) (post, error) {
	id := r.PathValue("id")
	for _, id := range []string{id, strings.TrimPrefix(id, a.id+"_")} {
		p, found, err := t.post(r.Context(), facebookName, id)
		if err != nil || found && p.account == a.id {
			return p, err
		}
	}
	return post{}, errNoObject
}

// facebookCounts adds the counts below a post. Shares are left out if there are none.
func facebookCounts(c tally, answer map[string]any) map[string]any {
	summary := func(total int64) map[string]any {
		return map[string]any{"data": []any{}, "summary": map[string]int64{"total_count": total}}
	}
	answer["reactions"], answer["comments"] = summary(c.likes), summary(c.comments)
	if c.shares > 0 {
		answer["shares"] = map[string]int64{"count": c.shares}
	}
	return answer
}
