package media

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/domain/media/filename"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// MediaItem is the API representation of a media item.
type MediaItem struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	FileName string `json:"file_name"`

	Type string `json:"type" enum:"image/jpeg|image/png|image/webp|image/gif|video/mp4|video/quicktime" title:"MediaType"`
	Kind string `json:"kind" enum:"image|video" title:"MediaKind"`

	SizeBytes       int64           `json:"size_bytes"`
	Width           int             `json:"width" jsonschema:"Pixels, as displayed."`
	Height          int             `json:"height" jsonschema:"Pixels, as displayed."`
	DurationSeconds float64         `json:"duration_seconds,omitempty" jsonschema:"Length of a video."`
	FrameRate       float64         `json:"frame_rate,omitempty" jsonschema:"Frames per second of a video."`
	VideoCodec      string          `json:"video_codec,omitempty"`
	AudioCodec      string          `json:"audio_codec,omitempty"`
	AltText         string          `json:"alt_text,omitempty"`
	Folder          *MediaFolder    `json:"folder,omitempty"`
	CreatedAt       teamtime.Moment `json:"created_at"`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (MediaItem) Descriptions() map[string]string {
	return map[string]string{
		"type":     "MIME type, determined from the bytes.",
		"alt_text": "Alternative text of an image. It is sent to networks that support it.",
	}
}

// MediaFolder is a folder of the library.
type MediaFolder struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// MediaListStorage is a library's storage usage.
type MediaListStorage struct {
	UsedBytes  int64 `json:"used_bytes"`
	LimitBytes int64 `json:"limit_bytes" min:"-1" jsonschema:"Limit of the plan; -1 means unlimited."`
}

// MediaList is a page of the library.
type MediaList struct {
	Media   []MediaItem      `json:"media"`
	Storage MediaListStorage `json:"storage"`
	Folders []MediaFolder    `json:"folders" jsonschema:"All folders of the library."`
}

// ListInput filters and pages the list.
type ListInput struct {
	FolderID *int64  `json:"folder_id,omitempty" jsonschema:"Only items in this folder; 0 for items without a folder."`
	Kind     string  `json:"kind,omitempty" enum:"image|video" title:"MediaKind" jsonschema:"Only items of this kind."`
	Query    string  `json:"query,omitempty" maxLength:"200"`
	Cursor   *string `json:"cursor,omitempty" maxLength:"1000" jsonschema:"page.cursor of the previous page."`
	Limit    int     `json:"limit,omitempty" min:"1" max:"50" default:"20" jsonschema:"Items per page."`
}

// Descriptions returns descriptions of the fields for the JSON schema.
func (ListInput) Descriptions() map[string]string {
	return map[string]string{"query": "Only items whose name or file name contains this text, ignoring case."}
}

func newMediaItem(call operation.Call, i Item) MediaItem {
	item := MediaItem{ID: i.ID, Name: i.Name, FileName: i.FileName, Type: i.Type, Kind: i.Kind, SizeBytes: i.Size,
		Width: i.Width, Height: i.Height,
		DurationSeconds: i.Duration.Seconds(), FrameRate: i.Detail.FrameRate, VideoCodec: i.Detail.VideoCodec,
		AudioCodec: i.Detail.AudioCodec,
		AltText:    i.Alt, CreatedAt: call.Moment(i.CreatedAt)}
	if i.FolderID != 0 {
		item.Folder = &MediaFolder{i.FolderID, i.FolderName}
	}
	return item
}

