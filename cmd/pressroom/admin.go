package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/server"
)

// adminCmd groups the operator's commands. They access the database directly. A running service applies their changes
// within a second.
type adminCmd struct {
	JSON bool `help:"Print the output as JSON."`

	SealingKey   adminSealingKey   `cmd:"" help:"Print a new sealing key."`
	Reseal       adminReseal       `cmd:"" help:"Re-encrypt all stored secrets with the first sealing key."`
	Plans        adminPlans        `cmd:"" aliases:"terms" help:"Print plans, prices and limits in the format of the --plans file."`
	People       adminPeople       `cmd:"" help:"Manage people."`
	Teams        adminTeams        `cmd:"" help:"Manage teams: members, plan, time zone, access."`
	Keys         adminKeys         `cmd:"" help:"Manage API keys."`
	Accounts     adminAccounts     `cmd:"" help:"Connect social accounts."`
	Posts        adminPosts        `cmd:"" help:"Resolve deliveries whose outcome is unknown."`
	Networks     adminNetworks     `cmd:"" help:"Check your apps' permissions on the networks."`
	Channels     adminChannels     `cmd:"" help:"Send notifications to Slack, Discord, Microsoft Teams, ntfy or webhooks."`
	Credits      adminCredits      `cmd:"" help:"Grant, withdraw and list a team's credits."`
	Audit        adminAudit        `cmd:"" help:"Check the credit ledger and the media files. Exits with status 1 if there is a problem."`
	Backup       adminBackup       `cmd:"" help:"Back up the database and the media files while the service runs."`
	VerifyBackup adminVerifyBackup `cmd:"" help:"Check a backup. Exits with status 1 if it is incomplete or damaged."`
	Restore      adminRestore      `cmd:"" help:"Restore a backup to an empty database. Publishing is on hold until you run admin resume."`
	Events       adminEvents       `cmd:"" help:"Export the audit log."`
	API          adminAPI          `cmd:"" name:"api" help:"Turn the API and the tools on or off for the whole service."`
	Pause        adminPause        `cmd:"" help:"Pause a key, a team or the service: all calls, or only spending or publishing."`
	Resume       adminResume       `cmd:"" help:"End a pause or, if --service, --team and --key are omitted, the hold of the service."`
	Hold         adminHold         `cmd:"" help:"Put the service on hold: nothing is published or charged until you run admin resume."`
	Pauses       adminPauses       `cmd:"" help:"List pauses, and show whether the API is off."`
}

type (
	adminSealingKey struct{}
	adminReseal     struct {
		storeFlags
		Force bool `help:"Proceed even if a node that ran within the last minute lacks the first key."`
	}
)

// run opens the server, calls fn and prints its result. It returns an error if the SQLite file does not exist, so
// that a mistyped path does not create a database.
func run[T any](
	ctx context.Context, f storeFlags, a *program, log *slog.Logger, fn func(*server.Server) (T, error),
) error {
	if err := f.checkExists(); err != nil {
		return err
	}
	return runCreating(ctx, f, a, log, fn)
}

// checkExists returns an error if the SQLite file does not exist.
func (f storeFlags) checkExists() error {
	path, isSQLite := strings.CutPrefix(f.Database, "sqlite:")
	if !isSQLite {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		full, _ := filepath.Abs(path) // on failure, full is empty
		return fmt.Errorf("no database at %s; set PRESSROOM_DATABASE (--database). To create a database, run "+
			"pressroom serve or pressroom admin people add", cmp.Or(full, path))
	}
	return nil
}

// openExisting opens the server of an existing database and calls fn. Unlike run, it does not print a result.
func openExisting(ctx context.Context, f storeFlags, log *slog.Logger, fn func(*server.Server) error) error {
	if err := f.checkExists(); err != nil {
		return err
	}
	cfg, err := f.config(log)
	if err != nil {
		return err
	}
	cfg.ReadOnlyFiles = true
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(fn(s), s.Close())
}

// runCreating is like run, but creates the database if it does not exist.
func runCreating[T any](
	ctx context.Context, f storeFlags, a *program, log *slog.Logger, fn func(*server.Server) (T, error),
) error {
	cfg, err := f.config(log)
	if err != nil {
		return err
	}
	return runWithConfig(ctx, cfg, a, fn)
}

// runWithConfig is like runCreating, but takes a server configuration instead of flags.
func runWithConfig[T any](
	ctx context.Context, cfg server.Config, a *program, fn func(*server.Server) (T, error),
) error {
	cfg.ReadOnlyFiles = true
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return err
	}
	out, err := fn(s)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	return printResult(os.Stdout, a.Admin.JSON, out)
}

// printResult prints a record or a list of records, either as JSON or as lines of names and values.
func printResult(w io.Writer, asJSON bool, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	if asJSON {
		_, err = fmt.Fprintln(w, string(raw))
		return err
	}
	return printPlain(w, raw)
}

// runSilent is like run, but for a function without a result.
func runSilent(ctx context.Context, f storeFlags, a *program, log *slog.Logger, fn func(*server.Server) error) error {
	type silentResult struct {
		Done bool `json:"done"`
	}
	return run(ctx, f, a, log, func(s *server.Server) (silentResult, error) { return silentResult{true}, fn(s) })
}

// Run prints a new sealing key.
func (adminSealingKey) Run() error {
	key, err := tokencrypt.NewKey()
	if err != nil {
		return err
	}
	_, err = fmt.Println(key)
	return err
}

// Run re-encrypts all stored secrets with the first sealing key.
func (c adminReseal) Run(ctx context.Context, p *program, log *slog.Logger) error {
	var result account.ResealResult
	err := run(ctx, c.storeFlags, p, log, func(s *server.Server) (account.ResealResult, error) {
		var err error
		result, err = s.Reseal(ctx, c.Force)
		return result, err
	})
	if err == nil && result.Left > 0 {
		return errors.New("a node still encrypts with a different key; put the new key first in the keys of every node, " +
			"then run this again")
	}
	return err
}

// readSecret reads one line from r. Secrets are read from standard input so that they do not appear in process lists or
// in the shell history.
func readSecret(r io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, 4096))
	if err != nil {
		return "", fmt.Errorf("reading the password from standard input: %w", err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", errors.New("no password on standard input; send it as one line")
	}
	return line, nil
}
