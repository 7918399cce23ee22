package backup

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
)

// Source is the data to back up.
type Source struct {
	DB          *db.DB
	Blobs       blob.Store
	SealingKeys []string // IDs of the sealing keys
	Program     string   // version of the program
}

// Options are options of Create.
type Options struct {
	Reread bool // whether to read the files that are already in the folder, and replace damaged ones
}

// Result reports the content of a backup and how it was created.
type Result struct {
	Folder      string    `json:"folder"`
	CreatedAt   time.Time `json:"made_at"`
	SealingKeys []string  `json:"sealing_key_ids"` // the backup does not contain the keys
	Database    int64     `json:"database_bytes"`
	Files       int       `json:"files"`
	Copied      int       `json:"files_copied"` // number of files that were not already in the folder
	Bytes       int64     `json:"bytes_copied"`
	Repaired    []string  `json:"mended"`  // files in the folder that were damaged and have been replaced
	Damaged     []string  `json:"damaged"` // files in the store that differ from the uploaded files
	Missing     []string  `json:"missing"` // files that the database refers to but that are missing from the store
}

// maxTries is the maximum number of attempts. Create makes another attempt if files are deleted after the snapshot.
const maxTries = 5

var errFileMissing = errors.New("the database refers to a file that is missing from the store")

// Create backs up a running service to a folder, and creates the folder if necessary. If files are missing from the
// store, Create reports them in the result and returns no error.
func Create(ctx context.Context, src Source, folder string, opts Options) (Result, error) {
	if err := prepareFolder(folder); err != nil {
		return Result{}, err
	}
	files, err := blob.Open(ctx, "file:"+filepath.Join(folder, filesName), blob.Options{})
	if err != nil {
		return Result{}, fmt.Errorf("opening the backup's files: %w", err)
	}
	m := creator{
		Source: src, Options: opts, folder: folder, files: files,
		previous: map[string]File{}, copiedFiles: map[string]File{}, repairedFiles: []string{},
	}
	if before, err := Read(folder); err == nil {
		for _, f := range before.Files {
			m.previous[f.Name] = f
		}
	}
	for try := 1; ; try++ {
		m.lastTry = try == maxTries
		made, err := m.attempt(ctx)
		if !errors.Is(err, errFileMissing) || m.lastTry {
			return made, err
		}
	}
}

// prepareFolder creates the folder. It returns an error if the folder contains anything other than a backup.
func prepareFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("creating the backup's folder: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("reading the backup's folder: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); name != filesName && name != LockName &&
			!strings.HasPrefix(name, manifestName) && !strings.HasPrefix(name, databasePrefix) {
			return fmt.Errorf("%s contains %s, which is not part of a backup: use an empty folder or one with an "+
				"earlier backup", folder, name)
		}
	}
	return nil
}

// LockName is the name of the lock file that allows one backup at a time in a folder.
const LockName = ".lock"

type creator struct {
	Source
	Options

	folder        string
	files         blob.Store
	previous      map[string]File // files of the previous backup in the folder, by key
	copiedFiles   map[string]File // files copied by an earlier attempt, by key
	lastTry       bool            // whether this is the last attempt, which reports missing files
	now           time.Time
	copiedCount   int
	copiedBytes   int64
	repairedFiles []string
}

// fileRef is a reference from the database to a file. sha256 is empty if the database does not store the digest.
type fileRef struct{ key, sha256 string }

func (c *creator) attempt(ctx context.Context) (Result, error) {
	c.now = c.DB.Now()
	out := Manifest{
		Format: Format, Program: c.Program, CreatedAt: c.now, SealingKeys: c.SealingKeys, SealingKey: c.SealingKeys[0],
		Files: []File{},
	}
	out.Database = Database{Kind: SQLite, Folder: databasePrefix + c.now.Format("20060102T150405.000000Z")}
	if c.DB.Postgres() {
		out.Database.Kind = Postgres
	}
	part := filepath.Join(c.folder, out.Database.Folder+partSuffix)
	names, err := c.dump(ctx, part, &out.Database)
	if err != nil {
		return Result{}, errors.Join(err, os.RemoveAll(part))
	}
	failpoint.Point("after backup dump")
	damagedFiles, err := c.copyFiles(ctx, names, &out)
	if err != nil {
		return Result{}, errors.Join(err, os.RemoveAll(part))
	}
	failpoint.Point("after backup files")
	if err := os.Rename(part, strings.TrimSuffix(part, partSuffix)); err != nil {
		return Result{}, fmt.Errorf("renaming the copy of the database: %w", err)
	}
	if err := out.write(c.folder); err != nil {
		return Result{}, err
	}
	failpoint.Point("after backup manifest")
	result := Result{
		Folder: c.folder, CreatedAt: out.CreatedAt, SealingKeys: out.SealingKeys, Files: len(out.Files),
		Copied: c.copiedCount, Bytes: c.copiedBytes, Repaired: c.repairedFiles, Damaged: damagedFiles,
		Missing: append([]string{}, out.Missing...),
	}
	for _, f := range out.Database.Files {
		result.Database += f.Size
	}
	return result, c.prune(ctx, out)
}

