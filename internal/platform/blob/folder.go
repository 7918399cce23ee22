package blob

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	abandoned  = 24 * time.Hour // a named file that nobody wrote to for so long is nobody's
	entries    = 256            // of a folder, read at once
	maxSettled = 4096           // folders remembered, about 100 bytes each
)

// folder is a store on disk. A blob is a file whose path is its key.
type folder struct {
	path    string
	root    *os.Root
	unnamed bool // files are received without a name

	mu      sync.Mutex
	settled map[string]struct{} // folders whose own entries are on disk for good
}

func openFolder(ctx context.Context, url string, opts Options) (Store, error) {
	dir, err := folderPath(url)
	if err != nil {
		return nil, err
	}
	f := &folder{path: dir, settled: map[string]struct{}{}}
	if opts.Look {
		return f.asItIs()
	}
	if err := f.prepare(); err != nil {
		return nil, fmt.Errorf("%w; make the folder %s and let this user alone read and write it", err, dir)
	}
	f.unnamed = true
	if try(ctx, f) == nil {
		return f, nil
	}
	f.unnamed = false // not every file system can do without names
	if err := try(ctx, f); err != nil {
		return nil,
			fmt.Errorf("%w; the folder %s has to be writable for this user, on a file system with hard links and with "+
				"space left", err, dir)
	}
	return f, nil
}

// asItIs opens the folder without making or trying anything.
func (f *folder) asItIs() (Store, error) {
	var err error
	f.root, err = os.OpenRoot(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return absent{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the folder: %w", err)
	}
	return f, nil
}

// absent is a folder that is not there.
type absent struct{}

var errAbsent = errors.New("the folder of the files is not there")

func (absent) Stage(context.Context) (*Staged, error)               { return nil, errAbsent }
func (absent) Put(context.Context, string, *Staged) error           { return errAbsent }
func (absent) Open(context.Context, string) (Reader, error)         { return nil, ErrNotFound }
func (absent) Delete(context.Context, string) error                 { return nil }
func (absent) Each(context.Context, string, func(Info) error) error { return nil }
func (absent) Ping(context.Context) error                           { return errAbsent }

func folderPath(url string) (string, error) {
	if strings.HasPrefix(url, "///") {
		url = url[2:]
	}
	if url == "" || strings.HasPrefix(url, "//") {
		return "", errors.New("a folder is written file:FOLDER, such as file:/var/lib/pressroom/files")
	}
	return filepath.Clean(url), nil
}

// prepare makes the folder and the one for names, and takes away what was abandoned there.
func (f *folder) prepare() error {
	if err := os.Mkdir(f.path, 0o700); err == nil {
		if err := syncPath(filepath.Dir(f.path)); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the folder: %w", err)
	}
	var err error
	if f.root, err = os.OpenRoot(f.path); err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	dir, err := f.settle(incoming)
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.sweep(dir, time.Now().Add(-abandoned))
}

// sweep takes away the files being received that were last written before a time.
func (f *folder) sweep(dir *os.File, before time.Time) error {
	return eachEntry(dir, func(e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil && info.ModTime().Before(before) {
			err = f.root.Remove(path.Join(incoming, e.Name()))
		}
		if err != nil && !missing(err) {
			return fmt.Errorf("taking away what was abandoned: %w", err)
		}
		return nil
	})
}

// inPlace refuses to write while another folder than the one that was opened lies at the path, or none does: it was
// moved, or what was mounted there is gone, and nobody who opens the store later would find what is written now.
func (f *folder) inPlace() error {
	there, err := os.Stat(f.path)
	if err != nil {
		return unreached{fmt.Errorf("looking for the folder of the files: %w", err)}
	}
	opened, err := f.root.Stat(".")
	if err != nil {
		return unreached{fmt.Errorf("looking at the folder of the files: %w", err)}
	}
	if !os.SameFile(there, opened) {
		return unreached{errElsewhere}
	}
	return nil
}

var errElsewhere = errors.New("another folder lies where that of the files was: it was moved, or what was mounted " +
	"there is gone")

func (f *folder) Stage(context.Context) (*Staged, error) {
	if err := f.inPlace(); err != nil {
		return nil, err
	}
	if f.unnamed {
		file, err := openUnnamed(f.path)
		if err != nil {
			return nil, err
		}
		return newStaged(file), nil
	}
	name := path.Join(incoming, rand.Text())
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("making a file to receive into: %w", err)
	}
	s := newStaged(file)
	s.name, s.remove = name, func() error { return f.root.Remove(name) }
	return s, nil
}

