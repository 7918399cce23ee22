package testkit

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	"pressroom/internal/platform/db"
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

func create(like string) (string, error) {
	server, err := root()
	if err != nil {
		return "", fmt.Errorf("opening PostgreSQL: %w", err)
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), made.Add(1))
	if _, err := server.Exec("CREATE DATABASE " + name + like); err != nil {
		return "", fmt.Errorf("creating a database: %w", err)
	}
	return name, nil
}

func postgresURL(name string) string {
	u, err := url.Parse(os.Getenv(PostgresVariable))
	if err != nil {
		panic(PostgresVariable + " is not a URL") // it has opened a database before
	}
	u.Path = "/" + name
	return u.String()
}
