// Package gallery lists a team's media library for the app: items, filtered and sorted, and folders with preview
// images.
package gallery

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/db"
)

// Order is the order of a list.
type Order string

// The orders of a list.
const (
	Newest Order = ""
	Oldest Order = "oldest"
	ByName Order = "name"
)

// Filter selects items.
type Filter struct {
	Folder         *int64 // nil for all; 0 for items without a folder
	Kind           string // image or video; empty for both
	Text           string // a part of the name, the file name or the alternative text, ignoring case
	WithoutAltText bool   // only images without alternative text
	Unused         bool   // only items that no post uses
	Order          Order
}

// Item is an image or a video in the library.
type Item struct {
	ID        int64
	Name      string
	FileName  string
	Type      string // MIME
	Kind      string // image or video
	Alt       string
	Size      int64 // bytes
	Width     int   // pixels
	Height    int   // pixels
	Duration  time.Duration
	Thumbnail bool

	search string // the folded name, used to sort lists
}

// LacksAltText reports whether the item is an image without alternative text.
func (i Item) LacksAltText() bool { return i.Kind == "image" && i.Alt == "" }

const columns = `m.id, m.name, m.file_name, m.type, m.kind, m.alt, m.size_bytes, m.width, m.height, m.duration,
	m.thumbnail <> '', m.search`

func scanItem(rows *sql.Rows, i *Item) error {
	var duration int64
	err := rows.Scan(&i.ID, &i.Name, &i.FileName, &i.Type, &i.Kind, &i.Alt, &i.Size, &i.Width, &i.Height, &duration,
		&i.Thumbnail, &i.search)
	i.Duration = time.Duration(duration) * time.Microsecond
	return err
}

// List returns a page of a team's items, and the cursor of the next page, or "" if there is none.
func List(ctx context.Context, q db.Querier, team int64, f Filter, cursor string, limit int) ([]Item, string, error) {
	text, args, err := listQuery(team, f, cursor, limit)
	if err != nil {
		return nil, "", err
	}
	page, err := db.AllSized(ctx, q, limit+1, scanItem, text, args...)
	if err != nil {
		return nil, "", fmt.Errorf("listing the media of team %d: %w", team, err)
	}
	if len(page) <= limit {
		return page, "", nil
	}
	page = page[:limit]
	last := page[limit-1]
	next := strconv.FormatInt(last.ID, 10)
	if f.Order == ByName {
		next += "." + last.search
	}
	return page, next, nil
}

// Count returns how many of a team's items match a filter.
func Count(ctx context.Context, q db.Querier, team int64, f Filter) (int, error) {
	where, args := f.where(team)
	var n int
	err := q.QueryRow(ctx, `SELECT COUNT(*) FROM media m WHERE `+where, args...).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("counting the media of team %d: %w", team, err)
	}
	return n, nil
}

func listQuery(team int64, f Filter, cursor string, limit int) (string, []any, error) {
	where, args := f.where(team)
	order := map[Order]string{Newest: "m.id DESC", Oldest: "m.id", ByName: "m.search, m.id"}[f.Order]
	if cursor != "" {
		idText, search, _ := strings.Cut(cursor, ".")
		id, err := strconv.ParseInt(idText, 10, 64)
		switch {
		case err != nil:
			return "", nil, apierr.Invalid(apierr.InvalidCursor, "cursor",
				"This page of the library does not exist. Start at the first page.")
		case f.Order == ByName:
			where, args = where+" AND (m.search, m.id) > (?, ?)", append(args, search, id)
		case f.Order == Oldest:
			where, args = where+" AND m.id > ?", append(args, id)
		default:
			where, args = where+" AND m.id < ?", append(args, id)
		}
	}
	return `SELECT ` + columns + ` FROM media m WHERE ` + where + ` ORDER BY ` + order + db.LimitClause(limit), args, nil
}

func (f Filter) where(team int64) (string, []any) {
	where, args := []string{"m.team_id = " + db.TeamPlaceholder, "m.deleted_at = 0"}, []any{team}
	add := func(condition string, values ...any) { where, args = append(where, condition), append(args, values...) }
	if f.Folder != nil {
		add("m.folder_id = ?", *f.Folder)
	}
	if f.Kind != "" {
		add("m.kind = ?", f.Kind)
	}
	if f.WithoutAltText {
		add("m.kind = 'image'")
		add("m.alt = ''")
	}
	if f.Unused {
		// With NOT EXISTS, PostgreSQL would join the media of all posts, and sort them.
		add("(SELECT u.media_id FROM post_media u WHERE u.media_id = m.id LIMIT 1) IS NULL")
		add("(SELECT u.media_id FROM post_target_media u WHERE u.media_id = m.id LIMIT 1) IS NULL")
	}
	if f.Text != "" {
		add(`(m.search LIKE ? ESCAPE '\' OR m.alt LIKE ? ESCAPE '\' OR LOWER(m.alt) LIKE ? ESCAPE '\')`,
			likePattern(filename.Fold(f.Text)), likePattern(f.Text), likePattern(strings.ToLower(f.Text)))
	}
	return strings.Join(where, " AND "), args
}

// likePattern returns a LIKE pattern that matches a part of a text.
func likePattern(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// Items returns the team's items with these IDs, in the order of ids. It omits unknown and deleted items.
func Items(ctx context.Context, q db.Querier, team int64, ids []int64) ([]Item, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	items, err := db.AllSized(ctx, q, len(ids), scanItem, `SELECT `+columns+` FROM media m
		WHERE m.team_id = ? AND m.deleted_at = 0 AND m.id IN (`+db.Placeholders(len(ids))+`)`, db.Args(team, ids)...)
	if err != nil {
		return nil, fmt.Errorf("reading media of team %d: %w", team, err)
	}
	byID := map[int64]Item{}
	for _, i := range items {
		byID[i.ID] = i
	}
	out := make([]Item, 0, len(items))
	for _, id := range ids {
		if i, ok := byID[id]; ok {
			out = append(out, i)
			delete(byID, id)
		}
	}
	return out, nil
}

// Folder is a folder in the library.
type Folder struct {
	ID       int64
	Name     string
	Files    int
	Pictures []int64 // the newest items with a thumbnail, at most four, newest first
}

// previewColumn is the format of a column with the ID of the folder's preview image at an offset. Each ID is read from
// the folder's index.
const previewColumn = `, COALESCE((SELECT m.id FROM media m WHERE m.team_id = f.team_id AND m.folder_id = f.id
	AND m.thumbnail <> '' ORDER BY m.id DESC LIMIT 1 OFFSET %d), 0)`

var foldersQuery = `SELECT f.id, f.name, (SELECT COUNT(*) FROM media m WHERE m.team_id = f.team_id AND m.folder_id = f.id)` +
	fmt.Sprintf(previewColumn, 0) + fmt.Sprintf(previewColumn, 1) + fmt.Sprintf(previewColumn, 2) + fmt.Sprintf(previewColumn, 3) +
	` FROM media_folders f WHERE f.team_id = ? ORDER BY f.name, f.id`

// Folders returns a team's folders by name.
func Folders(ctx context.Context, q db.Querier, team int64) ([]Folder, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, f *Folder) error {
		var pictures [4]int64
		err := rows.Scan(&f.ID, &f.Name, &f.Files, &pictures[0], &pictures[1], &pictures[2], &pictures[3])
		for _, id := range pictures {
			if id != 0 {
				f.Pictures = append(f.Pictures, id)
			}
		}
		return err
	}, foldersQuery, team)
	if err != nil {
		return nil, fmt.Errorf("listing the folders of team %d: %w", team, err)
	}
	return out, nil
}
