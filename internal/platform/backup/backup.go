// Package backup creates, verifies and restores backups of a running service.
//
// A backup is a folder with a manifest, a snapshot of the database, and the files that the snapshot refers to. Files
// never change, so another backup to the same folder copies only new ones. The manifest is replaced atomically at the
// end, so an interrupted backup leaves the previous backup intact.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Format is the version of the manifest's format. Read rejects other versions.
const Format = 1

const (
	manifestName   = "manifest.json"
	filesName      = "files"
	databasePrefix = "database-" // prefix of the snapshot's folder, followed by the time
	partSuffix     = ".part"     // suffix of a folder or file that is not complete yet
)

// Manifest describes the content of a backup.
type Manifest struct {
	Format    int       `json:"format"`
	Program   string    `json:"program"` // version of the program
	CreatedAt time.Time `json:"made_at"` // time of the snapshot
	Database  Database  `json:"database"`
	// SealingKeys lists the IDs of the keys that encrypt the accounts' grants. There are several keys during a key
	// rotation. The backup does not contain the keys themselves.
	SealingKeys []string `json:"sealing_key_ids"`
	SealingKey  string   `json:"sealing_key_id"`    // the first of SealingKeys, for older versions of the program
	Files       []File   `json:"files"`             // files of the media library
	Missing     []string `json:"missing,omitempty"` // files that the database refers to but that were missing from the store
}

// Database describes the snapshot of the database.
type Database struct {
	Kind    string `json:"kind"`    // SQLite or Postgres
	Folder  string `json:"folder"`  // name of the snapshot's folder in the backup
	Version int64  `json:"version"` // version of the schema
	Files   []File `json:"files"`
}

// The kinds of databases.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// File describes a file in a backup.
type File struct {
	Name   string `json:"name"` // name in the snapshot's folder, or key in the blob store
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// manifestFile is the content of the manifest file. Its digest is used to detect damage.
type manifestFile struct {
	SHA256   string          `json:"sha256"` // digest of the bytes of Manifest
	Manifest json.RawMessage `json:"manifest"`
}

// ErrNoBackup means that a folder does not contain a complete backup.
var ErrNoBackup = errors.New("no complete backup")

// Read returns the manifest of a backup. The error wraps ErrNoBackup if the folder does not contain a complete backup.
func Read(folder string) (Manifest, error) {
	var m Manifest
	raw, err := os.ReadFile(filepath.Join(folder, manifestName)) //nolint:gosec // G304: the operator chooses the folder
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w in %s: it has no %s", ErrNoBackup, folder, manifestName)
	}
	if err != nil {
		return m, fmt.Errorf("reading the backup's manifest: %w", err)
	}
	var s manifestFile
	if err := json.Unmarshal(raw, &s); err != nil {
		return m, fmt.Errorf("the backup's manifest is damaged: %w", err)
	}
	if digest(s.Manifest) != s.SHA256 {
		return m, errors.New("the backup's manifest is damaged: its digest does not match")
	}
	if err := json.Unmarshal(s.Manifest, &m); err != nil {
		return m, fmt.Errorf("the backup's manifest is damaged: %w", err)
	}
	if m.Format != Format {
		return m, fmt.Errorf("the backup has format %d, but this program can read only format %d", m.Format, Format)
	}
	if len(m.SealingKeys) == 0 {
		m.SealingKeys = []string{m.SealingKey}
	}
	return m, nil
}

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// write atomically replaces the manifest in a folder.
func (m Manifest) write(folder string) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	out, err := json.Marshal(manifestFile{digest(raw), raw})
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	path := filepath.Join(folder, manifestName)
	if err := writeSynced(path+partSuffix, append(out, '\n')); err != nil {
		return err
	}
	if err := os.Rename(path+partSuffix, path); err != nil {
		return fmt.Errorf("renaming the manifest: %w", err)
	}
	return syncFolder(folder)
}

func writeSynced(path string, raw []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // G304: the operator's folder
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	_, err = f.Write(raw)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	return nil
}

func syncFolder(folder string) error {
	f, err := os.Open(folder) //nolint:gosec // G304: the operator chooses the folder
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	_ = f.Sync() // not all systems support this
	return f.Close()
}

// measure copies r to w, and returns the number of bytes and their SHA-256 in hexadecimal.
func measure(ctx context.Context, r io.Reader, w io.Writer) (int64, string, error) {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, w), &contextReader{ctx, r})
	return n, hex.EncodeToString(h.Sum(nil)), err
}

// contextReader is a reader that returns an error once its context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // io.Reader takes no context
	r   io.Reader
}

func (s *contextReader) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(p) //nolint:wrapcheck // io.EOF must not be wrapped
}

func measureFile(ctx context.Context, path string) (int64, string, error) {
	f, err := os.Open(path) //nolint:gosec // G304: part of the operator's backup
	if err != nil {
		return 0, "", fmt.Errorf("opening %s: %w", path, err)
	}
	defer f.Close()
	n, sum, err := measure(ctx, f, io.Discard)
	if err != nil {
		return 0, "", fmt.Errorf("reading %s: %w", path, err)
	}
	return n, sum, nil
}
