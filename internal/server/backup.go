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

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/credit"
	"pressroom.example/pressroom/internal/platform/backup"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/failpoint"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

// Backup backs up the database and files of an installation to a folder while the service runs. It does not migrate the
// database. It returns an error if the program and the database have different versions.
func Backup(ctx context.Context, cfg Config, folder string, opts backup.Options) (backup.Result, error) {
	sealer, err := tokencrypt.New(cfg.SealingKey)
	if err != nil {
		return backup.Result{}, fmt.Errorf("the sealing key: %w", err)
	}
	files, err := blob.Open(ctx, cfg.Blobs, blob.Options{ReadOnly: true})
	if err != nil {
		return backup.Result{}, err
	}
	d, err := db.Open(ctx, cfg.Database, db.Options{Now: cfg.Now})
	if err != nil {
		return backup.Result{}, err
	}
	result, err := backUp(ctx, backup.Source{DB: d, Blobs: files, SealingKeys: sealer.IDs(), Program: cfg.Version},
		folder, opts)
	return result, errors.Join(err, d.Close())
}

func backUp(ctx context.Context, source backup.Source, folder string, opts backup.Options) (backup.Result, error) {
	version, supported, err := source.DB.Version(ctx)
	if err != nil {
		return backup.Result{}, err
	}
	if version != supported {
		return backup.Result{},
			fmt.Errorf("the database has version %d, but this program uses version %d: use the program that serves the database", version,
				supported)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return backup.Result{}, fmt.Errorf("creating the backup folder: %w", err)
	}
	lock, err := Lock(filepath.Join(folder, backup.LockName), "another backup to this folder is running")
	if err != nil {
		return backup.Result{}, fmt.Errorf("locking the backup folder: %w", err)
	}
	defer func() { _ = lock.Close() }() // on failure, the lock ends with the process
	return backup.Create(ctx, source, folder, opts)
}

// VerifyResult is the result of verifying a backup.
type VerifyResult struct {
	Folder      string           `json:"folder"`
	MadeAt      time.Time        `json:"made_at"`
	Database    string           `json:"database"` // sqlite or postgres
	SealingKeys []string         `json:"sealing_key_ids"`
	Files       int              `json:"files"`
	Missing     []string         `json:"missing"` // files that were missing from the store when the backup was made
	Findings    []backup.Finding `json:"findings"`
}

// VerifyBackup verifies a backup. It audits the ledger of an SQLite database in a copy of the database, so that the
// backup does not change.
func VerifyBackup(ctx context.Context, cfg Config, folder string) (VerifyResult, error) {
	a, err := backup.Open(ctx, folder)
	if err != nil {
		return VerifyResult{}, err
	}
	out := VerifyResult{
		Folder: folder, MadeAt: a.CreatedAt, Database: a.Database.Kind, SealingKeys: a.SealingKeys, Files: len(a.Files),
		Missing: append([]string{}, a.Missing...),
	}
	if out.Findings, err = a.Verify(ctx); err != nil {
		return out, err
	}
	if len(out.Findings) > 0 || a.Database.Kind != backup.SQLite {
		return out, nil
	}
	findings, err := auditCopy(ctx, cfg, filepath.Join(a.DatabaseFolder(), db.DumpFile))
	out.Findings = append(out.Findings, findings...)
	return out, err
}

// auditCopy audits the ledger in a copy of an SQLite file.
func auditCopy(ctx context.Context, cfg Config, file string) ([]backup.Finding, error) {
	dir, err := os.MkdirTemp(cfg.Scratch, "pressroom-verify-")
	if err != nil {
		return nil, fmt.Errorf("creating a folder for the copy: %w", err)
	}
	findings, err := auditIn(ctx, cfg, dir, file)
	return findings, errors.Join(err, os.RemoveAll(dir))
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
	report, err := credit.New(d, credit.Options{}).Audit(ctx)
	if err := errors.Join(err, d.Close()); err != nil {
		return nil, err
	}
	var findings []backup.Finding
	for _, c := range report.Violations {
		findings = append(findings,
			backup.Finding{Rule: "ledger", Name: fmt.Sprintf("%s of team %d", c.Rule, c.Team), Text: c.Text})
	}
	return findings, nil
}

// RestoreResult is the result of a restore.
type RestoreResult struct {
	Database string    `json:"database"` // sqlite or postgres
	MadeAt   time.Time `json:"made_at"`  // later changes are not included
	Files    int       `json:"files"`
	Held     bool      `json:"held"` // always true: publishing is on hold until the operator runs pressroom admin resume
}

