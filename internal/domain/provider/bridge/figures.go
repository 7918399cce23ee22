package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	maxFigures = 8 << 20 // bytes of an answer
	maxPosts   = 100     // asked for on a page of a profile's
	maxTagged  = 500     // asked for of a hashtag, of each kind
	maxPages   = 200     // of one profile
)

// Profile asks for the public figures of a profile, page by page. Errors are as those of ProfileMedia.
func (c *Client) Profile(ctx context.Context, q provider.ProfileQuery) (provider.ProfileFigures, error) {
	var figures provider.ProfileFigures
	posts := wire.Posts{Since: q.Since, Most: q.Most}
	params := url.Values{"limit": {strconv.Itoa(min(max(q.Most, 1), maxPosts))}}
	if !q.Since.IsZero() {
		params.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	for range maxPages {
		page, err := c.profilePage(ctx, params, q)
		if err != nil {
			return provider.ProfileFigures{}, err
		}
		if figures.Account.MeasuredAt.IsZero() {
			figures.Account = page.account
		}
		if !posts.Add(page.posts) || page.next == "" {
			break
		}
		params.Set("cursor", page.next)
	}
	figures.Posts = posts.Newest()
	return figures, nil
}

func (c *Client) profilePage(ctx context.Context, params url.Values, q provider.ProfileQuery) (profilePage, error) {
	body, err := c.ask(ctx, maxFigures, params, q.Platform, "profiles", q.Username)
	if err != nil {
		return profilePage{}, err
	}
	return readProfile(body, q.Username, c.opts.Now().UTC())
}

// Hashtag asks for the public figures of a hashtag. Errors are provider.ErrNotFound, provider.ErrNotOffered and
// *provider.Unavailable.
func (c *Client) Hashtag(ctx context.Context, q provider.HashtagQuery) (provider.HashtagFigures, error) {
	params := url.Values{"limit": {strconv.Itoa(min(max(q.Most, 1), maxTagged))}}
	body, err := c.ask(ctx, maxFigures, params, q.Platform, "hashtags", q.Hashtag)
	if err != nil {
		return provider.HashtagFigures{}, err
	}
	return readHashtag(body, q, c.opts.Now().UTC())
}

// profilePage is one page of a profile's figures.
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

// readProfile reads a page of the figures of a profile that was asked for by its name. It is that name's whatever the
// page says.
func readProfile(body []byte, username string, now time.Time) (profilePage, error) {
	var said struct {
		Profile json.RawMessage   `json:"profile"`
		Posts   []json.RawMessage `json:"posts"`
		Next    string            `json:"next_cursor"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return profilePage{}, errNoContract
	}
	var p profile
	if !object(said.Profile, &p) || said.Posts == nil {
		return profilePage{}, wire.Unavailable("reading the answer: it has no profile or no posts")
	}
	if !wire.Cursor(said.Next) {
		return profilePage{}, errCursor
	}
	posts, err := readPosts(said.Posts, now)
	return profilePage{
		account: provider.Account{
			Username: username, DisplayName: wire.Name(p.DisplayName), Biography: wire.Text(p.Biography, wire.MaxText), Website: wire.Address(p.Website),
			Followers: p.Followers.Told(), Follows: p.Follows.Told(), Posts: p.Posts.Told(), MeasuredAt: now,
		},
		posts: posts, next: said.Next,
	}, err
}

// object reads a member that has to be an object.
func object(text json.RawMessage, into any) bool {
	return bytes.HasPrefix(text, []byte("{")) && wire.Read(text, into)
}

// readHashtag reads the figures of a hashtag.
func readHashtag(body []byte, q provider.HashtagQuery, now time.Time) (provider.HashtagFigures, error) {
	var said struct {
		Hashtag json.RawMessage   `json:"hashtag"`
		Top     []json.RawMessage `json:"top"`
		Recent  []json.RawMessage `json:"recent"`
		From    string            `json:"recent_from"`
	}
	var size struct {
		Posts wire.Count `json:"posts"`
	}
	if !wire.Read(body, &said) || !object(said.Hashtag, &size) || said.Top == nil || said.Recent == nil {
		return provider.HashtagFigures{}, errNoContract
	}
	figures := provider.HashtagFigures{Hashtag: q.Hashtag, Size: size.Posts.Told(), From: wire.Stamp(said.From, now), MeasuredAt: now}
	top, err := readPosts(said.Top, now)
	if err != nil {
		return provider.HashtagFigures{}, err
	}
	recent, err := readPosts(said.Recent, now)
	if err != nil {
		return provider.HashtagFigures{}, err
	}
	best, newest := wire.Posts{Most: q.Most}, wire.Posts{Most: q.Most}
	best.Add(top)
	newest.Add(recent)
	figures.Top, figures.Recent = best.Taken(), newest.Newest()
	if newest.Cut() || len(recent) < len(said.Recent) {
		figures.From = time.Time{} // some of what was posted since is missing
	}
	return figures, nil
}

// readPosts leaves out what cannot be used. That none can be is a failure.
func readPosts(raw []json.RawMessage, now time.Time) ([]provider.Post, error) {
	var posts []provider.Post
	for _, text := range raw {
		if found, usable := readPost(text, now); usable {
			posts = append(posts, found)
		}
	}
	if len(raw) > 0 && len(posts) == 0 {
		return nil, wire.Unavailable("reading the answer: none of its %d posts can be used", len(raw))
	}
	return posts, nil
}

func readPost(text json.RawMessage, now time.Time) (provider.Post, bool) {
	var said post
	if !wire.Read(text, &said) || said.ID == "" {
		return provider.Post{}, false
	}
	found := provider.Post{
		ID: wire.ID(said.ID), TakenAt: wire.Stamp(said.TakenAt, now), Caption: wire.Text(said.Caption, wire.MaxText), URL: wire.Address(said.URL),
		Hashtags: hashtags(said.Hashtags), Likes: said.Likes.Told(), Comments: said.Comments.Told(), Shares: said.Shares.Told(), Views: said.Views.Told(),
		Duration: wire.Length(said.Duration),
	}
	switch said.Format {
	case provider.FormatImage, provider.FormatVideo, provider.FormatReel, provider.FormatCarousel:
		found.Format = said.Format
	}
	return found, true
}

func hashtags(raw []json.RawMessage) []string {
	var said []string
	for _, text := range raw {
		var hashtag string
		if wire.Read(text, &hashtag) {
			said = append(said, hashtag)
		}
	}
	return wire.Hashtags(said)
}
