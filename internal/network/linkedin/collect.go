package linkedin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	scopeMemberAnalytics = "r_member_postAnalytics" // scope for the metrics of a member's posts
	statisticsBatch      = 50                       // posts per statistics request; the URL's length is limited
	maxMemberPosts       = 20                       // maximum posts of a member whose metrics are read
	maxListPages         = 20
)

var _ network.Collector = (*Network)(nil)

// Collect lists the posts of an organization with their statistics. Listing a member's posts needs a scope that few
// apps have. Reading the posts' metrics needs another scope. Without the scope for listing, Collect only reads the
// member's picture and returns an error of class AppNotApproved. LinkedIn does not return a link to an organization's
// picture.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, limit int) (network.Collection, error) {
	var collection network.Collection
	collection.Picture, collection.NoPicture = n.readPicture(ctx, g)
	if g.Kind != organization && !slices.Contains(g.Scopes, scopeReadPosts) {
		return collection, &network.Error{
			Class: network.AppNotApproved, Code: scopeReadPosts, Err: errors.New("a member's posts cannot be listed"),
		}
	}
	posts, truncated, err := n.listOwnPosts(ctx, g, since, limit)
	collected := collection
	collected.Posts, collected.Truncated = network.Newest(posts, since, limit), truncated
	if err != nil {
		return collected, network.DowngradeForbidden(err)
	}
	if g.Kind == organization {
		if collected.Followers, err = n.readFollowers(ctx, g); err == nil || network.IsWithheld(err) {
			err = n.addStatistics(ctx, g, collected.Posts)
		}
	} else {
		err = n.addMemberMetrics(ctx, g, collected.Posts)
	}
	if err != nil && !network.IsWithheld(err) {
		return collected, err
	}
	return collected, nil
}

// listOwnPosts returns the author's posts since a time, newest first. It returns true if posts may be missing: there
// are too many, or some are not published yet.
func (n *Network) listOwnPosts(
	ctx context.Context, g network.Grant, since time.Time, limit int,
) ([]network.CollectedPost, bool, error) {
	var posts []network.CollectedPost
	truncated := false
	for page := range maxListPages {
		entries, err := n.listPage(ctx, g, page)
		if err != nil {
			return posts, true, err
		}
		for _, l := range entries {
			if isPostURN(l.ID) && l.Created > 0 && !l.isHidden() {
				posts = append(posts, l.collectedPost(n))
			} else if l.Created <= 0 || !l.createdAt().Before(since) {
				truncated = true
			}
		}
		switch {
		case len(entries) < pageSize, entries[len(entries)-1].createdAt().Before(since):
			return posts, truncated, nil
		case len(posts) >= limit:
			return posts, true, nil
		}
	}
	return posts, true, nil
}

func (l listedPost) collectedPost(n *Network) network.CollectedPost {
	return network.CollectedPost{
		ID: l.ID, URL: n.permalink(l.ID), Text: strings.TrimSpace(unescape(l.Commentary)), Format: l.format(),
		PostedAt: l.createdAt(),
	}
}

// isHidden reports whether a post is not published, such as a draft or a post that its author removed.
func (l listedPost) isHidden() bool { return l.Lifecycle != "" && l.Lifecycle != "PUBLISHED" }

// format returns the format of a post, or "" for other formats, such as a poll.
func (l listedPost) format() string {
	switch c := l.Content; {
	case len(c.Multi.Images) > 0, len(c.Carousel) > 0:
		return network.FormatCarousel
	case len(c.Article) > 0:
		return network.FormatLink
	case c.Media != nil && isURN(c.Media.ID, "image"):
		return network.FormatImage
	case c.Media != nil && isURN(c.Media.ID, "video"):
		return network.FormatVideo
	case c.Media != nil, len(c.Poll) > 0, len(c.Celebration) > 0, len(c.Reference) > 0:
		return ""
	}
	return network.FormatText
}

// readPicture returns the URL of a member's picture, and true if the member has no picture. The results are zero for
// organizations, without the scope, and after a failed call, which must not end the collection.
func (n *Network) readPicture(ctx context.Context, g network.Grant) (string, bool) {
	if g.Kind == organization || !slices.Contains(g.Scopes, scopeOpenID) {
		return "", false
	}
	var me struct {
		Picture string `json:"picture"`
	}
	call := network.Call{Name: "userinfo", Method: http.MethodGet, URL: g.Server + "/v2/userinfo", Bearer: g.AccessToken}
	if _, err := n.do(ctx, g, call, &me); err != nil {
		return "", false
	}
	return network.WebURL(me.Picture), me.Picture == ""
}

// readFollowers returns the number of an organization's followers.
func (n *Network) readFollowers(ctx context.Context, g network.Grant) (*int64, error) {
	var response struct {
		Followers *int64 `json:"firstDegreeSize"`
	}
	call := n.newCall(g, http.MethodGet, "networkSizes/"+url.QueryEscape(g.Account))
	call.Query = url.Values{"edgeType": {"COMPANY_FOLLOWED_BY_MEMBER"}}
	_, err := n.do(ctx, g, call, &response)
	return network.NonNegative(response.Followers), err
}

