package db_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/postgres"
)

func TestIsUnavailable(t *testing.T) {
	t.Parallel()
	withCode := func(code string) error { return fmt.Errorf("reading posts: %w", &pgconn.PgError{Code: code}) }
	for name, c := range map[string]struct {
		err         error
		unavailable bool
	}{
		"the server ends":                {withCode("57P01"), true},
		"the server crashed":             {withCode("57P02"), true},
		"the server starts":              {withCode("57P03"), true},
		"too many connections":           {withCode("53300"), true},
		"its disk is full":               {withCode("53100"), true},
		"its disk fails":                 {withCode("58030"), true},
		"a standby":                      {withCode("25006"), true},
		"a connection failed":            {withCode("08006"), true},
		"reset":                          {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		"cut off within a response":      {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), true},
		"hangs":                          {fmt.Errorf("reading: %w", context.DeadlineExceeded), true},
		"another server was dialed":      {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, false},
		"request canceled by the caller": {context.Canceled, false},
		"a statement was ended":          {withCode("57014"), false},
		"unique violation":               {withCode("23505"), false},
		"a missing table":                {withCode("42P01"), false},
		"another transaction's row":      {withCode("55P03"), false},
		"something else":                 {errors.New("away"), false},
		"end of a list":                  {io.EOF, false},
		"nothing":                        {nil, false},
	} {
		if got := db.IsUnavailable(c.err); got != c.unavailable {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A server that is stopped, crashed or not responding is unavailable. The pool recovers when the server is back.
func TestPostgresRecovers(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	d := must.Get(db.Open(t.Context(), s.DSN(), db.Options{}))(t)
	defer d.Close()
	read := func(ctx context.Context) error {
		var one int
		return d.QueryRow(ctx, "SELECT 1").Scan(&one)
	}
	write := func(ctx context.Context) error {
		return d.InTx(ctx, "test", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS boats (name TEXT)")
			return err
		})
	}
	for name, outage := range map[string]struct{ begin, end func() }{
		"stopped": {s.Stop, s.Start}, "killed": {s.Kill, s.Start}, "hangs": {s.Pause, s.Resume},
	} {
		outage.begin()
		for what, do := range map[string]func(context.Context) error{"a read": read, "a write": write} {
			ctx, done := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if err := do(ctx); !db.IsUnavailable(err) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
			done()
		}
		outage.end()
		for what, do := range map[string]func(context.Context) error{"a read": read, "a write": write} {
			if err := do(t.Context()); err != nil {
				t.Errorf("%s, after the outage: %s: %v", name, what, err)
			}
		}
	}
}
