package floor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	_ "github.com/jackc/pgx/v5/stdlib" // the PostgreSQL driver
)

// store is the database and its prepared statements.
type store struct {
	read, write *sql.DB // with PostgreSQL, both are the same pool
	postgres    bool

	me, keyOwner, page, pageTargets, post, targets *sql.Stmt // for reading
	claim, storedAnswer                            *sql.Stmt // for writing
	stmtsByAccountCount                            sync.Map  // *accountStmts by number of accounts
}

// accountStmts holds the statements that depend on the number of accounts.
type accountStmts struct {
	accounts *sql.Stmt
	add      []*sql.Stmt // insert the post, its accounts and the event; with PostgreSQL, a single statement
}

// postgresConns is the number of connections to PostgreSQL. On a server with two cores, more connections would only
// wait for each other.
const postgresConns = 8

func (s *store) open(ctx context.Context, url string) error {
	path, isSQLite := strings.CutPrefix(url, "sqlite:")
	s.postgres = !isSQLite
	var err error
	if isSQLite {
		err = s.openSQLite(path)
	} else {
		err = s.openPostgres(url)
	}
	if err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return errors.Join(err, s.close())
	}
	return nil
}

func (s *store) openSQLite(path string) error {
	var err error
	if s.write, err = sql.Open(SQLiteDriver, sqliteDSN(path, true)); err != nil {
		return fmt.Errorf("opening SQLite for writing: %w", err)
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = sql.Open(SQLiteDriver, sqliteDSN(path, false)); err != nil {
		return errors.Join(fmt.Errorf("opening SQLite for reading: %w", err), s.write.Close())
	}
	readers := max(4, runtime.GOMAXPROCS(0)*2)
	s.read.SetMaxOpenConns(readers)
	s.read.SetMaxIdleConns(readers)
	return nil
}

func (s *store) openPostgres(url string) error {
	var err error
	if s.write, err = sql.Open("pgx", url); err != nil {
		return fmt.Errorf("opening PostgreSQL: %w", err)
	}
	s.write.SetMaxOpenConns(postgresConns)
	s.write.SetMaxIdleConns(postgresConns)
	s.read = s.write
	return nil
}

// close closes the pools.
func (s *store) close() error {
	if s.read == s.write {
		return s.write.Close()
	}
	return errors.Join(s.read.Close(), s.write.Close())
}

const (
	keyOwnerSQL = `SELECT k.id, k.team_id, k.person_id, t.timezone FROM api_keys k JOIN teams t ON t.id = k.team_id
		WHERE k.hash = ? AND k.revoked_at = 0 AND (k.expires_at = 0 OR k.expires_at > ?)`
	meSQL = `SELECT k.id, k.name, k.level, t.id, t.name, t.timezone, t.content_language, p.id, p.name, m.role
		FROM api_keys k JOIN teams t ON t.id = k.team_id JOIN people p ON p.id = k.person_id
		JOIN memberships m ON m.team_id = k.team_id AND m.person_id = k.person_id
		WHERE k.hash = ? AND k.revoked_at = 0 AND (k.expires_at = 0 OR k.expires_at > ?)`
	pageSQL        = `SELECT id, status, excerpt, scheduled_at, published_at FROM posts WHERE team_id = ? ORDER BY id DESC LIMIT ?`
	pageTargetsSQL = `SELECT t.post_id, t.position, t.account_id, a.platform, a.username FROM post_targets t
		JOIN social_accounts a ON a.id = t.account_id
		WHERE t.post_id IN (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	postSQL = `SELECT status, caption, approval, scheduled_at, published_at, created_at, updated_at FROM posts
		WHERE id = ? AND team_id = ?`
	targetsSQL = `SELECT t.account_id, a.platform, a.username, t.state, t.caption, t.published_at, t.permalink, t.error_code, t.retries_used
		FROM post_targets t JOIN social_accounts a ON a.id = t.account_id WHERE t.post_id = ? ORDER BY t.position`
	accountsSQL = `SELECT id, platform, username FROM social_accounts WHERE team_id = ? AND id IN (?`

	claimSQL = `INSERT INTO idempotency_records (key_id, key, operation, request_hash, answer, created_at,
		expires_at) VALUES (?, ?, 'create_post', ?, ?, ?, ?)
		ON CONFLICT (key_id, key) DO UPDATE
		SET operation = excluded.operation, request_hash = excluded.request_hash, answer = excluded.answer,
			created_at = excluded.created_at, expires_at = excluded.expires_at
		WHERE idempotency_records.expires_at <= excluded.created_at`
	storedAnswerSQL = `SELECT request_hash, answer FROM idempotency_records WHERE key_id = ? AND key = ?`
	addPostSQL      = `INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, created_at,
		updated_at) VALUES (?, ?, ?, ?, 'draft', ?, ?, ?, ?)`
	addTargetsSQL = `INSERT INTO post_targets (post_id, account_id, position) VALUES (?, ?, ?)`
	addEventSQL   = `INSERT INTO events (team_id, at, person_id, key_id, request_id, kind, subject)
		VALUES (?, ?, ?, ?, ?, 'post.created', ?)`
)

// prepare prepares the statements.
func (s *store) prepare(ctx context.Context) error {
	for _, p := range []struct {
		dest **sql.Stmt
		pool *sql.DB
		text string
	}{
		{&s.keyOwner, s.read, keyOwnerSQL},
		{&s.me, s.read, meSQL},
		{&s.page, s.read, pageSQL},
		{&s.pageTargets, s.read, pageTargetsSQL},
		{&s.post, s.read, postSQL},
		{&s.targets, s.read, targetsSQL},
		{&s.claim, s.write, claimSQL},
		{&s.storedAnswer, s.write, storedAnswerSQL},
	} {
		var err error
		query := s.rebind(p.text)
		if *p.dest, err = p.pool.PrepareContext(ctx, query); err != nil { //nolint:sqlclosecheck // lives as long as its pool
			return fmt.Errorf("preparing %.40q: %w", p.text, err)
		}
	}
	return nil
}

// stmtsFor returns the statements for n accounts, which it prepares on first use.
func (s *store) stmtsFor(ctx context.Context, n int) (*accountStmts, error) {
	if found, ok := s.stmtsByAccountCount.Load(n); ok {
		return found.(*accountStmts), nil
	}
	stmts := &accountStmts{}
	var err error
	if stmts.accounts, err = s.read.PrepareContext(ctx, s.rebind(accountsSQL+strings.Repeat(", ?", n-1)+")")); err != nil {
		return nil, fmt.Errorf("preparing to read %d accounts: %w", n, err)
	}
	add := []string{addPostSQL, addTargetsSQL + strings.Repeat(", (?, ?, ?)", n-1), addEventSQL}
	if s.postgres { // one round trip instead of three
		add = []string{"WITH post AS (" + add[0] + "), targets AS (" + add[1] + ") " + add[2]}
	}
	for _, text := range add {
		stmt, err := s.write.PrepareContext(ctx, s.rebind(text)) //nolint:sqlclosecheck // lives as long as its pool
		if err != nil {
			return nil, fmt.Errorf("preparing to add a post with %d accounts: %w", n, err)
		}
		stmts.add = append(stmts.add, stmt)
	}
	found, _ := s.stmtsByAccountCount.LoadOrStore(n, stmts)
	return found.(*accountStmts), nil
}

// rebind returns the text of a statement with the database's placeholders.
func (s *store) rebind(text string) string {
	if !s.postgres {
		return text
	}
	var out strings.Builder
	for n, part := range strings.Split(text, "?") {
		if n > 0 {
			out.WriteString("$" + strconv.Itoa(n))
		}
		out.WriteString(part)
	}
	return out.String()
}
