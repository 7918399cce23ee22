package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"pressroom.example/pressroom/internal/platform/backup"
	"pressroom.example/pressroom/internal/server"
)

type (
	adminBackup struct {
		storeFlags
		To     string `arg:"" type:"path" help:"Folder for the backup: empty, or an earlier backup to update."`
		Reread bool   `help:"Verify files that are already in the backup, and copy damaged files again."`
	}
	adminVerifyBackup struct {
		From string `arg:"" type:"path" help:"Folder of the backup."`
	}
	adminRestore struct {
		storeFlags
		From    string `arg:"" type:"path" help:"Folder of the backup."`
		Scratch string `help:"Folder for temporary files during uploads to S3." type:"path" env:"PRESSROOM_SCRATCH"`
	}
)

// Run creates or updates a backup.
func (c adminBackup) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if err := c.checkExists(); err != nil {
		return err
	}
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	result, err := server.Backup(ctx, cfg, c.To, backup.Options{Reread: c.Reread})
	if err != nil {
		return err
	}
	if err := printResult(os.Stdout, p.Admin.JSON, result); err != nil {
		return err
	}
	return backupProblems(result)
}

// backupProblems returns an error if media files were missing or damaged when the backup was made.
func backupProblems(result backup.Result) error {
	var errs []error
	if n := len(result.Damaged); n > 0 {
		errs = append(errs,
			fmt.Errorf("the backup is complete, but %d media files are damaged in the file store: see \"damaged\" in the "+
				"output", n))
	}
	if n := len(result.Missing); n > 0 {
		errs = append(errs,
			fmt.Errorf("the backup is complete except for %d files that are missing from the file store: see \"missing\" in "+
				"the output", n))
	}
	return errors.Join(errs...)
}

// Run verifies a backup.
func (c adminVerifyBackup) Run(ctx context.Context, p *program, log *slog.Logger) error {
	result, err := server.VerifyBackup(ctx, server.Config{Log: log}, c.From)
	if err != nil {
		return err
	}
	if err := printResult(os.Stdout, p.Admin.JSON, result); err != nil {
		return err
	}
	if len(result.Findings) > 0 {
		return errors.New("the backup is incomplete or damaged: see \"findings\" in the output. If the installation still " +
			"exists, repair the backup with pressroom admin backup --reread and the same folder")
	}
	if n := len(result.Missing); n > 0 {
		return fmt.Errorf("the backup is complete except for %d files that the file store did not have when it was "+
			"made: see missing in the output", n)
	}
	return nil
}

// Run restores a backup.
func (c adminRestore) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if err := c.checkSealingKey(); err != nil {
		return err
	}
	unlock, err := c.lock()
	if err != nil {
		return err
	}
	err = c.restore(ctx, p, log)
	return errors.Join(err, unlock(err == nil))
}

// lock locks the database file and returns a function that unlocks it. If nothing was restored, that function also
// removes the lock file, provided that lock created it.
func (c adminRestore) lock() (func(restored bool) error, error) {
	path, isSQLite := strings.CutPrefix(c.Database, "sqlite:")
	path += lockSuffix
	_, err := os.Lstat(path)
	createsLock := isSQLite && errors.Is(err, fs.ErrNotExist)
	unlock, err := lockFile(c.Database)
	if err != nil {
		return nil, err
	}
	return func(restored bool) error {
		defer unlock()
		if restored || !createsLock {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing the lock file: %w", err)
		}
		return nil
	}, nil
}

func (c adminRestore) restore(ctx context.Context, p *program, log *slog.Logger) error {
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	cfg.Scratch = c.Scratch
	var out struct {
		server.RestoreResult

		Next string `json:"next"`
	}
	if out.RestoreResult, err = server.Restore(ctx, cfg, c.From); err != nil {
		if errors.Is(err, backup.ErrNoBackup) {
			return fmt.Errorf("nothing was restored: %w", err)
		}
		return err
	}
	out.Next = "Publishing and charging are on hold. Make sure that the original installation no longer runs, then " +
		"run: pressroom admin resume --dry-run"
	return printResult(os.Stdout, p.Admin.JSON, out)
}

// checkSealingKey returns an error if no sealing key is given. A new key could not decrypt the backup.
func (c adminRestore) checkSealingKey() error {
	path, isSQLite := strings.CutPrefix(c.Database, "sqlite:")
	if c.SealingKey != "" || !isSQLite {
		return nil
	}
	if _, err := os.Stat(path + sealingKeySuffix); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backup does not contain the sealing key: set PRESSROOM_SEALING_KEY (--sealing-key), or "+
			"save the key at %s", path+sealingKeySuffix)
	}
	return nil
}
