package media

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/mediainfo"
	"pressroom.example/pressroom/internal/platform/stripmeta"
	"pressroom.example/pressroom/internal/platform/thumbnail"
)

// thumbnailSide is the longest side of a thumbnail, in pixels.
const thumbnailSide = 512

// inspectedFile is a received file with the properties read from its bytes.
type inspectedFile struct {
	staged         *blob.Staged
	info           mediainfo.Info
	metadataEdits  stripmeta.Edits // edits that remove the metadata
	isClean        bool            // whether the bytes to store have no metadata
	originalSHA256 []byte          // SHA-256 of the uploaded file if its metadata was removed
	uploadedSize   int64           // bytes of the uploaded file
	thumbnail      *thumbnail.Result
}

// inspect returns the properties of a received file. It returns type_refused for a damaged file or a type that the
// library does not accept.
func (s *Service) inspect(ctx context.Context, file *incomingFile) (inspectedFile, error) {
	out := inspectedFile{staged: file.Staged}
	var err error
	if out.info, err = mediainfo.Read(file, file.Size()); err != nil {
		return out, errRejectedType(err)
	}
	if out.info.Kind == Image && file.Size() > s.Catalog.Limits.MaxImageBytes {
		return out, s.errImageTooLarge()
	}
	out.metadataEdits, err = findMetadataEdits(ctx, file, file.Size(), out.info)
	switch {
	case errors.Is(err, mediainfo.ErrDamaged):
		return out, errRejectedType(err)
	case errors.Is(err, thumbnail.ErrSlow):
		return out, errImageSlow
	case err != nil:
		return out, err
	}
	if out.info.Kind == Video {
		return out, nil
	}
	// Images that cannot be decoded are rejected now, because they could not be resized for a network later.
	thumb, err := s.images.Thumbnail(ctx, file.team, io.NewSectionReader(file, 0, file.Size()), out.info,
		thumbnailSide)
	switch {
	case errors.Is(err, thumbnail.ErrTooLarge):
		return out, errTooManyPixels
	case errors.Is(err, thumbnail.ErrSlow):
		return out, errImageSlow
	case errors.Is(err, thumbnail.ErrBusy):
		return out, errImagesBusy
	case errors.Is(err, mediainfo.ErrDamaged), errors.Is(err, thumbnail.ErrUnsupported):
		return out, errRejectedType(err)
	case err != nil:
		return out, fmt.Errorf("creating a thumbnail: %w", err)
	}
	out.thumbnail = &thumb
	return out, nil
}

// imageScanTimeout limits the search for an image's metadata, which decompresses all its pixels.
const imageScanTimeout = 30 * time.Second

// findMetadataEdits returns the edits that remove the metadata in the first size bytes of r. Before each read, it
// checks whether ctx is done. If an image takes longer than imageScanTimeout, it returns thumbnail.ErrSlow. Other
// errors come from stripmeta.Scan.
func findMetadataEdits(ctx context.Context, r io.ReaderAt, size int64, info mediainfo.Info) (stripmeta.Edits, error) {
	if info.Kind == Image {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, imageScanTimeout, thumbnail.ErrSlow)
		defer cancel()
	}
	edits, err := stripmeta.Scan(readerAtFunc(func(p []byte, off int64) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return r.ReadAt(p, off)
	}), size, info.Type)
	if err != nil {
		return edits, fmt.Errorf("finding metadata: %w", err)
	}
	return edits, nil
}

// readerAtFunc implements io.ReaderAt with a function.
type readerAtFunc func(p []byte, off int64) (int, error)

func (r readerAtFunc) ReadAt(p []byte, off int64) (int, error) { return r(p, off) }

func (s *Service) errImageTooLarge() error {
	return apierr.Newf(apierr.UploadTooLarge,
		"Images are limited to %d bytes.", s.Catalog.Limits.MaxImageBytes)
}

var errTooManyPixels = apierr.New(apierr.UploadTooLarge,
	"The image has too many pixels. The limit is about 60 megapixels for PNG and 85 for JPEG. Make it smaller.")

// processingRetryAfter is the Retry-After while a team has a backlog of images or videos.
const processingRetryAfter = 5 * time.Second

var errImagesBusy = apierr.New(apierr.Unavailable,
	"Too many of this team’s images are being processed. Nothing was stored. Wait, then send the file again.").
	With("reason", apierr.Busy).WithRetryAfter(processingRetryAfter)

var errImageSlow = apierr.New(apierr.Unavailable,
	"The image took too long to decode. Nothing was stored. Try again later, or upload a smaller version or a "+
		"baseline (non-progressive) JPEG.").
	With("reason", apierr.Busy).WithRetryAfter(processingRetryAfter)

var errVideosBusy = apierr.New(apierr.Unavailable,
	"Too many of this team’s videos are being processed. Nothing was changed. Wait, then try again.").
	With("reason", apierr.Busy).WithRetryAfter(processingRetryAfter)

// errRejectedType returns the error for a file that is not accepted, with the reason from mediainfo.
func errRejectedType(err error) error {
	detail := "The library accepts JPEG, PNG, WebP and GIF images and MP4 and QuickTime videos. This file is none " +
		"of these."
	if damaged, ok := errors.AsType[*mediainfo.DamageError](err); ok {
		detail = "The file is damaged or too complex: " + damaged.Reason + "."
	}
	if errors.Is(err, thumbnail.ErrUnsupported) {
		detail = "Networks and browsers do not support this variant of the image format. Convert the image to a " +
			"standard JPEG or PNG."
	}
	return apierr.Invalid(apierr.TypeRefused, "", detail).Wrap(err)
}
