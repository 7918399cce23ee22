package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/domain/post/seriesgap"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// createNext creates the next occurrence of a locked series and records missed occurrences. A rule has at most one
// occurrence a day, so at most one past occurrence is within maxOccurrenceDelay. A series that has no next occurrence
// ends.
func (s *Service) createNext(ctx context.Context, tx *db.Tx, template *Record, r Series) error {
	recurring, err := r.recurrence()
	if err != nil {
		return err
	}
	var missed seriesgap.Gap
	r.wakeAt = time.Time{}
	for at := range recurring.After(r.lastAt) {
		r.lastAt = at
		if tx.Now().Sub(at) > maxOccurrenceDelay {
			missed.Include(at)
			continue
		}
		created, err := createOccurrence(ctx, tx, *template, at)
		if err != nil {
			return err
		}
		if created {
			r.wakeAt = at
			break
		}
	}
	if err := missed.Record(ctx, tx, template.TeamID, template.ID, r.ID); err != nil {
		return err
	}
	if r.wakeAt.IsZero() {
		if err := endSeries(ctx, tx, template); err != nil {
			return err
		}
	}
	if err := storeSeries(ctx, tx, &r, template.TeamID); err != nil {
		return err
	}
	template.Series, err = readSeries(ctx, tx, r.ID, "")
	return err
}

// endSeries turns the template of a series into a draft and records that the series ended.
func endSeries(ctx context.Context, tx *db.Tx, template *Record) error {
	template.Status = Draft
	if err := Update(ctx, tx, template); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, template.TeamID, auditlog.Actor{}, "series.ended", template.ID,
		map[string]any{"series": template.SeriesID})
}

// createOccurrence schedules the occurrence of a series at a time. It copies the template unless the occurrence exists.
// An occurrence that became a draft when its series was paused is scheduled again. It gets the template's current
// content unless a person edited it. createOccurrence reports false if the occurrence was already scheduled or sent, or
// was canceled individually.
func createOccurrence(ctx context.Context, tx *db.Tx, template Record, at time.Time) (bool, error) {
	var id, status string
	var skipped int64
	err := tx.QueryRow(ctx, `SELECT id, status, skipped FROM posts WHERE series_id = ? AND occurs_at = ?
		AND occurs_at > 0`, template.SeriesID, db.Micros(at)).Scan(&id, &status, &skipped)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return true, copyTemplate(ctx, tx, template, at)
	case err != nil:
		return false, fmt.Errorf("reading an occurrence: %w", err)
	case skipped != 0:
		return false, nil
	}
	if Status(status) == Draft {
		if err := updateOccurrence(ctx, tx, template, id); err != nil {
			return false, err
		}
	}
	n, err := tx.Exec(ctx, `UPDATE posts SET status = 'scheduled', scheduled_at = ?, slot_at = ?, updated_at = ?
		WHERE id = ? AND status = 'draft'`,
		db.Micros(at), db.Micros(at), db.Micros(tx.Now()), id)
	if err != nil {
		return false, fmt.Errorf("scheduling an occurrence again: %w", err)
	}
	return n > 0, nil
}

// updateOccurrence copies the template's current content to an occurrence unless a person edited the occurrence.
func updateOccurrence(ctx context.Context, tx *db.Tx, template Record, id string) error {
	edited, err := editedByPerson(ctx, tx, template.TeamID, id)
	if err != nil || edited {
		return err
	}
	for _, statement := range []string{
		`DELETE FROM post_target_media WHERE post_id = ?`, `DELETE FROM post_media WHERE post_id = ?`,
		`DELETE FROM post_targets WHERE post_id = ?`, `DELETE FROM post_labels WHERE post_id = ?`,
	} {
		if _, err := tx.Exec(ctx, statement, id); err != nil {
			return fmt.Errorf("removing the content of an occurrence: %w", err)
		}
	}
	_, err = tx.Exec(ctx, `UPDATE posts SET caption = t.caption, excerpt = t.excerpt, approval = t.approval,
		has_media = t.has_media, options = t.options, thread = t.thread, title = t.title, first_comment = t.first_comment
		FROM (SELECT caption, excerpt, approval, has_media, options, thread, title, first_comment FROM posts WHERE id = ?) t
		WHERE posts.id = ?`,
		template.ID, id)
	if err != nil {
		return fmt.Errorf("copying the text of a template: %w", err)
	}
	return copyContent(ctx, tx, template.ID, id)
}

// copyTemplate creates an occurrence as a copy of the stored template.
func copyTemplate(ctx context.Context, tx *db.Tx, template Record, at time.Time) error {
	id, now, when := uuid.Must(uuid.NewV7()).String(), db.Micros(tx.Now()), db.Micros(at)
	_, err := tx.Exec(ctx, `INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, approval,
		series_id, has_media, options, thread, title, first_comment, occurs_at, scheduled_at, slot_at, created_at,
		updated_at)
			SELECT ?, team_id, person_id, key_id, 'scheduled', caption, excerpt, approval, series_id, has_media,
			options, thread, title, first_comment, ?, ?, ?, ?, ? FROM posts WHERE id = ?`, id, when, when, when, now, now, template.ID)
	if err != nil {
		return fmt.Errorf("creating an occurrence: %w", err)
	}
	if err := copyContent(ctx, tx, template.ID, id); err != nil {
		return err
	}
	return auditlog.Record(ctx, tx, template.TeamID, auditlog.Actor{}, "post.recurred", id,
		map[string]any{"template": template.ID, "at": when})
}

