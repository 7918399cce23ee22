package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/domain/credit"
	"pressroom/internal/platform/backup"
	"pressroom/internal/platform/blob"
	"pressroom/internal/platform/db"
	"pressroom/internal/platform/failpoint"
	"pressroom/internal/platform/restoreguard"
)

// Backup backs up the database and the files of an installation to a folder, beside the service that goes on. The
// database is taken as it is: a program that would have to migrate it first refuses.
func Backup(ctx context.Context, cfg Config, folder string, opts backup.Options) (backup.Made, error) {
	sealer, err := tokencrypt.New(cfg.SealingKey)
	if err != nil {
		return backup.Made{}, fmt.Errorf("the sealing key: %w", err)
	}
	files, err := blob.Open(ctx, cfg.Blobs, blob.Options{Look: true})
	if err != nil {
		return backup.Made{}, err
	}
	d, err := db.Open(ctx, cfg.Database, db.Options{Now: cfg.Now})
	if err != nil {
		return backup.Made{}, err
	}
	made, err := backUp(ctx, backup.Source{DB: d, Blobs: files, SealingKeys: sealer.IDs(), Program: cfg.Version},
		folder, opts)
	return made, errors.Join(err, d.Close())
}

func backUp(ctx context.Context, from backup.Source, folder string, opts backup.Options) (backup.Made, error) {
	is, could, err := from.DB.Version(ctx)
	if err != nil {
		return backup.Made{}, err
	}
	if is != could {
		return backup.Made{},
			fmt.Errorf("the database has the version %d and this program makes %d: back up with the program "+
				"that serves it", is, could)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return backup.Made{}, fmt.Errorf("making the backup's folder: %w", err)
	}
	lock, err := Lock(filepath.Join(folder, backup.LockName), "another backup is being made in this folder")
	if err != nil {
		return backup.Made{}, fmt.Errorf("the backup's folder: %w", err)
	}
	defer func() { _ = lock.Close() }() // it goes with the process anyway
	return backup.Make(ctx, from, folder, opts)
}

// Verified is what a look at a backup found.
type Verified struct {
	Folder      string           `json:"folder"`
	MadeAt      time.Time        `json:"made_at"`
	Database    string           `json:"database"` // its kind
	SealingKeys []string         `json:"sealing_key_ids"`
	Files       int              `json:"files"`
	Missing     []string         `json:"missing"` // files that the store did not have when the backup was made
	Findings    []backup.Finding `json:"findings"`
}

// VerifyBackup reads all of a backup, and opens its database where that needs no server: on a copy, as looking at the
// ledger must not change the backup.
func VerifyBackup(ctx context.Context, cfg Config, folder string) (Verified, error) {
	w, err := backup.Open(ctx, folder)
	if err != nil {
		return Verified{}, err
	}
	out := Verified{
		Folder: folder, MadeAt: w.MadeAt, Database: w.Database.Kind, SealingKeys: w.SealingKeys, Files: len(w.Files),
		Missing: append([]string{}, w.Missing...),
	}
	if out.Findings, err = w.Verify(ctx); err != nil {
		return out, err
	}
	if len(out.Findings) > 0 || w.Database.Kind != backup.SQLite {
		return out, nil
	}
	found, err := auditOf(ctx, cfg, filepath.Join(w.Dump(), db.DumpFile))
	out.Findings = append(out.Findings, found...)
	return out, err
}

// auditOf audits the ledger in a copy of an SQLite file.
func auditOf(ctx context.Context, cfg Config, file string) ([]backup.Finding, error) {
	dir, err := os.MkdirTemp(cfg.Scratch, "pressroom-verify-")
	if err != nil {
		return nil, fmt.Errorf("making a folder to open the copy in: %w", err)
	}
	found, err := auditIn(ctx, cfg, dir, file)
	return found, errors.Join(err, os.RemoveAll(dir))
}

func auditIn(ctx context.Context, cfg Config, dir, file string) ([]backup.Finding, error) {
	to := filepath.Join(dir, db.DumpFile)
	if err := backup.CopyFile(ctx, file, to); err != nil {
		return nil, err
	}
	d, err := db.Open(ctx, "sqlite:"+to, db.Options{Now: cfg.Now})
	if err != nil {
		return nil, err
	}
	report, err := credit.New(d).Audit(ctx)
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	var found []backup.Finding
	for _, c := range report.Complaints {
		found = append(found,
			backup.Finding{Rule: "ledger", Name: fmt.Sprintf("%s of team %d", c.Rule, c.Team), Text: c.Text})
	}
	return found, nil
}

// Restored is what was restored.
type Restored struct {
	Database string    `json:"database"` // its kind
	MadeAt   time.Time `json:"made_at"`  // what was done since is not in it
	Files    int       `json:"files"`
	Held     bool      `json:"held"` // always: until pressroom admin resume
}

