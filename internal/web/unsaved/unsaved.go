// Package unsaved stores the forms of posts that people have not saved yet. Package compose shows and restores them.
package unsaved

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

const (
	// MaxForms is the maximum number of a person's forms. Older ones are deleted.
	MaxForms = 20
	// MaxSize is the maximum size of a form in bytes.
	MaxSize = 512 << 10

	life = 30 * 24 * time.Hour // a form is deleted after this time
)

// Key identifies a form. Only its person can use it, and only in its team.
type Key struct {
	PersonID, TeamID int64
	ID               string
}

// Store stores the fields of a form of a post, or of a new post if post is empty. It reports false if the form was
// saved in the meantime.
func Store(ctx context.Context, d *db.DB, k Key, post, fields string) (bool, error) {
	stored := false
	err := d.InTx(ctx, "unsaved.store", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx,
			`INSERT INTO unsaved_forms (person_id, id, team_id, post_id, fields, kept_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (person_id, id) DO UPDATE SET team_id = excluded.team_id, post_id = excluded.post_id,
		fields = excluded.fields, kept_at = excluded.kept_at WHERE unsaved_forms.fields <> ''`,
			k.PersonID, k.ID, k.TeamID, post, fields, db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("storing an unsaved form: %w", err)
		}
		stored = n > 0
		// Saved forms do not count. Sweep deletes them.
		if _, err := tx.Exec(ctx, `DELETE FROM unsaved_forms WHERE person_id = ? AND fields <> '' AND id NOT IN
		(SELECT id FROM unsaved_forms WHERE person_id = ? AND fields <> '' ORDER BY kept_at DESC, id LIMIT ?)`,
			k.PersonID, k.PersonID, MaxForms); err != nil {
			return fmt.Errorf("deleting old unsaved forms: %w", err)
		}
		return nil
	})
	return stored, err
}

// Change changes the fields of a form. It returns a not_found error if the form was saved or deleted in the meantime.
func Change(ctx context.Context, d *db.DB, k Key, change func(url.Values) error) error {
	return d.InTx(ctx, "unsaved.change", func(ctx context.Context, tx *db.Tx) error {
		var fields string
		err := tx.QueryRow(ctx, `SELECT fields FROM unsaved_forms WHERE person_id = ? AND team_id = ? AND id = ?
			AND fields <> ''`+tx.ForUpdate(),
			k.PersonID, k.TeamID, k.ID).Scan(&fields)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.ItemNotFound()
		}
		form, broken := url.ParseQuery(fields)
		if err := errors.Join(err, broken); err != nil {
			return fmt.Errorf("reading an unsaved form: %w", err)
		}
		if err := change(form); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE unsaved_forms SET fields = ?, kept_at = ? WHERE person_id = ? AND id = ?`,
			form.Encode(), db.Micros(tx.Now()), k.PersonID, k.ID); err != nil {
			return fmt.Errorf("changing an unsaved form: %w", err)
		}
		return nil
	})
}

// Discard deletes a form that was not saved.
func Discard(ctx context.Context, d *db.DB, k Key) error {
	return d.InTx(ctx, "unsaved.discard", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM unsaved_forms WHERE person_id = ? AND id = ? AND fields <> ''`,
			k.PersonID, k.ID); err != nil {
			return fmt.Errorf("discarding an unsaved form: %w", err)
		}
		return nil
	})
}

// End records that a form was saved, so that a late request does not store it again.
func End(ctx context.Context, d *db.DB, k Key) error {
	return d.InTx(ctx, "unsaved.end", func(ctx context.Context, tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO unsaved_forms (person_id, id, team_id, fields, kept_at) VALUES (?, ?, ?, '', ?)
		ON CONFLICT (person_id, id) DO UPDATE SET fields = '', kept_at = excluded.kept_at`,
			k.PersonID, k.ID, k.TeamID, db.Micros(tx.Now()))
		return err
	})
}

// Sweep deletes up to a thousand old forms and returns their number.
func Sweep(ctx context.Context, d *db.DB) (int64, error) {
	var n int64
	err := d.InTx(ctx, "unsaved.sweep", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM unsaved_forms WHERE (person_id, id) IN
		(SELECT person_id, id FROM unsaved_forms WHERE kept_at <= ? ORDER BY kept_at LIMIT 1000)`,
			db.Micros(tx.Now().Add(-life)))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping unsaved forms: %w", err)
	}
	return n, nil
}
