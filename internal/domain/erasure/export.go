package erasure

import (
	"archive/zip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
	"unicode"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/db"
)

// exportFile is a file of the export with one JSON object per line. The export reads the keys of a team's items one
// page at a time, and then the rows with these keys.
type exportFile struct {
	name, keyColumn string // keyColumn is TABLE or TABLE/COLUMN; the default column is id
	pageSize        int    // keys per query; lower if a key has many rows
	rowsQuery       string // query that ends with IN; the keys are appended to it; it may contain "team_id = ?"
}

const defaultPageSize = 200 // keys per query

// exportFiles lists the files of an export. The name of a column determines how its values are written: names that end
// with _at or _until are times, names that end with _json are JSON, and names that begin with is_ are booleans. The
// files contain no secrets: no grants, and no hashes of keys or links.
var exportFiles = []exportFile{
	{"team.jsonl", `teams/id`, defaultPageSize, `SELECT id, name, timezone, content_language, plan, plan_until, created_at
		FROM teams WHERE id IN`},
	{"members.jsonl", `memberships/person_id`, defaultPageSize, `SELECT m.person_id, m.role, p.name, p.email,
		m.created_at AS joined_at FROM memberships m JOIN people p ON p.id = m.person_id WHERE m.team_id = ? AND m.person_id IN`},
	{"posts.jsonl", `posts`, defaultPageSize, `SELECT id, status, caption, title, first_comment,
		COALESCE(NULLIF(thread, ''), '[]') AS thread_json, COALESCE(NULLIF(options, ''), '{}') AS options_json,
		approval, is_template, series_id, scheduled_at, published_at, created_at, updated_at FROM posts WHERE id IN`},
	{"post_accounts.jsonl", `posts`, defaultPageSize, `SELECT post_id, account_id, state, caption, title, published_at, permalink,
		error_code, warnings, COALESCE(NULLIF(parts, ''), '[]') AS parts_json,
		COALESCE(NULLIF(first_comment, ''), '{}') AS first_comment_json FROM post_targets WHERE post_id IN`},
	{"post_attempts.jsonl", `posts`, defaultPageSize, `SELECT d.post_id, d.account_id, a.call, a.started_at, a.ended_at,
		a.result, a.network_code, a.network_text, a.person_id FROM deliveries d
		JOIN delivery_attempts a ON a.delivery_id = d.id WHERE d.post_id IN`},
	{"post_labels.jsonl", `posts`, defaultPageSize, `SELECT post_id, position, label FROM post_labels WHERE post_id IN`},
	{"post_media.jsonl", `posts`, defaultPageSize, `SELECT post_id, part, position, media_id, cover_ms FROM post_media
		WHERE post_id IN`},
	{"post_account_media.jsonl", `posts`, defaultPageSize, `SELECT post_id, account_id, position, media_id, cover_ms
		FROM post_target_media WHERE post_id IN`},
	{"post_approvals.jsonl", `posts`, defaultPageSize, `SELECT post_id, round, opened_at, decision, client_name, comment,
		decided_at FROM post_approvals WHERE post_id IN`},
	{"approval_requests.jsonl", `approval_requests`, defaultPageSize, `SELECT id, person_id, email, client_name,
		message, schedules AS is_scheduling, created_at, mailed_at, opened_at, expires_at, revoked_at
		FROM approval_requests WHERE id IN`},
	{"approval_request_posts.jsonl", `approval_requests`, defaultPageSize, `SELECT request_id, post_id, round
		FROM approval_request_posts WHERE request_id IN`},
	{"post_comments.jsonl", `posts`, defaultPageSize, `SELECT id, post_id, person_id, client_name, comment, created_at, answered_at
		FROM approval_comments WHERE post_id IN`},
	{"series.jsonl", `post_series`, defaultPageSize, `SELECT id, rule, template_id, timezone, starts_at AS begins, paused_at,
		created_at FROM post_series WHERE id IN`},
	{"accounts.jsonl", `social_accounts`, defaultPageSize, `SELECT id, platform, network_id, username, display_name,
		connection_state, created_at, disconnected_at FROM social_accounts WHERE id IN`},
	{"account_posts.jsonl", `social_accounts`, 1, `SELECT account_id, network_id, posted_at, format, excerpt, url,
		reach, views, likes, comments, shares, saves, clicks, collected_at FROM account_posts WHERE account_id IN`},
	{"account_days.jsonl", `social_accounts`, 1, `SELECT account_id, day, followers, measured_at FROM account_days
		WHERE account_id IN`},
	{"media.jsonl", `media`, defaultPageSize, `SELECT id, name, file_name, type, size_bytes, width, height, alt, folder_id,
		created_at, deleted_at, deleted_by FROM media WHERE id IN`},
	{"media_folders.jsonl", `media_folders`, defaultPageSize, `SELECT id, name, created_at FROM media_folders WHERE id IN`},
	{"reports.jsonl", `reports`, 5, `SELECT id, kind, platform, subject, status, account AS account_json,
		analysis AS analysis_json, measured_at, tracked AS is_tracked, frequency_days, next_refresh_at, created_at FROM reports
		WHERE id IN`},
	{"report_posts.jsonl", `reports`, 5, `SELECT report_id, shown, post, taken_at, format, caption, url, likes,
		comments, shares, views FROM report_posts WHERE report_id IN`},
	{"report_links.jsonl", `report_links`, defaultPageSize, `SELECT id, report_id, name, created_by, created_at, expires_at,
		opened_at FROM report_links WHERE id IN`},
	{"report_subscriptions.jsonl", `report_subscriptions/report_id`, defaultPageSize, `SELECT report_id, period, day, hour, next_at,
		created_by, created_at FROM report_subscriptions WHERE report_id IN`},
	{"report_recipients.jsonl", `report_recipients`, defaultPageSize, `SELECT id, report_id, person_id, email, added_by, created_at,
		unsubscribed_at FROM report_recipients WHERE id IN`},
	{"hashtag_lists.jsonl", `hashtag_lists`, defaultPageSize, `SELECT id, name, platform, color, icon, created_at
		FROM hashtag_lists WHERE id IN`},
	{"hashtag_list_items.jsonl", `hashtag_lists`, 10, `SELECT list_id, position, hashtag, subcategory
		FROM hashtag_list_items WHERE list_id IN`},
	{"voices.jsonl", `brand_voices`, defaultPageSize, `SELECT id, name, is_default, guide AS guide_json, created_at, updated_at
		FROM brand_voices WHERE id IN`},
	{"voice_materials.jsonl", `brand_voices`, 10, `SELECT voice_id, kind, post_id, content, created_at
		FROM voice_materials WHERE voice_id IN`},
	{"keys.jsonl", `api_keys`, defaultPageSize, `SELECT id, kind, person_id, name, level, capabilities, client_host,
		daily_credits, created_at, expires_at, revoked_at FROM api_keys WHERE id IN`},
	{"credits.jsonl", `ledger_transfers`, defaultPageSize, `SELECT id, kind, reservation_id, reference, note, balance,
		created_at FROM ledger_transfers WHERE id IN`},
	{"credit_entries.jsonl", `ledger_transfers`, defaultPageSize, `SELECT transfer_id, account, amount FROM ledger_entries
		WHERE transfer_id IN`},
	{"credit_reservations.jsonl", `reservations`, defaultPageSize, `SELECT id, person_id, key_id, operation, state, amount,
		charged, created_at, ended_at FROM reservations WHERE id IN`},
	{"credit_subjects.jsonl", `paid_subjects/reservation_id`, defaultPageSize, `SELECT reservation_id, kind, report_id,
		platform, subject FROM paid_subjects WHERE reservation_id IN`},
	{"events.jsonl", `events`, defaultPageSize, `SELECT id, at AS happened_at, person_id, key_id, kind, subject,
		detail AS detail_json FROM events WHERE id IN`},
}

