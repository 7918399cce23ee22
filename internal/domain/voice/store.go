package voice

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

// record is a stored voice. Guide is JSON, or empty if not selected.
type record struct {
	id        int64
	name      string
	isDefault bool
	guide     string
}

func (r *record) scan(scan func(...any) error) error {
	return scan(&r.id, &r.name, &r.isDefault, &r.guide)
}

func (r *record) draft() (Draft, error) {
	d := Draft{Name: r.name}
	if err := json.Unmarshal([]byte(r.guide), &d.Guide); err != nil {
		return d, fmt.Errorf("reading brand voice %d: %w", r.id, err)
	}
	return d, nil
}

// listQuery selects all of a team's voices in one query, so that the list and the default are consistent. It reads only
// the guide of the default voice.
const listQuery = `SELECT id, name, is_default, CASE WHEN is_default = 1 THEN guide ELSE '' END FROM brand_voices
	WHERE team_id = ? ORDER BY id DESC`

// fullListQuery selects all of a team's voices with their guides, the default first.
const fullListQuery = `SELECT id, name, is_default, guide FROM brand_voices WHERE team_id = ? ORDER BY is_default DESC, id DESC`

func listVoices(ctx context.Context, q db.Querier, query string, team int64) ([]record, error) {
	found, err := db.All(ctx, q, func(rows *sql.Rows, r *record) error { return r.scan(rows.Scan) }, query, team)
	if err != nil {
		return nil, fmt.Errorf("listing brand voices: %w", err)
	}
	return found, nil
}

const findQuery = `SELECT id, name, is_default, guide FROM brand_voices WHERE id = ? AND team_id = ?`

// find returns a team's voice, or not_found.
func find(ctx context.Context, q db.Querier, team, id int64) (record, error) {
	var r record
	err := r.scan(q.QueryRow(ctx, findQuery, id, team).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		return r, apierr.ItemNotFound()
	}
	if err != nil {
		return r, fmt.Errorf("reading a brand voice: %w", err)
	}
	return r, nil
}

// lock locks a team's voices until the transaction ends. It returns not_found for a closed team.
func (s *Service) lock(ctx context.Context, tx *db.Tx, team int64) error {
	err := tx.QueryRow(ctx, `SELECT id FROM teams WHERE id = ? AND closed_at = 0`+s.db.ForUpdate(), team).Scan(&team)
	if errors.Is(err, sql.ErrNoRows) {
		return apierr.ItemNotFound()
	}
	if err != nil {
		return fmt.Errorf("locking a team's brand voices: %w", err)
	}
	return nil
}

// countVoices returns the number of a team's voices, and how many of them have the given name. The second number
// excludes the voice with the given ID.
func countVoices(ctx context.Context, tx *db.Tx, team, id int64, name string) (int, int, error) {
	var total, sameName int
	err := tx.QueryRow(ctx, `SELECT COUNT(*), COALESCE(SUM(CASE WHEN folded = ? AND id <> ? THEN 1 ELSE 0 END), 0)
		FROM brand_voices WHERE team_id = ?`, foldName(name), id, team).Scan(&total, &sameName)
	if err != nil {
		return 0, 0, fmt.Errorf("counting a team's brand voices: %w", err)
	}
	return total, sameName, nil
}

// insert inserts a voice and sets its ID.
func insert(ctx context.Context, tx *db.Tx, team int64, r *record) error {
	now := db.Micros(tx.Now())
	err := tx.QueryRow(ctx, `INSERT INTO brand_voices (team_id, name, folded, is_default, guide, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		team, r.name, foldName(r.name), db.BoolToInt(r.isDefault), r.guide, now, now).Scan(&r.id)
	if err != nil {
		return fmt.Errorf("adding a brand voice: %w", err)
	}
	return nil
}

func update(ctx context.Context, tx *db.Tx, team int64, r record) error {
	_, err := tx.Exec(ctx, `UPDATE brand_voices SET name = ?, folded = ?, guide = ?, updated_at = ? WHERE id = ?
		AND team_id = ?`,
		r.name, foldName(r.name), r.guide, db.Micros(tx.Now()), r.id, team)
	if err != nil {
		return fmt.Errorf("changing a brand voice: %w", err)
	}
	return nil
}

// setDefault makes a voice the team's default. If id is 0, it selects the oldest voice.
func setDefault(ctx context.Context, tx *db.Tx, team, id int64) error {
	if _, err := tx.Exec(ctx, `UPDATE brand_voices SET is_default = 0 WHERE team_id = ? AND is_default = 1`,
		team); err != nil {
		return fmt.Errorf("clearing the default brand voice: %w", err)
	}
	condition, args := `id = ? AND team_id = ?`, []any{id, team}
	if id == 0 {
		condition, args = `id = (SELECT MIN(id) FROM brand_voices WHERE team_id = ?)`, []any{team}
	}
	if _, err := tx.Exec(ctx, `UPDATE brand_voices SET is_default = 1 WHERE `+condition, args...); err != nil {
		return fmt.Errorf("setting the default brand voice: %w", err)
	}
	return nil
}
