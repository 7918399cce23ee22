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
	partSize = 16 << 20 // bytes, the least of a part; what is no larger goes in one request
	maxParts = 10_000   // S3 takes no more of one object
	atOnce   = 3        // parts on their way; they come from the file, not from memory
)

// putParts puts a large object part by part. It appears when all of them are there, or never.
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

// begin does not end with the caller, as an upload whose name was not heard cannot be ended.
func (b *bucket) begin(ctx context.Context, key, mark string) (string, error) {
	ctx, cancel := outlast(ctx)
	defer cancel()
	options := minio.PutObjectOptions{UserMetadata: map[string]string{markName: mark}}
	upload, err := b.core.NewMultipartUpload(ctx, b.name, b.prefix+key, options)
	if err != nil {
		return "", fmt.Errorf("beginning to put an object: %w", err)
	}
	return upload, nil
}

// sendParts returns when no part is on its way any more, as one that arrives after an abort may stay.
func (b *bucket) sendParts(
	ctx context.Context, key, upload string, file io.ReaderAt, size int64,
) ([]minio.CompletePart, error) {
	length := max(partSize, (size+maxParts-1)/maxParts)
	parts := make([]minio.CompletePart, (size+length-1)/length)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range parts {
		from := int64(i) * length
		group.Go(func() error {
			part, err := b.sendPart(ctx, key, upload, i+1, io.NewSectionReader(file, from, min(length, size-from)))
			parts[i] = part
			return err
		})
	}
	return parts, group.Wait() //nolint:wrapcheck // sendPart says what failed
}

// sendPart signs a part by its SHA-256, so that the server takes no other bytes.
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
		return minio.CompletePart{}, fmt.Errorf("going back to the start of part %d: %w", number, err)
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
	ctx, cancel := outlast(ctx)
	defer cancel()
	var options minio.PutObjectOptions
	if b.conditional {
		options.SetMatchETagExcept("*")
	}
	if _, err := b.core.CompleteMultipartUpload(ctx, b.name, b.prefix+key, upload, parts, options); err != nil {
		return fmt.Errorf("putting the parts together: %w", err)
	}
	return nil
}

// abort throws the parts away. Where they were put together after all they are gone already.
func (b *bucket) abort(ctx context.Context, key, upload string) error {
	ctx, cancel := outlast(ctx)
	defer cancel()
	err := b.core.AbortMultipartUpload(ctx, b.name, b.prefix+key, upload)
	if err != nil && answer(err).Code != minio.NoSuchUpload {
		return fmt.Errorf("throwing the parts away: %w", err)
	}
	return nil
}
