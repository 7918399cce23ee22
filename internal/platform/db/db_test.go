package db_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

func TestMigratesUpAndDownAndUp(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		ctx := t.Context()
		must.NoError(t, d.MigrateDown(ctx))
		var n int
		if err := d.QueryRow(ctx, `SELECT COUNT(*) FROM posts`).Scan(&n); err == nil {
			t.Fatal("a table is still there after migrating down")
		}
		must.NoError(t, d.Migrate(ctx))
		must.NoError(t, d.QueryRow(ctx, `SELECT COUNT(*) FROM posts`).Scan(&n))
	})
}

// An older program starts with a schema that a newer program has migrated.
func TestOlderProgramOnNewerSchema(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		exec(t, d, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, ?)`, true)
		must.NoError(t, d.Migrate(t.Context()))
		var n int
		must.NoError(t, d.QueryRow(t.Context(), `SELECT COUNT(*) FROM posts`).Scan(&n))
	})
}

func TestEventsImmutable(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		exec(t, d, `INSERT INTO events (team_id, at, kind, subject) VALUES (1, 1, 'test.made', 'x')`)
		for _, statement := range []string{`UPDATE events SET kind = 'other'`, `DELETE FROM events`} {
			err := d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, statement)
				return err
			})
			if err == nil {
				t.Errorf("%s was accepted", statement)
			}
		}
	})
}

func exec(t *testing.T, d *db.DB, statement string, args ...any) {
	t.Helper()
	must.NoError(t, d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, statement, args...)
		return err
	}))
}

func TestInTxRollsBack(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		stop := errors.New("stop")
		err := d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
			if _, err := tx.Exec(ctx, `INSERT INTO people (name, email, created_at) VALUES (?, ?, ?)`, "Ada",
				"ada@example.com", 1); err != nil {
				return err
			}
			return stop
		})
		if !errors.Is(err, stop) {
			t.Fatalf("got %v", err)
		}
		var n int
		if err := d.QueryRow(t.Context(), `SELECT COUNT(*) FROM people`).Scan(&n); err != nil || n != 0 {
			t.Fatalf("%d people are left (%v)", n, err)
		}
	})
}

// A transaction reads its own writes, even after the query was prepared.
func TestTransactionReadsItsWrites(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		const count = `SELECT COUNT(*) FROM people WHERE email = 'a@example.com'`
		for range 3 { // the first iterations prepare the statements, and the later ones use them
			err := d.InTx(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `INSERT INTO people (name, email, created_at) VALUES ('A', 'a@example.com', 1)`)
				if err != nil {
					return err
				}
				var n int
				if err := tx.QueryRow(ctx, count).Scan(&n); err != nil || n != 1 {
					t.Errorf("inside: %d (%v)", n, err)
				}
				return errors.New("back")
			})
			if err == nil {
				t.Fatal("the error was lost")
			}
			var n int
			if err := d.QueryRow(t.Context(), count).Scan(&n); err != nil || n != 0 {
				t.Errorf("outside: %d (%v)", n, err)
			}
		}
	})
}

// InTx, Query and QueryRow panic inside a transaction.
func TestNestedTransactionRejected(t *testing.T) {
	t.Parallel()
	d := testkit.Open(t, testkit.SQLite(t), nil)
	for name, nested := range map[string]func(context.Context){
		"InTx": func(ctx context.Context) {
			_ = d.InTx(ctx, "inner", func(context.Context, *db.Tx) error { return nil })
		},
		"Query":    func(ctx context.Context) { _, _ = d.Query(ctx, `SELECT 1`) }, //nolint:rowserrcheck // it panics
		"QueryRow": func(ctx context.Context) { d.QueryRow(ctx, `SELECT 1`) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", name)
				}
			}()
			_ = d.InTx(t.Context(), "outer", func(ctx context.Context, _ *db.Tx) error { nested(ctx); return nil })
		}()
		if err := d.InTx(t.Context(), "next", func(context.Context, *db.Tx) error { return nil }); err != nil {
			t.Errorf("after %s: %v", name, err)
		}
	}
}

func TestConcurrentWritersAllSucceed(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { exec(t, d, `UPDATE access_version SET version = version + 1 WHERE id = 1`) })
		}
		wg.Wait()
		var version int
		if err := d.QueryRow(t.Context(), `SELECT version FROM access_version`).Scan(&version); err != nil || version != 21 {
			t.Fatalf("version %d (%v)", version, err)
		}
	})
}

// A transaction that times out waiting for a lock is run again.
func TestLockTimeoutRetried(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		if d := testkit.Open(t, url, nil); d.Postgres() { // SQLite's writers wait for a connection
			blockedWrite(t, d)
		}
	})
}

func blockedWrite(t *testing.T, d *db.DB) {
	t.Helper()
	const next = `UPDATE access_version SET version = version + 1 WHERE id = 1`
	held, let, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- d.InTx(context.Background(), "holder", func(ctx context.Context, tx *db.Tx) error {
			_, err := tx.Exec(ctx, next)
			close(held)
			<-let
			return err
		})
	}()
	<-held
	tries := 0
	err := d.InTx(t.Context(), "waiter", func(ctx context.Context, tx *db.Tx) error {
		if tries++; tries > 1 {
			close(let)
		} else if _, err := tx.Exec(ctx, `SET LOCAL lock_timeout = '1ms'`); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, next)
		return err
	})
	if err := errors.Join(err, <-ended); err != nil || tries != 2 {
		t.Fatalf("%d tries (%v)", tries, err)
	}
}

func TestOpenRequiresDurability(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		if !d.Postgres() {
			return
		}
		_, err := db.Open(t.Context(), url+"&options=-c%20synchronous_commit%3Doff", db.Options{})
		if err == nil {
			t.Fatal("a PostgreSQL with synchronous_commit = off was accepted")
		}
	})
}

// A connection that Connected rejects is closed.
func TestRejectedConnectionClosed(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		if !testkit.Open(t, url, nil).Postgres() {
			return
		}
		var queryAgain func(query string, dest ...any) error
		_, err := db.Open(t.Context(), url,
			db.Options{Connected: func(_ context.Context, _ func(string, ...any) error, queryRow func(string, ...any) error) error {
				queryAgain = queryRow
				return db.ErrReplica
			}})
		if !db.IsUnavailable(err) {
			t.Errorf("opening: %v", err)
		}
		var n int
		if err := queryAgain(`SELECT 1`, &n); err == nil {
			t.Error("a rejected connection is open")
		}
	})
}

func TestMicros(t *testing.T) {
	t.Parallel()
	for _, at := range []time.Time{{}, time.Date(2026, 3, 29, 1, 30, 0, 123_456_000, time.UTC)} {
		if got := db.Time(db.Micros(at)); !got.Equal(at) {
			t.Errorf("%v became %v", at, got)
		}
	}
}

func TestAllClosesRowsOnScanError(t *testing.T) {
	t.Parallel()
	testkit.EachEmptyDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		wrong := errors.New("wrong")
		for range 50 { // more than the number of connections
			_, err := db.All(t.Context(), d, func(*sql.Rows, *int) error { return wrong }, `SELECT version FROM access_version`)
			if !errors.Is(err, wrong) {
				t.Fatal(err)
			}
		}
	})
}

// Ping succeeds while every connection of the pool is in use.
func TestPingWithBusyPool(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		d := testkit.Open(t, url, nil)
		for range d.Writer().Stats().MaxOpenConnections {
			conn := must.Get(d.Writer().Conn(t.Context()))(t)
			defer conn.Close()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := d.Ping(ctx); err != nil {
			t.Error(err)
		}
	})
}

// LimitClause allows at least one more row than the page has, and uses few different limits.
func TestLimitClause(t *testing.T) {
	t.Parallel()
	for rows, want := range map[int]string{1: " LIMIT 21", 20: " LIMIT 21", 21: " LIMIT 51", 50: " LIMIT 51", 51: " LIMIT 101"} {
		if got := db.LimitClause(rows); got != want {
			t.Errorf("%d rows: %q, want %q", rows, got, want)
		}
	}
}

// Every connection to PostgreSQL, including the one that migrated, has a lock timeout of five seconds, and a low
// random_page_cost unless the URL sets another value.
func TestConnectionSettings(t *testing.T) {
	t.Parallel()
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		for address, cost := range map[string]string{url: "1.1", url + "&random_page_cost=2": "2"} {
			d := testkit.Open(t, address, nil)
			if !d.Postgres() {
				return
			}
			must.NoError(t, d.WithMigrationLock(t.Context(), d.Migrate))
			for range 4 { // each iteration uses another connection, because the rows are still open
				rows := must.Get(d.Query(t.Context(), `SELECT current_setting('lock_timeout'), current_setting('random_page_cost')`))(t)
				defer rows.Close()
				var lock, page string
				if !rows.Next() || rows.Scan(&lock, &page) != nil || lock != "5s" || page != cost {
					t.Errorf("lock_timeout %s, random_page_cost %s: %v", lock, page, rows.Err())
				}
			}
		}
	})
}
