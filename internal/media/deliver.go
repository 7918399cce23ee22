package media

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"pressroom/internal/blob"
	"pressroom/internal/fault"
)

// Opened is a file that is being read.
type Opened struct {
	blob.Reader

	Name    string
	Type    string // MIME
	ETag    string // quoted, of the bytes
	ModTime time.Time
}

// OpenFile opens an item of one of a person's teams, or its thumbnail.
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

func (s *Service) openItem(ctx context.Context, i Item) (Opened, error) {
	out := Opened{Name: i.FileName, Type: i.Type, ETag: `"` + hex.EncodeToString(i.SHA256) + `"`, ModTime: i.CreatedAt}
	var err error
	out.Reader, err = s.openBlob(ctx, i.Blob)
	return out, err
}

func (s *Service) openThumbnail(ctx context.Context, i Item) (Opened, error) {
	if i.Thumbnail == "" {
		return Opened{}, fault.New(fault.NotFound, "This file has no thumbnail.")
	}
	out := Opened{Name: "thumbnail of " + i.Name, Type: i.ThumbnailType, ETag: `"` + hex.EncodeToString(i.SHA256) + `-t"`, ModTime: i.CreatedAt}
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

// SignedURL makes a link by which a network can fetch an item without signing in, until a time.
func (s *Service) SignedURL(i Item, until time.Time) string {
	return s.PublicURL + PublicPath + s.token(i.ID, until) + "/" + url.PathEscape(i.FileName)
}

const (
	tokenVersion = 1
	tokenBody    = 1 + 8 + 8 // version, item, end in seconds
	tokenSum     = 16        // bytes of HMAC-SHA-256
)

var tokenText = base64.RawURLEncoding.Strict()

func (s *Service) token(id int64, until time.Time) string {
	body := []byte{tokenVersion}
	body = binary.BigEndian.AppendUint64(body, uint64(id))           //nolint:gosec // ids are positive
	body = binary.BigEndian.AppendUint64(body, uint64(until.Unix())) //nolint:gosec // after 1970
	return tokenText.EncodeToString(append(body, s.sign(body)...))
}

func (s *Service) sign(body []byte) []byte {
	mac := hmac.New(sha256.New, s.links)
	mac.Write(body)
	return mac.Sum(nil)[:tokenSum]
}

var errNoSuchLink = fault.New(fault.NotFound, "There is no such file, or its link has expired.")

// Public opens the item of a signed link.
func (s *Service) Public(ctx context.Context, token string) (Opened, error) {
	raw, err := tokenText.DecodeString(token)
	if err != nil || len(raw) != tokenBody+tokenSum || raw[0] != tokenVersion || !hmac.Equal(raw[tokenBody:], s.sign(raw[:tokenBody])) {
		return Opened{}, errNoSuchLink
	}
	id, until := int64(binary.BigEndian.Uint64(raw[1:])), time.Unix(int64(binary.BigEndian.Uint64(raw[9:])), 0) //nolint:gosec // signed, so as it was made
	if !s.db.Now().Before(until) {
		return Opened{}, errNoSuchLink
	}
	var i Item
	err = scanItem(s.db.QueryRow(ctx, `SELECT `+columns+` FROM `+tables+` WHERE m.id = ?`, id), &i)
	if errors.Is(err, sql.ErrNoRows) {
		return Opened{}, errNoSuchLink
	}
	if err != nil {
		return Opened{}, fmt.Errorf("looking for the item of a link: %w", err)
	}
	return s.openItem(ctx, i)
}
