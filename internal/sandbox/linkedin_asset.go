package sandbox

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// linkedinAsset is an image or a video.
type linkedinAsset struct {
	id, owner string // URNs
	video     bool
	blob      blobRef   // has a cid when the upload is complete
	wholeAt   time.Time // when it was complete
}

// linkedinPart is what is uploaded to one address: an image, or a range of a video.
type linkedinPart struct {
	secret, asset string
	first, size   int64 // bytes; a size of 0 is unknown
	cid           string
}

// status returns the asset's status. The network processes it for a while.
func (a linkedinAsset) status(now time.Time, work time.Duration) string {
	switch {
	case a.blob.cid == "":
		return "WAITING_UPLOAD"
	case now.Sub(a.wholeAt) < work:
		return "PROCESSING"
	case a.blob.mime == "": // the file is not supported
		return "PROCESSING_FAILED"
	}
	return "AVAILABLE"
}

func insertLinkedinAsset(ctx context.Context, t tx, a linkedinAsset, parts []linkedinPart) error {
	_, err := t.ExecContext(ctx, `insert into linkedin_assets (id, owner, video) values (?, ?, ?)`, a.id, a.owner,
		a.video)
	if err != nil {
		return fmt.Errorf("saving an asset: %w", err)
	}
	for _, p := range parts {
		_, err := t.ExecContext(ctx, `insert into linkedin_parts (secret, asset, first, size) values (?, ?, ?, ?)`,
			p.secret, a.id, p.first, p.size)
		if err != nil {
			return fmt.Errorf("saving a part: %w", err)
		}
	}
	return nil
}

// findLinkedinAsset returns an asset by its URN, and reports whether it exists.
func findLinkedinAsset(ctx context.Context, t tx, id string) (linkedinAsset, bool, error) {
	a := linkedinAsset{id: id}
	var whole int64
	err := t.QueryRowContext(ctx, `select owner, video, cid, type, whole_at from linkedin_assets where id = ?`, id).
		Scan(&a.owner, &a.video, &a.blob.cid, &a.blob.mime, &whole)
	if errors.Is(err, sql.ErrNoRows) {
		return linkedinAsset{}, false, nil
	}
	if err != nil {
		return linkedinAsset{}, false, fmt.Errorf("finding an asset: %w", err)
	}
	a.wholeAt = time.UnixMilli(whole)
	return a, true, nil
}

// completeLinkedinAsset records that an upload is complete.
func completeLinkedinAsset(ctx context.Context, t tx, a linkedinAsset) error {
	_, err := t.ExecContext(ctx, `update linkedin_assets set cid = ?, type = ?, whole_at = ? where id = ?`, a.blob.cid,
		a.blob.mime, a.wholeAt.UnixMilli(), a.id)
	if err != nil {
		return fmt.Errorf("recording an upload: %w", err)
	}
	return t.keepBlob(ctx, linkedinName, a.owner, a.blob)
}

// findLinkedinPart returns the part of an upload address, and reports whether it exists.
func findLinkedinPart(ctx context.Context, t tx, secret string) (linkedinPart, bool, error) {
	p := linkedinPart{secret: secret}
	err := t.QueryRowContext(ctx, `select asset, first, size, cid from linkedin_parts where secret = ?`, secret).
		Scan(&p.asset, &p.first, &p.size, &p.cid)
	if errors.Is(err, sql.ErrNoRows) {
		return linkedinPart{}, false, nil
	}
	if err != nil {
		return linkedinPart{}, false, fmt.Errorf("finding a part: %w", err)
	}
	return p, true, nil
}

// updateLinkedinPart records what was uploaded to an address.
func updateLinkedinPart(ctx context.Context, t tx, p linkedinPart) error {
	if _, err := t.ExecContext(ctx, `update linkedin_parts set cid = ? where secret = ?`, p.cid, p.secret); err != nil {
		return fmt.Errorf("recording a part: %w", err)
	}
	return nil
}

// listLinkedinParts returns an asset's parts in order.
func listLinkedinParts(ctx context.Context, t tx, asset string) ([]linkedinPart, error) {
	rows, err := t.QueryContext(ctx,
		`select secret, first, size, cid from linkedin_parts where asset = ? order by first`, asset)
	if err != nil {
		return nil, fmt.Errorf("reading parts: %w", err)
	}
	defer rows.Close()
	var found []linkedinPart
	for rows.Next() {
		p := linkedinPart{asset: asset}
		if err := rows.Scan(&p.secret, &p.first, &p.size, &p.cid); err != nil {
			return nil, fmt.Errorf("reading a part: %w", err)
		}
		found = append(found, p)
	}
	return found, rows.Err()
}