// copyContent copies accounts, media and labels from one post to another. The other post must not have any yet.
func copyContent(ctx context.Context, tx *db.Tx, from, to string) error {
	for _, statement := range []string{
		`INSERT INTO post_targets (post_id, account_id, position, caption, title, has_media) SELECT ?, account_id, position,
			caption, title, has_media FROM post_targets WHERE post_id = ?`,
		`INSERT INTO post_media (post_id, part, position, media_id, cover_ms) SELECT ?, part, position, media_id, cover_ms
			FROM post_media WHERE post_id = ?`,
		`INSERT INTO post_target_media (post_id, account_id, position, media_id, cover_ms) SELECT ?, account_id,
			position, media_id, cover_ms FROM post_target_media WHERE post_id = ?`,
		`INSERT INTO post_labels (post_id, position, label) SELECT ?, position, label FROM post_labels WHERE post_id = ?`,
	} {
		if _, err := tx.Exec(ctx, statement, to, from); err != nil {
			return fmt.Errorf("copying accounts and media to an occurrence: %w", err)
		}
	}
	return nil
}

const (
	seriesPollInterval = time.Second
	seriesBatchSize    = 100
)

// RunSeries creates due occurrences until the context is canceled. It passes errors to report and continues. Every
// worker node runs it.
func (s *Service) RunSeries(ctx context.Context, report func(error)) {
	tick := time.NewTicker(seriesPollInterval)
	defer tick.Stop()
	for {
		if err := s.CreateOccurrences(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// CreateOccurrences creates the occurrences that are due. It omits the series of teams that may not publish now.
func (s *Service) CreateOccurrences(ctx context.Context) error {
	due, err := db.All(ctx, s.db, func(rows *sql.Rows, p *Record) error { return rows.Scan(&p.ID, &p.TeamID) },
		`SELECT posts.id, posts.team_id FROM post_series r JOIN posts ON posts.id = r.template_id WHERE r.wake_at > 0
			AND r.wake_at <= ? AND `+due.MayPublishSQL+` ORDER BY r.wake_at LIMIT ?`,
		db.Micros(s.db.Now()), seriesBatchSize)
	if err != nil {
		return fmt.Errorf("listing due series: %w", err)
	}
	for _, template := range due {
		// One series that fails must not delay the others.
		err = errors.Join(err, s.continueSeries(ctx, template.TeamID, template.ID))
	}
	return err
}

func (s *Service) continueSeries(ctx context.Context, team int64, template string) error {
	return s.db.InTx(ctx, "post.recur", func(ctx context.Context, tx *db.Tx) error {
		p, err := s.Lock(ctx, tx, team, template)
		if err != nil || !p.IsTemplate || p.Status != Scheduled {
			return err
		}
		r, err := readSeries(ctx, tx, p.SeriesID, s.db.ForUpdate())
		if err != nil || r.wakeAt.IsZero() || r.wakeAt.After(tx.Now()) {
			return err // another node has created the occurrence
		}
		return s.createNext(ctx, tx, &p, r)
	})
}

// isTooLate reports whether an occurrence is too late to be published.
func (p Record) isTooLate(now time.Time) bool {
	return !p.OccursAt.IsZero() && now.Sub(p.ScheduledAt) > maxOccurrenceDelay
}

// skipLateOccurrence turns a late occurrence into a draft and records it as skipped.
func (s *Service) skipLateOccurrence(ctx context.Context, tx *db.Tx, p *Record) error {
	p.Status = Draft
	if err := Update(ctx, tx, p); err != nil {
		return err
	}
	var missed seriesgap.Gap
	missed.Include(p.ScheduledAt)
	return missed.Record(ctx, tx, p.TeamID, p.ID, p.SeriesID)
}

// postsLeftForOccurrence returns how many more posts, including a due occurrence, the plan allows in the month of the
// occurrence. Other scheduled occurrences do not count against the plan.
func (s *Service) postsLeftForOccurrence(ctx context.Context, q db.Querier, p Record) (int64, error) {
	var zone, name string
	var until int64
	if err := q.QueryRow(ctx, `SELECT timezone, plan, plan_until FROM teams WHERE id = ?`+s.db.ForUpdate(),
		p.TeamID).Scan(&zone, &name, &until); err != nil {
		return 0, fmt.Errorf("locking the team of an occurrence: %w", err)
	}
	limits := s.catalog.PlanInEffect(name, db.Time(until), s.db.Now())
	if limits.PostsPerMonth == plan.Unlimited {
		return plan.Unlimited, nil
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return 0, fmt.Errorf("loading the time zone of team %d: %w", p.TeamID, err)
	}
	first, next := teamtime.Month(p.ScheduledAt, location)
	var used int64
	err = q.QueryRow(ctx, `SELECT COUNT(*) FROM posts WHERE team_id = ? AND slot_at >= ? AND slot_at < ?
		AND slot_at > 0 AND status <> 'draft' AND id <> ? AND NOT (occurs_at > 0 AND status = 'scheduled')`,
		p.TeamID, db.Micros(first), db.Micros(next), p.ID).Scan(&used)
	if err != nil {
		return 0, fmt.Errorf("counting the month's posts: %w", err)
	}
	return max(0, limits.PostsPerMonth-used), nil
}
