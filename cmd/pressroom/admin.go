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

	"pressroom/internal/auth/tokencrypt"
	"pressroom/internal/domain/account"
	"pressroom/internal/server"
)

// adminCmd is the operator's. It works on the database itself; a running service sees a change within a second.
type adminCmd struct {
	JSON bool `help:"Print JSON."`

	SealingKey   adminSealingKey   `cmd:"" help:"Print a new sealing key."`
	Reseal       adminReseal       `cmd:"" help:"Seal everything with the first of several sealing keys, so that the others can be taken away. Refused while a node that serves does not have that key; ends with status 1 while one still seals with another."`
	Terms        adminTerms        `cmd:"" help:"Print the plans, prices and limits that hold: what a file for --terms may say."`
	People       adminPeople       `cmd:"" help:"People."`
	Teams        adminTeams        `cmd:"" help:"Teams: members, plan, time zone, access, closing."`
	Keys         adminKeys         `cmd:"" help:"API keys."`
	Accounts     adminAccounts     `cmd:"" help:"Social accounts."`
	Posts        adminPosts        `cmd:"" help:"Posts of which nobody knows whether they went out."`
	Credits      adminCredits      `cmd:"" help:"Credits of a team."`
	Audit        adminAudit        `cmd:"" help:"Prove that the ledger of credits adds up, and that every file of the media library is there and no other. Ends with status 1 where not."`
	Backup       adminBackup       `cmd:"" help:"Copy the database and the files to a folder, while the service goes on."`
	VerifyBackup adminVerifyBackup `cmd:"" help:"Read all of a backup and say whether it is whole. Ends with status 1 where not."`
	Restore      adminRestore      `cmd:"" help:"Fill an empty database and an empty store of files from a backup. Nothing is published by itself until resume."`
	Events       adminEvents       `cmd:"" help:"The record of who did what."`
	API          adminAPI          `cmd:"" name:"api" help:"Switch the API on or off for every key."`
	Pause        adminPause        `cmd:"" help:"Pause a key, a team or the service: everything, or spending or publishing alone."`
	Resume       adminResume       `cmd:"" help:"End a pause; or, without saying of what, the hold of a database that was restored or copied, after asking the networks what went out meanwhile."`
	Hold         adminHold         `cmd:"" help:"Hold the whole service: nothing is published or charged by itself, nor by anybody's call, until resume. Reading and drafting go on."`
	Pauses       adminPauses       `cmd:"" help:"List pauses, and whether the API is off. Teams and people that are switched off, closed or on hold stand in their lists."`
}

type (
	adminSealingKey struct{}
	adminReseal     struct {
		storeFlags
		Force bool `help:"Also where a node that served within the last minute does not have the first key: it is known to be gone."`
	}
)

// with runs some work on an opened service and prints what it returns. A database that is not there is not made:
// whoever switches something off at the wrong place has to hear of it.
func with[T any](ctx context.Context, f storeFlags, a *program, log *slog.Logger, work func(*server.Server) (T, error)) error {
	if err := f.there(); err != nil {
		return err
	}
	return withNew(ctx, f, a, log, work)
}

// there refuses an SQLite file that is not there.
func (f storeFlags) there() error {
	path, isSQLite := strings.CutPrefix(f.Database, "sqlite:")
	if !isSQLite {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		full, _ := filepath.Abs(path) // the path as it was given where that fails
		return fmt.Errorf("there is no database at %s; say where it is by PRESSROOM_DATABASE (--database). pressroom serve and pressroom admin people add make one", cmp.Or(full, path))
	}
	return nil
}

// open runs work that prints by itself on an opened service.
func open(ctx context.Context, f storeFlags, log *slog.Logger, work func(*server.Server) error) error {
	if err := f.there(); err != nil {
		return err
	}
	cfg, err := f.config(log)
	if err != nil {
		return err
	}
	cfg.LookAtFiles = true
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return err
	}
	return errors.Join(work(s), s.Close())
}

// withNew is with for what may be done first of all.
func withNew[T any](ctx context.Context, f storeFlags, a *program, log *slog.Logger, work func(*server.Server) (T, error)) error {
	cfg, err := f.config(log)
	if err != nil {
		return err
	}
	return withConfig(ctx, cfg, a, work)
}

// withConfig is with for what needs to know more.
func withConfig[T any](ctx context.Context, cfg server.Config, a *program, work func(*server.Server) (T, error)) error {
	cfg.LookAtFiles = true
	s, err := server.Open(ctx, cfg)
	if err != nil {
		return err
	}
	out, err := work(s)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	return show(os.Stdout, a.Admin.JSON, out)
}

// show prints a record or a list of them: as JSON, or as name=value a line.
func show(w io.Writer, asJSON bool, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if asJSON {
		_, err = fmt.Fprintln(w, string(raw))
		return err
	}
	return showPlain(w, raw)
}

// do is with for work that has nothing to show.
func do(ctx context.Context, f storeFlags, a *program, log *slog.Logger, work func(*server.Server) error) error {
	type done struct {
		Done bool `json:"done"`
	}
	return with(ctx, f, a, log, func(s *server.Server) (done, error) { return done{true}, work(s) })
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

// Run seals with the first key what others sealed.
func (c adminReseal) Run(ctx context.Context, p *program, log *slog.Logger) error {
	var done account.Resealed
	err := with(ctx, c.storeFlags, p, log, func(s *server.Server) (account.Resealed, error) {
		var err error
		done, err = s.Reseal(ctx, c.Force)
		return done, err
	})
	if err == nil && done.Left > 0 {
		return errors.New("a node still seals with another key: give every node the new key as the first of its keys, then run this again")
	}
	return err
}

// readSecret reads one line, so that a secret stands neither in the command line nor in its history.
func readSecret(r io.Reader) (string, error) {
	raw, err := io.ReadAll(io.LimitReader(r, 4096))
	if err != nil {
		return "", fmt.Errorf("reading the password from standard input: %w", err)
	}
	line, _, _ := strings.Cut(string(raw), "\n")
	if line = strings.TrimSuffix(line, "\r"); line == "" {
		return "", errors.New("no password came on standard input; send it as one line")
	}
	return line, nil
}
