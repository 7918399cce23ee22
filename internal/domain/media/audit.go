package media

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/domain/media/storecheck"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/db"
)

// OrphanGracePeriod is how long bytes may exist without an item. It exceeds the duration of any upload.
const OrphanGracePeriod = 24 * time.Hour

// Finding is one inconsistency that the audit found.
type Finding struct {
	Rule string `json:"rule"` // no_bytes, other_size, no_item or storage
	Blob string `json:"blob,omitempty"`
	Team int64  `json:"team,omitempty"`
	Item int64  `json:"item,omitempty"`
	Text string `json:"text"`
}

// Audit checks the library against the blob store in both directions, and each team's recorded storage against its
// items.
func (s *Service) Audit(ctx context.Context) ([]Finding, error) {
	// Items are listed before blobs. The blobs of items that are added during the audit are younger than
	// OrphanGracePeriod and therefore skipped.
	items, err := s.allItems(ctx)
	if err != nil {
		return nil, err
	}
	sizes := map[string]int64{}
	findings := []Finding{}
	derivedFiles, err := s.allDerived(ctx)
	if err != nil {
		return nil, err
	}
	err = s.Blobs.Each(ctx, "", func(b blob.Info) error {
		sizes[b.Key] = b.Size
		if s.db.Now().Sub(b.At) < OrphanGracePeriod || strings.HasPrefix(b.Key, storecheck.MarkerFolder) {
			return nil
		}
		referenced, err := s.isReferenced(ctx, b.Key)
		if err == nil && !referenced {
			findings = append(findings,
				Finding{Rule: "no_item", Blob: b.Key, Text: "bytes without an item; the sweep deletes them"})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("listing the blob store: %w", err)
	}
	miscounted, err := s.storageMismatches(ctx)
	return append([]Finding{},
		slices.Concat(findings, checkItems(items, sizes), checkDerived(derivedFiles, sizes), miscounted)...), err
}

// isReferenced reports whether an item or a derived file uses a blob.
func (s *Service) isReferenced(ctx context.Context, key string) (bool, error) {
	var n int64
	if err := s.db.QueryRow(ctx,
		`SELECT (SELECT COUNT(*) FROM media WHERE blob = ?) + (SELECT COUNT(*) FROM media
		WHERE thumbnail = ? AND thumbnail <> '') + (SELECT COUNT(*) FROM media_derived WHERE blob = ? AND blob <> '')`,
		key, key, key).Scan(&n); err != nil {
		return false, fmt.Errorf("finding the item of a blob: %w", err)
	}
	return n > 0, nil
}

func (s *Service) allItems(ctx context.Context) ([]Item, error) {
	items, err := db.All(ctx, s.db, func(rows *sql.Rows, i *Item) error {
		return rows.Scan(&i.ID, &i.TeamID, &i.Blob, &i.Thumbnail, &i.StoredSize)
	}, `SELECT id, team_id, blob, thumbnail, COALESCE(NULLIF(stored_bytes, 0), size_bytes) FROM media
		WHERE deleted_at = 0 ORDER BY id`)
	if err != nil {
		return nil, fmt.Errorf("listing every item: %w", err)
	}
	return items, nil
}

func (s *Service) allDerived(ctx context.Context) ([]derivedFile, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, d *derivedFile) error {
		return rows.Scan(&d.media, &d.team, &d.blob, &d.size)
	}, `SELECT media_id, team_id, blob, size_bytes FROM media_derived WHERE blob <> '' ORDER BY media_id, variant`)
	if err != nil {
		return nil, fmt.Errorf("listing every derived file: %w", err)
	}
	return out, nil
}

func checkDerived(derivedFiles []derivedFile, sizes map[string]int64) []Finding {
	var findings []Finding
	for _, d := range derivedFiles {
		size, ok := sizes[d.blob]
		switch {
		case !ok:
			findings = append(findings,
				Finding{
					"no_bytes", d.blob, d.team, d.media,
					"a derived file without its bytes; it is recreated on demand",
				})
		case size != d.size:
			findings = append(findings,
				Finding{"other_size", d.blob, d.team, d.media, "a derived file whose bytes have a different size"})
		}
	}
	return findings
}

func checkItems(items []Item, sizes map[string]int64) []Finding {
	var findings []Finding
	for _, i := range items {
		size, ok := sizes[i.Blob]
		switch {
		case !ok:
			findings = append(findings, Finding{"no_bytes", i.Blob, i.TeamID, i.ID, "an item without its bytes"})
		case size != i.StoredSize:
			findings = append(findings,
				Finding{"other_size", i.Blob, i.TeamID, i.ID, "an item whose bytes have a different size"})
		}
		if _, there := sizes[i.Thumbnail]; i.Thumbnail != "" && !there {
			findings = append(findings, Finding{"no_bytes", i.Thumbnail, i.TeamID, i.ID, "an item without its thumbnail"})
		}
	}
	return findings
}

// storageMismatches returns a finding for each team whose recorded storage is not the total size of its items.
func (s *Service) storageMismatches(ctx context.Context) ([]Finding, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, f *Finding) error {
		f.Rule, f.Text = "storage", "the recorded storage is not the sum of the items"
		return rows.Scan(&f.Team)
	}, `SELECT t.id FROM teams t LEFT JOIN storage s ON s.team_id = t.id
		WHERE COALESCE(s.used_bytes, 0) <> (SELECT COALESCE(SUM(m.size_bytes), 0) FROM media m
		WHERE m.team_id = t.id AND m.deleted_at = 0) ORDER BY t.id`)
	if err != nil {
		return nil, fmt.Errorf("adding up items: %w", err)
	}
	return out, nil
}
