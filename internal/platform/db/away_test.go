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

	"pressroom/internal/platform/db"
	"pressroom/internal/testkit/postgres"
)

func TestAway(t *testing.T) {
	t.Parallel()
	said := func(code string) error { return fmt.Errorf("reading posts: %w", &pgconn.PgError{Code: code}) }
	for name, c := range map[string]struct {
		err  error
		away bool
	}{
		"the server ends":             {said("57P01"), true},
		"the server crashed":          {said("57P02"), true},
		"the server begins":           {said("57P03"), true},
		"too many connections":        {said("53300"), true},
		"its disk is full":            {said("53100"), true},
		"its disk fails":              {said("58030"), true},
		"a standby":                   {said("25006"), true},
		"a connection failed":         {said("08006"), true},
		"reset":                       {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		"cut off within an answer":    {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), true},
		"hangs":                       {fmt.Errorf("reading: %w", context.DeadlineExceeded), true},
		"somebody else was dialled":   {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, false},
		"the caller is gone":          {context.Canceled, false},
		"a statement was ended":       {said("57014"), false},
		"a name that is taken":        {said("23505"), false},
		"a table that is not there":   {said("42P01"), false},
		"another transaction's row":   {said("55P03"), false},
		"something else":              {errors.New("away"), false},
		"a list that came to its end": {io.EOF, false},
		"nothing":                     {nil, false},
	} {
		if got := db.Away(c.err); got != c.away {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A server that ends, crashes or hangs is away, whatever is asked of it; and is there again without another word.
func TestPostgresGoesAndComes(t *testing.T) {
	t.Parallel()
	s := postgres.Start(t)
	d, err := db.Open(t.Context(), s.DSN(), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
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
	for name, way := range map[string]struct{ goes, comes func() }{
		"stopped": {s.Stop, s.Start}, "killed": {s.Kill, s.Start}, "hangs": {s.Pause, s.Resume},
	} {
		way.goes()
		for what, do := range map[string]func(context.Context) error{"a read": read, "a write": write} {
			ctx, done := context.WithTimeout(t.Context(), 200*time.Millisecond)
			if err := do(ctx); !db.Away(err) {
				t.Errorf("%s: %s: %v", name, what, err)
			}
			done()
		}
		way.comes()
		for what, do := range map[string]func(context.Context) error{"a read": read, "a write": write} {
			if err := do(t.Context()); err != nil {
				t.Errorf("%s, and there again: %s: %v", name, what, err)
			}
		}
	}
}
