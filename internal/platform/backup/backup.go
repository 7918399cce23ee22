// Package backup copies what the service keeps to a folder, while the service goes on, and finds out whether such a
// copy is whole.
//
// A backup is a folder with a manifest, a folder of the database as it was at one moment, and the files that this
// database names. Files never change, so that a further backup to the same folder copies the new ones alone. The
// manifest is put in its place last and at once: a backup that was cut off leaves the one before as it was.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Format is that of the manifest. A program reads no other.
const Format = 1

const (
	manifestName = "manifest.json"
	filesName    = "files"
	databaseName = "database-" // and the moment
	partEnd      = ".part"     // of a database folder that is being written
)

// Manifest says what a backup holds.
type Manifest struct {
	Format   int       `json:"format"`
	Program  string    `json:"program"` // its version
	MadeAt   time.Time `json:"made_at"` // everything that was done before is in it
	Database Database  `json:"database"`
	// SealingKeys names the keys that the accounts' grants are sealed with: several during a change of keys. The keys
	// themselves are not in the backup.
	SealingKeys []string `json:"sealing_key_ids"`
	SealingKey  string   `json:"sealing_key_id"`    // the first of them: all that earlier programs wrote and read
	Files       []File   `json:"files"`             // of the media library
	Missing     []string `json:"missing,omitempty"` // files that the database names and the store did not have
}

// Database is the copy of the database.
type Database struct {
	Kind    string `json:"kind"`   // sqlite or postgres
	Folder  string `json:"folder"` // in the backup
	Version int64  `json:"version"`
	Files   []File `json:"files"`
}

// The kinds of database.
const (
	SQLite   = "sqlite"
	Postgres = "postgres"
)

// File is one file, by its name or key.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// sealed is how a manifest is written: with its own digest, so that a changed one is found out.
type sealed struct {
	SHA256   string          `json:"sha256"` // of the manifest below, byte by byte
	Manifest json.RawMessage `json:"manifest"`
}

// ErrNone says that a folder holds no whole backup.
var ErrNone = errors.New("there is no whole backup")

// Read reads the manifest of a backup: ErrNone where there is none.
func Read(folder string) (Manifest, error) {
	var m Manifest
	raw, err := os.ReadFile(filepath.Join(folder, manifestName)) //nolint:gosec // G304: the operator says which folder
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%w in %s: it has no %s", ErrNone, folder, manifestName)
	}
	if err != nil {
		return m, fmt.Errorf("reading the backup's manifest: %w", err)
	}
	var s sealed
	if err := json.Unmarshal(raw, &s); err != nil {
		return m, fmt.Errorf("the backup's manifest is damaged: %w", err)
	}
	if digest(s.Manifest) != s.SHA256 {
		return m, errors.New("the backup's manifest is damaged: its digest is another one")
	}
	if err := json.Unmarshal(s.Manifest, &m); err != nil {
		return m, fmt.Errorf("the backup's manifest is damaged: %w", err)
	}
	if m.Format != Format {
		return m, fmt.Errorf("the backup has the format %d, and this program reads %d", m.Format, Format)
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

// write puts a manifest in its place, whole and at once.
func (m Manifest) write(folder string) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	out, err := json.Marshal(sealed{digest(raw), raw})
	if err != nil {
		return fmt.Errorf("writing the manifest: %w", err)
	}
	path := filepath.Join(folder, manifestName)
	if err := writeSynced(path+partEnd, append(out, '\n')); err != nil {
		return err
	}
	if err := os.Rename(path+partEnd, path); err != nil {
		return fmt.Errorf("putting the manifest in its place: %w", err)
	}
	return syncFolder(folder)
}

func writeSynced(path string, raw []byte) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // G304: the operator says which folder
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
	f, err := os.Open(folder) //nolint:gosec // G304: the operator says which folder
	if err != nil {
		return fmt.Errorf("opening the folder: %w", err)
	}
	_ = f.Sync() // not every system can
	return f.Close()
}

// measure reads a stream to its end and tells its size and digest.
func measure(ctx context.Context, r io.Reader, w io.Writer) (int64, string, error) {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(h, w), &stoppable{ctx, r})
	return n, sum(h), err
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// stoppable is a stream that ends with a context.
type stoppable struct {
	ctx context.Context //nolint:containedctx // of the one who reads: io.Reader takes none
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.r.Read(p) //nolint:wrapcheck // a reader's errors are its reader's, and io.EOF has to stay itself
}

func measureFile(ctx context.Context, path string) (int64, string, error) {
	f, err := os.Open(path) //nolint:gosec // G304: of the operator's backup
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
