// Package attachment stores the images and videos of posts and of account overrides.
package attachment

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

// optionPart is the part number that is stored for media that only the post's options use, such as a cover. These media
// count as used by the post, but they are not published as its media.
const optionPart = -2

// Library finds a team's media by ID, in order. It also finds deleted media.
type Library interface {
	ForPostWithDeleted(ctx context.Context, q db.Querier, team int64, ids []int64) ([]network.Media, error)
}

// reference is a stored reference to a media item.
type reference struct {
	part  int
	id    int64
	cover time.Duration
}

func scanReference(rows *sql.Rows, r *reference) error {
	var milliseconds int64
	err := rows.Scan(&r.part, &r.id, &milliseconds)
	r.cover = time.Duration(milliseconds) * time.Millisecond
	return err
}

// Read returns the media of a post's first parts, indexed by part.
func Read(
	ctx context.Context, q db.Querier, library Library, team int64, post string, parts int,
) ([][]network.Media, error) {
	stored, err := db.All(ctx, q, scanReference, `SELECT part, media_id, cover_ms FROM post_media WHERE post_id = ?
		AND part >= 0 AND part < ? ORDER BY part, position`, post, parts)
	if err != nil {
		return nil, fmt.Errorf("reading the media of a post: %w", err)
	}
	media, err := details(ctx, q, library, team, stored)
	out := make([][]network.Media, parts)
	for i, m := range media {
		out[stored[i].part] = append(out[stored[i].part], m)
	}
	return out, err
}

// ReadOverride returns the media of an account's override.
func ReadOverride(
	ctx context.Context, q db.Querier, library Library, team int64, post string, account int64,
) ([]network.Media, error) {
	stored, err := db.All(ctx, q, scanReference, `SELECT 0, media_id, cover_ms FROM post_target_media WHERE post_id = ?
		AND account_id = ? ORDER BY position`, post, account)
	if err != nil {
		return nil, fmt.Errorf("reading the media of an override: %w", err)
	}
	return details(ctx, q, library, team, stored)
}

// details reads the referenced media from the library.
func details(
	ctx context.Context, q db.Querier, library Library, team int64, stored []reference,
) ([]network.Media, error) {
	ids := make([]int64, len(stored))
	for i, r := range stored {
		ids[i] = r.id
	}
	media, err := library.ForPostWithDeleted(ctx, q, team, ids)
	for i := range media {
		media[i].Cover = stored[i].cover
	}
	return media, err
}

// Set replaces the media of all parts of a post, and the references to the media that its options use.
func Set(ctx context.Context, tx *db.Tx, post string, parts [][]network.Media, options []int64) error {
	if _, err := tx.Exec(ctx, `DELETE FROM post_media WHERE post_id = ?`, post); err != nil {
		return fmt.Errorf("removing media from a post: %w", err)
	}
	position := 0
	for part, media := range parts {
		for _, m := range media {
			if err := insert(ctx, tx, post, part, position, m); err != nil {
				return err
			}
			position++
		}
	}
	for _, id := range options {
		if err := insert(ctx, tx, post, optionPart, position, network.Media{ID: id}); err != nil {
			return err
		}
		position++
	}
	if _, err := tx.Exec(ctx, `UPDATE posts SET has_media = ? WHERE id = ?`, min(position, 1), post); err != nil {
		return fmt.Errorf("recording that a post has media: %w", err)
	}
	return nil
}

func insert(ctx context.Context, tx *db.Tx, post string, part, position int, m network.Media) error {
	_, err := tx.Exec(ctx, `INSERT INTO post_media (post_id, part, position, media_id, cover_ms) VALUES (?, ?, ?, ?, ?)`,
		post, part, position, m.ID, m.Cover.Milliseconds())
	if err != nil {
		return fmt.Errorf("adding media to a post: %w", err)
	}
	return nil
}

// SetOverride replaces the media of an account's override.
func SetOverride(ctx context.Context, tx *db.Tx, post string, account int64, media []network.Media) error {
	if _, err := tx.Exec(ctx, `DELETE FROM post_target_media WHERE post_id = ? AND account_id = ?`, post,
		account); err != nil {
		return fmt.Errorf("removing the media of an override: %w", err)
	}
	for n, m := range media {
		_, err := tx.Exec(ctx, `INSERT INTO post_target_media (post_id, account_id, position, media_id, cover_ms)
			VALUES (?, ?, ?, ?, ?)`, post, account, n, m.ID, m.Cover.Milliseconds())
		if err != nil {
			return fmt.Errorf("storing the media of an override: %w", err)
		}
	}
	return nil
}

// SetCover sets the cover time of a video in a post and its overrides.
func SetCover(ctx context.Context, tx *db.Tx, post string, video int64, at time.Duration) error {
	for _, table := range []string{"post_media", "post_target_media"} {
		if _, err := tx.Exec(ctx, `UPDATE `+table+` SET cover_ms = ? WHERE post_id = ? AND media_id = ?`,
			at.Milliseconds(), post, video); err != nil {
			return fmt.Errorf("setting a cover: %w", err)
		}
	}
	return nil
}

// CopyCovers copies the cover times from before to media with the same IDs and returns media.
func CopyCovers(media, before []network.Media) []network.Media {
	for i := range media {
		if at := slices.IndexFunc(before, func(m network.Media) bool { return m.ID == media[i].ID }); at >= 0 {
			media[i].Cover = before[at].Cover
		}
	}
	return media
}

// Same reports whether two lists have the same media with the same covers, in the same order.
func Same(a, b []network.Media) bool {
	return slices.EqualFunc(a, b, func(a, b network.Media) bool { return a.ID == b.ID && a.Cover == b.Cover })
}

// IsDeleted reports whether the file was deleted from the library.
func IsDeleted(m network.Media) bool { return m.Gone }

// PostMedia is an image or video of a post.
type PostMedia struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	Type string `json:"type" jsonschema:"MIME type."`
}

// List converts media to their API representation.
func List(media []network.Media) []PostMedia {
	out := []PostMedia{}
	for _, m := range media {
		out = append(out, PostMedia{m.ID, m.Name, m.Type})
	}
	return out
}
