package post

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/domain/account"
	"pressroom.example/pressroom/internal/domain/post/attachment"
	"pressroom.example/pressroom/internal/domain/post/comment"
	"pressroom.example/pressroom/internal/domain/post/label"
	"pressroom.example/pressroom/internal/domain/post/thread"
	"pressroom.example/pressroom/internal/domain/post/warning"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/db"
)

const columns = `p.id, p.team_id, p.status, p.caption, p.excerpt, p.approval, p.approval_round, p.series_id,
	p.is_template, p.occurs_at, p.skipped, p.scheduled_at, p.submitted_at, p.published_at, p.job_id, p.has_media,
	p.options, (SELECT post_options FROM teams WHERE teams.id = p.team_id), p.created_at, p.updated_at, p.planned_day,
	p.replaces, p.archived_at, p.thread, p.title, p.first_comment,
	(SELECT COUNT(*) FROM post_labels l WHERE l.post_id = p.id)`

type scanner interface{ Scan(...any) error }

func scanPost(row scanner, p *Record) error {
	var status, approval, options, teamOptions, parts string
	var template, media, occurs, skipped, scheduled, submitted, published, created, updated, archived, labels int64
	err := row.Scan(&p.ID, &p.TeamID, &status, &p.Caption, &p.Excerpt, &approval, &p.Round, &p.SeriesID, &template,
		&occurs, &skipped, &scheduled, &submitted, &published, &p.JobID, &media, &options, &teamOptions, &created, &updated,
		&p.PlannedDay, &p.Replaces, &archived, &parts, &p.Title, &p.FirstComment, &labels)
	if err != nil {
		return err
	}
	p.Status, p.Approval, p.IsTemplate = Status(status), Approval(approval), template != 0
	p.hasMedia, p.hasLabels, p.Skipped = media != 0, labels != 0, skipped != 0
	p.OccursAt, p.ScheduledAt, p.SubmittedAt, p.PublishedAt = db.Time(occurs), db.Time(scheduled), db.Time(submitted),
		db.Time(published)
	p.CreatedAt, p.UpdatedAt, p.ArchivedAt = db.Time(created), db.Time(updated), db.Time(archived)
	if p.Thread, err = thread.DecodeTexts(parts); err != nil {
		return err
	}
	if p.Options, err = network.DecodeOptions(options); err != nil {
		return err
	}
	p.TeamOptions, err = network.DecodeOptions(teamOptions)
	return err
}

// read returns a team's post with its targets. It returns not_found if the team has no such post. lock is empty or an
// SQL locking clause.
func (s *Service) read(ctx context.Context, q db.Querier, team int64, id, lock string) (Record, error) {
	var p Record
	err := scanPost(q.QueryRow(ctx, `SELECT `+columns+` FROM posts p WHERE p.id = ? AND p.team_id = ?`+lock, id,
		team), &p)
	if errors.Is(err, sql.ErrNoRows) {
		return p, apierr.ItemNotFound()
	}
	if err != nil {
		return p, fmt.Errorf("reading a post: %w", err)
	}
	if p.Targets, err = s.readTargets(ctx, q, team, id); err != nil {
		return p, err
	}
	if p.hasMedia {
		if err := s.readMedia(ctx, q, &p); err != nil {
			return p, err
		}
	}
	if p.hasLabels || lock != "" { // PostgreSQL counted them before it waited for the lock
		if p.Labels, err = label.Read(ctx, q, p.ID); err != nil {
			return p, err
		}
	}
	if p.OptionMedia, err = attachment.ReadOptions(ctx, q, s.library, p.TeamID, p.Options); err != nil {
		return p, err
	}
	if p.SeriesID != 0 {
		if p.Series, err = readSeries(ctx, q, p.SeriesID, ""); err != nil {
			return p, err
		}
	}
	if p.hasReview() {
		p.Review, err = readReview(ctx, q, id, p.Round)
	}
	return p, err
}