// addStatistics sets the lifetime metrics of an organization's posts. Shares and UGC posts need separate requests.
// Posts that LinkedIn omits have no metrics.
func (n *Network) addStatistics(ctx context.Context, g network.Grant, posts []network.CollectedPost) error {
	for _, kind := range []struct{ urn, list string }{{"share", "shares"}, {"ugcPost", "ugcPosts"}} {
		var urns []string
		for _, p := range posts {
			if isURN(p.ID, kind.urn) {
				urns = append(urns, p.ID)
			}
		}
		for batch := range slices.Chunk(urns, statisticsBatch) {
			if err := n.addStatisticsBatch(ctx, g, posts, kind.list, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *Network) addStatisticsBatch(
	ctx context.Context, g network.Grant, posts []network.CollectedPost, list string, urns []string,
) error {
	var response struct {
		Elements []struct {
			Share string `json:"share"`
			Post  string `json:"ugcPost"`
			Total struct {
				Impressions *int64 `json:"impressionCount"`
				Unique      *int64 `json:"uniqueImpressionsCount"`
				Likes       *int64 `json:"likeCount"`
				Comments    *int64 `json:"commentCount"`
				Shares      *int64 `json:"shareCount"`
				Clicks      *int64 `json:"clickCount"`
			} `json:"totalShareStatistics"`
		} `json:"elements"`
	}
	call := n.newFinder(g, "organizationalEntityShareStatistics")
	call.URL += "?q=organizationalEntity&organizationalEntity=" + url.QueryEscape(g.Account) + "&" + list + "=" +
		encodeRestList(urns)
	if _, err := n.do(ctx, g, call, &response); err != nil {
		return err
	}
	for _, e := range response.Elements {
		for i, p := range posts {
			if p.ID == e.Share || p.ID == e.Post {
				posts[i].Views, posts[i].Reach = network.NonNegative(e.Total.Impressions), network.NonNegative(e.Total.Unique)
				posts[i].Likes, posts[i].Comments = network.NonNegative(e.Total.Likes), network.NonNegative(e.Total.Comments)
				posts[i].Shares, posts[i].Clicks = network.NonNegative(e.Total.Shares), network.NonNegative(e.Total.Clicks)
			}
		}
	}
	return nil
}

// encodeRestList returns URNs as a list of the Rest.li protocol 2.0. The list cannot be a value of url.Values, because
// its brackets and commas must not be escaped.
func encodeRestList(urns []string) string {
	escaped := make([]string, len(urns))
	for i, urn := range urns {
		escaped[i] = url.QueryEscape(urn)
	}
	return "List(" + strings.Join(escaped, ",") + ")"
}

// memberMetric is one metric of a member's post.
type memberMetric struct {
	query string
	field func(*network.CollectedPost) **int64
}

var memberMetrics = []memberMetric{
	{"IMPRESSION", func(p *network.CollectedPost) **int64 { return &p.Views }},
	{"MEMBERS_REACHED", func(p *network.CollectedPost) **int64 { return &p.Reach }},
	{"REACTION", func(p *network.CollectedPost) **int64 { return &p.Likes }},
	{"COMMENT", func(p *network.CollectedPost) **int64 { return &p.Comments }},
	{"RESHARE", func(p *network.CollectedPost) **int64 { return &p.Shares }},
	{"POST_SAVE", func(p *network.CollectedPost) **int64 { return &p.Saves }},
}

// addMemberMetrics sets the metrics of a member's newest posts, if the app may read these metrics. A metric that
// LinkedIn rejects once is not requested again.
func (n *Network) addMemberMetrics(ctx context.Context, g network.Grant, posts []network.CollectedPost) error {
	if !slices.Contains(g.Scopes, scopeMemberAnalytics) {
		return nil
	}
	rejectedMetrics := map[string]bool{}
	for i := range posts[:min(len(posts), maxMemberPosts)] {
		for _, metric := range memberMetrics {
			if rejectedMetrics[metric.query] {
				continue
			}
			count, err := n.readMemberMetric(ctx, g, posts[i].ID, metric.query)
			if err != nil && !network.IsWithheld(err) {
				return err
			}
			rejectedMetrics[metric.query] = err != nil
			*metric.field(&posts[i]) = count
		}
	}
	return nil
}

func (n *Network) readMemberMetric(ctx context.Context, g network.Grant, urn, query string) (*int64, error) {
	var response struct {
		Elements []struct {
			Count *int64 `json:"count"`
		} `json:"elements"`
	}
	entity := "(share:"
	if isURN(urn, "ugcPost") {
		entity = "(ugc:"
	}
	call := n.newFinder(g, "memberCreatorPostAnalytics")
	call.URL += "?q=entity&entity=" + entity + url.QueryEscape(urn) + ")&queryType=" + query + "&aggregation=TOTAL"
	if _, err := n.do(ctx, g, call, &response); err != nil || len(response.Elements) != 1 {
		return nil, err
	}
	return network.NonNegative(response.Elements[0].Count), nil
}
