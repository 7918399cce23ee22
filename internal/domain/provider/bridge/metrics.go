package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	maxMetricsBytes = 8 << 20 // per response
	maxPosts        = 100     // per page of a profile
	maxHashtagPosts = 500     // of each kind (top and recent)
	maxPages        = 200     // per profile
)

// Profile returns the public metrics of a profile. It returns the same errors as ProfileMedia.
func (c *Client) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileMetrics, error) {
	var metrics provider.ProfileMetrics
	posts := wire.Posts{Since: q.Since, Limit: q.PostLimit}
	params := url.Values{"limit": {strconv.Itoa(min(max(q.PostLimit, 1), maxPosts))}}
	if !q.Since.IsZero() {
		params.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	for range maxPages {
		page, err := c.fetchProfilePage(ctx, params, q)
		if err != nil {
			return provider.ProfileMetrics{}, err
		}
		if metrics.Account.MeasuredAt.IsZero() {
			metrics.Account = page.account
		}
		if !posts.Add(page.posts) || page.next == "" {
			break
		}
		params.Set("cursor", page.next)
	}
	metrics.Posts = posts.NewestFirst()
	return metrics, nil
}

func (c *Client) fetchProfilePage(ctx context.Context, params url.Values, q provider.ProfileQuery) (profilePage, error) {
	body, err := c.get(ctx, maxMetricsBytes, params, q.Platform, "profiles", q.Username)
	if err != nil {
		return profilePage{}, err
	}
	return readProfile(body, q.Username, c.opts.Now().UTC())
}

// Hashtag returns the public metrics of a hashtag. Its errors are provider.ErrNotFound, provider.ErrNotOffered and
// *provider.UnavailableError.
func (c *Client) Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagMetrics, error) {
	params := url.Values{"limit": {strconv.Itoa(min(max(q.PostLimit, 1), maxHashtagPosts))}}
	body, err := c.get(ctx, maxMetricsBytes, params, q.Platform, "hashtags", q.Hashtag)
	if err != nil {
		return provider.HashtagMetrics{}, err
	}
	return readHashtag(body, q, c.opts.Now().UTC())
}

// profilePage is a page of a profile's metrics.
type profilePage struct {
	account provider.Account
	posts   []provider.Post
	next    string
}

type profile struct {
	Username    string     `json:"username"`
	DisplayName string     `json:"display_name"`
	Biography   string     `json:"biography"`
	Website     string     `json:"website"`
	Followers   wire.Count `json:"followers"`
	Follows     wire.Count `json:"follows"`
	Posts       wire.Count `json:"posts"`
}

type post struct {
	ID       string            `json:"id"`
	Format   string            `json:"format"`
	TakenAt  string            `json:"taken_at"`
	Caption  string            `json:"caption"`
	URL      string            `json:"url"`
	Hashtags []json.RawMessage `json:"hashtags"`
	Likes    wire.Count        `json:"likes"`
	Comments wire.Count        `json:"comments"`
	Shares   wire.Count        `json:"shares"`
	Views    wire.Count        `json:"views"`
	Duration float64           `json:"duration_seconds"`
}

// readProfile decodes a page of a profile's metrics. The username comes from the query, not from the response.
func readProfile(body []byte, username string, now time.Time) (profilePage, error) {
	var parsed struct {
		Profile json.RawMessage   `json:"profile"`
		Posts   []json.RawMessage `json:"posts"`
		Next    string            `json:"next_cursor"`
	}
	if err := json.Unmarshal(body, &parsed); err != nil {
		return profilePage{}, errInvalidResponse
	}
	var p profile
	if !readObject(parsed.Profile, &p) || parsed.Posts == nil {
		return profilePage{}, wire.Unavailable("the response has no profile or no posts")
	}
	if !wire.IsCursor(parsed.Next) {
		return profilePage{}, errCursor
	}
	posts, err := readPosts(parsed.Posts, now)
	return profilePage{
		account: provider.Account{
			Username: username, DisplayName: wire.SingleLine(p.DisplayName), Biography: wire.Text(p.Biography,
				wire.MaxText), Website: wire.URL(p.Website),
			Followers: p.Followers.Value(), Follows: p.Follows.Value(), Posts: p.Posts.Value(), MeasuredAt: now,
		},
		posts: posts, next: parsed.Next,
	}, err
}