// list returns a page of the library, newest first.
func (s *Service) list(ctx context.Context, call operation.Call, in ListInput) (operation.Response[MediaList], error) {
	out := operation.Response[MediaList]{App: "/media"}
	where, args, err := s.filters(ctx, call, in)
	if err != nil {
		return out, err
	}
	page, err := db.AllSized(ctx, s.db, in.Limit+1, scanItems, pageQuery(where, in.Limit, in.Query != ""), args...)
	if err != nil {
		return out, fmt.Errorf("listing media: %w", err)
	}
	if len(page) > in.Limit {
		page = page[:in.Limit]
		out.Page = &operation.Page{HasMore: true, Cursor: call.Cursor(formatID(page[in.Limit-1].ID))}
	}
	out.Data.Media = make([]MediaItem, len(page))
	for n, i := range page {
		out.Data.Media[n] = newMediaItem(call, i)
	}
	out.Summary = fmt.Sprintf("%d items on this page.", len(page))
	if out.Data.Folders, err = folders(ctx, s.db, call.TeamID); err != nil {
		return out, err
	}
	out.Data.Storage, err = s.storage(ctx, call)
	return out, err
}

// pageQuery returns the query for a page of items that match a condition. A search by name uses a covering index, so
// that only the rows of the page are read.
func pageQuery(where string, limit int, byName bool) string {
	if !byName {
		return `SELECT ` + columns + ` FROM media m WHERE ` + where + ` ORDER BY m.id DESC` + db.LimitClause(limit)
	}
	return `SELECT ` + columns + ` FROM media m WHERE m.id IN (SELECT m.id FROM media m WHERE ` + where +
		` ORDER BY m.id DESC` + db.LimitClause(limit) + `) ORDER BY m.id DESC`
}

// filters returns the SQL condition for a page and its arguments. For every combination of filters, the condition can
// use an index that begins with the team.
func (s *Service) filters(ctx context.Context, call operation.Call, in ListInput) (string, []any, error) {
	where, args := []string{"m.team_id = " + db.TeamPlaceholder, "m.deleted_at = 0"}, []any{call.TeamID}
	add := func(condition string, arg any) { where, args = append(where, condition), append(args, arg) }
	if in.FolderID != nil {
		if err := requireFolder(ctx, s.db, call.TeamID, *in.FolderID); err != nil {
			return "", nil, err
		}
		add("m.folder_id = ?", *in.FolderID)
	}
	if in.Kind != "" {
		add("m.kind = ?", in.Kind)
	}
	if in.Query != "" {
		add(`m.search LIKE ? ESCAPE '\'`, "%"+likeEscaper.Replace(filename.Fold(in.Query))+"%")
	}
	if in.Cursor != nil {
		position, err := call.Position(*in.Cursor)
		if err != nil {
			return "", nil, err
		}
		before, err := strconv.ParseInt(position, 10, 64)
		if err != nil {
			return "", nil, fmt.Errorf("reading the position in a cursor: %w", err)
		}
		add("m.id < ?", before)
	}
	return strings.Join(where, " AND "), args, nil
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

func folders(ctx context.Context, q db.Querier, team int64) ([]MediaFolder, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, f *MediaFolder) error { return rows.Scan(&f.ID, &f.Name) },
		`SELECT id, name FROM media_folders WHERE team_id = ? ORDER BY name, id`, team)
	if err != nil {
		return nil, fmt.Errorf("listing folders: %w", err)
	}
	return append([]MediaFolder{}, out...), nil
}

func (s *Service) storage(ctx context.Context, call operation.Call) (MediaListStorage, error) {
	plan, _ := s.Catalog.Plan(call.Plan)
	out := MediaListStorage{LimitBytes: plan.StorageBytes}
	err := s.db.QueryRow(ctx, `SELECT used_bytes FROM storage WHERE team_id = ?`, call.TeamID).Scan(&out.UsedBytes)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return out, fmt.Errorf("reading a team's storage: %w", err)
	}
	return out, nil
}

// EnsureFolder returns the folder with this name, creating it if needed.
func (s *Service) EnsureFolder(ctx context.Context, team int64, name string) (MediaFolder, error) {
	f := MediaFolder{Name: filename.Stem(name + ".x")} // .x keeps Stem from cutting an extension
	if f.Name == "" {
		return f, apierr.Invalid(apierr.TooShort, "name", "A folder needs a name.")
	}
	err := s.db.InTx(ctx, "media.folder", func(ctx context.Context, tx *db.Tx) error {
		var err error
		f.ID, err = ensureFolder(ctx, tx, team, f.Name)
		return err
	})
	return f, err
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }
