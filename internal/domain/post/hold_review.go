package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/domain/post/due"
	"pressroom.example/pressroom/internal/domain/post/seriesgap"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// ForceSubmit submits a scheduled post regardless of its time, so that the caller can record known outcomes in the same
// transaction. ForceSubmit reports false if the post is no longer scheduled. It also returns the error code that
// Release would reject the post with, or "". The caller must apply this code to the accounts without a known outcome.
func (s *Service) ForceSubmit(ctx context.Context, tx *db.Tx, team int64, id string) (bool, string, error) {
	p, err := s.Lock(ctx, tx, team, id)
	if err != nil || p.Status != Scheduled || p.IsTemplate {
		return false, "", err
	}
	rejected, err := s.rejectionWhenDue(ctx, tx, p)
	if err != nil {
		return false, "", err
	}
	if p.ScheduledAt.After(tx.Now()) {
		if err := s.updateSeries(ctx, tx, &p); err != nil {
			return false, "", err
		}
	}
	_, err = s.submit(ctx, tx, &p, p.Targets, auditlog.Actor{}, "")
	return err == nil, rejected, err
}

// OverdueSeries is a series with past occurrences that were not created.
type OverdueSeries struct {
	TeamID     int64  `json:"team_id"`
	TemplateID string `json:"template_id"`
	Skipped    int64  `json:"skipped"` // number of past occurrences that were not created
}

// ListOverdueSeries returns the overdue series of every team.
func (s *Service) ListOverdueSeries(ctx context.Context) ([]OverdueSeries, error) {
	list, err := db.All(ctx, s.db, func(rows *sql.Rows, series *OverdueSeries) error {
		return rows.Scan(&series.TemplateID, &series.TeamID)
	},
		`SELECT posts.id, posts.team_id FROM post_series r JOIN posts ON posts.id = r.template_id WHERE r.wake_at > 0
			AND r.wake_at <= ? AND posts.status = 'scheduled' AND posts.is_template = 1 ORDER BY r.wake_at`,
		db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("listing overdue series: %w", err)
	}
	out := []OverdueSeries{}
	for _, series := range list {
		p, err := s.read(ctx, s.db, series.TeamID, series.TemplateID, "")
		if err != nil {
			return nil, err
		}
		missed, err := p.Series.overdue(s.db.Now())
		if err != nil {
			return nil, err
		}
		if series.Skipped = missed.Skipped; series.Skipped > 0 {
			out = append(out, series)
		}
	}
	return out, nil
}

// overdue returns the occurrences up to now that were not created.
func (r Series) overdue(now time.Time) (seriesgap.Gap, error) {
	var missed seriesgap.Gap
	recurring, err := r.recurrence()
	if err != nil {
		return missed, err
	}
	for at := range recurring.After(r.lastAt) {
		if at.After(now) {
			break
		}
		missed.Include(at)
	}
	return missed, nil
}

// SkipOverdue records the overdue occurrences of a series as skipped and continues the series after them. The
// installation that the database was copied from may already have published these occurrences.
func (s *Service) SkipOverdue(ctx context.Context, tx *db.Tx, overdue OverdueSeries) error {
	p, err := s.Lock(ctx, tx, overdue.TeamID, overdue.TemplateID)
	if err != nil || !p.IsTemplate || p.Status != Scheduled {
		return err
	}
	r, err := readSeries(ctx, tx, p.SeriesID, s.db.ForUpdate())
	if err != nil {
		return err
	}
	missed, err := r.overdue(tx.Now())
	if err != nil {
		return err
	}
	if err := missed.Record(ctx, tx, p.TeamID, p.ID, r.ID); err != nil {
		return err
	}
	if missed.Skipped > 0 {
		r.lastAt = missed.Last
	}
	return s.createNext(ctx, tx, &p, r)
}

// ScheduledTarget is one account of a scheduled post.
type ScheduledTarget struct {
	TeamID    int64
	PostID    string
	AccountID int64
	At        time.Time
	Paused    bool // the team may not publish now
}

// ListScheduled returns the accounts of all scheduled posts, ordered by time.
func (s *Service) ListScheduled(ctx context.Context) ([]ScheduledTarget, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, target *ScheduledTarget) error {
		var at int64
		err := rows.Scan(&target.TeamID, &target.PostID, &target.AccountID, &at, &target.Paused)
		target.At = db.Time(at)
		return err
	}, `SELECT posts.team_id, posts.id, x.account_id, posts.scheduled_at, NOT (`+due.NotPausedSQL+`) FROM posts
		JOIN post_targets x ON x.post_id = posts.id
		WHERE posts.status = 'scheduled' AND posts.is_template = 0 ORDER BY posts.scheduled_at, posts.id, x.position`)
	if err != nil {
		return nil, fmt.Errorf("listing scheduled posts: %w", err)
	}
	return out, nil
}

var errTargetRemoved = errors.New("the post no longer targets the account")

// ContentFor returns the content of one part of a post for one of its accounts. A story has no text.
func (s *Service) ContentFor(
	ctx context.Context, team int64, id string, account int64, part int,
) (network.Content, error) {
	p, t, language, err := s.LoadForDelivery(ctx, team, id, account)
	if err != nil {
		return network.Content{}, err
	}
	if t.AccountID == 0 || part >= p.PartCount() { // comment.Part is negative
		return network.Content{}, errTargetRemoved
	}
	content := p.PartContent(t, language, part)
	if content.Options.IsStory(t.Platform) {
		content.Text = ""
	}
	return content, nil
}
