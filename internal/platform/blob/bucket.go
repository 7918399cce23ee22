package blob

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
)

const (
	gracePeriod = 30 * time.Second // how long a request may continue after its context has ended
	markName    = "Put"            // name of the metadata that identifies the call of Put that created an object
)

// bucket is a store in S3. The name of a blob's object is the prefix followed by the key.
type bucket struct {
	core        minio.Core
	name        string
	prefix      string // empty, or ends with '/'
	scratch     string
	conditional bool // whether the server supports If-None-Match: * when storing an object
}

func (b *bucket) Stage(context.Context) (*Staged, error) {
	if file, err := openUnnamed(b.scratch); err == nil {
		return newStaged(file), nil
	}
	file, err := os.CreateTemp(b.scratch, "pressroom-incoming-*")
	if err != nil {
		return nil, fmt.Errorf("creating a file for staging: %w", err)
	}
	s := newStaged(file)
	if os.Remove(file.Name()) != nil { // some systems cannot remove an open file
		s.remove = func() error { return os.Remove(file.Name()) }
	}
	return s, nil
}

// Put implements Store. If the server does not support If-None-Match, Put first checks whether the object exists. It
// also does so for large files, because the server would reject the request only after it has received all bytes.
func (b *bucket) Put(ctx context.Context, key string, s *Staged) error {
	file, size, err := s.finish()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if !b.conditional || size > partSize {
		if _, err := b.stat(ctx, key); err == nil {
			return ErrExists
		} else if !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	mark := rand.Text()
	if size > partSize {
		err = b.putParts(ctx, key, mark, file, size)
	} else {
		err = b.putWhole(ctx, key, mark, s.Sum(), file, size)
	}
	if err != nil {
		err = b.checkFailedPut(ctx, key, mark, err)
	}
	if err != nil {
		return err
	}
	s.Discard()
	return nil
}

// withGracePeriod returns a context that ends gracePeriod after ctx. Requests that change the bucket use it, because
// the effect of an interrupted request is unknown.
func withGracePeriod(ctx context.Context) (context.Context, context.CancelFunc) {
	graceCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(gracePeriod, cancel) })
	return graceCtx, func() {
		stop()
		cancel()
	}
}

// putWhole puts an object with one request. The signature of the request covers the SHA-256 of the bytes, so the server
// rejects bytes that have changed.
func (b *bucket) putWhole(
	ctx context.Context, key, mark string, sum [sha256.Size]byte, file io.ReaderAt, size int64,
) error {
	options := minio.PutObjectOptions{DisableContentSha256: true, UserMetadata: map[string]string{markName: mark}}
	if b.conditional {
		options.SetMatchETagExcept("*")
	}
	ctx, cancel := withGracePeriod(ctx)
	defer cancel()
	body := io.NewSectionReader(file, 0, size)
	_, err := b.core.PutObject(ctx, b.name, b.prefix+key, body, size, "", hex.EncodeToString(sum[:]), options)
	if err != nil {
		return fmt.Errorf("putting an object: %w", err)
	}
	return nil
}

// checkFailedPut checks whether a failed put has created the object anyway. If a response is lost, the S3 client
// repeats the request, and the server rejects the repeated request because the object exists. In that case, the put
// counts as successful if the caller is still waiting. Otherwise, checkFailedPut deletes the object.
func (b *bucket) checkFailedPut(ctx context.Context, key, mark string, putErr error) error {
	graceCtx, cancel := withGracePeriod(ctx)
	defer cancel()
	info, err := b.stat(graceCtx, key)
	switch {
	case errors.Is(err, ErrNotFound):
		return putErr
	case err != nil:
		return errors.Join(putErr, err)
	case info.UserMetadata[markName] != mark:
		return ErrExists
	case ctx.Err() != nil:
		return errors.Join(putErr, b.Delete(graceCtx, key))
	}
	return nil
}

func (b *bucket) stat(ctx context.Context, key string) (minio.ObjectInfo, error) {
	info, err := b.core.StatObject(ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
	if isMissing(err) {
		return info, ErrNotFound
	}
	if err != nil {
		return info, fmt.Errorf("checking for an object: %w", err)
	}
	return info, nil
}

// isMissing reports whether an object does not exist. It returns false if the bucket does not exist.
func isMissing(err error) bool {
	return errorResponse(err).Code == minio.NoSuchKey
}

// errorResponse returns the server's error response in err, or the zero value if err contains none.
func errorResponse(err error) minio.ErrorResponse {
	response, _ := errors.AsType[minio.ErrorResponse](err)
	return response
}

func (b *bucket) Open(ctx context.Context, key string) (Reader, error) {
	info, err := b.stat(ctx, key)
	if err != nil {
		return nil, err
	}
	return &object{ctx: ctx, bucket: b, key: key, size: info.Size}, nil
}

func (b *bucket) Delete(ctx context.Context, key string) error {
	err := b.core.RemoveObject(ctx, b.name, b.prefix+key, minio.RemoveObjectOptions{})
	if err != nil && !isMissing(err) {
		return fmt.Errorf("deleting an object: %w", err)
	}
	return nil
}

func (b *bucket) Each(ctx context.Context, prefix string, yield func(Info) error) error {
	options := minio.ListObjectsOptions{Prefix: b.prefix + prefix, Recursive: true}
	for o := range b.core.ListObjectsIter(ctx, b.name, options) {
		if o.Err != nil {
			return fmt.Errorf("listing objects: %w", o.Err)
		}
		if err := yield(Info{Key: strings.TrimPrefix(o.Key, b.prefix), Size: o.Size, At: o.LastModified}); err != nil {
			return err
		}
	}
	return context.Cause(ctx) // an interrupted listing may end without an error
}

// Ping lists the bucket, because the response distinguishes a missing bucket from wrong credentials.
func (b *bucket) Ping(ctx context.Context) error {
	options := minio.ListObjectsOptions{Prefix: b.prefix + incomingDir + "/", MaxKeys: 1}
	for o := range b.core.ListObjectsIter(ctx, b.name, options) {
		if o.Err != nil {
			return fmt.Errorf("listing the bucket: %w", o.Err)
		}
		break
	}
	return context.Cause(ctx)
}
