package instagramgraph

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

// get asks for something at a path by an account. Errors are *failure and *provider.Unavailable; neither repeats the token
// or who was asked for.
func (s *Source) get(ctx context.Context, one *account, path string, params url.Values, into any) error {
	ctx, cancel := context.WithTimeout(ctx, s.opts.Timeout)
	defer cancel()
	params.Set("access_token", one.token)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+path+"?"+params.Encode(), http.NoBody)
	if err != nil {
		return wire.Unavailable("the address of Instagram's API cannot be asked") // the error repeats the token
	}
	answer, err := wire.Ask(s.http, request, maxAnswer)
	if err != nil {
		return err
	}
	if f := refusal(answer, s.now()); f != nil {
		return f
	}
	s.accounts.works(one)
	if used := readUsage(answer.Header); used.share >= float64(s.opts.Usage) {
		rest := used.regained
		if rest == 0 {
			rest = usualRest
		}
		s.accounts.rest(one, s.now().Add(rest))
	}
	if !wire.Read(answer.Body, into) {
		return errNoAnswer
	}
	return nil
}

var errNoAnswer = wire.Unavailable("reading the answer: it is not one of Instagram's API")

// list is a list of media, or a part of one.
type list struct {
	Data   []json.RawMessage `json:"data"`
	Paging struct {
		Cursors struct {
			After string `json:"after"`
		} `json:"cursors"`
	} `json:"paging"`
}

// cursorForm is what a cursor of Meta's is written with; anything else could change the question that it stands in.
var cursorForm = regexp.MustCompile(`^[A-Za-z0-9_=+/.:|%-]{1,1000}$`)

var errCursor = wire.Unavailable("reading the answer: its cursor is none")

// after is the cursor of what follows; empty where nothing does.
func (l list) after() (string, error) {
	cursor := l.Paging.Cursors.After
	switch {
	case len(l.Data) == 0 || cursor == "":
		return "", nil
	case !cursorForm.MatchString(cursor):
		return "", errCursor
	}
	return cursor, nil
}

// medium is a post, or an image or video of one.
type medium struct {
	ID        string     `json:"id"`
	Caption   string     `json:"caption"`
	Type      string     `json:"media_type"`
	Product   string     `json:"media_product_type"`
	URL       string     `json:"media_url"`
	Permalink string     `json:"permalink"`
	Timestamp string     `json:"timestamp"`
	Likes     wire.Count `json:"like_count"` // not there where the owner hides it
	Comments  wire.Count `json:"comments_count"`
	Views     wire.Count `json:"view_count"`
	Children  list       `json:"children"`
}

// media are those of a list that can be used.
func (l list) media() []medium {
	var all []medium
	for _, text := range l.Data {
		var m medium
		if wire.Read(text, &m) && m.ID != "" {
			all = append(all, m)
		}
	}
	return all
}

// posts are those of a list.
func (l list) posts(now time.Time) []provider.Post {
	var all []provider.Post
	for _, m := range l.media() {
		all = append(all, m.post(now))
	}
	return all
}

func (m medium) post(now time.Time) provider.Post {
	return provider.Post{
		ID: wire.ID(m.ID), Format: m.format(), TakenAt: wire.Stamp(m.Timestamp, now), Caption: wire.Text(m.Caption, wire.MaxText),
		URL: wire.Address(m.Permalink), Likes: m.Likes.Told(), Comments: m.Comments.Told(), Views: m.Views.Told(),
	}
}

// format is a post's; empty where it is none that is known.
func (m medium) format() string {
	switch strings.ToUpper(m.Type) {
	case "IMAGE":
		return provider.FormatImage
	case "CAROUSEL_ALBUM":
		return provider.FormatCarousel
	case "VIDEO":
		if m.reel() {
			return provider.FormatReel
		}
		return provider.FormatVideo
	}
	return ""
}

// reel tells whether a video is a reel. Under a hashtag only its address says so.
func (m medium) reel() bool {
	return strings.EqualFold(m.Product, "REELS") || m.Product == "" && strings.Contains(m.Permalink, "/reel/")
}
