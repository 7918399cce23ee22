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

	"pressroom/internal/blob"
	"pressroom/internal/crash"
	"pressroom/internal/db"
)

// Source is what is backed up.
type Source struct {
	DB         *db.DB
	Blobs      blob.Store
	SealingKey string // the key's id
	Program    string // its version
}

// Made is what a backup did.
type Made struct {
	Folder     string    `json:"folder"`
	MadeAt     time.Time `json:"made_at"`
	SealingKey string    `json:"sealing_key_id"` // the key itself is kept elsewhere
	Database   int64     `json:"database_bytes"`
	Files      int       `json:"files"`
	Copied     int       `json:"files_copied"` // the others were there
	Bytes      int64     `json:"bytes_copied"`
	Damaged    []string  `json:"damaged"` // files that the store does not give back as they came
}

const mostTries = 5 // for files that are deleted between the moment of the database and their turn

// errGone says that a file is not there which the database names.
var errGone = errors.New("a file is not in the store that the database names")

// Make backs up to a folder, which is made where it is not there. The service may go on meanwhile.
func Make(ctx context.Context, from Source, folder string) (Made, error) {
	if err := fits(folder); err != nil {
		return Made{}, err
	}
	files, err := blob.Open(ctx, "file:"+filepath.Join(folder, filesName), blob.Options{})
	if err != nil {
		return Made{}, fmt.Errorf("opening the backup's files: %w", err)
	}
	m := maker{Source: from, folder: folder, files: files, had: map[string]File{}}
	if before, err := Read(folder); err == nil {
		for _, f := range before.Files {
			m.had[f.Name] = f
		}
	}
	for try := 1; ; try++ {
		made, err := m.once(ctx)
		if !errors.Is(err, errGone) || try == mostTries {
			return made, err
		}
	}
}

// fits makes the folder, and refuses one in which something else lies.
func fits(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("making the backup's folder: %w", err)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("reading the backup's folder: %w", err)
	}
	for _, e := range entries {
		if name := e.Name(); name != filesName && name != LockName && !strings.HasPrefix(name, manifestName) && !strings.HasPrefix(name, databaseName) {
			return fmt.Errorf("%s holds %s, which is no part of a backup: give an empty folder, or that of an earlier backup", folder, name)
		}
	}
	return nil
}

// LockName is the file by which one backup at a time is made in a folder.
const LockName = ".lock"

type maker struct {
	Source

	folder string
	files  blob.Store
	had    map[string]File // of the backup before
	now    time.Time
	copied int
	bytes  int64
}

// wanted is a file that the database names; with the digest of what came, where the database tells it.
type wanted struct{ key, sha256 string }

func (m *maker) once(ctx context.Context) (Made, error) {
	m.now = m.DB.Now()
	out := Manifest{Format: Format, Program: m.Program, MadeAt: m.now, SealingKey: m.SealingKey, Files: []File{}}
	out.Database = Database{Kind: SQLite, Folder: databaseName + m.now.Format("20060102T150405.000000Z")}
	if m.DB.Postgres() {
		out.Database.Kind = Postgres
	}
	part := filepath.Join(m.folder, out.Database.Folder+partEnd)
	names, err := m.dump(ctx, part, &out.Database)
	if err != nil {
		return Made{}, errors.Join(err, os.RemoveAll(part))
	}
	crash.Point("after backup dump")
	damaged := []string{}
	for _, w := range names {
		f, err := m.keep(ctx, w)
		if err != nil {
			return Made{}, errors.Join(err, os.RemoveAll(part))
		}
		if w.sha256 != "" && w.sha256 != f.SHA256 {
			damaged = append(damaged, w.key)
		}
		out.Files = append(out.Files, f)
	}
	crash.Point("after backup files")
	if err := os.Rename(part, strings.TrimSuffix(part, partEnd)); err != nil {
		return Made{}, fmt.Errorf("naming the copy of the database: %w", err)
	}
	if err := out.write(m.folder); err != nil {
		return Made{}, err
	}
	crash.Point("after backup manifest")
	made := Made{Folder: m.folder, MadeAt: out.MadeAt, SealingKey: out.SealingKey, Files: len(out.Files), Copied: m.copied, Bytes: m.bytes, Damaged: damaged}
	for _, f := range out.Database.Files {
		made.Database += f.Size
	}
	return made, m.prune(ctx, out)
}

