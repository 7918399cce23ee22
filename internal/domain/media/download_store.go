package media

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/platform/db"
)

func insertDownload(ctx context.Context, tx *db.Tx, d download) error {
	saveFlag := 0
	if d.saveToLibrary {
		saveFlag = 1
	}
	_, err := tx.Exec(ctx,
		`INSERT INTO media_downloads (job_id, team_id, person_id, key_id, platform, type, username, at_cursor,
		to_fetch, save) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.job, d.team, d.person, d.key, d.platform, d.kind, d.username, d.cursor, d.limit, saveFlag)
	if err != nil {
		return fmt.Errorf("writing a download: %w", err)
	}
	return nil
}

func readDownload(ctx context.Context, q db.Querier, id string) (download, error) {
	d := download{job: id}
	var saveFlag, fetchedFlag int64
	err := q.QueryRow(ctx,
		`SELECT team_id, person_id, key_id, platform, type, username, at_cursor, to_fetch, save, fetched, next_cursor
		FROM media_downloads WHERE job_id = ?`, id).
		Scan(&d.team, &d.person, &d.key, &d.platform, &d.kind, &d.username, &d.cursor, &d.limit, &saveFlag, &fetchedFlag,
			&d.nextCursor)
	d.saveToLibrary, d.isFetched = saveFlag != 0, fetchedFlag != 0
	if err != nil {
		return d, fmt.Errorf("reading download %s: %w", id, err)
	}
	return d, nil
}

// profileItem is a stored row of an item that a download found.
type profileItem struct {
	position      int
	item, kind    string
	url           string
	takenAt       time.Time
	caption       string
	width, height int
	duration      time.Duration
	media         int64
	isDone        bool
	reason        string
}

func profileItems(ctx context.Context, q db.Querier, id string, from, limit int) ([]profileItem, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, i *profileItem) error {
		var takenAt, duration, doneFlag int64
		err := rows.Scan(&i.position, &i.item, &i.kind, &i.url, &takenAt, &i.caption, &i.width, &i.height, &duration,
			&i.media, &doneFlag, &i.reason)
		i.takenAt, i.duration, i.isDone = db.Time(takenAt), time.Duration(duration)*time.Microsecond, doneFlag != 0
		return err
	}, `SELECT position, item, kind, address, taken_at, caption, width, height, duration, media_id, done, reason
		FROM media_download_items
		WHERE job_id = ? AND position >= ? ORDER BY position LIMIT ?`, id, from, limit)
	if err != nil {
		return nil, fmt.Errorf("reading the items of download %s: %w", id, err)
	}
	return out, nil
}