// Restore restores a backup to an empty installation and puts the installation on hold. It returns an error if the
// database is not empty, a sealing key is missing or the backup is damaged. An interrupted restore can be repeated.
func Restore(ctx context.Context, cfg Config, folder string) (RestoreResult, error) {
	w, err := backup.Open(ctx, folder)
	if err != nil {
		return RestoreResult{}, err
	}
	if err := checkRestorable(cfg, w); err != nil {
		return RestoreResult{}, err
	}
	file, isSQLite := strings.CutPrefix(cfg.Database, "sqlite:")
	if isSQLite {
		err = checkNoFile(file)
	} else {
		err = checkEmptyDatabase(ctx, cfg)
	}
	if err != nil {
		return RestoreResult{}, err
	}
	findings, err := w.Verify(ctx)
	if err != nil {
		return RestoreResult{}, err
	}
	if len(findings) > 0 {
		return RestoreResult{},
			fmt.Errorf("the backup is damaged: it has %d problems, such as %s: %s (to list all, run pressroom admin verify-backup)",
				len(findings), findings[0].Name, findings[0].Text)
	}
	files, err := blob.Open(ctx, cfg.Blobs, blob.Options{Scratch: cfg.Scratch})
	if err != nil {
		return RestoreResult{}, err
	}
	failpoint.Point("before restore files")
	if err := w.RestoreFiles(ctx, files); err != nil {
		return RestoreResult{}, err
	}
	failpoint.Point("before restore database")
	if isSQLite {
		err = restoreFile(ctx, cfg, w, file)
	} else {
		err = restoreDatabase(ctx, cfg, w)
	}
	return RestoreResult{Database: w.Database.Kind, MadeAt: w.CreatedAt, Files: len(w.Files), Held: true}, err
}

// checkRestorable returns an error if the configuration does not match the backup.
func checkRestorable(cfg Config, w *backup.Archive) error {
	sealer, err := tokencrypt.New(cfg.SealingKey)
	if err != nil {
		return fmt.Errorf("the sealing key: %w", err)
	}
	for _, id := range w.SealingKeys {
		if !sealer.Has(id) {
			return fmt.Errorf("the sealing key %s is missing: the backup uses %s, but %s was given; give all keys, "+
				"separated by commas, with PRESSROOM_SEALING_KEY (--sealing-key)",
				id, strings.Join(w.SealingKeys, " and "), strings.Join(sealer.IDs(), " and "))
		}
	}
	kind := backup.Postgres
	if strings.HasPrefix(cfg.Database, "sqlite:") {
		kind = backup.SQLite
	}
	if kind != w.Database.Kind {
		return fmt.Errorf("a backup of a %s database cannot be restored to %s", w.Database.Kind, kind)
	}
	return nil
}

// restoringSuffix is the suffix of a database file that is not completely restored yet.
const restoringSuffix = ".restoring"

func checkNoFile(file string) error {
	for _, end := range []string{"", "-wal", "-shm"} {
		if _, err := os.Lstat(file + end); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%s already exists. Restore to an empty database: move the file away, or set "+
				"PRESSROOM_DATABASE (--database) to another", file+end), err)
		}
	}
	return nil
}

// checkEmptyDatabase returns an error if a PostgreSQL database is not empty.
func checkEmptyDatabase(ctx context.Context, cfg Config) error {
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

// restoreFile restores a database file under a temporary name, puts the database on hold, and then renames the file.
func restoreFile(ctx context.Context, cfg Config, w *backup.Archive, file string) error {
	partFile := file + restoringSuffix
	for _, end := range []string{"", "-wal", "-shm"} { // files of an interrupted restore
		if err := os.Remove(partFile + end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an interrupted restore: %w", err)
		}
	}
	if err := backup.CopyFile(ctx, filepath.Join(w.DatabaseFolder(), db.DumpFile), partFile); err != nil {
		return err
	}
	if err := holdFile(ctx, cfg, w, partFile); err != nil {
		return err
	}
	failpoint.Point("before restore end")
	if err := os.Link(partFile, file); err != nil { // unlike a rename, a link never replaces a file
		return fmt.Errorf("naming the database: %w", err)
	}
	if err := os.Remove(partFile); err != nil {
		return fmt.Errorf("removing the database's temporary name: %w", err)
	}
	return nil
}

func holdFile(ctx context.Context, cfg Config, w *backup.Archive, partFile string) error {
	d, err := db.Open(ctx, "sqlite:"+partFile, db.Options{Now: cfg.Now})
	if err != nil {
		return err
	}
	version, supported, err := d.Version(ctx)
	if err == nil && version > supported {
		err = fmt.Errorf("the backup's database has version %d, but this program supports at most %d: use a newer "+
			"program", version, supported)
	}
	if err == nil {
		err = d.InTx(ctx, "restore.hold", func(ctx context.Context, tx *db.Tx) error {
			exec := func(query string, args ...any) error { _, err := tx.Exec(ctx, query, args...); return err }
			return restoreguard.HoldRestored(exec, false, tx.Now(), w.CreatedAt)
		})
	}
	return errors.Join(err, d.Close())
}

func restoreDatabase(ctx context.Context, cfg Config, w *backup.Archive) error {
	d, err := db.Open(ctx, cfg.Database, db.Options{Now: cfg.Now})
	if err != nil {
		return err
	}
	err = d.Load(ctx, w.DatabaseFolder(), func(exec func(query string, args ...any) error) error {
		failpoint.Point("before restore end")
		return restoreguard.HoldRestored(exec, true, d.Now(), w.CreatedAt)
	})
	return errors.Join(err, d.Close())
}
