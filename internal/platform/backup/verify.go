package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/db"
)

// Finding is one thing that is wrong with a backup.
type Finding struct {
	Rule string `json:"rule"` // missing, other_size, other_digest, unreadable, not_in_backup or ledger
	Name string `json:"name"` // of the file, or what of the ledger
	Text string `json:"text"`
}

// Whole is a backup that is being looked at or restored.
type Whole struct {
	Manifest

	folder string
	files  blob.Store
}

// Open reads a backup's manifest and opens its files; nothing is changed.
func Open(ctx context.Context, folder string) (*Whole, error) {
	m, err := Read(folder)
	if err != nil {
		return nil, err
	}
	files, err := blob.Open(ctx, "file:"+filepath.Join(folder, filesName), blob.Options{Look: true})
	if err != nil {
		return nil, fmt.Errorf("opening the backup's files: %w", err)
	}
	return &Whole{m, folder, files}, nil
}

// Dump is the folder of the copy of the database.
func (w *Whole) Dump() string { return filepath.Join(w.folder, filepath.Base(w.Database.Folder)) }

// mends is what to do about a file that is not as it was.
const mends = "while the installation is there, pressroom admin backup --reread to this folder copies it anew"

// Verify reads every byte of a backup and holds it against the manifest, and the manifest against the database.
func (w *Whole) Verify(ctx context.Context) ([]Finding, error) {
	found := []Finding{}
	for _, f := range w.Database.Files {
		size, sum, err := measureFile(ctx, filepath.Join(w.Dump(), filepath.Base(f.Name)))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		found = append(found, f.against(size, sum, err)...)
	}
	for _, f := range w.Files {
		size, sum, err := w.measure(ctx, f.Name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for _, one := range f.against(size, sum, err) {
			one.Text += "; " + mends
			found = append(found, one)
		}
	}
	if len(found) > 0 {
		return found, nil // the database may not be one
	}
	return w.opens(ctx)
}

func (w *Whole) measure(ctx context.Context, key string) (int64, string, error) {
	r, err := w.files.Open(ctx, key)
	if err != nil {
		return 0, "", fmt.Errorf("opening %s: %w", key, err)
	}
	defer r.Close()
	size, sum, err := measure(ctx, r, io.Discard)
	if err != nil {
		return 0, "", fmt.Errorf("reading %s: %w", key, err)
	}
	return size, sum, nil
}

// against says how a file differs from what it should be.
func (f File) against(size int64, sum string, err error) []Finding {
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, blob.ErrNotFound):
		return []Finding{{"missing", f.Name, "it is not there"}}
	case err != nil:
		return []Finding{{"unreadable", f.Name, err.Error()}}
	case size != f.Size:
		return []Finding{{"other_size", f.Name, fmt.Sprintf("it has %d bytes and should have %d", size, f.Size)}}
	case sum != f.SHA256:
		return []Finding{{"other_digest", f.Name, "its bytes are not those that were copied"}}
	}
	return nil
}

// opens reads the database and finds files that it names and the backup does not have. PostgreSQL's is not opened
// without a server: its tables are counted.
func (w *Whole) opens(ctx context.Context) ([]Finding, error) {
	found := []Finding{}
	if w.Database.Kind == Postgres {
		if err := db.CheckDump(w.Dump(), lines); err != nil {
			found = append(found, Finding{"unreadable", w.Database.Folder, err.Error()})
		}
		return found, nil
	}
	has := map[string]bool{}
	for _, f := range w.Files {
		has[f.Name] = true
	}
	for _, name := range w.Missing { // it is known, and was said
		has[name] = true
	}
	err := db.LookAt(ctx, filepath.Join(w.Dump(), db.DumpFile), func(q db.Querier) error {
		names, err := named(ctx, q, w.Database.Version)
		for _, n := range names {
			if !has[n.key] {
				found = append(found, Finding{"not_in_backup", n.key, "the database names it"})
			}
		}
		return err
	})
	if err != nil {
		found = append(found, Finding{"unreadable", db.DumpFile, err.Error()})
	}
	return found, nil
}

// lines counts the lines of a file.
func lines(path string) (int64, error) {
	f, err := os.Open(path) //nolint:gosec // G304: of the operator's backup
	if err != nil {
		return 0, fmt.Errorf("opening %s: %w", path, err)
	}
	defer f.Close()
	var n int64
	buf := make([]byte, 1<<16)
	for {
		read, err := f.Read(buf)
		n += int64(bytes.Count(buf[:read], []byte("\n")))
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, fmt.Errorf("reading %s: %w", path, err)
		}
	}
}
