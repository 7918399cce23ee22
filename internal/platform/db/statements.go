package db

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// statements caches prepared statements by query text. For PostgreSQL, it caches only the query text with PostgreSQL's
// placeholders, because pgx caches prepared statements itself. Entries are never evicted, because the number of query
// texts is bounded.
type statements struct {
	byText  sync.Map // query text in the program -> *statement
	mu      sync.Mutex
	pending []*statement // to be prepared after the commit
}

type statement struct {
	bound          string // the query text with the database's placeholders
	reader, writer atomic.Pointer[sql.Stmt]
	requested      atomic.Bool // whether the statement was added to pending
}

func (d *DB) statement(query string) *statement {
	s, ok := d.stmts.byText.Load(query)
	if !ok {
		s, _ = d.stmts.byText.LoadOrStore(query, &statement{bound: d.dialect.bind(query)})
	}
	return s.(*statement) //nolint:forcetypeassert // the map contains nothing else
}

// forReading returns a query's text and its prepared statement for the readers' pool. If the statement is nil, the
// caller must run the text.
func (d *DB) forReading(ctx context.Context, query string) (string, *sql.Stmt) {
	s := d.statement(query)
	if d.dialect.postgres {
		return s.bound, nil
	}
	if stmt := s.reader.Load(); stmt != nil {
		return s.bound, stmt
	}
	stmt, err := d.read.PrepareContext(ctx, s.bound)
	if err != nil {
		return s.bound, nil // the query will return the error
	}
	if !s.reader.CompareAndSwap(nil, stmt) {
		_ = stmt.Close()
	}
	return s.bound, s.reader.Load()
}

// forWriting returns a query's text and its prepared statement for the writer's connection. If the statement is nil,
// the caller must run the text. A statement for a new text is prepared only after the commit, because the current
// transaction uses the writer's connection.
func (d *DB) forWriting(query string) (string, *sql.Stmt) {
	s := d.statement(query)
	if stmt := s.writer.Load(); stmt != nil || d.dialect.postgres {
		return s.bound, stmt
	}
	if s.requested.CompareAndSwap(false, true) {
		d.stmts.mu.Lock()
		d.stmts.pending = append(d.stmts.pending, s)
		d.stmts.mu.Unlock()
	}
	return s.bound, nil
}

func (d *DB) preparePending(ctx context.Context) {
	if d.dialect.postgres {
		return
	}
	d.stmts.mu.Lock()
	pending := d.stmts.pending
	d.stmts.pending = nil
	d.stmts.mu.Unlock()
	for _, s := range pending {
		if stmt, err := d.write.PrepareContext(context.WithoutCancel(ctx), s.bound); err == nil {
			s.writer.Store(stmt)
		}
	}
}
