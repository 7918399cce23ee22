package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/minio/minio-go/v7"
	"golang.org/x/sync/errgroup"
)

const (
	partSize        = 16 << 20 // bytes of a part; smaller files need only one request
	maxParts        = 10_000   // maximum number of parts per object, a limit of S3
	concurrentParts = 3        // parts uploaded at the same time; they are read from the file, not kept in memory
)

// putParts puts a large object with a multipart upload.
func (b *bucket) putParts(ctx context.Context, key, mark string, file *os.File, size int64) error {
	upload, err := b.begin(ctx, key, mark)
	if err != nil {
		return err
	}
	parts, err := b.sendParts(ctx, key, upload, file, size)
	if err == nil {
		err = b.complete(ctx, key, upload, parts)
	}
	if err != nil {
		return errors.Join(err, b.abort(ctx, key, upload))
	}
	return nil
}

// begin starts an upload and returns its ID. It continues after the caller's context ends, because an upload can be
// aborted only once its ID is known.
func (b *bucket) begin(ctx context.Context, key, mark string) (string, error) {
	ctx, cancel := withGracePeriod(ctx)
	defer cancel()
	options := minio.PutObjectOptions{UserMetadata: map[string]string{markName: mark}}
	upload, err := b.core.NewMultipartUpload(ctx, b.name, b.prefix+key, options)
	if err != nil {
		return "", fmt.Errorf("starting a multipart upload: %w", err)
	}
	return upload, nil
}

// sendParts uploads all parts. It returns only after every request has ended, because a part that arrives after an
// abort may remain in the bucket.
func (b *bucket) sendParts(
	ctx context.Context, key, upload string, file io.ReaderAt, size int64,
) ([]minio.CompletePart, error) {
	length := max(partSize, (size+maxParts-1)/maxParts)
	parts := make([]minio.CompletePart, (size+length-1)/length)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrentParts)
	for i := range parts {
		start := int64(i) * length
		group.Go(func() error {
			part, err := b.sendPart(ctx, key, upload, i+1, io.NewSectionReader(file, start, min(length, size-start)))
			parts[i] = part
			return err
		})
	}
	return parts, group.Wait() //nolint:wrapcheck // sendPart wraps its errors
}

// sendPart uploads a part. The signature of the request covers the SHA-256 of the bytes, so the server rejects bytes
// that have changed.
func (b *bucket) sendPart(
	ctx context.Context, key, upload string, number int, part *io.SectionReader,
) (minio.CompletePart, error) {
	if ctx.Err() != nil {
		return minio.CompletePart{}, context.Cause(ctx)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, part); err != nil {
		return minio.CompletePart{}, fmt.Errorf("hashing part %d: %w", number, err)
	}
	if _, err := part.Seek(0, io.SeekStart); err != nil {
		return minio.CompletePart{}, fmt.Errorf("rewinding part %d: %w", number, err)
	}
	options := minio.PutObjectPartOptions{Sha256Hex: hex.EncodeToString(sum.Sum(nil)), DisableContentSha256: true}
	sent, err := b.core.PutObjectPart(ctx, b.name, b.prefix+key, upload, number, part, part.Size(), options)
	if err != nil {
		return minio.CompletePart{}, fmt.Errorf("putting part %d: %w", number, err)
	}
	return minio.CompletePart{PartNumber: number, ETag: sent.ETag}, nil
}

func (b *bucket) complete(ctx context.Context, key, upload string, parts []minio.CompletePart) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := withGracePeriod(ctx)
	defer cancel()
	var options minio.PutObjectOptions
	if b.conditional {
		options.SetMatchETagExcept("*")
	}
	if _, err := b.core.CompleteMultipartUpload(ctx, b.name, b.prefix+key, upload, parts, options); err != nil {
		return fmt.Errorf("completing a multipart upload: %w", err)
	}
	return nil
}

// abort deletes the parts of an upload. It is not an error if the upload was completed and no longer exists.
func (b *bucket) abort(ctx context.Context, key, upload string) error {
	ctx, cancel := withGracePeriod(ctx)
	defer cancel()
	err := b.core.AbortMultipartUpload(ctx, b.name, b.prefix+key, upload)
	if err != nil && errorResponse(err).Code != minio.NoSuchUpload {
		return fmt.Errorf("aborting a multipart upload: %w", err)
	}
	return nil
}
