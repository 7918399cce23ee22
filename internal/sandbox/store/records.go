package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Record is a record of an account that is not a post.
type Record struct {
	Version string
	Body    []byte // in the network's own format
}

// SaveRecord inserts a record with the given ID, or replaces the existing record.
func (t Tx) SaveRecord(ctx context.Context, platform, account, id string, r Record) error {
	return t.Run(ctx, "saving a record", `insert into records (platform, account, id, version, body) values (?, ?, ?, ?, ?)
		on conflict (platform, id) do update set version = excluded.version, body = excluded.body`,
		platform, account, id, r.Version, r.Body)
}

// Record returns the record with the given ID, and reports whether it exists.
func (t Tx) Record(ctx context.Context, platform, id string) (Record, bool, error) {
	var r Record
	err := t.QueryRowContext(ctx, `select version, body from records where platform = ? and id = ?`, platform, id).
		Scan(&r.Version, &r.Body)
	if errors.Is(err, sql.ErrNoRows) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, fmt.Errorf("finding a record: %w", err)
	}
	return r, true, nil
}
