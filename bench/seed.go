package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"pressroom.example/pressroom/bench/floor"
)

// dataset describes a seeded database: a team with its owner's full key, with accounts, and with posts for two accounts
// each.
type dataset struct {
	SealingKey string
	Team       int64
	Person     int64
	KeyID      int64
	Key        string
	Accounts   []int64

	posts int
}

// seed creates a team with pressroom's admin commands, and the posts with bulk SQL.
func seed(ctx context.Context, binary, url string, posts int) (dataset, error) {
	d := dataset{posts: posts}
	if err := d.makeTeam(ctx, binary, url); err != nil {
		return d, err
	}
	db, err := openBulk(ctx, url)
	if err != nil {
		return d, err
	}
	return d, errors.Join(d.fill(ctx, db, url), db.Close())
}

// fill adds the accounts and posts. It also removes the recorded location of the database. Otherwise, pressroom would
// put copies of the database on hold.
func (d *dataset) fill(ctx context.Context, db *sql.DB, url string) error {
	if _, err := db.ExecContext(ctx, `UPDATE hold SET place = '', starts = 0 WHERE id = 1`); err != nil {
		return fmt.Errorf("removing the recorded location: %w", err)
	}
	valueList := "(?, 'bluesky', ?, ?, ?, 'connected', ?, ?, ?)"
	postgres := !strings.HasPrefix(url, "sqlite:")
	if postgres {
		valueList = "($1, 'bluesky', $2, $3, $4, 'connected', $5, $6, $7)"
	}
	d.Accounts = make([]int64, 4)
	for i := range d.Accounts {
		name := "harbour" + strconv.Itoa(i+1) + ".example"
		err := db.QueryRowContext(ctx,
			`INSERT INTO social_accounts (team_id, platform, network_id, username, display_name, connection_state,
		sealed_grant, created_at, updated_at) VALUES `+
				valueList+` RETURNING id`, d.Team, "did:plc:"+name, name, name, []byte{}, micros(firstPost),
			micros(firstPost)).Scan(&d.Accounts[i])
		if err != nil {
			return fmt.Errorf("adding an account: %w", err)
		}
	}
	if postgres {
		return fillPostgres(ctx, db, *d)
	}
	return fillSQLite(ctx, db, *d)
}

// makeTeam creates a person, a team and a key with admin commands. The commands also migrate the database.
func (d *dataset) makeTeam(ctx context.Context, binary, url string) error {
	raw, err := exec.CommandContext(ctx, binary, "admin", "sealing-key").Output()
	if err != nil {
		return fmt.Errorf("creating a sealing key: %w", err)
	}
	d.SealingKey = strings.TrimSpace(string(raw))
	admin := administer(ctx, binary, url, d.SealingKey)
	var created struct{ ID int64 }
	if err := admin(&created, "people", "add", "--name=Ada Okafor", "--email="+ownerEmail, "--password-stdin"); err != nil {
		return err
	}
	d.Person = created.ID
	if err := admin(&created, "teams", "add", "--name=Harbour Coffee", "--owner="+strconv.FormatInt(d.Person, 10),
		"--timezone=Europe/Berlin", "--plan=agency"); err != nil {
		return err
	}
	d.Team = created.ID
	var key struct {
		ID  int64
		Key string
	}
	if err := admin(&key, "keys", "add", "--team="+strconv.FormatInt(d.Team, 10), "--level=full", "--name=bench"); err != nil {
		return err
	}
	d.KeyID, d.Key = key.ID, key.Key
	return nil
}

// administer returns a function that runs pressroom admin on a database, with the owner's password on standard input.
func administer(ctx context.Context, binary, url, sealingKey string) func(into any, args ...string) error {
	return func(into any, args ...string) error {
		cmd := exec.CommandContext(ctx, binary, append([]string{"--log-level=warn", "admin", "--json"}, args...)...)
		cmd.Env, cmd.Stderr, cmd.Stdin = environment(binary, url, sealingKey), os.Stderr, strings.NewReader(ownerPassword+"\n")
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("pressroom admin %s: %w", strings.Join(args, " "), err)
		}
		return json.Unmarshal(out, into)
	}
}

// The owner of the seeded team.
const (
	ownerEmail    = "ada@harbour.example"
	ownerPassword = "quiet harbour lantern 41"
)

// openBulk opens a database for fast inserts. A crash may lose the inserted rows.
func openBulk(ctx context.Context, url string) (*sql.DB, error) {
	path, isSQLite := strings.CutPrefix(url, "sqlite:")
	if !isSQLite {
		return sql.Open("pgx", url)
	}
	db, err := sql.Open(floor.SQLiteDriver, path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; PRAGMA foreign_keys = OFF`); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", path, err), db.Close())
	}
	return db, nil
}

const (
	rowsPerInsert = 500    // rows per INSERT
	postsPerTx    = 50_000 // posts per transaction
)

// fillSQLite inserts the posts with many rows per statement and few transactions.
func fillSQLite(ctx context.Context, db *sql.DB, d dataset) error {
	for from := 0; from < d.posts; from += postsPerTx {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return fmt.Errorf("starting a transaction: %w", err)
		}
		for at := from; at < min(from+postsPerTx, d.posts); at += rowsPerInsert {
			if err := insertPosts(ctx, tx, d, at, min(at+rowsPerInsert, d.posts)); err != nil {
				return errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("inserting posts: %w", err)
		}
	}
	if _, err := db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		return fmt.Errorf("tidying: %w", err)
	}
	return nil
}

func insertPosts(ctx context.Context, tx *sql.Tx, d dataset, from, to int) error {
	var posts, targets []any
	for i := from; i < to; i++ {
		row, out := postRow(d, i)
		posts = append(posts, row...)
		for position := range targetsPerPost {
			targets = append(targets, targetRow(d, i, position, out)...)
		}
	}
	if err := insertMany(ctx, tx, "posts", postColumns, posts); err != nil {
		return err
	}
	return insertMany(ctx, tx, "post_targets", targetColumns, targets)
}

func insertMany(ctx context.Context, tx *sql.Tx, table string, columns []string, values []any) error {
	row := ", (" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
	text := "INSERT INTO " + table + " (" + strings.Join(columns, ", ") + ") VALUES " + strings.Repeat(row, len(values)/len(columns))[2:]
	if _, err := tx.ExecContext(ctx, text, values...); err != nil {
		return fmt.Errorf("filling %s: %w", table, err)
	}
	return nil
}

// fillPostgres inserts the posts with COPY.
func fillPostgres(ctx context.Context, db *sql.DB, d dataset) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting to fill: %w", err)
	}
	err = conn.Raw(func(raw any) error {
		c := raw.(*stdlib.Conn).Conn()
		_, err := c.CopyFrom(ctx, pgx.Identifier{"posts"}, postColumns, pgx.CopyFromSlice(d.posts, func(i int) ([]any, error) {
			row, _ := postRow(d, i)
			return row, nil
		}))
		if err != nil {
			return err
		}
		_, err = c.CopyFrom(ctx, pgx.Identifier{"post_targets"}, targetColumns,
			pgx.CopyFromSlice(d.posts*targetsPerPost, func(n int) ([]any, error) {
				i := n / targetsPerPost
				_, out := postRow(d, i)
				return targetRow(d, i, n%targetsPerPost, out), nil
			}))
		if err != nil {
			return err
		}
		_, err = c.Exec(ctx, "VACUUM ANALYZE")
		return err
	})
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("inserting posts: %w", err)
	}
	return nil
}
