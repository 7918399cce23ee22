// Package blob stores immutable files in a folder, or in a bucket of S3 or a compatible service.
//
// A file is first staged (see Staged). Put then stores it under a key, completely or not at all. The content of a blob
// never changes, so data derived from a blob remains valid.
package blob

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

var (
	// ErrNotFound means that no blob has the key.
	ErrNotFound = errors.New("blob not found")
	// ErrExists means that a blob with this key already exists. Put does not change that blob.
	ErrExists = errors.New("blob already exists")
	// ErrKey means that a key is invalid.
	ErrKey = errors.New("a key has 1 to 512 bytes of a-z, 0-9, '.', '_' and '-', in segments of at most 255 bytes " +
		"separated by '/'; no segment is '.' or '..', and the first is not 'incoming'")
)

// Store stores blobs. Its methods are safe for concurrent use. A key has 1 to 512 bytes of a-z, 0-9, '.', '_', '-' and
// '/'. For other keys, methods return ErrKey. A key must not be the path of a folder that contains another key: if a/b
// is a key, a cannot be a key.
type Store interface {
	// Stage creates a staged file. The caller must call Discard when it no longer needs the file, even after Put.
	Stage(ctx context.Context) (*Staged, error)
	// Put stores the staged file under a key. The staged file cannot be used afterwards. When Put returns without an
	// error, the blob is durable. If a blob with the key exists, the error is ErrExists. If Put fails, it removes the
	// bytes that it stored, unless the store is unreachable.
	Put(ctx context.Context, key string, s *Staged) error
	// Open opens a blob. If no blob has the key, the error is ErrNotFound. The context also applies to reading the
	// blob.
	Open(ctx context.Context, key string) (Reader, error)
	// Delete deletes a blob. Deleting a missing blob is not an error.
	Delete(ctx context.Context, key string) error
	// Each calls yield for every blob whose key has the prefix, in any order, and stops at the first error. Blobs that
	// are added or deleted during the call may or may not be included. The prefix is empty or has the format of a key,
	// with an optional '/' at the end.
	Each(ctx context.Context, prefix string, yield func(Info) error) error
	// Ping checks that the store can be reached.
	Ping(ctx context.Context) error
}

// Info describes a blob.
type Info struct {
	Key  string
	Size int64     // bytes
	At   time.Time // when the blob was stored
}

// Reader reads a blob. It can be used with http.ServeContent. It is not safe for concurrent use.
type Reader interface {
	io.ReadSeekCloser
	// Size returns the size of the blob in bytes.
	Size() int64
}

// Options are the options of Open.
type Options struct {
	Scratch     string      // folder for staging files for S3; by default, the system's folder for temporary files
	Credentials Credentials // for S3; default: environment, AWS credentials file or instance metadata
	ReadOnly    bool        // whether Open must not create or test anything; a missing folder counts as an empty store
}

// Credentials are an access key for S3.
type Credentials struct {
	ID, Secret string
}

// Open opens a store by its URL, "file:FOLDER" or "s3://BUCKET[/PREFIX]?endpoint=https://HOST[:PORT]&region=REGION".
// The query parameters endpoint and region are optional. Unless opts.ReadOnly is set, Open tests the store by writing,
// reading and deleting a small file. Its errors tell the operator what to do.
//
// If the process is killed during the upload of a large file to S3, the uploaded parts remain in the bucket. A
// lifecycle rule of the bucket should abort incomplete multipart uploads after a day.
func Open(ctx context.Context, url string, opts Options) (Store, error) {
	var s Store
	var err error
	switch scheme, rest, _ := strings.Cut(url, ":"); scheme {
	case "file":
		s, err = openFolder(ctx, rest, opts)
	case "s3":
		s, err = openBucket(ctx, url, opts)
	default:
		err = errors.New("the URL must be file:FOLDER or s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION")
	}
	if err != nil {
		return nil, fmt.Errorf("opening the file store: %w", err)
	}
	return keyChecker{s}, nil
}

// keyChecker rejects invalid keys before they reach a store.
type keyChecker struct {
	Store
}

func (c keyChecker) Put(ctx context.Context, key string, s *Staged) error {
	if !isKey(key) {
		return ErrKey
	}
	return c.Store.Put(ctx, key, s)
}

func (c keyChecker) Open(ctx context.Context, key string) (Reader, error) {
	if !isKey(key) {
		return nil, ErrKey
	}
	return c.Store.Open(ctx, key)
}

func (c keyChecker) Delete(ctx context.Context, key string) error {
	if !isKey(key) {
		return ErrKey
	}
	return c.Store.Delete(ctx, key)
}

// Each skips files that are not blobs, such as test files and staged files.
func (c keyChecker) Each(ctx context.Context, prefix string, yield func(Info) error) error {
	if prefix != "" && !isKey(strings.TrimSuffix(prefix, "/")) {
		return fmt.Errorf("listing by prefix: %w", ErrKey)
	}
	return c.Store.Each(ctx, prefix, func(i Info) error {
		if isKey(i.Key) {
			return yield(i)
		}
		return nil
	})
}

// testStore writes, reads and deletes a small file. Each does not list this file.
func testStore(ctx context.Context, s Store) error {
	staged, err := s.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Discard()
	name := rand.Text()
	if _, err := staged.Write([]byte(name)); err != nil {
		return err
	}
	key := incomingDir + "/" + name
	if err := s.Put(ctx, key, staged); err != nil {
		return err
	}
	return errors.Join(checkContent(ctx, s, key, name), s.Delete(ctx, key))
}

func checkContent(ctx context.Context, s Store, key, want string) error {
	r, err := s.Open(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(io.LimitReader(r, int64(len(want))+1))
	if err != nil {
		return fmt.Errorf("reading the test file: %w", err)
	}
	if string(got) != want {
		return errors.New("the test file was read back with different content")
	}
	return nil
}

// PutBytes stores raw under a key.
func PutBytes(ctx context.Context, s Store, key string, raw []byte) error {
	staged, err := s.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Discard()
	if _, err := staged.Write(raw); err != nil {
		return err
	}
	return s.Put(ctx, key, staged)
}
