package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// Files returns a network.Files that reads a team's media.
func (s *Service) Files(team int64) network.Files { return files{s, team} }

// files implements network.Files.
type files struct {
	s    *Service
	team int64
}

// Open opens an item without its metadata, resized or converted if the network requires it. Videos are never converted.
func (f files) Open(ctx context.Context, id int64, fit network.FileLimits) (network.File, error) {
	i, err := findItem(ctx, f.s.db, f.team, id)
	if apierr.Is(err, apierr.NotFound) {
		return network.File{}, newRejectedMediaError("MediaGone", err)
	}
	if err != nil {
		return network.File{}, err
	}
	if !fits(i, fit) {
		if err := checkConvertible(i, fit); err != nil {
			return network.File{}, err
		}
	}
	d, r, err := f.s.openStripped(ctx, i, fit)
	switch {
	case errors.Is(err, mediainfo.ErrDamaged), errors.Is(err, thumbnail.ErrTooLarge), errors.Is(err,
		thumbnail.ErrUnsupported), errors.Is(err, thumbnail.ErrCannotFit):
		return network.File{}, newRejectedMediaError("MediaDoesNotFit", err)
	case err != nil:
		return network.File{}, fmt.Errorf("opening a file for a network: %w", err)
	}
	return network.File{ReadCloser: r, Type: d.mime, Size: d.size, Width: d.width, Height: d.height}, nil
}

// fitTransform returns the transform that converts an image so that it fits a network's limits. The variant contains
// only the limits that affect the bytes, so that networks with equivalent limits share a derived file.
func (s *Service) fitTransform(fit network.FileLimits) transform {
	limits := imageBounds(fit)
	return transform{
		variant: fmt.Sprintf("fit-1 %s %d %d", limits.Type(), fit.MaxBytes, fit.MaxSide),
		make: func(ctx context.Context, i Item, src blob.Reader, dst io.Writer) (outputInfo, error) {
			img, err := s.images.Fit(ctx, i.TeamID, src, i.info(), limits)
			if err != nil {
				return outputInfo{}, err
			}
			if _, err := dst.Write(img.Bytes); err != nil {
				return outputInfo{}, fmt.Errorf("writing a fitted image: %w", err)
			}
			return outputInfo{img.Type, img.Width, img.Height}, nil
		},
	}
}

// Link returns a signed URL for one of the team's items. The URL expires at until.
func (f files) Link(ctx context.Context, id int64, fit network.FileLimits, until time.Time) (string, error) {
	i, err := findItem(ctx, f.s.db, f.team, id)
	if apierr.Is(err, apierr.NotFound) {
		return "", newRejectedMediaError("MediaGone", err)
	}
	if err != nil {
		return "", err
	}
	name := i.FileName
	if !fits(i, fit) {
		if err := checkConvertible(i, fit); err != nil {
			return "", err
		}
		_, name = filename.ForType(i.Name, "", imageBounds(fit).Type())
	}
	return f.s.PublicURL + PublicPath + f.s.signToken(linkClaims{id, until, fit}) + "/" + url.PathEscape(name), nil
}

// checkConvertible returns an error for media that cannot be converted: videos, and images for a network that accepts
// none of the supported output formats.
func checkConvertible(i Item, fit network.FileLimits) error {
	if i.Kind != Image || imageBounds(fit).Type() == "" {
		return newRejectedMediaError("MediaDoesNotFit",
			fmt.Errorf("media item %d does not fit the network's limits and cannot be converted", i.ID))
	}
	return nil
}

func imageBounds(fit network.FileLimits) thumbnail.Limits {
	return thumbnail.Limits{Types: fit.Types, MaxBytes: fit.MaxBytes, MaxSide: fit.MaxSide}
}

// fits reports whether the stored bytes of an item are within a network's limits.
func fits(i Item, fit network.FileLimits) bool {
	return (len(fit.Types) == 0 || slices.Contains(fit.Types, i.Type)) && (fit.MaxBytes == 0 ||
		i.StoredSize <= fit.MaxBytes) && (fit.MaxSide == 0 || max(i.Width, i.Height) <= fit.MaxSide)
}

func newRejectedMediaError(code string, err error) error {
	return &network.Error{Class: network.RejectedMedia, Code: code, Err: err}
}

// info returns the properties that were read when the item was added.
func (i Item) info() mediainfo.Info {
	return mediainfo.Info{
		Type: i.Type, Kind: i.Kind, Width: i.Width, Height: i.Height, Orientation: i.Detail.Orientation,
		Animated: i.Detail.Animated, DecodeBytes: i.Detail.DecodeBytes,
	}
}

// ForPost returns a post's media in the form that the network package uses, in the order of ids. It returns not_found
// with the argument's name if an item is missing.
func (s *Service) ForPost(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error) {
	return postMedia(ctx, q, team, ids, ` AND m.deleted_at = 0`)
}

// ForPostWithDeleted is like ForPost but includes deleted files, with Gone set.
func (s *Service) ForPostWithDeleted(ctx context.Context, q db.Querier, team int64,
	ids []int64) ([]network.Media, error) {
	return postMedia(ctx, q, team, ids, ``)
}

func postMedia(ctx context.Context, q db.Querier, team int64, ids []int64, condition string) ([]network.Media, error) {
	out := make([]network.Media, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	items, err := db.All(ctx, q, scanItems,
		`SELECT `+columns+` FROM media m WHERE m.team_id = ? AND m.id IN (`+db.Placeholders(len(ids))+`)`+condition,
		db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading the media of a post: %w", err)
	}
	for n, id := range ids {
		index := slices.IndexFunc(items, func(i Item) bool { return i.ID == id })
		if index < 0 {
			return nil, apierr.ItemNotFound().With("argument", "media_ids")
		}
		i := items[index]
		out[n] = network.Media{
			ID: i.ID, Name: i.Name, Kind: i.Kind, Type: i.Type, Size: i.StoredSize, Width: i.Width, Height: i.Height,
			Duration: i.Duration, Alt: i.Alt, Gone: !i.DeletedAt.IsZero(),
		}
	}
	return out, nil
}
