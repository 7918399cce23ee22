package linkedin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/sandbox/insights"
	"pressroom.example/pressroom/internal/sandbox/store"
)

// scopeAnalytics is the scope for reading analytics of a member's posts.
const scopeAnalytics = "r_member_postAnalytics"

// networkSize returns the number of followers of an organization.
func (n *Network) networkSize(r *http.Request) (any, error) {
	if r.URL.Query().Get("edgeType") != "COMPANY_FOLLOWED_BY_MEMBER" {
		return nil, invalidRequest("edgeType must be COMPANY_FOLLOWED_BY_MEMBER")
	}
	var size int64
	err := n.asCaller(r, func(_ store.Tx, c caller) error {
		if err := c.requireScope(r.PathValue("urn"), "", scopeAdmin); err != nil {
			return err
		}
		size = insights.Followers(Name, c.organization(), n.Now())
		return nil
	})
	return map[string]int64{"firstDegreeSize": size}, err
}

// shareStatistics returns the counts of an organization's posts. It omits posts without views.
func (n *Network) shareStatistics(r *http.Request) (any, error) {
	query := r.URL.Query()
	if query.Get("q") != "organizationalEntity" {
		return nil, invalidRequest("q must be organizationalEntity")
	}
	urns, err := parseURNs(r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	elements := []any{}
	err = n.asCaller(r, func(t store.Tx, c caller) error {
		owner := query.Get("organizationalEntity")
		if err := c.requireScope(owner, "", scopeAdmin); err != nil {
			return err
		}
		for _, urn := range urns {
			p, found, err := t.Post(r.Context(), Name, urn)
			if err != nil {
				return err
			}
			if counts := insights.Count(p, n.Now()); found && p.Account == owner && counts.Views > 0 {
				elements = append(elements, statistics(p, counts))
			}
		}
		return nil
	})
	return newPage(elements, 0, len(elements)), err
}

func statistics(p store.Post, counts insights.Counts) map[string]any {
	return map[string]any{
		"organizationalEntity": p.Account, "share": p.ID,
		"totalShareStatistics": map[string]any{
			"impressionCount": counts.Views, "uniqueImpressionsCount": counts.Reach, "likeCount": counts.Likes,
			"commentCount": counts.Comments,
			"shareCount":   counts.Shares, "clickCount": counts.Clicks,
			"engagement": float64(counts.Likes+counts.Comments+counts.Shares+
				counts.Clicks) / float64(counts.Views),
		},
	}
}

// parseURNs parses the Rest.li list of post URNs in a query, List(…). Parentheses and commas must not be escaped.
func parseURNs(query string) ([]string, error) {
	var urns []string
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if name != "shares" && name != "ugcPosts" {
			continue
		}
		list, closed := strings.CutSuffix(strings.TrimPrefix(value, "List("), ")")
		if !closed || !strings.HasPrefix(value, "List(") {
			return nil, invalidRequest("Invalid query parameters passed to request")
		}
		for escaped := range strings.SplitSeq(list, ",") {
			urn, err := url.QueryUnescape(escaped)
			if err != nil || strings.Contains(escaped, ":") {
				return nil, invalidRequest("Invalid query parameters passed to request")
			}
			urns = append(urns, urn)
		}
	}
	return urns, nil
}

// memberAnalytics returns one metric of a member's post.
func (n *Network) memberAnalytics(r *http.Request) (any, error) {
	query := r.URL.Query()
	urn, isShare := strings.CutPrefix(strings.TrimSuffix(query.Get("entity"), ")"), "(share:")
	if query.Get("q") != "entity" || !isShare || query.Get("aggregation") != "TOTAL" {
		return nil, invalidRequest("q must be entity, entity must be a share, and aggregation must be TOTAL")
	}
	elements := []any{}
	err := n.asCaller(r, func(t store.Tx, c caller) error {
		if !slices.Contains(c.scopes, scopeAnalytics) {
			return errDenied
		}
		p, found, err := t.Post(r.Context(), Name, urn)
		switch {
		case err != nil:
			return err
		case !found || p.Account != c.ID:
			return errNotFound
		}
		counts := insights.Count(p, n.Now())
		count, ok := map[string]int64{
			"IMPRESSION": counts.Views, "MEMBERS_REACHED": counts.Reach, "REACTION": counts.Likes,
			"COMMENT": counts.Comments,
			"RESHARE": counts.Shares, "POST_SAVE": counts.Saves,
		}[query.Get("queryType")]
		if !ok {
			return invalidRequest("unknown queryType")
		}
		elements = append(elements, map[string]any{
			"count": count, "metricType": query.Get("queryType"),
			"targetEntity": map[string]string{"share": urn},
		})
		return nil
	})
	return newPage(elements, 0, len(elements)), err
}
