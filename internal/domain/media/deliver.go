package media

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom/internal/apierr"
	"pressroom/internal/network"
	"pressroom/internal/platform/blob"
)

// Opened is a file that is being read.
type Opened struct {
	blob.Reader

	Name    string
	Type    string // MIME
	ETag    string // quoted, of the bytes
	ModTime time.Time
	// by the machine's clock, from when on none of its bytes may be given out any more; zero for never
	Ends time.Time
}

// OpenFile opens an item of one of a person's teams without its metadata, or its thumbnail.
func (s *Service) OpenFile(ctx context.Context, person, id int64, thumbnail bool) (Opened, error) {
	i, err := s.itemFor(ctx, person, id)
	if err != nil {
		return Opened{}, err
	}
	if thumbnail {
		return s.openThumbnail(ctx, i)
	}
	return s.openItem(ctx, i)
}

// OpenOf opens an item of a team, without its metadata. The caller has checked that the team may be read.
func (s *Service) OpenOf(ctx context.Context, team, id int64) (Opened, error) {
	i, err := item(ctx, s.db, team, id)
	if err != nil {
		return Opened{}, err
	}
	return s.openItem(ctx, i)
}

// ThumbnailOf opens the thumbnail of a team's image, for callers that have seen that the team may be read.
func (s *Service) ThumbnailOf(ctx context.Context, team, id int64) (Opened, error) {
	i, err := item(ctx, s.db, team, id)
	if err != nil {
		return Opened{}, err
	}
	return s.openThumbnail(ctx, i)
}

func (s *Service) openThumbnail(ctx context.Context, i Item) (Opened, error) {
	if i.Thumbnail == "" {
		return Opened{}, apierr.New(apierr.NotFound, "This file has no thumbnail.")
	}
	out := Opened{
		Name: "thumbnail of " + i.Name, Type: i.ThumbnailType, ETag: `"` + hex.EncodeToString(i.SHA256) + `-t"`,
		ModTime: i.CreatedAt,
	}
	var err error
	out.Reader, err = s.openBlob(ctx, i.Thumbnail)
	return out, err
}

func (s *Service) openBlob(ctx context.Context, key string) (blob.Reader, error) {
	r, err := s.Blobs.Open(ctx, key)
	if err != nil {
		return nil, fmt.Errorf("opening the bytes of a media item: %w", err)
	}
	return r, nil
}

// PublicPath is where networks fetch media from, below the public address.
const PublicPath = "/files/"

// grant is what a signed link opens: an item until a time, made to fit.
type grant struct {
	item  int64
	until time.Time
	fit   network.FileLimits
}

const (
	tokenVersion = 1
	tokenBody    = 1 + 8 + 8 + 8 + 4 + 1 // version, item, end in seconds, most bytes, longest side, types
	tokenSum     = 16                    // bytes of HMAC-SHA-256
)

var tokenText = base64.RawURLEncoding.Strict()

// token writes a grant. Its types are those of Types, a bit each.
func (s *Service) token(g grant) string {
	body := []byte{tokenVersion}
	body = binary.BigEndian.AppendUint64(body, uint64(g.item))         //nolint:gosec // ids are positive
	body = binary.BigEndian.AppendUint64(body, uint64(g.until.Unix())) //nolint:gosec // after 1970
	body = binary.BigEndian.AppendUint64(body, uint64(g.fit.MaxBytes)) //nolint:gosec // never negative
	body = binary.BigEndian.AppendUint32(body, uint32(g.fit.MaxSide))  //nolint:gosec // never negative
	var types byte
	for n, mime := range Types {
		if slices.Contains(g.fit.Types, mime) {
			types |= 1 << n
		}
	}
	body = append(body, types)
	return tokenText.EncodeToString(append(body, s.links.Sign(body)[:tokenSum]...))
}

// granted reads a token that this service signed and whose time is not over.
func (s *Service) granted(token string) (grant, bool) {
	raw, err := tokenText.DecodeString(token)
	if err != nil || len(raw) != tokenBody+tokenSum || raw[0] != tokenVersion || !s.links.Verify(raw[:tokenBody],
		raw[tokenBody:]) {
		return grant{}, false
	}
	g := grant{
		item:  int64(binary.BigEndian.Uint64(raw[1:])),               //nolint:gosec // as it was written
		until: time.Unix(int64(binary.BigEndian.Uint64(raw[9:])), 0), //nolint:gosec // as it was written
		fit: network.FileLimits{
			MaxBytes: int64(binary.BigEndian.Uint64(raw[17:])), MaxSide: int(binary.BigEndian.Uint32(raw[25:])),
		}, //nolint:gosec // as it was written
	}
	for n, mime := range Types {
		if raw[29]&(1<<n) != 0 {
			g.fit.Types = append(g.fit.Types, mime)
		}
	}
	return g, s.db.Now().Before(g.until)
}

var errNoSuchLink = apierr.New(apierr.NotFound, "There is no such file, or its link has expired.")

// Public opens the item of a signed link, made to fit as the link says. The link's end is that of its bytes too: a
// network that gets them later might show a post that is believed to be none by then, and was sent anew.
func (s *Service) Public(ctx context.Context, token string) (Opened, error) {
	g, ok := s.granted(token)
	if !ok {
		return Opened{}, errNoSuchLink
	}
	ends := time.Now().Add(g.until.Sub(s.db.Now()))
	var i Item
	err := scanItem(s.db.QueryRow(ctx, `SELECT `+columns+` FROM media m WHERE m.id = ? AND m.deleted_at = 0`, g.item),
		&i)
	if errors.Is(err, sql.ErrNoRows) {
		return Opened{}, errNoSuchLink
	}
	if err != nil {
		return Opened{}, fmt.Errorf("looking for the item of a link: %w", err)
	}
	opened, err := s.openFitted(ctx, i, g.fit)
	if err != nil {
		return Opened{}, fmt.Errorf("opening the item of a link: %w", err)
	}
	opened.Ends = ends
	return opened, nil
}