// dump copies the database as it is at one moment, and tells which files it names then.
func (m *maker) dump(ctx context.Context, dir string, d *Database) ([]wanted, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, fmt.Errorf("taking away what was cut off: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making a folder for the database: %w", err)
	}
	var err error
	if d.Version, _, err = m.DB.Version(ctx); err != nil {
		return nil, err
	}
	var names []wanted
	err = m.DB.Dump(ctx, dir, func(ctx context.Context, q db.Querier) error {
		names, err = named(ctx, q)
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

// named lists the files that a database names, but for those of items that are being deleted.
func named(ctx context.Context, q db.Querier) ([]wanted, error) {
	rows, err := q.Query(ctx, `SELECT blob, thumbnail, sha256 FROM media WHERE deleted_at = 0 ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("listing the files of the library: %w", err)
	}
	defer rows.Close()
	var out []wanted
	for rows.Next() {
		var key, thumbnail string
		var sum []byte
		if err := rows.Scan(&key, &thumbnail, &sum); err != nil {
			return nil, fmt.Errorf("listing the files of the library: %w", err)
		}
		out = append(out, wanted{key, hex.EncodeToString(sum)})
		if thumbnail != "" {
			out = append(out, wanted{thumbnail, ""})
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("listing the files of the library: %w", err)
	}
	var home string // by which the store is known to be this database's
	switch err := q.QueryRow(ctx, `SELECT name FROM blob_store WHERE id = 1`).Scan(&home); {
	case err == nil:
		out = append(out, wanted{"store/" + home, ""})
	case !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("reading which store of files is this database's: %w", err)
	}
	slices.SortFunc(out, func(a, b wanted) int { return strings.Compare(a.key, b.key) })
	return slices.CompactFunc(out, func(a, b wanted) bool { return a.key == b.key }), nil
}

// keep sees that the backup has a file. What lies there from an earlier backup is not read again: verifying does that.
func (m *maker) keep(ctx context.Context, w wanted) (File, error) {
	there, err := m.files.Open(ctx, w.key)
	if err == nil {
		defer there.Close()
		if had, ok := m.had[w.key]; ok && had.Size == there.Size() {
			return had, nil
		}
		return read(ctx, w.key, there)
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return File{}, fmt.Errorf("looking for %s in the backup: %w", w.key, err)
	}
	f, err := carry(ctx, m.Blobs, m.files, w.key)
	if errors.Is(err, blob.ErrNotFound) {
		return File{}, fmt.Errorf("%w: %s (pressroom admin audit tells of all)", errGone, w.key)
	}
	m.copied++
	m.bytes += f.Size
	return f, err
}

func read(ctx context.Context, key string, r blob.Reader) (File, error) {
	size, sum, err := measure(ctx, r, io.Discard)
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", key, err)
	}
	return File{key, size, sum}, nil
}

// carry copies a file from one store to another.
func carry(ctx context.Context, from, to blob.Store, key string) (File, error) {
	r, err := from.Open(ctx, key)
	if err != nil {
		return File{}, fmt.Errorf("opening %s: %w", key, err)
	}
	defer r.Close()
	staged, err := to.Stage(ctx)
	if err != nil {
		return File{}, fmt.Errorf("receiving %s: %w", key, err)
	}
	defer staged.Discard()
	size, sum, err := measure(ctx, r, staged)
	if err != nil {
		return File{}, fmt.Errorf("copying %s: %w", key, err)
	}
	if err := to.Put(ctx, key, staged); err != nil && !errors.Is(err, blob.ErrExists) {
		return File{}, fmt.Errorf("keeping %s: %w", key, err)
	}
	return File{key, size, sum}, nil
}

// prune takes away what only the backup before needed.
func (m *maker) prune(ctx context.Context, now Manifest) error {
	entries, err := os.ReadDir(m.folder)
	if err != nil {
		return fmt.Errorf("reading the backup's folder: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), databaseName) && e.Name() != now.Database.Folder {
			if err := os.RemoveAll(filepath.Join(m.folder, e.Name())); err != nil {
				return fmt.Errorf("taking away an earlier copy of the database: %w", err)
			}
		}
	}
	keep := map[string]bool{}
	for _, f := range now.Files {
		keep[f.Name] = true
	}
	return m.files.Each(ctx, "", func(b blob.Info) error {
		if keep[b.Key] {
			return nil
		}
		return m.files.Delete(ctx, b.Key)
	})
}
