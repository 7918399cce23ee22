package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// youtubeUpload is an upload session.
type youtubeUpload struct {
	id      string // part of its address
	account string
	insert  []byte // what is to be said of the video
	mime    string // of the file, as announced
	total   int64  // bytes of the file, as announced
	begun   time.Time
	video   string // which it became
	have    int64  // bytes that it holds
}

func (t tx) youtubeKeepUpload(ctx context.Context, u youtubeUpload) error {
	_, err := t.ExecContext(ctx,
		`insert into youtube_uploads (id, platform, account, body, type, total, begun_at) values (?, ?, ?, ?, ?, ?, ?)`,
		u.id, youtubeName, u.account, u.insert, u.mime, u.total, u.begun.UnixMilli())
	if err != nil {
		return fmt.Errorf("keeping an upload: %w", err)
	}
	return nil
}

// youtubeUpload finds an upload session of the account. It is false where there is none.
func (t tx) youtubeUpload(ctx context.Context, account, id string) (youtubeUpload, bool, error) {
	u := youtubeUpload{id: id, account: account}
	var begun int64
	err := t.QueryRowContext(ctx,
		`select body, type, total, begun_at, video, coalesce((select sum(size) from youtube_parts p where p.upload = u.id), 0)
		from youtube_uploads u where id = ? and account = ?`, id, account).
		Scan(&u.insert, &u.mime, &u.total, &begun, &u.video, &u.have)
	if errors.Is(err, sql.ErrNoRows) {
		return youtubeUpload{}, false, nil
	}
	if err != nil {
		return youtubeUpload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.begun = time.UnixMilli(begun)
	return u, true, nil
}

// youtubeKeepPart keeps a part that was received. Its bytes stand in a file.
func (t tx) youtubeKeepPart(ctx context.Context, upload string, start int64, file blobRef) error {
	_, err := t.ExecContext(ctx, `insert into youtube_parts (upload, start, size, cid) values (?, ?, ?, ?)`, upload,
		start, file.size, file.cid)
	if err != nil {
		return fmt.Errorf("keeping a part: %w", err)
	}
	return nil
}

// youtubeParts are the files of an upload's parts, in their order.
func (t tx) youtubeParts(ctx context.Context, upload string) ([]string, error) {
	rows, err := t.QueryContext(ctx, `select cid from youtube_parts where upload = ? order by start`, upload)
	if err != nil {
		return nil, fmt.Errorf("reading parts: %w", err)
	}
	defer rows.Close()
	var files []string
	for rows.Next() {
		var cid string
		if err := rows.Scan(&cid); err != nil {
			return nil, fmt.Errorf("reading a part: %w", err)
		}
		files = append(files, cid)
	}
	return files, rows.Err()
}

// youtubeComplete notes which video an upload became.
func (t tx) youtubeComplete(ctx context.Context, upload, video string) error {
	if _, err := t.ExecContext(ctx, `update youtube_uploads set video = ? where id = ?`, video, upload); err != nil {
		return fmt.Errorf("completing an upload: %w", err)
	}
	return nil
}

// youtubeExtend lets a refresh token that was used live on.
func (t tx) youtubeExtend(ctx context.Context, hash []byte, until time.Time) error {
	_, err := t.ExecContext(ctx, `update oauth_tokens set expires_at = ? where platform = ? and hash = ?`,
		until.UnixMilli(), youtubeName, hash)
	if err != nil {
		return fmt.Errorf("extending a token: %w", err)
	}
	return nil
}