// readObject decodes a JSON object. It reports false if text is anything else.
func readObject(text json.RawMessage, out any) bool {
	return bytes.HasPrefix(text, []byte("{")) && wire.Decode(text, out)
}

// readHashtag decodes the metrics of a hashtag.
func readHashtag(body []byte, q provider.HashtagQuery, now time.Time) (provider.HashtagMetrics, error) {
	var parsed struct {
		Hashtag json.RawMessage   `json:"hashtag"`
		Top     []json.RawMessage `json:"top"`
		Recent  []json.RawMessage `json:"recent"`
		From    string            `json:"recent_from"`
	}
	var size struct {
		Posts wire.Count `json:"posts"`
	}
	if !wire.Decode(body, &parsed) || !readObject(parsed.Hashtag, &size) || parsed.Top == nil || parsed.Recent == nil {
		return provider.HashtagMetrics{}, errInvalidResponse
	}
	metrics := provider.HashtagMetrics{Hashtag: q.Hashtag, Size: size.Posts.Value(), From: wire.ParseTime(parsed.From,
		now), MeasuredAt: now}
	top, err := readPosts(parsed.Top, now)
	if err != nil {
		return provider.HashtagMetrics{}, err
	}
	recent, err := readPosts(parsed.Recent, now)
	if err != nil {
		return provider.HashtagMetrics{}, err
	}
	topPosts, recentPosts := wire.Posts{Limit: q.PostLimit}, wire.Posts{Limit: q.PostLimit}
	topPosts.Add(top)
	recentPosts.Add(recent)
	metrics.Top, metrics.Recent = topPosts.All(), recentPosts.NewestFirst()
	if recentPosts.IsTruncated() || len(recent) < len(parsed.Recent) {
		metrics.From = time.Time{} // Recent is incomplete
	}
	return metrics, nil
}

// readPosts decodes posts. It skips invalid posts. It returns an error if all posts are invalid.
func readPosts(raw []json.RawMessage, now time.Time) ([]provider.Post, error) {
	var posts []provider.Post
	for _, text := range raw {
		if p, ok := readPost(text, now); ok {
			posts = append(posts, p)
		}
	}
	if len(raw) > 0 && len(posts) == 0 {
		return nil, wire.Unavailable("none of the %d posts in the response is valid", len(raw))
	}
	return posts, nil
}

func readPost(text json.RawMessage, now time.Time) (provider.Post, bool) {
	var parsed post
	if !wire.Decode(text, &parsed) || parsed.ID == "" {
		return provider.Post{}, false
	}
	out := provider.Post{
		ID: wire.ID(parsed.ID), TakenAt: wire.ParseTime(parsed.TakenAt, now), Caption: wire.Text(parsed.Caption,
			wire.MaxText), URL: wire.URL(parsed.URL),
		Hashtags: readHashtags(parsed.Hashtags), Likes: parsed.Likes.Value(), Comments: parsed.Comments.Value(),
		Shares: parsed.Shares.Value(), Views: parsed.Views.Value(),
		Duration: wire.VideoDuration(parsed.Duration),
	}
	switch parsed.Format {
	case provider.FormatImage, provider.FormatVideo, provider.FormatReel, provider.FormatCarousel:
		out.Format = parsed.Format
	}
	return out, true
}

func readHashtags(raw []json.RawMessage) []string {
	var names []string
	for _, text := range raw {
		var hashtag string
		if wire.Decode(text, &hashtag) {
			names = append(names, hashtag)
		}
	}
	return wire.Hashtags(names)
}
