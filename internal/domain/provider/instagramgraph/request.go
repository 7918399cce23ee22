package instagramgraph

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

// get requests a path with an account's token and decodes the response. Its errors are *apiError and
// *provider.UnavailableError. They do not contain the token or the name of the queried profile.
func (s *Source) get(ctx context.Context, acct *accountState, path string, params url.Values, out any) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	params.Set("access_token", acct.token)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path+"?"+params.Encode(), http.NoBody)
	if err != nil {
		return wire.Unavailable("the URL of Instagram's API is invalid") // err contains the token
	}
	response, err := wire.Send(s.http, request, maxResponseBytes)
	if err != nil {
		return err
	}
	if apiErr := readError(response, s.now()); apiErr != nil {
		return apiErr
	}
	s.accounts.markValid(acct)
	if used := readUsage(response.Header); used.percent >= float64(s.opts.Usage) {
		pause := used.retryAfter
		if pause == 0 {
			pause = defaultPause
		}
		s.accounts.pause(acct, s.now().Add(pause))
	}
	if !wire.Decode(response.Body, out) {
		return errInvalidResponse
	}
	return nil
}

var errInvalidResponse = wire.Unavailable("the response does not have the format of Instagram's API")

// mediaList is a list of media, or one page of it.
type mediaList struct {
	Data   []json.RawMessage `json:"data"`
	Paging struct {
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
}

// cursorPattern matches Meta cursors that are safe to insert into a query.
var cursorPattern = regexp.MustCompile(`^[A-Za-z0-9_=+/.:|%-]{1,1000}$`)

var errCursor = wire.Unavailable("the response has an invalid cursor")

// nextCursor returns the cursor of the next page, or "" on the last page.
func (l mediaList) nextCursor() (string, error) {
	cursor := l.Paging.Cursors.After
	switch {
	case len(l.Data) == 0 || cursor == "":
		return "", nil
	case !cursorPattern.MatchString(cursor):
		return "", errCursor
	}
	return cursor, nil
}

// mediaObject is a post, or an image or video in a post.
type mediaObject struct {
	ID        string     `json:"id"`
	Caption   string     `json:"caption"`
	Type      string     `json:"media_type"`
	Product   string     `json:"media_product_type"`
	URL       string     `json:"media_url"`
	Permalink string     `json:"permalink"`
	Timestamp string     `json:"timestamp"`
	Likes     wire.Count `json:"like_count"` // missing if hidden by the owner
	Comments  wire.Count `json:"comments_count"`
	Views     wire.Count `json:"view_count"`
	Children  mediaList  `json:"children"`
}

// media returns the valid media of a list.
func (l mediaList) media() []mediaObject {
	var objects []mediaObject
	for _, text := range l.Data {
		var m mediaObject
		if wire.Decode(text, &m) && m.ID != "" {
			objects = append(objects, m)
		}
	}
	return objects
}

// posts returns the posts of a list.
func (l mediaList) posts(now time.Time) []provider.Post {
	var all []provider.Post
	for _, m := range l.media() {
		all = append(all, m.post(now))
	}
	return all
}

func (m mediaObject) post(now time.Time) provider.Post {
	return provider.Post{
		ID: wire.ID(m.ID), Format: m.format(), TakenAt: wire.ParseTime(m.Timestamp, now), Caption: wire.Text(m.Caption,
			wire.MaxText),
		URL: wire.URL(m.Permalink), Likes: m.Likes.Value(), Comments: m.Comments.Value(), Views: m.Views.Value(),
	}
}

// format returns the format of a post, or "" if it is unknown.
func (m mediaObject) format() string {
	switch strings.ToUpper(m.Type) {
	case "IMAGE":
		return provider.FormatImage
	case "CAROUSEL_ALBUM":
		return provider.FormatCarousel
	case "VIDEO":
		if m.isReel() {
			return provider.FormatReel
		}
		return provider.FormatVideo
	}
	return ""
}

// isReel reports whether a video is a reel. In the results of hashtag queries, only the URL shows that a video is a
// reel.
func (m mediaObject) isReel() bool {
	return strings.EqualFold(m.Product, "REELS") || m.Product == "" && strings.Contains(m.Permalink, "/reel/")
}
