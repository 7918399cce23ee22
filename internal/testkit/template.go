package testkit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"pressroom.example/pressroom/internal/platform/db"
)

// Migrate prepares an empty database for tests. It runs once per kind of database; the others are copies, to save time.
// Importing testkit/fixture replaces it with what the program does at start.
var Migrate = func(ctx context.Context, url string) error {
	d, err := db.Open(ctx, url, db.Options{})
	if err != nil {
		return err
	}
	return errors.Join(d.Migrate(ctx), d.Close())
}

// sqliteTemplate returns the content of a migrated file.
var sqliteTemplate = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "pressroom-template-")
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "template.db")
	if err := Migrate(context.Background(), "sqlite:"+file); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	content, err := os.ReadFile(file)
	return content, errors.Join(err, os.RemoveAll(dir))
})

// postgresTemplate returns the name of a migrated database. It is not dropped, because the server is temporary.
var postgresTemplate = sync.OnceValues(func() (string, error) {
	name, err := create("")
	if err != nil {
		return "", err
	}
	return name, Migrate(context.Background(), postgresURL(name))
})

// create creates a database, as a copy of another unless template is empty, and returns its name. Copying files takes a
// third of the time of copying through the log.
func create(template string) (string, error) {
	server, err := root()
	if err != nil {
		return "", fmt.Errorf("opening PostgreSQL: %w", err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), made.Add(1))
	statement := "CREATE DATABASE " + name
	if template != "" {
		statement += " STRATEGY file_copy TEMPLATE " + template
	}
	if _, err := server.Exec(statement); err != nil {
		return "", fmt.Errorf("creating a database: %w", err)
	}
	return name, nil
}

// maxConns is the parameter of a URL that limits pressroom's pool. Other programs do not know it.
const maxConns = "pool_max_conns"

func postgresURL(name string) string {
	u, err := url.Parse(os.Getenv(PostgresVariable))
	if err != nil {
		panic(PostgresVariable + " is not a URL") // it has opened a database before
	}
	u.Path = "/" + name
	query := u.Query()
	query.Set(maxConns, "4") // opening a connection takes longer than most of a test's queries
	u.RawQuery = query.Encode()
	return u.String()
}
