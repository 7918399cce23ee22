package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
)

// Finding is a problem that was found in a backup.
type Finding struct {
	Rule string `json:"rule"` // missing, other_size, other_digest, unreadable, not_in_backup or ledger
	Name string `json:"name"` // name of the file or of the failed ledger check
	Text string `json:"text"`
}

// Archive is a backup that was opened for verification or a restore.
type Archive struct {
	Manifest

	folder string
	files  blob.Store
}

// Open opens a backup for reading.
func Open(ctx context.Context, folder string) (*Archive, error) {
	m, err := Read(folder)
	if err != nil {
		return nil, err
	}
	files, err := blob.Open(ctx, "file:"+filepath.Join(folder, filesName), blob.Options{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("opening the backup's files: %w", err)
	}
	return &Archive{m, folder, files}, nil
}

// DatabaseFolder returns the folder with the snapshot of the database.
func (a *Archive) DatabaseFolder() string {
	return filepath.Join(a.folder, filepath.Base(a.Database.Folder))
}

const repairHint = "to copy it from the installation again, run pressroom admin backup --reread with this folder"

// Verify reads every byte of a backup. It compares the files with the manifest, and the manifest with the database.
func (a *Archive) Verify(ctx context.Context) ([]Finding, error) {
	findings := []Finding{}
	for _, f := range a.Database.Files {
		size, sum, err := measureFile(ctx, filepath.Join(a.DatabaseFolder(), filepath.Base(f.Name)))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		findings = append(findings, f.compare(size, sum, err)...)
	}
	for _, f := range a.Files {
		size, sum, err := a.measure(ctx, f.Name)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for _, finding := range f.compare(size, sum, err) {
			finding.Text += "; " + repairHint
			findings = append(findings, finding)
		}
	}
	if len(findings) > 0 {
		return findings, nil // the database may be damaged
	}
	return a.checkDatabase(ctx)
}

func (a *Archive) measure(ctx context.Context, key string) (int64, string, error) {
	r, err := a.files.Open(ctx, key)
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

// compare returns a finding if the file is missing or unreadable, or if its size or digest differs from the manifest.
func (f File) compare(size int64, sum string, err error) []Finding {
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, blob.ErrNotFound):
		return []Finding{{"missing", f.Name, "the file is missing"}}
	case err != nil:
		return []Finding{{"unreadable", f.Name, err.Error()}}
	case size != f.Size:
		return []Finding{{"other_size", f.Name, fmt.Sprintf("it has %d bytes instead of %d", size, f.Size)}}
	case sum != f.SHA256:
		return []Finding{{"other_digest", f.Name, "its content has changed since it was copied"}}
	}
	return nil
}

// checkDatabase reads the database and returns findings about files that are missing from the backup. A PostgreSQL dump
// cannot be queried without a server, so checkDatabase only counts its rows.
func (a *Archive) checkDatabase(ctx context.Context) ([]Finding, error) {
	findings := []Finding{}
	if a.Database.Kind == Postgres {
		if err := db.CheckDump(a.DatabaseFolder(), countLines); err != nil {
			findings = append(findings, Finding{"unreadable", a.Database.Folder, err.Error()})
		}
		return findings, nil
	}
	inManifest := map[string]bool{}
	for _, f := range a.Files {
		inManifest[f.Name] = true
	}
	for _, name := range a.Missing { // already reported when the backup was created
		inManifest[name] = true
	}
	err := db.ReadFile(ctx, filepath.Join(a.DatabaseFolder(), db.DumpFile), func(q db.Querier) error {
		names, err := listFiles(ctx, q)
		for _, n := range names {
			if !inManifest[n.key] {
				findings = append(findings, Finding{"not_in_backup", n.key, "the database refers to it"})
			}
		}
		return err
	})
	if err != nil {
		findings = append(findings, Finding{"unreadable", db.DumpFile, err.Error()})
	}
	return findings, nil
}

// countLines returns the number of lines in a file.
func countLines(path string) (int64, error) {
	f, err := os.Open(path) //nolint:gosec // G304: part of the operator's backup
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
