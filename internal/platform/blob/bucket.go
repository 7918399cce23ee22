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
	cleanUp  = 30 * time.Second // that a put goes on after its caller, to end in order
	markName = "Put"            // of the metadata that tell which put made an object
)

// bucket is a store in S3. A blob is an object whose name is the prefix and the key.
type bucket struct {
	core        minio.Core
	name        string
	prefix      string // with its '/', or empty
	scratch     string
	conditional bool // the server keeps the first object where a put has If-None-Match: *
}

func (b *bucket) Stage(context.Context) (*Staged, error) {
	if file, err := openUnnamed(b.scratch); err == nil {
		return newStaged(file), nil
	}
	file, err := os.CreateTemp(b.scratch, "pressroom-incoming-*")
	if err != nil {
		return nil, fmt.Errorf("making a file to receive into: %w", err)
	}
	s := newStaged(file)
	if os.Remove(file.Name()) != nil { // not every system lets an open file go
		s.remove = func() error { return os.Remove(file.Name()) }
	}
	return s, nil
}

// Put asks first where the server would not refuse by itself, or would only after all the bytes.
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
		err = b.afterwards(ctx, key, mark, err)
	}
	if err != nil {
		return err
	}
	s.Discard()
	return nil
}

// outlast gives requests that change something a while beyond their caller, and no limit before: nobody could tell
// what one that was cut off has done, or will do once the server has got to it.
func outlast(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(cleanUp, cancel) })
	return longer, func() {
		stop()
		cancel()
	}
}

// putWhole puts the object by one request. Its bytes are signed by their SHA-256, so that the server takes no others.
func (b *bucket) putWhole(
	ctx context.Context, key, mark string, sum [sha256.Size]byte, file io.ReaderAt, size int64,
) error {
	options := minio.PutObjectOptions{DisableContentSha256: true, UserMetadata: map[string]string{markName: mark}}
	if b.conditional {
		options.SetMatchETagExcept("*")
	}
	ctx, cancel := outlast(ctx)
	defer cancel()
	body := io.NewSectionReader(file, 0, size)
	_, err := b.core.PutObject(ctx, b.name, b.prefix+key, body, size, "", hex.EncodeToString(sum[:]), options)
	if err != nil {
		return fmt.Errorf("putting an object: %w", err)
	}
	return nil
}

// afterwards finds out what a put that failed has done all the same: a request may arrive whose answer is lost, and a
// repeat of it by the client is then refused because of the first. Such an object is kept where the caller still waits
// for it, and else taken back.
func (b *bucket) afterwards(ctx context.Context, key, mark string, failed error) error {
	longer, cancel := outlast(ctx)
	defer cancel()
	info, err := b.stat(longer, key)
	switch {
	case errors.Is(err, ErrNotFound):
		return failed
	case err != nil:
		return errors.Join(failed, err)
	case info.UserMetadata[markName] != mark:
		return ErrExists
	case ctx.Err() != nil:
		return errors.Join(failed, b.Delete(longer, key))
	}
	return nil
}

func (b *bucket) stat(ctx context.Context, key string) (minio.ObjectInfo, error) {
	info, err := b.core.StatObject(ctx, b.name, b.prefix+key, minio.StatObjectOptions{})
	if isMissing(err) {
		return info, ErrNotFound
	}
	if err != nil {
		return info, fmt.Errorf("looking for an object: %w", err)
	}
	return info, nil
}

// isMissing goes by the codes for an object; a bucket that is gone is another matter.
func isMissing(err error) bool {
	return answer(err).Code == minio.NoSuchKey
}

// answer is what the server said, nothing where it said nothing.
func answer(err error) minio.ErrorResponse {
	said, _ := errors.AsType[minio.ErrorResponse](err)
	return said
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
	return context.Cause(ctx) // a listing that was cut off may end like a whole one
}

// Ping asks for a listing, as its answer tells a bucket that is not there from credentials that are wrong.
func (b *bucket) Ping(ctx context.Context) error {
	options := minio.ListObjectsOptions{Prefix: b.prefix + incoming + "/", MaxKeys: 1}
	for o := range b.core.ListObjectsIter(ctx, b.name, options) {
		if o.Err != nil {
			return fmt.Errorf("asking for the bucket: %w", o.Err)
		}
		break
	}
	return context.Cause(ctx)
}