// Restore fills an empty installation from a backup: refused where anything stands there, where the key is another
// one, or where the backup is not whole. What it made is held. One that was cut off is repeated.
func Restore(ctx context.Context, cfg Config, folder string) (Restored, error) {
	w, err := backup.Open(ctx, folder)
	if err != nil {
		return Restored{}, err
	}
	if err := mayRestore(cfg, w); err != nil {
		return Restored{}, err
	}
	file, isSQLite := strings.CutPrefix(cfg.Database, "sqlite:")
	if isSQLite {
		err = freeFile(file)
	} else {
		err = freeDatabase(ctx, cfg)
	}
	if err != nil {
		return Restored{}, err
	}
	found, err := w.Verify(ctx)
	if err != nil {
		return Restored{}, err
	}
	if len(found) > 0 {
		return Restored{},
			fmt.Errorf("the backup is not whole, %d files are wrong: %s: %s (pressroom admin verify-backup tells all)",
				len(found), found[0].Name, found[0].Text)
	}
	files, err := blob.Open(ctx, cfg.Blobs, blob.Options{Scratch: cfg.Scratch})
	if err != nil {
		return Restored{}, err
	}
	failpoint.Point("before restore files")
	if err := w.RestoreFiles(ctx, files); err != nil {
		return Restored{}, err
	}
	failpoint.Point("before restore database")
	if isSQLite {
		err = restoreFile(ctx, cfg, w, file)
	} else {
		err = restoreDatabase(ctx, cfg, w)
	}
	return Restored{Database: w.Database.Kind, MadeAt: w.MadeAt, Files: len(w.Files), Held: true}, err
}

// mayRestore refuses what cannot fit, before anything is looked at.
func mayRestore(cfg Config, w *backup.Whole) error {
	sealer, err := tokencrypt.New(cfg.SealingKey)
	if err != nil {
		return fmt.Errorf("the sealing key: %w", err)
	}
	for _, id := range w.SealingKeys {
		if !sealer.Has(id) {
			return fmt.Errorf("the sealing key %s is missing: the backup was sealed with %s, and what is given has "+
				"%s; give all, separated by commas, by PRESSROOM_SEALING_KEY (--sealing-key)",
				id, strings.Join(w.SealingKeys, " and "), strings.Join(sealer.IDs(), " and "))
		}
	}
	kind := backup.Postgres
	if strings.HasPrefix(cfg.Database, "sqlite:") {
		kind = backup.SQLite
	}
	if kind != w.Database.Kind {
		return fmt.Errorf("the backup is of a %s database and cannot be restored to %s", w.Database.Kind, kind)
	}
	return nil
}

// restoringEnd is the end of the name of a file that is not yet the database.
const restoringEnd = ".restoring"

func freeFile(file string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(file + end); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%s already exists. Restore to an empty database: move the file away, or set "+
				"PRESSROOM_DATABASE (--database) to another", file+end), err)
		}
	}
	return nil
}

// freeDatabase refuses a PostgreSQL database in which something stands.
func freeDatabase(ctx context.Context, cfg Config) error {
	d, err := db.Open(ctx, cfg.Database, db.Options{Now: cfg.Now})
	if err != nil {
		return err
	}
	contents, err := d.Contents(ctx)
	if err == nil && contents != "" {
		err = fmt.Errorf("the database is not empty: it contains %s. Restore to an empty database", contents)
	}
	return errors.Join(err, d.Close())
}

// restoreFile makes the database's file under another name, holds it, and gives it its name last.
func restoreFile(ctx context.Context, cfg Config, w *backup.Whole, file string) error {
	part := file + restoringEnd
	for _, end := range []string{"", "-wal", "-shm"} { // of one that was cut off
		if err := os.Remove(part + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("taking away what was cut off: %w", err)
		}
	}
	if err := backup.CopyFile(ctx, filepath.Join(w.Dump(), db.DumpFile), part); err != nil {
		return err
	}
	if err := holdFile(ctx, cfg, w, part); err != nil {
		return err
	}
	failpoint.Point("before restore end")
	if err := os.Link(part, file); err != nil { // unlike renaming, it never replaces
		return fmt.Errorf("giving the database its name: %w", err)
	}
	if err := os.Remove(part); err != nil {
		return fmt.Errorf("taking the former name off the database: %w", err)
	}
	return nil
}

func holdFile(ctx context.Context, cfg Config, w *backup.Whole, part string) error {
	d, err := db.Open(ctx, "sqlite:"+part, db.Options{Now: cfg.Now})
	if err != nil {
		return err
	}
	is, could, err := d.Version(ctx)
	if err == nil && is > could {
		err = fmt.Errorf("the backup's database has the version %d, and this program knows none after %d: take a "+
			"newer program", is, could)
	}
	if err == nil {
		err = d.InTx(ctx, "restore.hold", func(ctx context.Context, tx *db.Tx) error {
			exec := func(query string, args ...any) error { _, err := tx.Exec(ctx, query, args...); return err }
			return restoreguard.Begin(exec, false, tx.Now(), w.MadeAt)
		})
	}
	return errors.Join(err, d.Close())
}

func restoreDatabase(ctx context.Context, cfg Config, w *backup.Whole) error {
	d, err := db.Open(ctx, cfg.Database, db.Options{Now: cfg.Now})
	if err != nil {
		return err
	}
	err = d.Load(ctx, w.Dump(), func(exec func(query string, args ...any) error) error {
		failpoint.Point("before restore end")
		return restoreguard.Begin(exec, true, d.Now(), w.MadeAt)
	})
	return errors.Join(err, d.Close())
}
