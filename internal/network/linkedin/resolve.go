package linkedin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/network"
)

const (
	clockSkew      = 5 * time.Minute // how far the network's clock may be behind
	pollInterval   = 10 * time.Second
	pageSize       = 50
	maxSearchPages = 10                // pages of posts to search
	scopeReadPosts = "r_member_social" // scope that few apps have
)

// Resolve searches the author's recent posts. The error is of class OutcomeUnknown if the app may not list a member's
// posts, or if no single post can be identified. A person then has to check, because another Commit could publish the
// post twice.
func (n *Network) Resolve(
	ctx context.Context, g network.Grant, d network.Draft, history network.CommitHistory,
) (network.Verdict, network.Receipt, error) {
	if network.IsFirstComment(d) {
		return n.resolveComment(ctx, g, d, history)
	}
	prepared, err := drafts.DecodePrepared(d)
	if err != nil {
		return network.Unknown, network.Receipt{}, err
	}
	if g.Kind != organization && !slices.Contains(g.Scopes, scopeReadPosts) {
		return network.Unknown, network.Receipt{}, uncertainError(0, "a member's posts cannot be listed")
	}
	now := n.opts.Now().UTC() // before the search, because a post may appear during it
	posts, incomplete, err := n.findPosts(ctx, g, prepared, history)
	if netErr, ok := errors.AsType[*network.Error](err); ok && netErr.Status == http.StatusForbidden {
		return network.Unknown, network.Receipt{}, uncertainError(netErr.Status, "the author's posts cannot be listed")
	}
	switch {
	case err != nil:
		return network.Unknown, network.Receipt{}, err
	case len(posts) == 1:
		return network.Published, network.Receipt{
			ID: posts[0].ID, Permalink: n.permalink(posts[0].ID), At: posts[0].createdAt(), MatchedByContent: true,
		}, nil
	case len(posts) > 1 || incomplete:
		return network.Unknown, network.Receipt{}, uncertainError(http.StatusOK, "the post cannot be identified among the author's posts")
	case now.Sub(history.Last) < time.Duration(n.opts.ListingDelay):
		return network.Unknown, network.Receipt{}, &network.Error{
			Class: network.Processing, Status: http.StatusOK, RetryAt: now.Add(pollInterval),
		}
	}
	return network.Absent, network.Receipt{}, nil
}

func uncertainError(status int, reason string) *network.Error {
	return &network.Error{Class: network.OutcomeUnknown, Status: status, Err: errors.New(reason)}
}

// listedPost is a post in the author's list.
type listedPost struct {
	ID         string `json:"id"`
	Commentary string `json:"commentary"`
	Created    int64  `json:"createdAt"` // Unix milliseconds
	Lifecycle  string `json:"lifecycleState"`
	Content    struct {
		Media *struct {
			ID string `json:"id"`
		} `json:"media"`
		Multi struct {
			Images []struct {
				ID string `json:"id"`
			} `json:"images"`
		} `json:"multiImage"`
		Article     json.RawMessage `json:"article"`
		Carousel    json.RawMessage `json:"carousel"`
		Poll        json.RawMessage `json:"poll"`
		Celebration json.RawMessage `json:"celebration"`
		Reference   json.RawMessage `json:"reference"`
	} `json:"content"`
}

func (l listedPost) createdAt() time.Time { return time.UnixMilli(l.Created).UTC() }

func (l listedPost) mediaCount() int {
	if l.Content.Media != nil {
		return 1
	}
	return len(l.Content.Multi.Images)
}

// matches reports whether a post has the draft's text, number of media and poll. If withAddresses is false, it ignores
// URLs in the text, which LinkedIn may shorten, and the @ of mentions, which LinkedIn may store as plain text.
func (l listedPost) matches(d draft, withAddresses bool) bool {
	listedText, draftText := unescape(l.Commentary), d.Text
	if !withAddresses {
		listedText, draftText = withoutAddresses(listedText), withoutAddresses(draftText)
	}
	if d.Poll != nil && len(l.Content.Poll) == 0 {
		return false
	}
	return isPostURN(l.ID) && l.mediaCount() == len(d.Media) && network.SameWords(listedText, draftText)
}

func withoutAddresses(text string) string {
	for _, address := range network.Links(text) {
		text = strings.Replace(text, address, "…", 1)
	}
	return strings.ReplaceAll(text, "@", "")
}

// findPosts returns the posts that match the draft. It searches posts since the first commit or the planned time,
// whichever is later. The second result reports whether there may be other matches: posts that were not read, or posts
// in which LinkedIn shortened the URLs.
func (n *Network) findPosts(
	ctx context.Context, g network.Grant, d draft, history network.CommitHistory,
) ([]listedPost, bool, error) {
	var posts []listedPost
	since := history.First
	if since.Before(d.PlannedAt) {
		since = d.PlannedAt
	}
	since = since.Add(-clockSkew)
	hasMore, hasSimilar := true, false
	for page := 0; hasMore && page < maxSearchPages; page++ {
		entries, err := n.listPage(ctx, g, page)
		if err != nil {
			return nil, false, err
		}
		hasMore = len(entries) >= pageSize
		for _, l := range entries {
			switch {
			case l.createdAt().Before(since):
				hasMore = false
			case history.BelongsToOther(l.ID, ""):
			case l.matches(d, true):
				posts = append(posts, l)
			case l.matches(d, false):
				hasSimilar = true
			}
		}
	}
	return posts, hasMore || hasSimilar, nil
}

// listPage returns one page of the author's posts, newest first.
func (n *Network) listPage(ctx context.Context, g network.Grant, page int) ([]listedPost, error) {
	var response struct {
		Elements []listedPost `json:"elements"`
	}
	call := n.newFinder(g, "posts")
	call.Query = url.Values{
		"q": {"author"}, "author": {g.Account}, "start": {strconv.Itoa(page * pageSize)},
		"count": {strconv.Itoa(pageSize)}, "sortBy": {"CREATED"},
	}
	_, err := n.do(ctx, g, call, &response)
	return response.Elements, err
}
