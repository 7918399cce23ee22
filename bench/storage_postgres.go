package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
)

// postgresServer creates databases on a PostgreSQL server. Its user must be allowed to create databases.
type postgresServer struct {
	root      *sql.DB
	url       *url.URL
	binary    string
	databases []string
	seeds     map[int]dataset
}

func newPostgresServer(address, binary string) (*postgresServer, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New(postgresVariable + " is not a URL")
	}
	root, err := sql.Open("pgx", address)
	if err != nil {
		return nil, fmt.Errorf("opening PostgreSQL: %w", err)
	}
	return &postgresServer{root: root, url: u, binary: binary, seeds: map[int]dataset{}}, nil
}

func (*postgresServer) name() string { return "postgres" }

func (p *postgresServer) create(ctx context.Context, label, options string) (string, error) {
	name := fmt.Sprintf("bench_%d_%s", os.Getpid(), label)
	if _, err := p.root.ExecContext(ctx, "CREATE DATABASE "+name+" "+options); err != nil {
		return "", fmt.Errorf("creating a database: %w", err)
	}
	p.databases = append(p.databases, name)
	u := *p.url
	u.Path = "/" + name
	return u.String(), nil
}

func (p *postgresServer) copy(ctx context.Context, posts int, label string) (string, dataset, error) {
	size := sizeName(posts)
	d, done := p.seeds[posts]
	if !done {
		url, err := p.create(ctx, "seed_"+size, "")
		if err != nil {
			return "", d, err
		}
		if d, err = seed(ctx, p.binary, url, posts); err != nil {
			return "", d, err
		}
		p.seeds[posts] = d
	}
	template := fmt.Sprintf("bench_%d_seed_%s", os.Getpid(), size)
	url, err := p.create(ctx, label+"_"+size, "TEMPLATE "+template+" STRATEGY FILE_COPY")
	return url, d, err
}

func (p *postgresServer) empty(ctx context.Context, label string) (string, error) {
	return p.create(ctx, "years_"+label, "")
}

func (p *postgresServer) size(ctx context.Context, address string) (int64, error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, fmt.Errorf("reading the size of a database: %w", err)
	}
	var bytes int64
	if err := p.root.QueryRowContext(ctx, "SELECT pg_database_size($1)", u.Path[1:]).Scan(&bytes); err != nil {
		return 0, fmt.Errorf("reading the size of a database: %w", err)
	}
	return bytes, nil
}

func (p *postgresServer) drop(ctx context.Context, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("dropping a database: %w", err)
	}
	name := u.Path[1:]
	if _, err := p.root.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
		return fmt.Errorf("dropping a database: %w", err)
	}
	p.databases = slices.DeleteFunc(p.databases, func(one string) bool { return one == name })
	return nil
}

func (p *postgresServer) close(ctx context.Context) error {
	var errs []error
	for _, name := range p.databases {
		_, err := p.root.ExecContext(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		errs = append(errs, err)
	}
	return errors.Join(append(errs, p.root.Close())...)
}