// Export writes a team's data as a ZIP archive. The archive has a JSON Lines file for each kind of data, and the files
// of the media library. Export streams the archive and calls keepAlive regularly, so that the caller can extend
// deadlines.
func (s *Service) Export(ctx context.Context, team int64, dst io.Writer, keepAlive func()) error {
	out := zip.NewWriter(dst)
	for _, f := range exportFiles {
		w, err := out.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: s.DB.Now()})
		if err != nil {
			return fmt.Errorf("starting %s of an export: %w", f.name, err)
		}
		if err := s.writeRows(ctx, team, f, w, keepAlive); err != nil {
			return fmt.Errorf("writing %s of an export: %w", f.name, err)
		}
	}
	if err := s.exportPictures(ctx, team, out, keepAlive); err != nil {
		return err
	}
	missingIDs, err := s.exportMedia(ctx, team, out, keepAlive)
	if err == nil && len(missingIDs) > 0 {
		err = writeMissing(out, missingIDs, s.DB.Now())
	}
	if err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("finishing an export: %w", err)
	}
	return nil
}

// eachKeyPage calls visit with the keys of a team's items, one page at a time.
func (s *Service) eachKeyPage(ctx context.Context, team int64, f exportFile, visit func(keys []any) error) error {
	table, key, hasKey := strings.Cut(f.keyColumn, "/")
	if !hasKey {
		key = "id"
	}
	teamColumn := `team_id`
	if table == `teams` {
		teamColumn = `id`
	}
	firstPageQuery, nextPageQuery := `SELECT `+key+` FROM `+table+` WHERE `+teamColumn+` = ? ORDER BY `+key+` LIMIT ?`,
		`SELECT `+key+` FROM `+table+` WHERE `+teamColumn+` = ? AND `+key+` > ? ORDER BY `+key+` LIMIT ?`
	query, args := firstPageQuery, []any{team, f.pageSize}
	for {
		keys, err := s.queryColumn(ctx, query, args...)
		if err != nil || len(keys) == 0 {
			return err
		}
		if err := visit(keys); err != nil {
			return err
		}
		if len(keys) < f.pageSize {
			return nil
		}
		query, args = nextPageQuery, []any{team, keys[len(keys)-1], f.pageSize}
	}
}

