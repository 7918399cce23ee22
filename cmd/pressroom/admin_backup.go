package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"pressroom/internal/platform/backup"
	"pressroom/internal/server"
)

type (
	adminBackup struct {
		storeFlags
		To     string `arg:"" type:"path" help:"Folder of the backup: an empty one, or that of an earlier backup, to which new files alone are copied."`
		Reread bool   `help:"Read also the files that lie there from an earlier backup, and copy anew what is not as it was."`
	}
	adminVerifyBackup struct {
		From string `arg:"" type:"path" help:"Folder of the backup."`
	}
	adminRestore struct {
		storeFlags
		From    string `arg:"" type:"path" help:"Folder of the backup."`
		Scratch string `help:"Folder in which files for S3 are received." type:"path" env:"PRESSROOM_SCRATCH"`
	}
)

// Run backs up.
func (c adminBackup) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if err := c.there(); err != nil {
		return err
	}
	cfg, err := c.config(log)
	if err != nil {
		return err
	}
	made, err := server.Backup(ctx, cfg, c.To, backup.Options{Reread: c.Reread})
	if err != nil {
		return err
	}
	if err := show(os.Stdout, p.Admin.JSON, made); err != nil {
		return err
	}
	return unlike(made)
}

// unlike tells of a backup that is made of a store that is not whole.
func unlike(made backup.Made) error {
	var errs []error
	if n := len(made.Damaged); n > 0 {
		errs = append(errs, fmt.Errorf("the backup is made, but the store of files does not give %d files back as they came: see damaged", n))
	}
	if n := len(made.Missing); n > 0 {
		errs = append(errs, fmt.Errorf("the backup is made and whole but for %d files that the store of files does not have: see missing", n))
	}
	return errors.Join(errs...)
}

// Run looks at a backup.
func (c adminVerifyBackup) Run(ctx context.Context, p *program, log *slog.Logger) error {
	found, err := server.VerifyBackup(ctx, server.Config{Log: log}, c.From)
	if err != nil {
		return err
	}
	if err := show(os.Stdout, p.Admin.JSON, found); err != nil {
		return err
	}
	if len(found.Findings) > 0 {
		return errors.New("the backup is not whole: see the findings; while the installation is there, pressroom admin backup --reread to the same folder makes it whole")
	}
	if n := len(found.Missing); n > 0 {
		return fmt.Errorf("the backup is whole but for %d files that the store of files did not have when it was made: see missing", n)
	}
	return nil
}

// Run restores a backup.
func (c adminRestore) Run(ctx context.Context, p *program, log *slog.Logger) error {
	if err := c.keyGiven(); err != nil {
		return err
	}
	left, err := c.lock()
	if err != nil {
		return err
	}
	err = c.restore(ctx, p, log)
	return errors.Join(err, left(err == nil))
}

// lock keeps others off the database's file. The function that it gives ends that, and takes away a lock's file that was made
// for a database which did not come to be.
func (c adminRestore) lock() (func(restored bool) error, error) {
	path, isSQLite := strings.CutPrefix(c.Database, "sqlite:")
	path += lockEnd
	_, err := os.Lstat(path)
	mine := isSQLite && errors.Is(err, fs.ErrNotExist)
	unlock, err := lockFile(c.Database)
	if err != nil {
		return nil, err
	}
	return func(restored bool) error {
		defer unlock()
		if restored || !mine {
			return nil
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("taking away the lock's file: %w", err)
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
		server.Restored

		Next string `json:"next"`
	}
	if out.Restored, err = server.Restore(ctx, cfg, c.From); err != nil {
		if errors.Is(err, backup.ErrNone) {
			return fmt.Errorf("nothing was restored: %w", err)
		}
		return err
	}
	out.Next = "Nothing is published or charged by itself. See that the installation that was backed up does not run any more, then: pressroom admin resume --dry-run"
	return show(os.Stdout, p.Admin.JSON, out)
}

// keyGiven refuses to make a new sealing key: it could not be the backup's.
func (c adminRestore) keyGiven() error {
	path, isSQLite := strings.CutPrefix(c.Database, "sqlite:")
	if c.SealingKey != "" || !isSQLite {
		return nil
	}
	if _, err := os.Stat(path + sealingKeyEnd); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the backup does not hold the sealing key: give it by PRESSROOM_SEALING_KEY (--sealing-key), or put it at %s", path+sealingKeyEnd)
	}
	return nil
}