// Put names the file only when all of it is on disk, and returns only when the name is, too.
func (f *folder) Put(ctx context.Context, key string, s *Staged) error {
	file, _, err := s.finish()
	if err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("bringing the file to disk: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	dir, err := f.settle(path.Dir(key))
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := f.link(s, file, dir, key); err != nil {
		return err
	}
	if err := syncFolder(dir); err != nil {
		return errors.Join(err, f.root.Remove(key))
	}
	s.Discard()
	return nil
}

func (f *folder) link(s *Staged, file, dir *os.File, key string) error {
	var err error
	if s.name == "" {
		err = linkUnnamed(file, dir, path.Base(key))
	} else {
		err = f.root.Link(s.name, key)
	}
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	if err != nil {
		return fmt.Errorf("giving the file its name: %w", err)
	}
	return nil
}

// settle opens a folder of blobs, made where need be, once a power cut cannot take it away any more.
func (f *folder) settle(dir string) (*os.File, error) {
	if dir != "." && !f.isSettled(dir) {
		if err := f.make(dir); err != nil {
			return nil, err
		}
	}
	opened, err := f.root.Open(dir)
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		clear(f.settled) // somebody took it away: the next one makes it anew
		return nil, fmt.Errorf("opening a folder of blobs: %w", err)
	}
	return opened, nil
}

// make makes a folder in its parent. One that is there already may have been made a moment ago by another process,
// and is not on disk yet.
func (f *folder) make(dir string) error {
	parent, err := f.settle(path.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := f.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making a folder of blobs: %w", err)
	}
	if err := syncFolder(parent); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.settled) >= maxSettled {
		clear(f.settled)
	}
	f.settled[dir] = struct{}{}
	return nil
}

func (f *folder) isSettled(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.settled[dir]
	return ok
}

// blobFile is an open blob. As it is an *os.File, the system can send it by itself.
type blobFile struct {
	*os.File
	size int64
}

func (b blobFile) Size() int64 { return b.size }

func (f *folder) Open(_ context.Context, key string) (Reader, error) {
	if err := f.look(key); err != nil {
		return nil, err
	}
	file, err := f.root.Open(key)
	if missing(err) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("opening a blob: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("looking at a blob: %w", err), file.Close())
	}
	return blobFile{file, info.Size()}, nil
}

func (f *folder) Delete(_ context.Context, key string) error {
	err := f.look(key)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.root.Remove(key); err != nil && !missing(err) {
		return fmt.Errorf("deleting a blob: %w", err)
	}
	dir, err := f.root.Open(path.Dir(key))
	if err != nil {
		return fmt.Errorf("opening a folder of blobs: %w", err)
	}
	defer dir.Close()
	return syncFolder(dir)
}

// look finds out whether a key has a blob: a folder is none, nor is anything that could hang when it is opened.
func (f *folder) look(key string) error {
	info, err := f.root.Lstat(key)
	if missing(err) || err == nil && !info.Mode().IsRegular() {
		return ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("looking for a blob: %w", err)
	}
	return nil
}

func (f *folder) Each(ctx context.Context, prefix string, yield func(Info) error) error {
	return f.walk(ctx, folderOf(prefix), prefix, yield)
}

func (f *folder) walk(ctx context.Context, in, prefix string, yield func(Info) error) error {
	dir, err := f.root.Open(in)
	if missing(err) {
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
		key := path.Join(in, e.Name())
		switch {
		case !isKey(key): // not ours, and perhaps not to be read
			return nil
		case e.IsDir() && meets(key, prefix):
			return f.walk(ctx, key, prefix, yield)
		case !e.Type().IsRegular() || !strings.HasPrefix(key, prefix):
			return nil
		}
		info, err := e.Info()
		if err == nil {
			return yield(Info{Key: key, Size: info.Size(), At: info.ModTime()})
		}
		if !missing(err) {
			return fmt.Errorf("looking at a blob: %w", err)
		}
		return nil
	})
}

// eachEntry goes through a folder of any size.
func eachEntry(dir *os.File, do func(fs.DirEntry) error) error {
	for {
		some, err := dir.ReadDir(entries)
		for _, e := range some {
			if err := do(e); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || missing(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading a folder of blobs: %w", err)
		}
	}
}

// Ping begins a file, which shows that the folder is there and can be written to.
func (f *folder) Ping(ctx context.Context) error {
	s, err := f.Stage(ctx)
	if err != nil {
		return err
	}
	s.Discard()
	return nil
}

// missing says that there is nothing at a path, or that a blob is where a folder would have to be.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func syncPath(dir string) error {
	opened, err := os.Open(dir) //nolint:gosec // G304: the operator says which folder
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer opened.Close()
	return syncFolder(opened)
}

// syncFolder brings a folder's entries to disk.
func syncFolder(dir *os.File) error {
	if runtime.GOOS == "windows" { // it does that by itself, and has no call for it
		return nil
	}
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("bringing the folder to disk: %w", err)
	}
	return nil
}

// StagingFolder returns the folder in which the store of a URL receives files before they are put.
func StagingFolder(url string, opts Options) (string, error) {
	if rest, isFolder := strings.CutPrefix(url, "file:"); isFolder {
		return folderPath(rest)
	}
	return cmp.Or(opts.Scratch, os.TempDir()), nil
}
