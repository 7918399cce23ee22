package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// openReadOnly opens the folder without creating or testing anything.
func (f *folder) openReadOnly() (Store, error) {
	var err error
	f.root, err = os.OpenRoot(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return missingFolder{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the folder: %w", err)
	}
	return f, nil
}

// missingFolder is a read-only store whose folder does not exist.
type missingFolder struct{}

var errMissingFolder = errors.New("the folder of the file store does not exist")

func (missingFolder) Stage(context.Context) (*Staged, error)               { return nil, errMissingFolder }
func (missingFolder) Put(context.Context, string, *Staged) error           { return errMissingFolder }
func (missingFolder) Open(context.Context, string) (Reader, error)         { return nil, ErrNotFound }
func (missingFolder) Delete(context.Context, string) error                 { return nil }
func (missingFolder) Each(context.Context, string, func(Info) error) error { return nil }
func (missingFolder) Ping(context.Context) error                           { return errMissingFolder }

// blobFile is an open blob. It embeds *os.File so that io.Copy can use sendfile(2).
type blobFile struct {
	*os.File
	size int64
}

func (b blobFile) Size() int64 { return b.size }

func (f *folder) Open(_ context.Context, key string) (Reader, error) {
	if err := f.checkRegular(key); err != nil {
		return nil, err
	}
	file, err := f.root.Open(key)
	if isNotExist(err) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("opening a blob: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reading the size of a blob: %w", err), file.Close())
	}
	return blobFile{file, info.Size()}, nil
}

func (f *folder) Delete(_ context.Context, key string) error {
	err := f.checkRegular(key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.root.Remove(key); err != nil && !isNotExist(err) {
		return fmt.Errorf("deleting a blob: %w", err)
	}
	dir, err := f.root.Open(path.Dir(key))
	if err != nil {
		return fmt.Errorf("opening a folder of blobs: %w", err)
	}
	defer dir.Close()
	return syncFolder(dir)
}

// checkRegular returns ErrNotFound unless the key's path is a regular file. Opening another kind of file could block.
func (f *folder) checkRegular(key string) error {
	info, err := f.root.Lstat(key)
	if isNotExist(err) || err == nil && !info.Mode().IsRegular() {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("checking for a blob: %w", err)
	}
	return nil
}

func (f *folder) Each(ctx context.Context, prefix string, yield func(Info) error) error {
	return f.walk(ctx, prefixFolder(prefix), prefix, yield)
}

func (f *folder) walk(ctx context.Context, parent, prefix string, yield func(Info) error) error {
	dir, err := f.root.Open(parent)
	if isNotExist(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("opening a folder of blobs: %w", err)
	}
	defer dir.Close()
	return eachEntry(dir, func(e fs.DirEntry) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		key := path.Join(parent, e.Name())
		switch {
		case !isKey(key): // not created by this package, and may be unreadable
			return nil
		case e.IsDir() && mayContain(key, prefix):
			return f.walk(ctx, key, prefix, yield)
		case !e.Type().IsRegular() || !strings.HasPrefix(key, prefix):
			return nil
		}
		info, err := e.Info()
		if err == nil {
			return yield(Info{Key: key, Size: info.Size(), At: info.ModTime()})
		}
		if !isNotExist(err) {
			return fmt.Errorf("reading the size of a blob: %w", err)
		}
		return nil
	})
}

// eachEntry calls do for each entry in a folder. It reads the entries in batches.
func eachEntry(dir *os.File, do func(fs.DirEntry) error) error {
	for {
		entries, err := dir.ReadDir(dirEntries)
		for _, e := range entries {
			if err := do(e); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || isNotExist(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a folder of blobs: %w", err)
		}
	}
}