func (s *Service) queryColumn(ctx context.Context, query string, args ...any) ([]any, error) {
	rows, err := s.DB.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []any
	for rows.Next() {
		var key any
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		out = append(out, key)
	}
	return out, rows.Err()
}

func (s *Service) writeRows(ctx context.Context, team int64, f exportFile, w io.Writer, keepAlive func()) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	return s.eachKeyPage(ctx, team, f, func(keys []any) error {
		keepAlive()
		args := keys
		if strings.Contains(f.rowsQuery, `team_id = ?`) {
			args = append([]any{team}, keys...)
		}
		rows, err := s.DB.Query(ctx, f.rowsQuery+` (`+db.Placeholders(len(keys))+`)`, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		names, err := rows.Columns()
		if err != nil {
			return fmt.Errorf("reading a row: %w", err)
		}
		for rows.Next() {
			values, pointers := make([]any, len(names)), make([]any, len(names))
			for i := range values {
				pointers[i] = &values[i]
			}
			if err := rows.Scan(pointers...); err != nil {
				return err
			}
			if err := lines.Encode(rowObject(names, values)); err != nil {
				return fmt.Errorf("writing a line: %w", err)
			}
		}
		return rows.Err()
	})
}

// rowObject returns a row as a JSON object.
func rowObject(names []string, values []any) map[string]any {
	out := map[string]any{}
	for i, name := range names {
		value := values[i]
		if raw, ok := value.([]byte); ok {
			value = string(raw)
		}
		number, isNumber := value.(int64)
		text, _ := value.(string)
		switch {
		case isNumber && (strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "_until")):
			out[name] = nil
			if number > 0 {
				out[name] = db.Time(number).Format(time.RFC3339Nano)
			}
		case strings.HasSuffix(name, "_json") && json.Valid([]byte(text)):
			out[strings.TrimSuffix(name, "_json")] = json.RawMessage(text)
		case isNumber && strings.HasPrefix(name, "is_"):
			out[name] = number > 0
		default:
			out[name] = value
		}
	}
	return out
}

