package sandbox

import (
	"net/http"
	"strings"
)

// facebookMetrics are those of posts that the network still has.
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
		p, err = t.facebookShown(r, a)
		return err
	})
	if err != nil {
		return nil, err
	}
	return facebookMetrics.told(r, r.PathValue("id"), count(p, n.now()))
}

// facebookShown is the Page's post that a path names; that of a video is kept by the video's id alone.
func (t tx) facebookShown(r *http.Request, a account) (post, error) {
	id := r.PathValue("id")
	for _, id := range []string{id, strings.TrimPrefix(id, a.id+"_")} {
		p, found, err := t.post(r.Context(), facebookName, id)
		if err != nil || found && p.account == a.id {
			return p, err
		}
	}
	return post{}, errNoObject
}

// counted adds what is shown below a post to what the API tells of it. Shares are left out while there are none.
func (c tally) counted(told map[string]any) map[string]any {
	summary := func(total int64) map[string]any {
		return map[string]any{"data": []any{}, "summary": map[string]int64{"total_count": total}}
	}
	told["reactions"], told["comments"] = summary(c.likes), summary(c.comments)
	if c.shares > 0 {
		told["shares"] = map[string]int64{"count": c.shares}
	}
	return told
}