// hasReview reports whether a client decided on the post's version.
func (p Record) hasReview() bool {
	return p.Round != 0 && (p.Approval == Approved || p.Approval == Rejected)
}

// readReview returns the client's decision on a version, or a zero Review if there is no decision.
func readReview(ctx context.Context, q db.Querier, id string, round int64) (Review, error) {
	var r Review
	var decided int64
	err := q.QueryRow(ctx, `SELECT comment, decided_at FROM post_approvals WHERE post_id = ? AND round = ?
		AND decided_at > 0`, id, round).Scan(&r.Comment, &decided)
	if errors.Is(err, sql.ErrNoRows) {
		return r, nil
	}
	if err != nil {
		return r, fmt.Errorf("reading a client's decision: %w", err)
	}
	r.DecidedAt = db.Time(decided)
	return r, nil
}

// Lock returns a post and locks its row until the transaction ends.
func (s *Service) Lock(ctx context.Context, tx *db.Tx, team int64, id string) (Record, error) {
	return s.read(ctx, tx, team, id, s.db.ForUpdate())
}

func (s *Service) readTargets(ctx context.Context, q db.Querier, team int64, id string) ([]Target, error) {
	out, err := db.All(ctx, q, func(rows *sql.Rows, t *Target) error {
		var state, connection, warnings, parts, firstComment string
		var media, published, retried int64
		err := rows.Scan(&t.AccountID, &t.Platform, &t.NetworkAccountID, &t.Username, &connection, &state, &t.Caption, &t.Title, &media,
			&published, &t.Permalink, &t.NetworkID, &t.ErrorCode, &t.NetworkText, &warnings, &t.RetriesUsed,
			&retried, &parts, &firstComment)
		if err != nil {
			return err
		}
		t.State, t.Active = TargetState(state), account.Connection(connection) != account.Lost
		t.hasMedia = media != 0
		t.PublishedAt, t.RetriedAt = db.Time(published), db.Time(retried)
		if t.Parts, err = thread.DecodePublished(parts); err != nil {
			return err
		}
		if t.Comment, err = comment.Decode(firstComment); err != nil {
			return err
		}
		t.Warnings, err = warning.Decode(warnings)
		return err
	}, `SELECT t.account_id, a.platform, a.network_id, a.username, a.connection_state, t.state, t.caption, t.title,
		t.has_media, t.published_at, t.permalink, t.network_id, t.error_code, t.network_text, t.warnings, t.retries_used, t.retried_at,
		t.parts, t.first_comment
		FROM post_targets t JOIN social_accounts a ON a.id = t.account_id WHERE t.post_id = ? ORDER BY t.position`, id)
	if err != nil {
		return nil, fmt.Errorf("reading the accounts of a post: %w", err)
	}
	for i := range out {
		if t := &out[i]; t.hasMedia {
			if t.Media, err = attachment.ReadOverride(ctx, q, s.library, team, id, t.AccountID); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func insert(ctx context.Context, tx *db.Tx, p Record, person, key int64) error {
	options, err := network.EncodeOptions(p.Options)
	if err != nil {
		return err
	}
	parts, err := thread.EncodeTexts(p.Thread)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO posts (id, team_id, person_id, key_id, status, caption, excerpt, options, thread,
		title, first_comment, replaces, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		p.ID, p.TeamID, person, key, string(p.Status), p.Caption, p.Excerpt, options, parts, p.Title, p.FirstComment, p.Replaces,
		db.Micros(p.CreatedAt), db.Micros(p.UpdatedAt))
	if err != nil {
		return fmt.Errorf("adding a post: %w", err)
	}
	if len(p.Media)+len(p.Thread)+len(attachment.UsedByOptions(p.Options, p.OptionMedia)) > 0 {
		if err := setMedia(ctx, tx, p); err != nil {
			return err
		}
	}
	if len(p.Labels) > 0 {
		if err := label.Set(ctx, tx, p.ID, p.Labels); err != nil {
			return err
		}
	}
	if err := insertTargets(ctx, tx, p.ID, p.Targets); err != nil {
		return err
	}
	for _, t := range p.Targets {
		if t.sameOverride(Target{}) {
			continue
		}
		if err := setOverride(ctx, tx, p.ID, t); err != nil {
			return err
		}
	}
	return nil
}

func insertTargets(ctx context.Context, tx *db.Tx, id string, targets []Target) error {
	if len(targets) == 0 {
		return nil
	}
	args := make([]any, 0, 3*len(targets))
	for i, t := range targets {
		args = append(args, id, t.AccountID, i)
	}
	rows := strings.TrimSuffix(strings.Repeat("(?, ?, ?), ", len(targets)), ", ")
	_, err := tx.Exec(ctx, `INSERT INTO post_targets (post_id, account_id, position) VALUES `+rows+`
		ON CONFLICT (post_id, account_id) DO UPDATE SET position = excluded.position`, args...)
	if err != nil {
		return fmt.Errorf("adding accounts to a post: %w", err)
	}
	return nil
}

// Update stores a post's mutable columns and sets UpdatedAt. It does not store targets or media.
func Update(ctx context.Context, tx *db.Tx, p *Record) error {
	p.UpdatedAt = tx.Now()
	if !p.ScheduledAt.IsZero() {
		p.PlannedDay = ""
	}
	options, err := network.EncodeOptions(p.Options)
	if err != nil {
		return err
	}
	parts, err := thread.EncodeTexts(p.Thread)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE posts SET status = ?, caption = ?, excerpt = ?, options = ?, thread = ?, title = ?,
		first_comment = ?, approval = ?, approval_round = ?, scheduled_at = ?, submitted_at = ?, published_at = ?, slot_at = ?,
		skipped = ?, job_id = ?, updated_at = ?, planned_day = ?, archived_at = ? WHERE id = ?`,
		string(p.Status), p.Caption, p.Excerpt, options, parts, p.Title, p.FirstComment,
		string(p.Approval), p.Round, db.Micros(p.ScheduledAt), db.Micros(p.SubmittedAt), db.Micros(p.PublishedAt),
		db.Micros(p.Slot()), db.BoolToInt(p.Skipped), p.JobID,
		db.Micros(p.UpdatedAt), p.PlannedDay, db.Micros(p.ArchivedAt), p.ID)
	if err != nil {
		return fmt.Errorf("changing a post: %w", err)
	}
	return nil
}

func updateTarget(ctx context.Context, tx *db.Tx, id string, t Target) error {
	parts, err := thread.EncodePublished(t.Parts)
	if err != nil {
		return err
	}
	firstComment, err := comment.Encode(t.Comment)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE post_targets SET state = ?, published_at = ?, permalink = ?, network_id = ?,
		error_code = ?, network_text = ?, parts = ?, first_comment = ?, retries_used = ?,
		retried_at = ? WHERE post_id = ? AND account_id = ?`,
		string(t.State), db.Micros(t.PublishedAt), t.Permalink, t.NetworkID, t.ErrorCode, t.NetworkText, parts,
		firstComment, t.RetriesUsed, db.Micros(t.RetriedAt), id, t.AccountID)
	if err != nil {
		return fmt.Errorf("changing an account's result: %w", err)
	}
	return nil
}

// removeOtherTargets deletes all targets of a post except the targets for the given accounts.
func removeOtherTargets(ctx context.Context, tx *db.Tx, id string, accounts []int64) error {
	args := []any{id}
	for _, a := range accounts {
		args = append(args, a)
	}
	where := ``
	if len(accounts) > 0 {
		where = ` AND account_id NOT IN (` + db.Placeholders(len(accounts)) + `)`
	}
	if _, err := tx.Exec(ctx, `DELETE FROM post_targets WHERE post_id = ?`+where, args...); err != nil {
		return fmt.Errorf("removing accounts from a post: %w", err)
	}
	return nil
}
