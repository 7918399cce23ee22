package media

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"pressroom/internal/apierr"
	"pressroom/internal/network"
	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/loadshed"
	"pressroom/internal/platform/mediainfo"
	"pressroom/internal/platform/stripmeta"
)

// outgoing opens an item as it may leave the service: without metadata, and made to fit if it must be.
func (s *Service) outgoing(ctx context.Context, i Item, fit network.FileLimits) (derived, blob.Reader, error) {
	if !fits(i, fit) {
		return s.derive(ctx, i, s.fitted(fit))
	}
	if i.Clean {
		r, err := s.openBlob(ctx, i.Blob)
		return i.asStored(), r, err
	}
	d, r, err := s.derive(ctx, i, withoutMetadata)
	if errors.Is(err, mediainfo.ErrDamaged) && i.Kind == Image {
		// Its pixels can be decoded, as those of every image of the library, but not told from its metadata.
		return s.derive(ctx, i, s.fitted(fit))
	}
	return d, r, err
}

// asStored describes the stored bytes of an item.
func (i Item) asStored() derived {
	return derived{
		media: i.ID, team: i.TeamID, sha256: i.SHA256, mime: i.Type, size: i.Stored, width: i.Width, height: i.Height,
	}
}

// withoutMetadata is the recipe of a copy without metadata.
var withoutMetadata = recipe{
	variant: "clean-1",
	make: func(_ context.Context, i Item, from blob.Reader, into io.Writer) (shape, error) {
		file := &blocks{from: from}
		edits, err := stripmeta.Scan(file, from.Size(), i.Type)
		if err != nil {
			return shape{}, fmt.Errorf("looking for metadata: %w", err)
		}
		if edits.Empty() {
			return shape{}, errUnchanged
		}
		if _, err := io.Copy(into, edits.Apply(file)); err != nil {
			return shape{}, fmt.Errorf("removing metadata: %w", err)
		}
		return shape{i.Type, i.Width, i.Height}, nil
	},
}

// errNotClean is what people are told of a video from before metadata was removed on arrival.
var errNotClean = apierr.BadState("damaged",
	"The structure of this video is damaged, so its metadata cannot be removed. Delete it and upload a new copy.")

// errNotDecoded is the error about an image from before the bounds of decoding.
var errNotDecoded = apierr.BadState("damaged",
	"This image is damaged or out of bounds. Save it again, a photo as a baseline (not progressive) JPEG, and upload "+
		"the new copy.")

// openItem opens an item without its metadata.
func (s *Service) openItem(ctx context.Context, i Item) (Opened, error) {
	return s.openFitted(ctx, i, network.FileLimits{})
}

func (s *Service) openFitted(ctx context.Context, i Item, fit network.FileLimits) (Opened, error) {
	d, r, err := s.outgoing(ctx, i, fit)
	switch {
	case errors.Is(err, loadshed.ErrBusy) && i.Kind == Video:
		return Opened{}, errVideosBusy.Wrap(err)
	case errors.Is(err, loadshed.ErrBusy):
		return Opened{}, errPicturesBusy.Wrap(err)
	case errors.Is(err, mediainfo.ErrDamaged) && i.Kind == Video:
		return Opened{}, errNotClean.Wrap(err)
	case errors.Is(err, mediainfo.ErrDamaged):
		return Opened{}, errNotDecoded.Wrap(err)
	case err != nil:
		return Opened{}, err
	}
	out := Opened{Reader: r, Name: i.FileName, Type: d.mime, ETag: d.etag(), ModTime: i.CreatedAt}
	if d.mime != i.Type {
		_, out.Name = called(i.Name, "", d.mime)
	}
	return out, nil
}

// OpenOriginal opens the stored bytes of an item, metadata included, for a person who may write in its team.
func (s *Service) OpenOriginal(ctx context.Context, person, id int64) (Opened, error) {
	i, err := s.itemFor(ctx, person, id)
	if err != nil {
		return Opened{}, err
	}
	if _, err := s.mayWrite(ctx, person, i.TeamID); err != nil {
		return Opened{}, err
	}
	out := Opened{Name: i.FileName, Type: i.Type, ETag: `"` + hex.EncodeToString(i.SHA256) + `"`, ModTime: i.CreatedAt}
	out.Reader, err = s.openBlob(ctx, i.Blob)
	return out, err
}

// OpenForExport opens an item for the export of its team's data: the stored bytes if the team keeps originals, else
// without metadata. Nothing is kept of what is made for an export. An item that cannot be had is not_found.
func (s *Service) OpenForExport(ctx context.Context, team, id int64) (io.ReadCloser, error) {
	i, err := item(ctx, s.db, team, id)
	if err != nil {
		return nil, err
	}
	keeps, err := keepsOriginals(ctx, s.db, team)
	if err != nil {
		return nil, err
	}
	r, err := s.openBlob(ctx, i.Blob)
	if err != nil || i.Clean || keeps {
		return r, err
	}
	file := &blocks{from: r}
	edits, err := s.scan(ctx, i, file)
	if err == nil {
		return exported{edits.Apply(file), r}, nil
	}
	if errors.Is(err, loadshed.ErrBusy) {
		return nil, errors.Join(errVideosBusy.Wrap(err), r.Close())
	}
	err = errors.Join(err, r.Close())
	if !errors.Is(err, mediainfo.ErrDamaged) || i.Kind != Image {
		return nil, apierr.Missing().Wrap(err)
	}
	return s.openItem(ctx, i)
}

// scan looks for the metadata of an item that is exported. A video waits for its team's turn.
func (s *Service) scan(ctx context.Context, i Item, file *blocks) (stripmeta.Edits, error) {
	leave, err := s.videoTurn(ctx, i)
	if err != nil {
		return stripmeta.Edits{}, err
	}
	defer leave()
	edits, err := stripmeta.Scan(file, file.from.Size(), i.Type)
	if err != nil {
		return edits, fmt.Errorf("looking for metadata: %w", err)
	}
	return edits, nil
}

// exported is a file that is read without its metadata.
type exported struct {
	io.Reader
	io.Closer
}