// dump writes a snapshot of the database and returns the files that the database refers to.
func (c *creator) dump(ctx context.Context, dir string, d *Database) ([]fileRef, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("removing an incomplete copy of the database: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating a folder for the database: %w", err)
	}
	var err error
	if d.Version, _, err = c.DB.Version(ctx); err != nil {
		return nil, err
	}
	var names []fileRef
	err = c.DB.Dump(ctx, dir, func(ctx context.Context, q db.Querier) error {
		names, err = listFiles(ctx, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the copy of the database: %w", err)
	}
	for _, e := range entries {
		size, sum, err := measureFile(ctx, filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		d.Files = append(d.Files, File{e.Name(), size, sum})
	}
	return names, syncFolder(dir)
}

// listFiles returns the files that a database refers to, except the files of media items that are being deleted.
func listFiles(ctx context.Context, q db.Querier) ([]fileRef, error) {
	rows, err := q.Query(ctx, `SELECT blob, thumbnail, sha256 FROM media WHERE deleted_at = 0
		UNION ALL SELECT blob, '', sha256 FROM media_derived WHERE blob <> ''`)
	if err != nil {
		return nil, fmt.Errorf("listing the files of the library: %w", err)
	}
	defer rows.Close()
	var out []fileRef
	for rows.Next() {
		var key, thumbnail string
		var sum []byte
		if err := rows.Scan(&key, &thumbnail, &sum); err != nil {
			return nil, fmt.Errorf("listing the files of the library: %w", err)
		}
		out = append(out, fileRef{key, hex.EncodeToString(sum)})
		if thumbnail != "" {
			out = append(out, fileRef{thumbnail, ""})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing the files of the library: %w", err)
	}
	var marker string
	switch err := q.QueryRow(ctx, `SELECT name FROM blob_store WHERE id = 1`).Scan(&marker); {
	case err == nil:
		out = append(out, fileRef{markerPrefix + marker, ""})
	case !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("reading the name of the file store: %w", err)
	}
	slices.SortFunc(out, func(a, b fileRef) int { return strings.Compare(a.key, b.key) })
	return slices.CompactFunc(out, func(a, b fileRef) bool { return a.key == b.key }), nil
}

// markerPrefix is the key prefix of the marker file. The marker file shows that a store belongs to the database.
const markerPrefix = "store/"

// copyFiles copies files that are missing from the backup, and returns the keys of files that are damaged in the store.
// A missing marker file is an error, because it means that the store belongs to another database.
func (c *creator) copyFiles(ctx context.Context, names []fileRef, out *Manifest) ([]string, error) {
	damagedFiles := []string{}
	for _, w := range names {
		f, err := c.copyOnce(ctx, w)
		switch {
		case errors.Is(err, errFileMissing) && c.lastTry && !strings.HasPrefix(w.key, markerPrefix):
			out.Missing = append(out.Missing, w.key)
			continue
		case err != nil:
			return nil, err
		case w.sha256 != "" && w.sha256 != f.SHA256:
			damagedFiles = append(damagedFiles, w.key)
		}
		out.Files = append(out.Files, f)
	}
	return damagedFiles, nil
}

// copyOnce copies a file unless an earlier attempt has copied it.
func (c *creator) copyOnce(ctx context.Context, w fileRef) (File, error) {
	if f, ok := c.copiedFiles[w.key]; ok {
		return f, nil
	}
	f, err := c.copyIfNeeded(ctx, w)
	if err == nil {
		c.copiedFiles[w.key] = f
	}
	return f, err
}

// fileState is the state of a file in the backup's folder.
type fileState int

const (
	fileAbsent fileState = iota
	fileDamaged
	fileUnverified // neither the manifest nor the database has a digest of the file
	fileIntact
)

// copyIfNeeded copies a file unless an earlier backup has already copied it to the folder. It checks an existing file
// against the manifest and the database. It reads the content of an existing file only if Options.Reread is set.
func (c *creator) copyIfNeeded(ctx context.Context, w fileRef) (File, error) {
	file, state, err := c.inspect(ctx, w)
	if err != nil || state == fileIntact {
		return file, err
	}
	f, err := copyBlob(ctx, c.Blobs, c.files, w.key, state != fileAbsent)
	if errors.Is(err, blob.ErrNotFound) {
		if state == fileUnverified {
			return file, nil
		}
		return File{}, fmt.Errorf("%w: %s (run pressroom admin audit to list all)", errFileMissing, w.key)
	}
	if err != nil {
		return File{}, err
	}
	c.copiedCount++
	c.copiedBytes += f.Size
	if state == fileDamaged && (w.sha256 == "" || w.sha256 == f.SHA256) {
		c.repairedFiles = append(c.repairedFiles, w.key)
	}
	return f, nil
}

// inspect returns the file with this key in the folder, and its state.
func (c *creator) inspect(ctx context.Context, w fileRef) (File, fileState, error) {
	r, err := c.files.Open(ctx, w.key)
	if errors.Is(err, blob.ErrNotFound) {
		return File{}, fileAbsent, nil
	}
	if err != nil {
		return File{}, fileAbsent, fmt.Errorf("finding %s in the backup: %w", w.key, err)
	}
	defer r.Close()
	previous, known := c.previous[w.key]
	switch {
	case known && (previous.Size != r.Size() || w.sha256 != "" && w.sha256 != previous.SHA256):
		return File{}, fileDamaged, nil
	case known && !c.Reread:
		return previous, fileIntact, nil
	}
	return reread(ctx, w, previous, known, r)
}

// reread reads a file in the folder and returns its state. A file that cannot be read counts as damaged.
func reread(ctx context.Context, w fileRef, previous File, known bool, r blob.Reader) (File, fileState, error) {
	file, err := digestFile(ctx, w.key, r)
	switch {
	case ctx.Err() != nil:
		return File{}, fileAbsent, context.Cause(ctx)
	case err != nil, known && file != previous, w.sha256 != "" && w.sha256 != file.SHA256:
		return File{}, fileDamaged, nil //nolint:nilerr // an unreadable file is copied again
	case !known && w.sha256 == "":
		return file, fileUnverified, nil
	}
	return file, fileIntact, nil
}

func digestFile(ctx context.Context, key string, r blob.Reader) (File, error) {
	size, sum, err := measure(ctx, r, io.Discard)
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", key, err)
	}
	return File{key, size, sum}, nil
}

// copyBlob copies a file from one store to another. If replace is true, it first deletes the existing file with this
// key.
func copyBlob(ctx context.Context, src, dst blob.Store, key string, replace bool) (File, error) {
	r, err := src.Open(ctx, key)
	if err != nil {
		return File{}, fmt.Errorf("opening %s: %w", key, err)
	}
	defer r.Close()
	staged, err := dst.Stage(ctx)
	if err != nil {
		return File{}, fmt.Errorf("staging %s: %w", key, err)
	}
	defer staged.Discard()
	size, sum, err := measure(ctx, r, staged)
	if err != nil {
		return File{}, fmt.Errorf("copying %s: %w", key, err)
	}
	if replace {
		if err := dst.Delete(ctx, key); err != nil {
			return File{}, fmt.Errorf("removing the damaged file %s: %w", key, err)
		}
	}
	if err := dst.Put(ctx, key, staged); err != nil && !errors.Is(err, blob.ErrExists) {
		return File{}, fmt.Errorf("storing %s: %w", key, err)
	}
	return File{key, size, sum}, nil
}

// prune removes the files of earlier backups in the folder that the current backup does not need.
func (c *creator) prune(ctx context.Context, now Manifest) error {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return fmt.Errorf("reading the backup's folder: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), databasePrefix) && e.Name() != now.Database.Folder {
			if err := os.RemoveAll(filepath.Join(c.folder, e.Name())); err != nil {
				return fmt.Errorf("removing an earlier copy of the database: %w", err)
			}
		}
	}
	usedNames := map[string]bool{}
	for _, f := range now.Files {
		usedNames[f.Name] = true
	}
	return c.files.Each(ctx, "", func(b blob.Info) error {
		if usedNames[b.Key] {
			return nil
		}
		return c.files.Delete(ctx, b.Key)
	})
}
