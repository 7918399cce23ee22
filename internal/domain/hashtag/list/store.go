package list

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

const columns = `id, team_id, name, platform, color, icon, size, last_position, revision, created_at`

func scan(scanRow func(...any) error, l *List) error {
	var createdAt int64
	err := scanRow(&l.ID, &l.TeamID, &l.Name, &l.Platform, &l.Color, &l.Icon, &l.Size, &l.lastPosition, &l.revision,
		&createdAt)
	l.CreatedAt = db.Time(createdAt)
	return err
}

func scanLists(rows *sql.Rows, l *List) error { return scan(rows.Scan, l) }

// read returns a team's list, or not_found. end is appended to the query, for example to lock the row.
func read(ctx context.Context, q db.Querier, team, id int64, end string) (List, error) {
	var l List
	err := scan(q.QueryRow(ctx, `SELECT `+columns+` FROM hashtag_lists WHERE team_id = ? AND id = ?`+end, team, id).
		Scan, &l)
	if errors.Is(err, sql.ErrNoRows) {
		return l, apierr.ItemNotFound()
	}
	if err != nil {
		return l, fmt.Errorf("reading a hashtag list: %w", err)
	}
	return l, nil
}

// lock returns a team's list and locks its row. It returns an error for a ready-made list.
func (s *Service) lock(ctx context.Context, tx *db.Tx, team, id int64) (List, error) {
	if id < firstTeamListID {
		if _, found := s.findReadyMade(id); !found {
			return List{}, apierr.ItemNotFound()
		}
		return List{}, apierr.BadState("ready_made", "Ready-made lists cannot be changed. Create a list of your own.")
	}
	return read(ctx, tx, team, id, s.db.ForUpdate())
}

// pageQuery returns the query for a page of a team's lists, newest first.
func pageQuery(team int64, platform string, beforeID int64, limit int) (string, []any) {
	where, args := `team_id = ? AND id < ?`, []any{team, beforeID}
	if platform != "" {
		where, args = where+` AND platform IN (?, '')`, append(args, platform)
	}
	return `SELECT ` + columns + ` FROM hashtag_lists WHERE ` + where + ` ORDER BY id DESC LIMIT ?`, append(args, limit)
}

func (s *Service) insert(ctx context.Context, tx *db.Tx, l *List) error {
	l.CreatedAt = tx.Now()
	err := tx.QueryRow(ctx, `INSERT INTO hashtag_lists (team_id, name, platform, color, icon, created_at)
		VALUES (?, ?, ?, ?, ?, ?) RETURNING id`,
		l.TeamID, l.Name, l.Platform, l.Color, l.Icon, db.Micros(l.CreatedAt)).Scan(&l.ID)
	if err != nil {
		return fmt.Errorf("creating a hashtag list: %w", err)
	}
	return nil
}

// itemsQuery selects a list's hashtags in order.
const itemsQuery = `SELECT hashtag, subcategory FROM hashtag_list_items WHERE list_id = (SELECT id FROM hashtag_lists
	WHERE team_id = ? AND id = ?) ORDER BY position`

func (s *Service) queryItems(ctx context.Context, l List) ([]Item, error) {
	items, err := db.AllSized(ctx, s.db, int(l.Size), func(rows *sql.Rows, i *Item) error {
		return rows.Scan(&i.Hashtag, &i.Subcategory)
	}, itemsQuery, l.TeamID, l.ID)
	if err != nil {
		return nil, fmt.Errorf("reading the hashtags of a list: %w", err)
	}
	return items, nil
}

// positionsJSON returns hashtags with consecutive positions as a JSON object for json_each, which passes any number of
// rows in one parameter.
func positionsJSON(tags []string, lastPosition int64) (string, error) {
	positions := make(map[string]int64, len(tags))
	for n, tag := range tags {
		positions[tag] = lastPosition + 1 + int64(n)
	}
	raw, err := json.Marshal(positions)
	if err != nil {
		return "", fmt.Errorf("encoding hashtags: %w", err)
	}
	return string(raw), nil
}

const presentQuery = `SELECT hashtag FROM hashtag_list_items WHERE list_id = ? AND hashtag IN (SELECT key
	FROM json_each(?))`

// findPresent returns the hashtags that are already in the list.
func findPresent(ctx context.Context, q db.Querier, list int64, tags []string) (map[string]bool, error) {
	out := map[string]bool{}
	if len(tags) == 0 {
		return out, nil
	}
	rows, err := positionsJSON(tags, 0)
	if err != nil {
		return nil, err
	}
	present, err := db.All(ctx, q, func(rows *sql.Rows, tag *string) error { return rows.Scan(tag) }, presentQuery, list,
		rows)
	if err != nil {
		return nil, fmt.Errorf("finding hashtags in a list: %w", err)
	}
	for _, tag := range present {
		out[tag] = true
	}
	return out, nil
}

// append adds new hashtags to the end of a locked list.
func (l *List) append(ctx context.Context, tx *db.Tx, tags []string, subcategory string) error {
	rows, err := positionsJSON(tags, l.lastPosition)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO hashtag_list_items (list_id, position, hashtag, subcategory)
		SELECT CAST(? AS BIGINT), CAST(CAST(value AS TEXT) AS BIGINT), key, CAST(? AS TEXT) FROM json_each(?)`, l.ID,
		subcategory, rows)
	if err != nil {
		return fmt.Errorf("adding hashtags to a list: %w", err)
	}
	l.lastPosition += int64(len(tags))
	l.Size += int64(len(tags))
	return l.saveSize(ctx, tx)
}

// saveSize stores the size of a list after its hashtags change, and increments the revision.
func (l *List) saveSize(ctx context.Context, tx *db.Tx) error {
	if _, err := tx.Exec(ctx, `UPDATE hashtag_lists SET size = ?, last_position = ?, revision = revision + 1
		WHERE team_id = ? AND id = ?`, l.Size, l.lastPosition, l.TeamID, l.ID); err != nil {
		return fmt.Errorf("counting the hashtags of a list: %w", err)
	}
	return nil
}

const inAnyListQuery = `SELECT COUNT(*) FROM (SELECT 1 FROM hashtag_list_items i
	JOIN hashtag_lists l ON l.id = i.list_id WHERE i.hashtag = ? AND l.platform IN (?, '') LIMIT 1) held`

// InAnyList reports whether any team's list for the platform or for all platforms contains a hashtag.
func (*Service) InAnyList(ctx context.Context, q db.Querier, platform, hashtag string) (bool, error) {
	var n int64
	if err := q.QueryRow(ctx, inAnyListQuery, hashtag, platform).Scan(&n); err != nil {
		return false, fmt.Errorf("finding lists with a hashtag: %w", err)
	}
	return n > 0, nil
}

// FindTeam returns the team that owns a list, or not_found if none of the given teams does.
func (s *Service) FindTeam(ctx context.Context, id int64, teams []int64) (int64, error) {
	owner, err := db.OwningTeam(ctx, s.db, `hashtag_lists WHERE id = ?`, id, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	return owner, err
}
