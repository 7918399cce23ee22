package media

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
)

// openStripped opens an item without metadata, and resized if needed. All files that leave the service are opened here,
// except by OpenOriginal and OpenForExport.
func (s *Service) openStripped(ctx context.Context, i Item, fit network.FileLimits) (derivedFile, blob.Reader, error) {
	if !fits(i, fit) {
		return s.derive(ctx, i, s.fitTransform(fit))
	}
	if i.Clean {
		r, err := s.openBlob(ctx, i.Blob)
		return i.describeStored(), r, err
	}
	d, r, err := s.derive(ctx, i, stripTransform)
	if errors.Is(err, mediainfo.ErrDamaged) && i.Kind == Image {
		// Every stored image can be decoded. An image whose metadata cannot be located is therefore encoded again.
		return s.derive(ctx, i, s.fitTransform(fit))
	}
	return d, r, err
}

// describeStored describes an item's stored bytes.
func (i Item) describeStored() derivedFile {
	return derivedFile{
		media: i.ID, team: i.TeamID, sha256: i.SHA256, mime: i.Type, size: i.StoredSize, width: i.Width,
		height: i.Height,
	}
}

// stripTransform is the transform that makes a copy without metadata.
var stripTransform = transform{
	variant: "clean-1",
	make: func(_ context.Context, i Item, src blob.Reader, dst io.Writer) (outputInfo, error) {
		file := blob.NewBlockReader(src)
		edits, err := stripmeta.Scan(file, src.Size(), i.Type)
		if err != nil {
			return outputInfo{}, fmt.Errorf("finding metadata: %w", err)
		}
		if edits.Empty() {
			return outputInfo{}, errUnchanged
		}
		if _, err := io.Copy(dst, edits.Apply(file)); err != nil {
			return outputInfo{}, fmt.Errorf("removing metadata: %w", err)
		}
		return outputInfo{i.Type, i.Width, i.Height}, nil
	},
}

// errNotClean is the error for a damaged video that was added before metadata was removed on upload.
var errNotClean = apierr.BadState("damaged",
	"The structure of this video is damaged, so its metadata cannot be removed. Delete it and upload a new copy.")

// errNotDecoded is the error for an image that was added before there was a limit on decoding.
var errNotDecoded = apierr.BadState("damaged",
	"This image is damaged or too large to decode. Save it again (a photo as a baseline JPEG, not a progressive "+
		"one) and upload the new copy.")

// openItem opens an item without its metadata.
func (s *Service) openItem(ctx context.Context, i Item) (File, error) {
	return s.openFitted(ctx, i, network.FileLimits{})
}

func (s *Service) openFitted(ctx context.Context, i Item, fit network.FileLimits) (File, error) {
	d, r, err := s.openStripped(ctx, i, fit)
	switch {
	case errors.Is(err, loadshed.ErrBusy) && i.Kind == Video:
		return File{}, errVideosBusy.Wrap(err)
	case errors.Is(err, loadshed.ErrBusy):
		return File{}, errImagesBusy.Wrap(err)
	case errors.Is(err, mediainfo.ErrDamaged) && i.Kind == Video:
		return File{}, errNotClean.Wrap(err)
	case errors.Is(err, mediainfo.ErrDamaged):
		return File{}, errNotDecoded.Wrap(err)
	case err != nil:
		return File{}, err
	}
	out := File{Reader: r, Name: i.FileName, Type: d.mime, ETag: d.etag(), ModTime: i.CreatedAt}
	if d.mime != i.Type {
		_, out.Name = filename.ForType(i.Name, "", d.mime)
	}
	return out, nil
}

// OpenOriginal opens the stored bytes of an item, metadata included, for a person with write access to its team.
func (s *Service) OpenOriginal(ctx context.Context, person, id int64) (File, error) {
	i, err := s.findItemForPerson(ctx, person, id)
	if err != nil {
		return File{}, err
	}
	if _, err := s.requireWrite(ctx, person, i.TeamID); err != nil {
		return File{}, err
	}
	out := File{Name: i.FileName, Type: i.Type, ETag: `"` + hex.EncodeToString(i.SHA256) + `"`, ModTime: i.CreatedAt}
	out.Reader, err = s.openBlob(ctx, i.Blob)
	return out, err
}

// OpenForExport opens an item for the export of its team's data. It opens the stored bytes if the team keeps originals,
// or else an uncached copy without metadata. It returns not_found for an item that cannot be exported.
func (s *Service) OpenForExport(ctx context.Context, team, id int64) (io.ReadCloser, error) {
	i, err := findItem(ctx, s.db, team, id)
	if err != nil {
		return nil, err
	}
	keepOriginals, err := keepsOriginals(ctx, s.db, team)
	if err != nil {
		return nil, err
	}
	r, err := s.openBlob(ctx, i.Blob)
	if err != nil || i.Clean || keepOriginals {
		return r, err
	}
	file := blob.NewBlockReader(r)
	edits, err := s.scan(ctx, i, file)
	if err == nil {
		return exportReader{edits.Apply(file), r}, nil
	}
	if errors.Is(err, loadshed.ErrBusy) {
		return nil, errors.Join(errVideosBusy.Wrap(err), r.Close())
	}
	err = errors.Join(err, r.Close())
	if !errors.Is(err, mediainfo.ErrDamaged) || i.Kind != Image {
		return nil, apierr.ItemNotFound().Wrap(err)
	}
	return s.openItem(ctx, i)
}

// scan returns the edits that remove the metadata of an exported item. For a video, it waits until the team may process
// another video.
func (s *Service) scan(ctx context.Context, i Item, file *blob.BlockReader) (stripmeta.Edits, error) {
	release, err := s.acquireVideo(ctx, i)
	if err != nil {
		return stripmeta.Edits{}, err
	}
	defer release()
	edits, err := stripmeta.Scan(file, file.Size(), i.Type)
	if err != nil {
		return edits, fmt.Errorf("finding metadata: %w", err)
	}
	return edits, nil
}

// exportReader reads an open file and removes its metadata on the fly.
type exportReader struct {
	io.Reader
	io.Closer
}
