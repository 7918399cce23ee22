package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// eventMediaRemoved is the event kind for a file that was removed from a post because it was deleted.
const eventMediaRemoved = "post.media_taken"

// mediaPostsQuery selects a team's unsent posts that use a file.
const mediaPostsQuery = `SELECT p.id FROM posts p WHERE p.team_id = ? AND p.status IN ('draft', 'scheduled') AND p.id > ?
	AND p.id IN (SELECT post_id FROM post_media WHERE media_id = ? UNION SELECT post_id FROM post_target_media
	WHERE media_id = ?) ORDER BY p.id LIMIT ?`

// RemovedMedia is the result of RemoveMedia.
type RemovedMedia struct {
	Posts   int      // number of changed posts
	Waiting []string // IDs of the posts that now await approval; a person must notify the client
}

// RemoveMedia removes a file from all unsent posts. A scheduled post becomes a draft, because it is incomplete. If the
// post is a template, its series is paused. An approved post needs approval again.
func (s *Service) RemoveMedia(ctx context.Context, call operation.Call, media int64) (RemovedMedia, error) {
	var removed RemovedMedia
	if err := call.Require(access.Publish); err != nil {
		return removed, err
	}
	for lastID := ""; ; {
		ids, err := db.All(ctx, s.db, func(rows *sql.Rows, id *string) error {
			return rows.Scan(id)
		}, mediaPostsQuery, call.TeamID, lastID, media, media, 100)
		if err != nil {
			return removed, fmt.Errorf("listing posts with file %d: %w", media, err)
		}
		if len(ids) == 0 {
			return removed, nil
		}
		for _, id := range ids {
			var state Approval
			err := s.db.InTx(ctx, "post.remove_media", func(ctx context.Context, tx *db.Tx) error {
				var err error
				state, err = s.removeMedia(ctx, tx, call, id, media)
				return err
			})
			if err != nil {
				return removed, err
			}
			removed.Posts++
			if state == Waiting {
				removed.Waiting = append(removed.Waiting, id)
			}
		}
		lastID = ids[len(ids)-1]
	}
}

// removeMedia removes a file from one post and returns the post's approval afterwards.
func (s *Service) removeMedia(ctx context.Context, tx *db.Tx, call operation.Call, id string,
	media int64) (Approval, error) {
	p, err := s.Lock(ctx, tx, call.TeamID, id)
	if apierr.Is(err, apierr.NotFound) {
		return NotNeeded, nil // the post was deleted concurrently
	}
	if err != nil || p.Status != Draft && p.Status != Scheduled {
		return NotNeeded, err
	}
	if err := dropMedia(ctx, tx, &p, media); err != nil {
		return NotNeeded, err
	}
	if p.Status == Scheduled {
		if err := s.updateSeries(ctx, tx, &p); err != nil {
			return NotNeeded, err
		}
		p.Status = Draft
	}
	if err := RecordChange(ctx, tx, call, &p, []string{"media_ids"}); err != nil {
		return NotNeeded, err
	}
	return p.Approval, auditlog.Record(ctx, tx, p.TeamID, auditlog.NewActor(call), eventMediaRemoved, p.ID,
		map[string]any{"media": media})
}

// dropMedia removes a file from all parts of a post, its options and its overrides.
func dropMedia(ctx context.Context, tx *db.Tx, p *Record, media int64) error {
	isRemoved := func(m network.Media) bool { return m.ID == media }
	p.Media, p.Options = slices.DeleteFunc(p.Media, isRemoved), p.Options.WithoutMedia(media)
	for i := range p.Thread {
		p.Thread[i].Media = slices.DeleteFunc(p.Thread[i].Media, isRemoved)
	}
	if err := setMedia(ctx, tx, *p); err != nil {
		return err
	}
	for i := range p.Targets {
		t := &p.Targets[i]
		if !slices.ContainsFunc(t.Media, isRemoved) {
			continue
		}
		t.Media = slices.DeleteFunc(t.Media, isRemoved)
		if err := setOverride(ctx, tx, p.ID, *t); err != nil {
			return err
		}
	}
	return nil
}

// LastChangeRemovedMedia reports whether the last change of a post was the removal of a deleted file.
func (s *Service) LastChangeRemovedMedia(ctx context.Context, p Record) (bool, error) {
	if p.Status != Draft {
		return false, nil
	}
	var at int64
	err := s.db.QueryRow(ctx, `SELECT at FROM events WHERE team_id = ? AND kind = ? AND subject = ? ORDER BY id DESC
		LIMIT 1`, p.TeamID, eventMediaRemoved, p.ID).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the last change of a post: %w", err)
	}
	return at == db.Micros(p.UpdatedAt), nil
}
