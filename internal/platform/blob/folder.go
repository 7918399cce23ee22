package blob

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
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
	abandonedAge   = 24 * time.Hour // time since the last write after which a named staged file is removed
	dirEntries     = 256            // number of entries to read from a folder at a time
	maxDurableDirs = 4096           // maximum number of entries of folder.durableDirs, about 100 bytes each
)

// folder is a store on disk. A blob is a file whose path is its key.
type folder struct {
	path    string
	root    *os.Root
	unnamed bool // whether files are staged without a name

	mu          sync.Mutex
	durableDirs map[string]struct{} // existing folders whose entries in their parent folders were synced
}

func openFolder(ctx context.Context, url string, opts Options) (Store, error) {
	dir, err := folderPath(url)
	if err != nil {
		return nil, err
	}
	f := &folder{path: dir, durableDirs: map[string]struct{}{}}
	if opts.ReadOnly {
		return f.openReadOnly()
	}
	if err := f.prepare(); err != nil {
		return nil, fmt.Errorf("%w; create the folder %s and let only this user read and write it", err, dir)
	}
	f.unnamed = true
	if testStore(ctx, f) == nil {
		return f, nil
	}
	f.unnamed = false // not all file systems support unnamed files
	if err := testStore(ctx, f); err != nil {
		return nil, fmt.Errorf("%w; the folder %s must be writable by this user, on a file system with hard links "+
			"and free space", err, dir)
	}
	return f, nil
}

func folderPath(url string) (string, error) {
	if strings.HasPrefix(url, "///") {
		url = url[2:]
	}
	if url == "" || strings.HasPrefix(url, "//") {
		return "", errors.New("the URL of a folder must be file:FOLDER, such as file:/var/lib/pressroom/files")
	}
	return filepath.Clean(url), nil
}

// StagingDir returns the directory in which the store at url stages files.
func StagingDir(url string, opts Options) (string, error) {
	if rest, isFolder := strings.CutPrefix(url, "file:"); isFolder {
		return folderPath(rest)
	}
	return cmp.Or(opts.Scratch, os.TempDir()), nil
}

// prepare creates the folder and its subfolder for named staged files. It removes abandoned staged files.
func (f *folder) prepare() error {
	if err := os.Mkdir(f.path, 0o700); err == nil {
		if err := syncPath(filepath.Dir(f.path)); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("creating the folder: %w", err)
	}
	var err error
	if f.root, err = os.OpenRoot(f.path); err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	dir, err := f.openDurable(incomingDir)
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.removeAbandoned(dir, time.Now().Add(-abandonedAge))
}

// removeAbandoned removes staged files that were last written before cutoff.
func (f *folder) removeAbandoned(dir *os.File, cutoff time.Time) error {
	return eachEntry(dir, func(e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil && info.ModTime().Before(cutoff) {
			err = f.root.Remove(path.Join(incomingDir, e.Name()))
		}
		if err != nil && !isNotExist(err) {
			return fmt.Errorf("removing abandoned files: %w", err)
		}
		return nil
	})
}

// checkInPlace returns an error if the path no longer refers to the folder that was opened. Later processes would not
// find files written to the old folder.
func (f *folder) checkInPlace() error {
	current, err := os.Stat(f.path)
	if err != nil {
		return unreachableError{fmt.Errorf("checking the path of the file store: %w", err)}
	}
	openedInfo, err := f.root.Stat(".")
	if err != nil {
		return unreachableError{fmt.Errorf("checking the folder of the file store: %w", err)}
	}
	if !os.SameFile(current, openedInfo) {
		return unreachableError{errFolderReplaced}
	}
	return nil
}

var errFolderReplaced = errors.New("the folder of the file store was moved, unmounted or replaced")

func (f *folder) Stage(context.Context) (*Staged, error) {
	if err := f.checkInPlace(); err != nil {
		return nil, err
	}
	if f.unnamed {
		file, err := openUnnamed(f.path)
		if err != nil {
			return nil, err
		}
		return newStaged(file), nil
	}
	name := path.Join(incomingDir, rand.Text())
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating a file for staging: %w", err)
	}
	s := newStaged(file)
	s.name, s.remove = name, func() error { return f.root.Remove(name) }
	return s, nil
}

// Put implements Store. It syncs the file, creates its name and then syncs the folder.
func (f *folder) Put(ctx context.Context, key string, s *Staged) error {
	file, _, err := s.finish()
	if err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("syncing the file: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	dir, err := f.openDurable(path.Dir(key))
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
		return fmt.Errorf("naming the file: %w", err)
	}
	return nil
}

// openDurable opens a folder of blobs. If necessary, it creates the folder and syncs its entry in the parent folder.
func (f *folder) openDurable(dir string) (*os.File, error) {
	if dir != "." && !f.isDurable(dir) {
		if err := f.create(dir); err != nil {
			return nil, err
		}
	}
	file, err := f.root.Open(dir)
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		clear(f.durableDirs) // the folder was removed, so the next call creates it again
		return nil, fmt.Errorf("opening a folder of blobs: %w", err)
	}
	return file, nil
}

// create creates a folder and syncs its parent. It syncs the parent even if the folder exists, because another process
// may have created the folder without syncing.
func (f *folder) create(dir string) error {
	parent, err := f.openDurable(path.Dir(dir))
	if err != nil {
		return err
	}
	defer parent.Close()
	if err := f.root.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("creating a folder of blobs: %w", err)
	}
	if err := syncFolder(parent); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.durableDirs) >= maxDurableDirs {
		clear(f.durableDirs)
	}
	f.durableDirs[dir] = struct{}{}
	return nil
}

func (f *folder) isDurable(dir string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, ok := f.durableDirs[dir]
	return ok
}

// Ping stages a file to check that the folder exists and is writable.
func (f *folder) Ping(ctx context.Context) error {
	s, err := f.Stage(ctx)
	if err != nil {
		return err
	}
	s.Discard()
	return nil
}

// isNotExist reports whether a path does not exist, or one of its parents is not a folder.
func isNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func syncPath(dir string) error {
	file, err := os.Open(dir) //nolint:gosec // G304: the operator chooses the folder
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	defer file.Close()
	return syncFolder(file)
}

// syncFolder syncs the entries of a folder.
func syncFolder(dir *os.File) error {
	if runtime.GOOS == "windows" { // Windows does not support the call and does not need it
		return nil
	}
	if err := dir.Sync(); err != nil {
		return fmt.Errorf("syncing the folder: %w", err)
	}
	return nil
}
