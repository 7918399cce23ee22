package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pressroom/internal/db"
	"pressroom/internal/testkit"
)

var postgresOnce sync.Mutex // PostgreSQL copies a database only while nobody else copies it

// copyOf copies a database that nobody has open and gives the copy's URL.
func copyOf(t *testing.T, from string) (string, error) {
	if path, ok := strings.CutPrefix(from, "sqlite:"); ok {
		to := filepath.Join(t.TempDir(), fmt.Sprintf("%p.db", new(int)))
		if err := copyFile(path, to); err != nil {
			return "", err
		}
		return "sqlite:" + to, unheld("sqlite:" + to)
	}
	postgresOnce.Lock()
	defer postgresOnce.Unlock()
	to := testkit.Postgres(t)
	source, err := url.Parse(from)
	if err != nil {
		return "", err
	}
	target, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	server, err := sql.Open("pgx", os.Getenv(testkit.PostgresVariable))
	if err != nil {
		return "", err
	}
	defer server.Close()
	name := strings.TrimPrefix(target.Path, "/")
	if _, err := server.Exec("DROP DATABASE " + name); err != nil {
		return "", err
	}
	_, err = server.Exec("CREATE DATABASE " + name + " TEMPLATE " + strings.TrimPrefix(source.Path, "/"))
	if err != nil {
		return "", err
	}
	return to, unheld(to)
}

// unheld lets a copy live where it is: a real one would be held, and these stand for the original.
func unheld(database string) error {
	d, err := db.Open(context.Background(), database, db.Options{})
	if err != nil {
		return err
	}
	err = d.Write(context.Background(), "test.unheld", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `UPDATE hold SET place = '', starts = 0 WHERE id = 1`)
		return err
	})
	return errors.Join(err, d.Close())
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
