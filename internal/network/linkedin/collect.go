package linkedin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"pressroom/internal/network"
)

const (
	readOwnFigures = "r_member_postAnalytics" // a scope, for the figures of a member's posts
	mostCounted    = 50                       // posts of a request for statistics, which stand in its address
	mostOfMember   = 20                       // posts of a member whose figures are read: each figure costs a call
	mostListPages  = 20
)

var _ network.Collector = (*Network)(nil)

// Collect lists the posts of an organisation with their statistics. A member's posts can be listed where LinkedIn gave
// the app the scope for it, which hardly any has, and their figures where it gave another: without the first it is
// Unapproved, and nothing is asked.
func (n *Network) Collect(ctx context.Context, g network.Grant, since time.Time, most int) (network.Collected, error) {
	if g.Kind != organization && !slices.Contains(g.Scopes, readPosts) {
		return network.Collected{}, &network.Error{
			Class: network.Unapproved, Code: readPosts, Err: errors.New("a member's posts cannot be listed"),
		}
	}
	posts, cut, err := n.own(ctx, g, since, most)
	collected := network.Collected{Posts: network.Newest(posts, since, most), Cut: cut}
	if err != nil {
		return collected, network.Closed(err)
	}
	if g.Kind == organization {
		if collected.Followers, err = n.followers(ctx, g); err == nil || network.Withheld(err) {
			err = n.statistics(ctx, g, collected.Posts)
		}
	} else {
		err = n.memberFigures(ctx, g, collected.Posts)
	}
	if err != nil && !network.Withheld(err) {
		return collected, err
	}
	return collected, nil
}

// own are the author's posts since a moment, the newest first. It is true where there may be more: too many, or some
// that are not published yet.
func (n *Network) own(
	ctx context.Context, g network.Grant, since time.Time, most int,
) ([]network.Figures, bool, error) {
	var posts []network.Figures
	cut := false
	for page := range mostListPages {
		listed, err := n.page(ctx, g, page)
		if err != nil {
			return posts, true, err
		}
		for _, l := range listed {
			if isPost(l.ID) && l.Created > 0 && !l.hidden() {
				posts = append(posts, l.figures(n))
			} else if l.Created <= 0 || !l.at().Before(since) {
				cut = true
			}
		}
		switch {
		case len(listed) < pageSize, listed[len(listed)-1].at().Before(since):
			return posts, cut, nil
		case len(posts) >= most:
			return posts, true, nil
		}
	}
	return posts, true, nil
}

func (l listed) figures(n *Network) network.Figures {
	return network.Figures{
		ID: l.ID, URL: n.permalink(l.ID), Text: strings.TrimSpace(unescape(l.Commentary)), Format: l.format(),
		PostedAt: l.at(),
	}
}

// hidden tells of a post that is a draft, or that its author took away.
func (l listed) hidden() bool { return l.Lifecycle != "" && l.Lifecycle != "PUBLISHED" }

// format is what a post shows; empty where LinkedIn tells of something that has no name here, such as a poll.
func (l listed) format() string {
	switch c := l.Content; {
	case len(c.Several.Images) > 0, len(c.Carousel) > 0:
		return network.FormatCarousel
	case len(c.Article) > 0:
		return network.FormatLink
	case c.Media != nil && isURN(c.Media.ID, "image"):
		return network.FormatImage
	case c.Media != nil && isURN(c.Media.ID, "video"):
		return network.FormatVideo
	case c.Media != nil, len(c.Poll) > 0, len(c.Celebration) > 0, len(c.Event) > 0:
		return ""
	}
	return network.FormatText
}

// followers is how many follow an organisation.
func (n *Network) followers(ctx context.Context, g network.Grant) (*int64, error) {
	var about struct {
		Followers *int64 `json:"firstDegreeSize"`
	}
	call := n.rest(g, http.MethodGet, "networkSizes/"+url.QueryEscape(g.Account))
	call.Query = url.Values{"edgeType": {"COMPANY_FOLLOWED_BY_MEMBER"}}
	_, err := n.ask(ctx, g, call, &about)
	return network.Told(about.Followers), err
}