// exportMedia writes each file of the media library as media/ID-NAME. It returns the IDs of the items whose files are
// missing, because they were deleted during the export or lost in the store.
func (s *Service) exportMedia(ctx context.Context, team int64, out *zip.Writer, keepAlive func()) ([]int64, error) {
	var missingIDs []int64
	err := s.eachKeyPage(ctx, team, exportFile{keyColumn: "media", pageSize: defaultPageSize}, func(keys []any) error {
		for _, key := range keys {
			id, _ := key.(int64)
			var name string
			var createdAt, deletedAt int64
			if err := s.DB.QueryRow(ctx,
				`SELECT file_name, created_at, deleted_at FROM media WHERE id = ? AND team_id = ?`, id,
				team).Scan(&name, &createdAt, &deletedAt); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("reading the name of media %d: %w", id, err)
			}
			if name == "" || deletedAt > 0 {
				continue // The item was deleted.
			}
			err := s.exportMediaFile(ctx, team, id,
				zip.FileHeader{Name: fmt.Sprintf("media/%d-%s", id, safeFileName(name)), Modified: db.Time(createdAt)}, out,
				keepAlive)
			if apierr.Is(err, apierr.NotFound) {
				missingIDs = append(missingIDs, id)
			} else if err != nil {
				return fmt.Errorf("writing media %d of an export: %w", id, err)
			}
		}
		return nil
	})
	return missingIDs, err
}

// exportMediaFile writes a media file without compression, because media files are already compressed.
func (s *Service) exportMediaFile(
	ctx context.Context, team, id int64, entry zip.FileHeader, out *zip.Writer, keepAlive func(),
) error {
	in, err := s.Open(ctx, team, id)
	if err != nil {
		return err
	}
	defer in.Close()
	entry.Method = zip.Store
	w, err := out.CreateHeader(&entry)
	if err != nil {
		return fmt.Errorf("starting a file: %w", err)
	}
	if _, err = io.Copy(w, keepAliveReader{in, keepAlive}); err != nil {
		return fmt.Errorf("copying a file: %w", err)
	}
	return nil
}

// writeMissing writes the list of files that are missing from the export.
func writeMissing(out *zip.Writer, ids []int64, modifiedAt time.Time) error {
	w, err := out.CreateHeader(&zip.FileHeader{Name: "media_missing.jsonl", Method: zip.Deflate, Modified: modifiedAt})
	if err != nil {
		return fmt.Errorf("starting the list of missing files of an export: %w", err)
	}
	lines := json.NewEncoder(w)
	for _, id := range ids {
		if err := lines.Encode(map[string]int64{"id": id}); err != nil {
			return fmt.Errorf("writing the list of missing files of an export: %w", err)
		}
	}
	return nil
}

// keepAliveReader calls keepAlive on every read.
type keepAliveReader struct {
	io.Reader
	keepAlive func()
}

func (r keepAliveReader) Read(p []byte) (int, error) {
	r.keepAlive()
	return r.Reader.Read(p) //nolint:wrapcheck // callers compare with io.EOF
}

// safeFileName returns a file name without folders and with only characters that all operating systems allow.
func safeFileName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	return strings.Map(func(c rune) rune {
		if unicode.IsControl(c) || strings.ContainsRune(`<>:"/\|?*`, c) {
			return '_'
		}
		return c
	}, name)
}
