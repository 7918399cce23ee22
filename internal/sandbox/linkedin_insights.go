package sandbox

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// linkedinReadFigures is the scope for analytics of a member's posts.
const linkedinReadFigures = "r_member_postAnalytics"

// networkSize returns an organization's number of followers.
func (n *linkedin) networkSize(r *http.Request) (any, error) {
	if r.URL.Query().Get("edgeType") != "COMPANY_FOLLOWED_BY_MEMBER" {
		return nil, linkedinInvalid("edgeType has to be COMPANY_FOLLOWED_BY_MEMBER")
	}
	var size int64
	err := n.caller(r, func(_ tx, c linkedinCaller) error {
		if err := c.speaksFor(r.PathValue("urn"), "", linkedinAdmin); err != nil {
			return err
		}
		size = followers(linkedinName, c.organization(), n.now())
		return nil
	})
	return map[string]int64{"firstDegreeSize": size}, err
}

// shareStatistics returns the counts of an organization's posts. Posts without views are left out.
func (n *linkedin) shareStatistics(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("q") != "organizationalEntity" {
		return nil, linkedinInvalid("q has to be organizationalEntity")
	}
	urns, err := linkedinList(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	elements := []any{}
	err = n.caller(r, func(t tx, c linkedinCaller) error {
		owner := query.Get("organizationalEntity")
		if err := c.speaksFor(owner, "", linkedinAdmin); err != nil {
			return err
		}
		for _, urn := range urns {
			p, found, err := t.post(r.Context(), linkedinName, urn)
			if err != nil {
				return err
			}
			if counts := count(p, n.now()); found && p.account == owner && counts.views > 0 {
				elements = append(elements, linkedinStatistics(p, counts))
			}
		}
		return nil
	})
	return map[string]any{
		"elements": elements, "paging": map[string]any{"start": 0, "count": len(elements), "links": []any{}},
	}, err
}

func linkedinStatistics(p post, counts tally) map[string]any {
	return map[string]any{
		"organizationalEntity": p.account, "share": p.id,
		"totalShareStatistics": map[string]any{
			"impressionCount": counts.views, "uniqueImpressionsCount": counts.reach, "likeCount": counts.likes,
			"commentCount": counts.comments,
			"shareCount":   counts.shares, "clickCount": counts.clicks,
			"engagement": float64(counts.likes+counts.comments+counts.shares+
				counts.clicks) / float64(counts.views),
		},
	}
}

// linkedinList parses the posts in a query's List of the Rest.li protocol, whose brackets and commas must not be
// escaped.
func linkedinList(query string) ([]string, error) {
	var urns []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name != "shares" && name != "ugcPosts" {
			continue
		}
		inside, closed := strings.CutSuffix(strings.TrimPrefix(value, "List("), ")")
		if !closed || !strings.HasPrefix(value, "List(") {
			return nil, linkedinInvalid("Invalid query parameters passed to request")
		}
		for escaped := range strings.SplitSeq(inside, ",") {
			urn, err := url.QueryUnescape(escaped)
			if err != nil || strings.Contains(escaped, ":") {
				return nil, linkedinInvalid("Invalid query parameters passed to request")
			}
			urns = append(urns, urn)
		}
	}
	return urns, nil
}

// memberAnalytics returns one count of a member's post.
func (n *linkedin) memberAnalytics(r *http.Request) (any, error) {
	query := r.URL.Query()
	urn, isShare := strings.CutPrefix(strings.TrimSuffix(query.Get("entity"), ")"), "(share:")
	if query.Get("q") != "entity" || !isShare || query.Get("aggregation") != "TOTAL" {
		return nil, linkedinInvalid("q has to be entity, entity a share, aggregation TOTAL")
	}
	elements := []any{}
	err := n.caller(r, func(t tx, c linkedinCaller) error {
		if !slices.Contains(c.scopes, linkedinReadFigures) {
			return errLinkedinDenied
		}
		p, found, err := t.post(r.Context(), linkedinName, urn)
		switch {
		case err != nil:
			return err
		case !found || p.account != c.id:
			return errLinkedinMissing
		}
		counts := count(p, n.now())
		figure, known := map[string]int64{
			"IMPRESSION": counts.views, "MEMBERS_REACHED": counts.reach, "REACTION": counts.likes,
			"COMMENT": counts.comments,
			"RESHARE": counts.shares, "POST_SAVE": counts.saves,
		}[query.Get("queryType")]
		if !known {
			return linkedinInvalid("queryType is none that the API knows")
		}
		elements = append(elements, map[string]any{
			"count": figure, "metricType": query.Get("queryType"),
			"targetEntity": map[string]string{"share": urn},
		})
		return nil
	})
	return map[string]any{
		"elements": elements, "paging": map[string]any{"start": 0, "count": len(elements), "links": []any{}},
	}, err
}
