package linkedin

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/sandbox/store"
)

// asset is an image or a video.
type asset struct {
	id, owner   string // as URNs
	isVideo     bool
	blob        store.Blob // has no CID before the upload is complete
	completedAt time.Time
}

// part is the data for one upload URL: a whole image, or a range of a video's bytes.
type part struct {
	secret, asset string
	offset, size  int64  // in bytes; the size of an image is not known in advance, and is 0
	cid           string // empty until the part is uploaded
}

// status returns the asset's status. processing is the duration of processing after the upload.
func (a asset) status(now time.Time, processing time.Duration) string {
	switch {
	case a.blob.CID == "":
		return "WAITING_UPLOAD"
	case now.Sub(a.completedAt) < processing:
		return "PROCESSING"
	case a.blob.MIME == "": // the file is not supported
		return "PROCESSING_FAILED"
	}
	return "AVAILABLE"
}

func insertAsset(ctx context.Context, t store.Tx, a asset, parts []part) error {
	_, err := t.ExecContext(ctx, `insert into linkedin_assets (id, owner, video) values (?, ?, ?)`, a.id, a.owner,
		a.isVideo)
	if err != nil {
		return fmt.Errorf("saving an asset: %w", err)
	}
	for _, p := range parts {
		_, err := t.ExecContext(ctx, `insert into linkedin_parts (secret, asset, first, size) values (?, ?, ?, ?)`,
			p.secret, a.id, p.offset, p.size)
		if err != nil {
			return fmt.Errorf("saving a part: %w", err)
		}
	}
	return nil
}

// findAsset returns the asset with the given URN, and reports whether it exists.
func findAsset(ctx context.Context, t store.Tx, id string) (asset, bool, error) {
	a := asset{id: id}
	var completedAt int64
	err := t.QueryRowContext(ctx, `select owner, video, cid, type, whole_at from linkedin_assets where id = ?`, id).
		Scan(&a.owner, &a.isVideo, &a.blob.CID, &a.blob.MIME, &completedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return asset{}, false, nil
	}
	if err != nil {
		return asset{}, false, fmt.Errorf("finding an asset: %w", err)
	}
	a.completedAt = time.UnixMilli(completedAt)
	return a, true, nil
}

// completeAsset records that an upload is complete.
func completeAsset(ctx context.Context, t store.Tx, a asset) error {
	_, err := t.ExecContext(ctx, `update linkedin_assets set cid = ?, type = ?, whole_at = ? where id = ?`, a.blob.CID,
		a.blob.MIME, a.completedAt.UnixMilli(), a.id)
	if err != nil {
		return fmt.Errorf("recording an upload: %w", err)
	}
	return t.SaveBlob(ctx, Name, a.owner, a.blob)
}

// findPart returns the part whose upload URL contains secret, and reports whether it exists.
func findPart(ctx context.Context, t store.Tx, secret string) (part, bool, error) {
	p := part{secret: secret}
	err := t.QueryRowContext(ctx, `select asset, first, size, cid from linkedin_parts where secret = ?`, secret).
		Scan(&p.asset, &p.offset, &p.size, &p.cid)
	if errors.Is(err, sql.ErrNoRows) {
		return part{}, false, nil
	}
	if err != nil {
		return part{}, false, fmt.Errorf("finding a part: %w", err)
	}
	return p, true, nil
}

// updatePart records the CID of the data that was uploaded for a part.
func updatePart(ctx context.Context, t store.Tx, p part) error {
	return t.Run(ctx, "recording a part", `update linkedin_parts set cid = ? where secret = ?`, p.cid, p.secret)
}

// listParts returns an asset's parts in order.
func listParts(ctx context.Context, t store.Tx, asset string) ([]part, error) {
	rows, err := t.QueryContext(ctx,
		`select secret, first, size, cid from linkedin_parts where asset = ? order by first`, asset)
	if err != nil {
		return nil, fmt.Errorf("reading parts: %w", err)
	}
	defer rows.Close()
	var parts []part
	for rows.Next() {
		p := part{asset: asset}
		if err := rows.Scan(&p.secret, &p.offset, &p.size, &p.cid); err != nil {
			return nil, fmt.Errorf("reading a part: %w", err)
		}
		parts = append(parts, p)
	}
	return parts, rows.Err()
}
