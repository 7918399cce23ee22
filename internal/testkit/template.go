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

// Migrate brings an empty database to the shape that tests find. It is called once a run for each kind of database:
// the others are copies, as migrating each took more time than most tests. Importing testkit/fixture sets it to what
// the program itself does at its start, which is more.
var Migrate = func(ctx context.Context, url string) error {
	d, err := db.Open(ctx, url, db.Options{})
	if err != nil {
		return err
	}
	return errors.Join(d.Migrate(ctx), d.Close())
}

// sqliteTemplate is the content of a migrated file.
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

// postgresTemplate is the name of a migrated database. It stays when the tests end, as the server does not.
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
		panic(PostgresVariable + " is no address") // it has opened a database before
	}
	u.Path = "/" + name
	return u.String()
}
