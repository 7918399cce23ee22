package db

import (
	"context"
	"database/sql"
	"sync"
	"sync/atomic"
)

// statements keeps SQL texts made ready for use, by the text that the program wrote. SQLite would parse a text
// at every use; pgx keeps its own statements on each connection, so there only the bound text is kept. The
// program has a bounded number of texts, so nothing is ever dropped.
type statements struct {
	byText sync.Map // text as written -> *statement
	mu     sync.Mutex
	wanted []*statement // used in a transaction before they were prepared
}

type statement struct {
	bound          string
	reader, writer atomic.Pointer[sql.Stmt]
	asked          atomic.Bool
}

func (d *DB) statement(query string) *statement {
	s, ok := d.stmts.byText.Load(query)
	if !ok {
		s, _ = d.stmts.byText.LoadOrStore(query, &statement{bound: d.dialect.bind(query)})
	}
	return s.(*statement) //nolint:forcetypeassert // nothing else is kept in the map
}

// forReading gives a prepared statement of the readers' pool, or nil where the text is to be sent as it is.
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
		return s.bound, nil // the query itself will say what is wrong
	}
	if !s.reader.CompareAndSwap(nil, stmt) {
		_ = stmt.Close()
	}
	return s.bound, s.reader.Load()
}

// forWriting gives a prepared statement of the writer's connection. That connection is the transaction's own,
// so a text met for the first time goes as it is and is prepared after the commit.
func (d *DB) forWriting(query string) (string, *sql.Stmt) {
	s := d.statement(query)
	if stmt := s.writer.Load(); stmt != nil || d.dialect.postgres {
		return s.bound, stmt
	}
	if s.asked.CompareAndSwap(false, true) {
		d.stmts.mu.Lock()
		d.stmts.wanted = append(d.stmts.wanted, s)
		d.stmts.mu.Unlock()
	}
	return s.bound, nil
}

func (d *DB) prepareWanted(ctx context.Context) {
	if d.dialect.postgres {
		return
	}
	d.stmts.mu.Lock()
	wanted := d.stmts.wanted
	d.stmts.wanted = nil
	d.stmts.mu.Unlock()
	for _, s := range wanted {
		if stmt, err := d.write.PrepareContext(context.WithoutCancel(ctx), s.bound); err == nil {
			s.writer.Store(stmt)
		}
	}
}
