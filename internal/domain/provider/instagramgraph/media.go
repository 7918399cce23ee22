package instagramgraph

import (
	"context"
	"io"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/provider"
	"pressroom.example/pressroom/internal/domain/provider/wire"
)

const (
	mediaFields   = "id,caption,media_type,media_product_type,media_url,timestamp,children{id,media_type,media_url}"
	maxMediaPages = 10 // maximum number of Instagram pages to read for one page of items
	avatarPrefix  = "avatar_"
)

// ProfileMedia returns a page of a professional account's media: its avatar, posts or reels. It returns the same errors
// as Profile.
func (s *Source) ProfileMedia(ctx context.Context, q provider.Query) (provider.Page, error) {
	supported := q.Type == provider.Profile || q.Type == provider.Avatar || q.Type == provider.Posts ||
		q.Type == provider.Reels
	if q.Platform != provider.Instagram || !supported {
		return provider.Page{}, provider.ErrNotOffered
	}
	start, ok := parsePosition(q.Cursor)
	if !ok {
		return provider.Page{}, wire.Unavailable("invalid cursor")
	}
	if !namePattern.MatchString(q.Username) {
		return provider.Page{}, provider.ErrNotFound
	}
	var page provider.Page
	err := s.tryAccounts(ctx, func(acct *accountState) error {
		var err error
		page, err = s.page(ctx, acct, q, start)
		return err
	})
	return page, err
}

// Fetch downloads a file. It returns the errors of Options.FetchPublic.
func (s *Source) Fetch(ctx context.Context, address string, limit int64, dst io.Writer) error {
	return s.opts.FetchPublic(ctx, address, limit, dst)
}

// pagePosition is the start of a page of items. An Instagram cursor is not enough, because it points only to the start
// of an Instagram page, and a post may have several items.
type pagePosition struct {
	cursor string // cursor of the Instagram page that has the next item; empty for the first page
	lastID string // ID of the last item that was returned from that page, or empty
}

// parsePosition is the inverse of pagePosition.String. It reports false for invalid text.
func parsePosition(text string) (pagePosition, bool) {
	cursor, last, _ := strings.Cut(text, "~")
	at := pagePosition{cursor, last}
	return at, (cursor == "" || cursorPattern.MatchString(cursor)) && (last == "" || wire.ID(last) == last)
}

func (p pagePosition) String() string {
	if p.lastID == "" {
		return p.cursor
	}
	return p.cursor + "~" + p.lastID
}

// page reads Instagram pages until a page of items is full or there are no more items.
func (s *Source) page(ctx context.Context, acct *accountState, q provider.Query, start pagePosition) (provider.Page, error) {
	out := itemPage{kind: q.Type, limit: q.Limit}
	isFirst := start == pagePosition{}
	for range maxMediaPages {
		parsed, err := s.discover(ctx, acct, q.Username, func() []string {
			return mediaQueryFields(q.Type, isFirst,
				start.cursor)
		})
		if err != nil {
			return provider.Page{}, err
		}
		if isFirst && q.Type != provider.Posts && q.Type != provider.Reels {
			out.add(parsed.avatar())
		}
		isFirst = false
		if last, isFull := out.addFrom(parsed.Media, start.lastID, s.now()); isFull {
			return provider.Page{Items: out.items, Next: pagePosition{start.cursor, last}.String()}, nil
		}
		cursor, err := parsed.Media.nextCursor()
		if err != nil {
			return provider.Page{}, err
		}
		start = pagePosition{cursor: cursor}
		if start.cursor == "" || len(out.items) >= q.Limit {
			break
		}
	}
	return provider.Page{Items: out.items, Next: start.String()}, nil
}

// mediaQueryFields returns the fields to request for a page of media.
func mediaQueryFields(kind string, isFirst bool, cursor string) []string {
	var fields []string
	if isFirst {
		fields = []string{"id", "profile_picture_url"}
	}
	if kind != provider.Avatar {
		fields = append(fields, mediaExpression(pageSize, cursor, mediaFields))
	}
	return fields
}

// avatar returns the profile picture.
func (b businessAccount) avatar() provider.Item {
	return provider.Item{ID: wire.ID(avatarPrefix + b.ID), Kind: provider.Image, URL: wire.URL(b.Picture)}
}

// itemPage is a page of items under construction.
type itemPage struct {
	kind  string
	limit int
	items []provider.Item
}

// add adds an item if it has a file. A video has no file if it contains licensed music, or if its owner disabled
// downloads.
func (p *itemPage) add(item provider.Item) {
	if item.URL != "" && item.Kind != "" && item.ID != "" {
		p.items = append(p.items, item)
	}
}

// addFrom adds the items of an Instagram page that follow the item lastID. If some of them do not fit, it returns the
// ID of the last added item and true.
func (p *itemPage) addFrom(l mediaList, lastID string, now time.Time) (string, bool) {
	parsed := itemPage{kind: p.kind}
	for _, m := range l.media() {
		if p.kind == provider.Reels && !m.isReel() {
			continue
		}
		for _, item := range m.items(now) {
			parsed.add(item)
		}
	}
	newItems := itemsAfter(parsed.items, lastID)
	capacity := max(p.limit-len(p.items), 0)
	if len(newItems) <= capacity {
		p.items = append(p.items, newItems...)
		return "", false
	}
	p.items = append(p.items, newItems[:capacity]...)
	if len(p.items) > 0 {
		lastID = p.items[len(p.items)-1].ID
	}
	return lastID, true
}

// itemsAfter returns the items that follow the item with the given ID, or all items if there is no such item.
func itemsAfter(items []provider.Item, id string) []provider.Item {
	for i, item := range items {
		if item.ID == id {
			return items[i+1:]
		}
	}
	return items
}

// items returns the images and videos of a post.
func (m mediaObject) items(now time.Time) []provider.Item {
	parts := []mediaObject{m}
	if children := m.Children.media(); len(children) > 0 {
		parts = children
	}
	var items []provider.Item
	for _, part := range parts {
		items = append(items, provider.Item{
			ID: wire.ID(part.ID), Kind: part.kind(), URL: wire.URL(part.URL), TakenAt: wire.ParseTime(m.Timestamp, now),
			Caption: wire.Text(m.Caption, wire.MaxText),
		})
	}
	return items
}

// kind returns the kind of the item, or "" for a carousel or an unknown type.
func (m mediaObject) kind() string {
	switch m.format() {
	case provider.FormatImage:
		return provider.Image
	case provider.FormatVideo, provider.FormatReel:
		return provider.Video
	}
	return ""
}
