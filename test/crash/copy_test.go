package crash

import (
	"database/sql"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

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
		return "sqlite:" + to, testkit.AtHome("sqlite:" + to)
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
	return to, testkit.AtHome(to)
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
