package instagramgraph

import (
	"context"
	"io"
	"strings"
	"time"

	"pressroom/internal/domain/provider"
	"pressroom/internal/domain/provider/wire"
)

const (
	ofMedia      = "id,caption,media_type,media_product_type,media_url,timestamp,children{id,media_type,media_url}"
	mediaPages   = 10 // looked through for one page of items
	avatarPrefix = "avatar_"
)

// ProfileMedia gives a page of a professional account's media: its avatar, its posts, its reels. Errors are as those of
// Profile.
func (s *Source) ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error) {
	offered := q.Type == provider.Profile || q.Type == provider.Avatar || q.Type == provider.Posts || q.Type == provider.Reels
	if q.Platform != provider.Instagram || !offered {
		return provider.Page{}, provider.ErrNotOffered
	}
	at, ok := readPlace(q.Cursor)
	if !ok {
		return provider.Page{}, wire.Unavailable("the cursor is not one of Instagram's")
	}
	if !nameForm.MatchString(q.Username) {
		return provider.Page{}, provider.ErrNotFound
	}
	var page provider.Page
	err := s.each(ctx, func(one *account) error {
		var err error
		page, err = s.page(ctx, one, q, at)
		return err
	})
	return page, err
}

// Fetch writes the bytes of an item to into. Its errors are those of Options.Public.
func (s *Source) Fetch(ctx context.Context, address string, most int64, into io.Writer) error {
	return s.opts.Public(ctx, address, most, into)
}

// place is where a page of items begins. Instagram has cursors between its own pages alone, and a post may be several
// items.
type place struct {
	cursor string // Instagram's, of its page in which it begins; empty for the first
	last   string // the item of that page before which all have been given; empty where none was
}

// readPlace reads what String wrote.
func readPlace(text string) (place, bool) {
	cursor, last, _ := strings.Cut(text, "~")
	at := place{cursor, last}
	return at, (cursor == "" || cursorForm.MatchString(cursor)) && (last == "" || wire.ID(last) == last)
}

func (p place) String() string {
	if p.last == "" {
		return p.cursor
	}
	return p.cursor + "~" + p.last
}

// page gathers items until there are enough of them, or no more.
func (s *Source) page(ctx context.Context, one *account, q provider.Query, at place) (provider.Page, error) {
	g := gathering{kind: q.Type, limit: q.Limit}
	first := at == place{}
	for range mediaPages {
		said, err := s.discover(ctx, one, q.Username, func() []string { return wantedItems(q.Type, first, at.cursor) })
		if err != nil {
			return provider.Page{}, err
		}
		if first && q.Type != provider.Posts && q.Type != provider.Reels {
			g.add(said.avatar())
		}
		first = false
		if last, enough := g.take(said.Media, at.last, s.now()); enough {
			return provider.Page{Items: g.items, Next: place{at.cursor, last}.String()}, nil
		}
		cursor, err := said.Media.after()
		if err != nil {
			return provider.Page{}, err
		}
		at = place{cursor: cursor}
		if at.cursor == "" || len(g.items) >= q.Limit {
			break
		}
	}
	return provider.Page{Items: g.items, Next: at.String()}, nil
}

// wantedItems are the fields that are asked for.
func wantedItems(kind string, first bool, cursor string) []string {
	var fields []string
	if first {
		fields = []string{"id", "profile_picture_url"}
	}
	if kind != provider.Avatar {
		fields = append(fields, expression(postsEach, cursor, ofMedia))
	}
	return fields
}

// avatar is the picture of a profile.
func (d discovered) avatar() provider.Item {
	return provider.Item{ID: wire.ID(avatarPrefix + d.ID), Kind: provider.Image, URL: wire.Address(d.Picture)}
}

// gathering is a page of items under way.
type gathering struct {
	kind  string
	limit int
	items []provider.Item
}

// add takes an item that has a file: a video with music under licence has none, nor one whose owner does not want it
// downloaded.
func (g *gathering) add(item provider.Item) {
	if item.URL != "" && item.Kind != "" && item.ID != "" {
		g.items = append(g.items, item)
	}
}

// take takes the items of a page of Instagram's that come after the one that was last given. Where that fills the page
// and leaves some, it gives the last one that was taken.
func (g *gathering) take(l list, given string, now time.Time) (string, bool) {
	whole := gathering{kind: g.kind}
	for _, m := range l.media() {
		if g.kind == provider.Reels && !m.reel() {
			continue
		}
		for _, item := range m.items(now) {
			whole.add(item)
		}
	}
	fresh := behind(whole.items, given)
	room := max(g.limit-len(g.items), 0)
	if len(fresh) <= room {
		g.items = append(g.items, fresh...)
		return "", false
	}
	g.items = append(g.items, fresh[:room]...)
	if len(g.items) > 0 {
		given = g.items[len(g.items)-1].ID
	}
	return given, true
}

// behind are the items after the one of an id; all of them where it is gone.
func behind(items []provider.Item, id string) []provider.Item {
	for i, item := range items {
		if item.ID == id {
			return items[i+1:]
		}
	}
	return items
}

// items are the images and videos of a post.
func (m medium) items(now time.Time) []provider.Item {
	parts := []medium{m}
	if children := m.Children.media(); len(children) > 0 {
		parts = children
	}
	var items []provider.Item
	for _, part := range parts {
		items = append(items, provider.Item{
			ID: wire.ID(part.ID), Kind: part.kind(), URL: wire.Address(part.URL), TakenAt: wire.Stamp(m.Timestamp, now), Caption: wire.Text(m.Caption, wire.MaxText),
		})
	}
	return items
}

// kind is that of an item; a carousel is none, but what it shows.
func (m medium) kind() string {
	switch m.format() {
	case provider.FormatImage:
		return provider.Image
	case provider.FormatVideo, provider.FormatReel:
		return provider.Video
	}
	return ""
}
