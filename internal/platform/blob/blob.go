// Package blob keeps files that never change: in a folder, or in a bucket of S3 or of what speaks its protocol.
//
// A file is received first, as a Staged, and becomes a blob by Put, whole or not at all. A key names its blob for ever:
// it is never given other bytes, so that whatever was derived from a blob stays true of its key.
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
	// ErrNotFound says that no blob has the key.
	ErrNotFound = errors.New("there is no such blob")
	// ErrExists says that the key has a blob already, which was left as it is.
	ErrExists = errors.New("there is such a blob already")
	// ErrKey says that a key is none.
	ErrKey = errors.New("a key is 1 to 512 bytes of a-z, 0-9, '.', '_', '-' in segments of at most 255, parted by " +
		"'/', and none of them '.', '..' or, as the first, 'incoming'")
)

// Store keeps blobs. Its methods may be called at the same time. A key is 1 to 512 bytes of a-z, 0-9, '.', '_', '-' and
// '/'; what is none is ErrKey. No key may be the folder of another.
type Store interface {
	// Stage begins a file. Whoever began it calls Discard in the end, whatever became of it.
	Stage(ctx context.Context) (*Staged, error)
	// Put makes the staged bytes the blob of a key, for good once it returns, and uses the Staged up. A key that has a
	// blob is ErrExists. Where Put fails it leaves nothing behind, as far as the store can still be reached.
	Put(ctx context.Context, key string, s *Staged) error
	// Open opens a blob, or is ErrNotFound. The context holds for the reading too.
	Open(ctx context.Context, key string) (Reader, error)
	// Delete takes a blob away for good; one that is not there is no error.
	Delete(ctx context.Context, key string) error
	// Each yields the blobs whose keys begin with a prefix, all of them where it is empty, in no order, and ends with
	// the first error that yield returns. Blobs that come or go meanwhile may be among them or not. The prefix has the
	// form of a key, but for a '/' at its end.
	Each(ctx context.Context, prefix string, yield func(Info) error) error
	// Ping tells whether the store can be reached.
	Ping(ctx context.Context) error
}

// Info is what a store knows of a blob.
type Info struct {
	Key  string
	Size int64     // bytes
	At   time.Time // when it was put
}

// Reader reads a blob, also in parts, and is what http.ServeContent wants. It is for one goroutine at a time.
type Reader interface {
	io.ReadSeekCloser
	// Size is the blob's, in bytes.
	Size() int64
}

// Options say how a store is opened.
type Options struct {
	Scratch     string      // folder that files for S3 are received in; the system's for temporary files where empty
	Credentials Credentials // for S3; those of the environment, of AWS's file or of the machine where empty
	Look        bool        // for looking alone: nothing is made or tried, and a folder that is not there has no blobs
}

// Credentials are an access key of S3.
type Credentials struct {
	ID, Secret string
}

// Open opens a store by its URL, "file:FOLDER" or "s3://BUCKET[/PREFIX]?endpoint=https://HOST[:PORT]&region=REGION",
// both parameters optional, and tries it by writing, reading and deleting a small file. Its errors tell an operator
// what to do.
//
// Parts of large files whose upload to S3 was cut off by a kill stay in the bucket, unseen: let a lifecycle rule of the
// bucket end incomplete multipart uploads after a day.
func Open(ctx context.Context, url string, opts Options) (Store, error) {
	var s Store
	var err error
	switch scheme, rest, _ := strings.Cut(url, ":"); scheme {
	case "file":
		s, err = openFolder(ctx, rest, opts)
	case "s3":
		s, err = openBucket(ctx, url, opts)
	default:
		err = errors.New("it has to be file:FOLDER or s3://BUCKET/PREFIX?endpoint=https://HOST:PORT&region=REGION")
	}
	if err != nil {
		return nil, fmt.Errorf("opening the store of files: %w", err)
	}
	return checked{s}, nil
}

// checked lets nothing but keys through to a store.
type checked struct {
	Store
}

func (c checked) Put(ctx context.Context, key string, s *Staged) error {
	if !isKey(key) {
		return ErrKey
	}
	return c.Store.Put(ctx, key, s)
}

func (c checked) Open(ctx context.Context, key string) (Reader, error) {
	if !isKey(key) {
		return nil, ErrKey
	}
	return c.Store.Open(ctx, key)
}

func (c checked) Delete(ctx context.Context, key string) error {
	if !isKey(key) {
		return ErrKey
	}
	return c.Store.Delete(ctx, key)
}

// Each passes by what is no blob: trials, files being received, and what others left in the folder.
func (c checked) Each(ctx context.Context, prefix string, yield func(Info) error) error {
	if prefix != "" && !isKey(strings.TrimSuffix(prefix, "/")) {
		return fmt.Errorf("listing what begins alike: %w", ErrKey)
	}
	return c.Store.Each(ctx, prefix, func(i Info) error {
		if isKey(i.Key) {
			return yield(i)
		}
		return nil
	})
}

// try writes, reads and deletes a small file, where Each does not show it.
func try(ctx context.Context, s Store) error {
	staged, err := s.Stage(ctx)
	if err != nil {
		return err
	}
	defer staged.Discard()
	name := rand.Text()
	if _, err := staged.Write([]byte(name)); err != nil {
		return err
	}
	key := incoming + "/" + name
	if err := s.Put(ctx, key, staged); err != nil {
		return err
	}
	return errors.Join(reads(ctx, s, key, name), s.Delete(ctx, key))
}

func reads(ctx context.Context, s Store, key, want string) error {
	r, err := s.Open(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	got, err := io.ReadAll(io.LimitReader(r, int64(len(want))+1))
	if err != nil {
		return fmt.Errorf("reading what was just written: %w", err)
	}
	if string(got) != want {
		return errors.New("what was just written reads differently")
	}
	return nil
}
