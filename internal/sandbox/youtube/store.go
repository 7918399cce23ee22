package youtube

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// upload is an upload session.
type upload struct {
	id        string // part of the session's URL
	account   string
	metadata  []byte // metadata of the video
	mime      string // declared type
	total     int64  // declared size in bytes
	startedAt time.Time
	video     string // ID of the published video; empty before publication
	received  int64  // number of received bytes
}

func insertUpload(ctx context.Context, t store.Tx, u upload) error {
	return t.Run(ctx, "saving an upload",
		`insert into youtube_uploads (id, platform, account, body, type, total, begun_at) values (?, ?, ?, ?, ?, ?, ?)`,
		u.id, Name, u.account, u.metadata, u.mime, u.total, u.startedAt.UnixMilli())
}

// findUpload returns the account's upload session with the given ID, and reports whether it exists.
func findUpload(ctx context.Context, t store.Tx, account, id string) (upload, bool, error) {
	u := upload{id: id, account: account}
	var startedAt int64
	err := t.QueryRowContext(ctx,
		`select body, type, total, begun_at, video,
			coalesce((select sum(size) from youtube_parts p where p.upload = u.id), 0)
		from youtube_uploads u where id = ? and account = ?`, id, account).
		Scan(&u.metadata, &u.mime, &u.total, &startedAt, &u.video, &u.received)
	if errors.Is(err, sql.ErrNoRows) {
		return upload{}, false, nil
	}
	if err != nil {
		return upload{}, false, fmt.Errorf("finding an upload: %w", err)
	}
	u.startedAt = time.UnixMilli(startedAt)
	return u, true, nil
}

// insertPart records a part of a file.
func insertPart(ctx context.Context, t store.Tx, upload string, start int64, file store.Blob) error {
	return t.Run(ctx, "saving a part",
		`insert into youtube_parts (upload, start, size, cid) values (?, ?, ?, ?)`, upload,
		start, file.Size, file.CID)
}

// listParts returns the CIDs of an upload's parts in order.
func listParts(ctx context.Context, t store.Tx, upload string) ([]string, error) {
	return t.Strings(ctx, "reading parts", `select cid from youtube_parts where upload = ? order by start`, upload)
}

// completeUpload records the ID of the video that was published from an upload.
func completeUpload(ctx context.Context, t store.Tx, upload, video string) error {
	return t.Run(ctx, "completing an upload", `update youtube_uploads set video = ? where id = ?`, video, upload)
}

// extendToken sets the expiry of a refresh token.
func extendToken(ctx context.Context, t store.Tx, hash []byte, expires time.Time) error {
	return t.Run(ctx, "extending a token", `update oauth_tokens set expires_at = ? where platform = ? and hash = ?`,
		expires.UnixMilli(), Name, hash)
}