// statistics reads what was counted at an organisation's posts since they are there. Posts of the two types are asked
// for apart. One that LinkedIn tells nothing of has no figures.
func (n *Network) statistics(ctx context.Context, g network.Grant, posts []network.Figures) error {
	for _, kind := range []struct{ urn, list string }{{"share", "shares"}, {"ugcPost", "ugcPosts"}} {
		var urns []string
		for _, p := range posts {
			if isURN(p.ID, kind.urn) {
				urns = append(urns, p.ID)
			}
		}
		for batch := range slices.Chunk(urns, mostCounted) {
			if err := n.statisticsOf(ctx, g, posts, kind.list, batch); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *Network) statisticsOf(
	ctx context.Context, g network.Grant, posts []network.Figures, list string, urns []string,
) error {
	var answer struct {
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
	call := n.finder(g, "organizationalEntityShareStatistics")
	call.URL += "?q=organizationalEntity&organizationalEntity=" + url.QueryEscape(g.Account) + "&" + list + "=" +
		restList(urns)
	if _, err := n.ask(ctx, g, call, &answer); err != nil {
		return err
	}
	for _, e := range answer.Elements {
		for i, p := range posts {
			if p.ID == e.Share || p.ID == e.Post {
				posts[i].Views, posts[i].Reach = network.Told(e.Total.Impressions), network.Told(e.Total.Unique)
				posts[i].Likes, posts[i].Comments = network.Told(e.Total.Likes), network.Told(e.Total.Comments)
				posts[i].Shares, posts[i].Clicks = network.Told(e.Total.Shares), network.Told(e.Total.Clicks)
			}
		}
	}
	return nil
}

// restList writes URNs as a list of the Rest.li protocol, version 2: its brackets and commas stand as they are, so it
// cannot be written as one value of a query.
func restList(urns []string) string {
	escaped := make([]string, len(urns))
	for i, urn := range urns {
		escaped[i] = url.QueryEscape(urn)
	}
	return "List(" + strings.Join(escaped, ",") + ")"
}

// memberFigure is one of a member's figures.
type memberFigure struct {
	query string
	of    func(*network.Figures) **int64
}

var memberFigures = []memberFigure{
	{"IMPRESSION", func(p *network.Figures) **int64 { return &p.Views }},
	{"MEMBERS_REACHED", func(p *network.Figures) **int64 { return &p.Reach }},
	{"REACTION", func(p *network.Figures) **int64 { return &p.Likes }},
	{"COMMENT", func(p *network.Figures) **int64 { return &p.Comments }},
	{"RESHARE", func(p *network.Figures) **int64 { return &p.Shares }},
	{"POST_SAVE", func(p *network.Figures) **int64 { return &p.Saves }},
}

// memberFigures reads what was counted at a member's newest posts, where the app may. A figure that LinkedIn refuses
// once is not asked for again.
func (n *Network) memberFigures(ctx context.Context, g network.Grant, posts []network.Figures) error {
	if !slices.Contains(g.Scopes, readOwnFigures) {
		return nil
	}
	refused := map[string]bool{}
	for i := range posts[:min(len(posts), mostOfMember)] {
		for _, figure := range memberFigures {
			if refused[figure.query] {
				continue
			}
			told, err := n.memberFigure(ctx, g, posts[i].ID, figure.query)
			if err != nil && !network.Withheld(err) {
				return err
			}
			refused[figure.query] = err != nil
			*figure.of(&posts[i]) = told
		}
	}
	return nil
}

func (n *Network) memberFigure(ctx context.Context, g network.Grant, urn, query string) (*int64, error) {
	var answer struct {
		Elements []struct {
			Count *int64 `json:"count"`
		} `json:"elements"`
	}
	entity := "(share:"
	if isURN(urn, "ugcPost") {
		entity = "(ugc:"
	}
	call := n.finder(g, "memberCreatorPostAnalytics")
	call.URL += "?q=entity&entity=" + entity + url.QueryEscape(urn) + ")&queryType=" + query + "&aggregation=TOTAL"
	if _, err := n.ask(ctx, g, call, &answer); err != nil || len(answer.Elements) != 1 {
		return nil, err
	}
	return network.Told(answer.Elements[0].Count), nil
}
