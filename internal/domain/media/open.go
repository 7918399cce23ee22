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

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/blob"
)

// File is an open file of the library.
type File struct {
	blob.Reader

	Name    string
	Type    string // MIME
	ETag    string // quoted entity tag of the bytes
	ModTime time.Time
	// ExpiresAt is when serving the bytes must stop, by this machine's clock. It is zero if there is no limit.
	ExpiresAt time.Time
}

// OpenFile opens an item that belongs to one of a person's teams: its thumbnail if thumbnail is set, or else the item
// without its metadata.
func (s *Service) OpenFile(ctx context.Context, person, id int64, thumbnail bool) (File, error) {
	i, err := s.findItemForPerson(ctx, person, id)
	if err != nil {
		return File{}, err
	}
	if thumbnail {
		return s.openThumbnail(ctx, i)
	}
	return s.openItem(ctx, i)
}

// OpenForTeam opens one of a team's items without its metadata. The caller must check access to the team.
func (s *Service) OpenForTeam(ctx context.Context, team, id int64) (File, error) {
	i, err := findItem(ctx, s.db, team, id)
	if err != nil {
		return File{}, err
	}
	return s.openItem(ctx, i)
}

// ThumbnailForTeam opens the thumbnail of a team's image. The caller must check access to the team.
func (s *Service) ThumbnailForTeam(ctx context.Context, team, id int64) (File, error) {
	i, err := findItem(ctx, s.db, team, id)
	if err != nil {
		return File{}, err
	}
	return s.openThumbnail(ctx, i)
}

func (s *Service) openThumbnail(ctx context.Context, i Item) (File, error) {
	if i.Thumbnail == "" {
		return File{}, apierr.New(apierr.NotFound, "This file has no thumbnail.")
	}
	out := File{
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

// PublicPath is the path below the public URL where networks fetch media.
const PublicPath = "/files/"

// linkClaims holds the content of a signed link: an item, the limits that the file must fit, and the expiry.
type linkClaims struct {
	item      int64
	expiresAt time.Time
	limits    network.FileLimits
}

const (
	tokenVersion  = 1
	tokenBodySize = 1 + 8 + 8 + 8 + 4 + 1 // version, item, expiry in seconds, maximum bytes, maximum side, types
	tokenSumSize  = 16                    // bytes of HMAC-SHA-256
)

var tokenEncoding = base64.RawURLEncoding.Strict()

// signToken returns the token of a link with these claims. The accepted types are encoded as one bit for each element
// of Types.
func (s *Service) signToken(c linkClaims) string {
	body := []byte{tokenVersion}
	body = binary.BigEndian.AppendUint64(body, uint64(c.item))             //nolint:gosec // IDs are positive
	body = binary.BigEndian.AppendUint64(body, uint64(c.expiresAt.Unix())) //nolint:gosec // after 1970
	body = binary.BigEndian.AppendUint64(body, uint64(c.limits.MaxBytes))  //nolint:gosec // never negative
	body = binary.BigEndian.AppendUint32(body, uint32(c.limits.MaxSide))   //nolint:gosec // never negative
	var types byte
	for n, mime := range Types {
		if slices.Contains(c.limits.Types, mime) {
			types |= 1 << n
		}
	}
	body = append(body, types)
	return tokenEncoding.EncodeToString(append(body, s.links.Sign(body)[:tokenSumSize]...))
}

// parseToken returns the claims of a token. It reports whether this service signed the token and the token has not
// expired.
func (s *Service) parseToken(token string) (linkClaims, bool) {
	raw, err := tokenEncoding.DecodeString(token)
	if err != nil || len(raw) != tokenBodySize+tokenSumSize || raw[0] != tokenVersion || !s.links.Verify(raw[:tokenBodySize],
		raw[tokenBodySize:]) {
		return linkClaims{}, false
	}
	c := linkClaims{
		item:      int64(binary.BigEndian.Uint64(raw[1:])),               //nolint:gosec // as it was written
		expiresAt: time.Unix(int64(binary.BigEndian.Uint64(raw[9:])), 0), //nolint:gosec // as it was written
		limits: network.FileLimits{
			MaxBytes: int64(binary.BigEndian.Uint64(raw[17:])), //nolint:gosec // as it was written
			MaxSide:  int(binary.BigEndian.Uint32(raw[25:])),
		},
	}
	for n, mime := range Types {
		if raw[29]&(1<<n) != 0 {
			c.limits.Types = append(c.limits.Types, mime)
		}
	}
	return c, s.db.Now().Before(c.expiresAt)
}

var errNoSuchLink = apierr.New(apierr.NotFound, "File not found, or its link has expired.")

// OpenPublic opens the item of a signed link, resized to the limits in the link. The bytes must not be served after the
// link expires. A network that received them later could publish a post whose delivery has already failed and been
// retried.
func (s *Service) OpenPublic(ctx context.Context, token string) (File, error) {
	claims, ok := s.parseToken(token)
	if !ok {
		return File{}, errNoSuchLink
	}
	expiresAt := time.Now().Add(claims.expiresAt.Sub(s.db.Now()))
	var i Item
	err := scanItem(s.db.QueryRow(ctx, `SELECT `+columns+` FROM media m WHERE m.id = ? AND m.deleted_at = 0`, claims.item),
		&i)
	if errors.Is(err, sql.ErrNoRows) {
		return File{}, errNoSuchLink
	}
	if err != nil {
		return File{}, fmt.Errorf("finding the item of a link: %w", err)
	}
	file, err := s.openFitted(ctx, i, claims.limits)
	if err != nil {
		return File{}, fmt.Errorf("opening the item of a link: %w", err)
	}
	file.ExpiresAt = expiresAt
	return file, nil
}
