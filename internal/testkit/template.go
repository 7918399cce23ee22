package testkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"pressroom.example/pressroom/internal/platform/db"
)

// Migrate prepares an empty database for tests. To save time, it runs once per kind of database, and tests use copies.
// Package fixture replaces it with a function that prepares the database as a server does.
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

// postgresTemplate returns the name of a migrated database. The database is not dropped, because the server is
// temporary.
var postgresTemplate = sync.OnceValues(func() (string, error) {
	name, err := create("")
	if err != nil {
		return "", err
	}
	return name, Migrate(context.Background(), postgresURL(name))
})

// runID identifies the databases of this process. A process ID would not, because the system reuses process IDs.
var runID = strings.ToLower(rand.Text())

// create creates a database and returns its name. Unless template is empty, the database is a copy of template. The
// file_copy strategy takes a third of the default strategy's time.
func create(template string) (string, error) {
	server, err := openServer()
	if err != nil {
		return "", fmt.Errorf("opening PostgreSQL: %w", err)
	}
	name := fmt.Sprintf("test_%s_%d", runID, databaseCount.Add(1))
	statement := "CREATE DATABASE " + name
	if template != "" {
		statement += " STRATEGY file_copy TEMPLATE " + template
	}
	if _, err := server.Exec(statement); err != nil {
		return "", fmt.Errorf("creating a database: %w", err)
	}
	return name, nil
}

// maxConns is the URL parameter that limits pressroom's pool. OpenPostgres removes it, because only that pool accepts
// it.
const maxConns = "pool_max_conns"

func postgresURL(name string) string {
	u, err := url.Parse(os.Getenv(PostgresVariable))
	if err != nil {
		panic(PostgresVariable + " is not a URL") // It was parsed before.
	}
	u.Path = "/" + name
	query := u.Query()
	query.Set(maxConns, "4") // Few connections, because opening one takes longer than most queries.
	u.RawQuery = query.Encode()
	return u.String()
}
