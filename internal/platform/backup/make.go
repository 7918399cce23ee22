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

	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/failpoint"
)

// Source is what is backed up.
type Source struct {
	DB          *db.DB
	Blobs       blob.Store
	SealingKeys []string // the keys' ids
	Program     string   // its version
}

// Options say how a backup is made.
type Options struct {
	Reread bool // read also what lies in the folder from an earlier backup, and copy anew what is not as it was
}

// Made is what a backup did.
type Made struct {
	Folder      string    `json:"folder"`
	MadeAt      time.Time `json:"made_at"`
	SealingKeys []string  `json:"sealing_key_ids"` // the keys themselves are kept elsewhere
	Database    int64     `json:"database_bytes"`
	Files       int       `json:"files"`
	Copied      int       `json:"files_copied"` // the others were there
	Bytes       int64     `json:"bytes_copied"`
	Mended      []string  `json:"mended"`  // files that the folder had, damaged, and that were copied anew
	Damaged     []string  `json:"damaged"` // files that the store does not give back as they came
	Missing     []string  `json:"missing"` // files that the store does not have, although the database names them
}

const mostTries = 5 // for files that are deleted between the moment of the database and their turn

// errGone says that a file is not there which the database names.
var errGone = errors.New("a file is not in the store that the database names")

// Make backs up to a folder, which is made where it is not there. The service may go on meanwhile. What the store
// lacks for good does not keep the rest from being backed up.
func Make(ctx context.Context, from Source, folder string, opts Options) (Made, error) {
	if err := fits(folder); err != nil {
		return Made{}, err
	}
	files, err := blob.Open(ctx, "file:"+filepath.Join(folder, filesName), blob.Options{})
	if err != nil {
		return Made{}, fmt.Errorf("opening the backup's files: %w", err)
	}
	m := maker{
		Source: from, Options: opts, folder: folder, files: files, had: map[string]File{}, kept: map[string]File{},
		mended: []string{},
	}
	if before, err := Read(folder); err == nil { // without it nothing that lies there is taken on trust
		for _, f := range before.Files {
			m.had[f.Name] = f
		}
	}
	for try := 1; ; try++ {
		m.last = try == mostTries
		made, err := m.once(ctx)
		if !errors.Is(err, errGone) || m.last {
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
		if name := e.Name(); name != filesName && name != LockName && !strings.HasPrefix(name,
			manifestName) && !strings.HasPrefix(name, databaseName) {
			return fmt.Errorf("%s holds %s, which is no part of a backup: give an empty folder, or that of an "+
				"earlier backup", folder, name)
		}
	}
	return nil
}

// LockName is the file by which one backup at a time is made in a folder.
const LockName = ".lock"

type maker struct {
	Source
	Options

	folder string
	files  blob.Store
	had    map[string]File // of the backup before
	kept   map[string]File // by an earlier try
	last   bool            // try: what is not in the store now was not deleted meanwhile
	now    time.Time
	copied int
	bytes  int64
	mended []string
}

// wanted is a file that the database names; with the digest of what came, where the database tells it.
type wanted struct{ key, sha256 string }

func (m *maker) once(ctx context.Context) (Made, error) {
	m.now = m.DB.Now()
	out := Manifest{
		Format: Format, Program: m.Program, MadeAt: m.now, SealingKeys: m.SealingKeys, SealingKey: m.SealingKeys[0],
		Files: []File{},
	}
	out.Database = Database{Kind: SQLite, Folder: databaseName + m.now.Format("20060102T150405.000000Z")}
	if m.DB.Postgres() {
		out.Database.Kind = Postgres
	}
	part := filepath.Join(m.folder, out.Database.Folder+partEnd)
	names, err := m.dump(ctx, part, &out.Database)
	if err != nil {
		return Made{}, errors.Join(err, os.RemoveAll(part))
	}
	failpoint.Point("after backup dump")
	damaged, err := m.keepAll(ctx, names, &out)
	if err != nil {
		return Made{}, errors.Join(err, os.RemoveAll(part))
	}
	failpoint.Point("after backup files")
	if err := os.Rename(part, strings.TrimSuffix(part, partEnd)); err != nil {
		return Made{}, fmt.Errorf("naming the copy of the database: %w", err)
	}
	if err := out.write(m.folder); err != nil {
		return Made{}, err
	}
	failpoint.Point("after backup manifest")
	made := Made{
		Folder: m.folder, MadeAt: out.MadeAt, SealingKeys: out.SealingKeys, Files: len(out.Files), Copied: m.copied,
		Bytes:  m.bytes,
		Mended: m.mended, Damaged: damaged, Missing: append([]string{}, out.Missing...),
	}
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
		names, err = named(ctx, q, d.Version)
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

// derivedSince is the version of the schema that has derived files.
const derivedSince = 43

// named lists the files that a database with that version of the schema names, but for those of items that are being
// deleted.
func named(ctx context.Context, q db.Querier, version int64) ([]wanted, error) {
	query := `SELECT blob, thumbnail, sha256 FROM media WHERE deleted_at = 0`
	if version >= derivedSince {
		query += ` UNION ALL SELECT blob, '', sha256 FROM media_derived WHERE blob <> ''`
	}
	rows, err := q.Query(ctx, query)
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
		out = append(out, wanted{homePrefix + home, ""})
	case !errors.Is(err, sql.ErrNoRows):
		return nil, fmt.Errorf("reading which store of files is this database's: %w", err)
	}
	slices.SortFunc(out, func(a, b wanted) int { return strings.Compare(a.key, b.key) })
	return slices.CompactFunc(out, func(a, b wanted) bool { return a.key == b.key }), nil
}

// homePrefix begins the name of the file by which a store is known to be the database's.
const homePrefix = "store/"

// keepAll sees that the backup has all files, and tells which the store does not give back as they came. A store that
// does not know the database is another one: nothing is backed up from there.
func (m *maker) keepAll(ctx context.Context, names []wanted, out *Manifest) ([]string, error) {
	damaged := []string{}
	for _, w := range names {
		f, err := m.keepOnce(ctx, w)
		switch {
		case errors.Is(err, errGone) && m.last && !strings.HasPrefix(w.key, homePrefix):
			out.Missing = append(out.Missing, w.key)
			continue
		case err != nil:
			return nil, err
		case w.sha256 != "" && w.sha256 != f.SHA256:
			damaged = append(damaged, w.key)
		}
		out.Files = append(out.Files, f)
	}
	return damaged, nil
}

// keepOnce leaves alone what an earlier try kept.
func (m *maker) keepOnce(ctx context.Context, w wanted) (File, error) {
	if f, is := m.kept[w.key]; is {
		return f, nil
	}
	f, err := m.keep(ctx, w)
	if err == nil {
		m.kept[w.key] = f
	}
	return f, err
}

// trust is how far a file in the backup's folder is believed to be what it should be.
type trust int

const (
	absent trust = iota
	wrong
	unproven // nothing tells what it should be
	sound
)

// keep sees that the backup has a file. What lies there from an earlier backup is measured but not read again, unless
// that is asked for: verifying does that. Only what is as the manifest and the database say is taken over.
func (m *maker) keep(ctx context.Context, w wanted) (File, error) {
	there, is, err := m.there(ctx, w)
	if err != nil || is == sound {
		return there, err
	}
	f, err := carry(ctx, m.Blobs, m.files, w.key, is != absent)
	if errors.Is(err, blob.ErrNotFound) {
		if is == unproven {
			return there, nil
		}
		return File{}, fmt.Errorf("%w: %s (pressroom admin audit tells of all)", errGone, w.key)
	}
	if err != nil {
		return File{}, err
	}
	m.copied++
	m.bytes += f.Size
	if is == wrong && (w.sha256 == "" || w.sha256 == f.SHA256) {
		m.mended = append(m.mended, w.key)
	}
	return f, nil
}

// there looks what the folder has of a file.
func (m *maker) there(ctx context.Context, w wanted) (File, trust, error) {
	r, err := m.files.Open(ctx, w.key)
	if errors.Is(err, blob.ErrNotFound) {
		return File{}, absent, nil
	}
	if err != nil {
		return File{}, absent, fmt.Errorf("looking for %s in the backup: %w", w.key, err)
	}
	defer r.Close()
	had, known := m.had[w.key]
	switch {
	case known && (had.Size != r.Size() || w.sha256 != "" && w.sha256 != had.SHA256):
		return File{}, wrong, nil
	case known && !m.Reread:
		return had, sound, nil
	}
	return reread(ctx, w, had, known, r)
}

// reread reads a file of the folder whole. One that a disk gives back no more is wrong, and is copied anew.
func reread(ctx context.Context, w wanted, had File, known bool, r blob.Reader) (File, trust, error) {
	is, err := read(ctx, w.key, r)
	switch {
	case ctx.Err() != nil:
		return File{}, absent, context.Cause(ctx)
	case err != nil, known && is != had, w.sha256 != "" && w.sha256 != is.SHA256:
		return File{}, wrong, nil //nolint:nilerr // what cannot be read is copied anew
	case !known && w.sha256 == "":
		return is, unproven, nil
	}
	return is, sound, nil
}

func read(ctx context.Context, key string, r blob.Reader) (File, error) {
	size, sum, err := measure(ctx, r, io.Discard)
	if err != nil {
		return File{}, fmt.Errorf("reading %s: %w", key, err)
	}
	return File{key, size, sum}, nil
}

// carry copies a file from one store to another, in the place of what lies there where that is to be replaced.
func carry(ctx context.Context, from, to blob.Store, key string, replace bool) (File, error) {
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
	if replace {
		if err := to.Delete(ctx, key); err != nil {
			return File{}, fmt.Errorf("taking away the damaged %s: %w", key, err)
		}
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
