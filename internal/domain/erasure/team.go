package erasure

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Contents counts the data that is deleted with a team.
type Contents struct {
	Posts, Scheduled, Series, Accounts, Media, Reports, Tracked, Lists, Voices, Keys, Assistants, Members int64
	Bytes                                                                                                 int64 // size of the media
	Credits                                                                                               int64 // remaining
}

// CountContents counts the data that deleting the team would delete. Each count reads only an index, so series
// templates are counted separately and subtracted.
func (s *Service) CountContents(ctx context.Context, team int64) (Contents, error) {
	var out Contents
	err := s.DB.QueryRow(ctx,
		`SELECT (SELECT COUNT(*) FROM posts WHERE team_id = t.id) - (SELECT COUNT(*) FROM posts
		WHERE team_id = t.id AND is_template = 1),
		(SELECT COUNT(*) FROM posts WHERE team_id = t.id AND status = 'scheduled') - (SELECT COUNT(*) FROM posts
		WHERE team_id = t.id AND status = 'scheduled' AND is_template = 1),
		(SELECT COUNT(*) FROM posts WHERE team_id = t.id AND is_template = 1), (SELECT COUNT(*) FROM social_accounts
		WHERE team_id = t.id AND disconnected_at = 0), (SELECT COUNT(*) FROM media
		WHERE team_id = t.id AND deleted_at = 0), (SELECT COUNT(*) FROM reports WHERE team_id = t.id),
		(SELECT COUNT(*) FROM reports WHERE team_id = t.id AND tracked = 1), (SELECT COUNT(*) FROM hashtag_lists
		WHERE team_id = t.id), (SELECT COUNT(*) FROM brand_voices WHERE team_id = t.id),
		(SELECT COUNT(*) FROM api_keys WHERE team_id = t.id AND kind = 'key' AND revoked_at = 0), (SELECT COUNT(*)
		FROM api_keys WHERE team_id = t.id AND kind = 'assistant' AND revoked_at = 0 AND lost = ''), (SELECT COUNT(*)
		FROM memberships WHERE team_id = t.id),
		COALESCE((SELECT used_bytes FROM storage WHERE team_id = t.id), 0), COALESCE((SELECT available FROM wallets
		WHERE team_id = t.id), 0) FROM teams t WHERE t.id = ?`, team).
		Scan(&out.Posts, &out.Scheduled, &out.Series, &out.Accounts, &out.Media, &out.Reports, &out.Tracked, &out.Lists,
			&out.Voices, &out.Keys, &out.Assistants, &out.Members, &out.Bytes, &out.Credits)
	if err != nil {
		return out, fmt.Errorf("counting the contents of team %d: %w", team, err)
	}
	return out, nil
}

var (
	errWrongName = apierr.Invalid(apierr.NotAllowedValue, "name",
		"This is not the team’s name. Enter it exactly as shown above.")
	errOtherTeams = apierr.BadState("other_teams",
		"You belong to other teams as well. Leave them first, then delete your account.")
	errDeleted = apierr.BadState("deleted", "The team is already being deleted.")
)

// RequestDeletion starts the deletion of a team. Only the owner may call it, with the team's name as confirmation.
// Publishing and the team's keys stop working, and the data is deleted in the background. If deleteAccount is set, the
// owner's account is deleted too. It returns an error if deleteAccount is set and the owner belongs to another team.
func (s *Service) RequestDeletion(ctx context.Context, person, team int64, name string, deleteAccount bool) error {
	return s.DB.InTx(ctx, "leaving.ask", func(ctx context.Context, tx *db.Tx) error {
		if err := s.checkOwner(ctx, tx, person, team, name); err != nil {
			return err
		}
		if err := ensureOperatorRemains(ctx, tx, team, 0, errLastOperator); err != nil {
			return err
		}
		var otherTeams int64
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM memberships WHERE person_id = ? AND team_id <> ?`, person,
			team).Scan(&otherTeams); err != nil {
			return fmt.Errorf("counting a person's teams: %w", err)
		}
		if deleteAccount && otherTeams > 0 {
			return errOtherTeams
		}
		if _, err := tx.Exec(ctx,
			`INSERT INTO team_deletions (team_id, asked_by, asked_at, with_person) VALUES (?, ?, ?, ?)`, team, person,
			db.Micros(tx.Now()), db.BoolToInt(deleteAccount)); err != nil {
			return fmt.Errorf("storing the deletion of team %d: %w", team, err)
		}
		if _, err := tx.Exec(ctx, `UPDATE teams SET deleted_at = ? WHERE id = ?`, db.Micros(tx.Now()),
			team); err != nil {
			return fmt.Errorf("marking team %d as deleted: %w", team, err)
		}
		if err := s.stopWork(ctx, tx, team); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "team.deletion_begun",
			strconv.FormatInt(team, 10), nil)
	})
}

// checkOwner locks the team. It returns an error if person does not own the team or the name is wrong.
func (s *Service) checkOwner(ctx context.Context, tx *db.Tx, person, team int64, name string) error {
	var teamName string
	var deletedAt int64
	if err := tx.QueryRow(ctx, `SELECT name, deleted_at FROM teams WHERE id = ?`+s.DB.ForUpdate(), team).Scan(&teamName,
		&deletedAt); err != nil {
		return apierr.ItemNotFound()
	}
	var found int
	err := tx.QueryRow(ctx, `SELECT 1 FROM memberships WHERE team_id = ? AND person_id = ? AND role = 'owner'`, team,
		person).Scan(&found)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return apierr.ItemNotFound()
	case err != nil:
		return fmt.Errorf("checking the owner of team %d: %w", team, err)
	case deletedAt > 0:
		return errDeleted
	case strings.TrimSpace(name) != teamName:
		return errWrongName
	}
	return nil
}

// maxRefunds is the maximum number of refunds per transaction. Later calls of stopWork refund the rest.
const maxRefunds = 200

// stopWork stops a team's publishing, tracking and jobs, and refunds open reservations. It increments the epochs of
// deliveries and jobs, so that workers cannot write results. The result of a network call in progress is therefore
// lost.
func (s *Service) stopWork(ctx context.Context, tx *db.Tx, team int64) error {
	now := db.Micros(tx.Now())
	for _, update := range []struct {
		statement string
		args      []any
	}{
		{`UPDATE teams SET closed_at = ? WHERE id = ? AND closed_at = 0`, []any{now, team}},
		{`UPDATE posts SET status = 'draft' WHERE team_id = ? AND status = 'scheduled'`, []any{team}},
		{`UPDATE post_series SET wake_at = 0 WHERE team_id = ? AND wake_at > 0`, []any{team}},
		{`UPDATE deliveries SET phase = 'ended', outcome = 'failed', error_code = 'team_closed', owner = '',
		lease_until = 0, wake_at = 0, epoch = epoch + 1, ended_at = ? WHERE team_id = ? AND phase <> 'ended'`,
			[]any{now, team}},
		{`UPDATE reports SET tracked = 0, next_refresh_at = 0 WHERE team_id = ? AND tracked = 1`, []any{team}},
		{`UPDATE jobs SET state = 'failed', error_code = 'team_closed', finished_at = ?, owner = '', lease_until = 0,
		wake_at = 0, epoch = epoch + 1 WHERE team_id = ? AND finished_at = 0`, []any{now, team}},
	} {
		if _, err := tx.Exec(ctx, update.statement, update.args...); err != nil {
			return fmt.Errorf("stopping team %d: %w", team, err)
		}
	}
	reservations, err := db.All(ctx, tx, scanID,
		`SELECT id FROM reservations WHERE team_id = ? AND state = 'open' ORDER BY created_at LIMIT ?`, team,
		maxRefunds)
	if err != nil {
		return fmt.Errorf("finding the reservations of team %d: %w", team, err)
	}
	for _, reservation := range reservations {
		if err := s.Refund(ctx, tx, reservation); err != nil {
			return fmt.Errorf("refunding the reservations of team %d: %w", team, err)
		}
	}
	return bumpAccessVersion(ctx, tx)
}

func scanID(rows *sql.Rows, id *int64) error { return rows.Scan(id) }

// Progress is the progress of a deletion.
type Progress struct {
	RequestedAt time.Time
	Removed     int64 // items deleted so far
}

// Progress returns the progress of a team's deletion. It returns not_found if the team is not being deleted.
func (s *Service) Progress(ctx context.Context, team int64) (Progress, error) {
	var out Progress
	var requestedAt int64
	err := s.DB.QueryRow(ctx, `SELECT asked_at, removed FROM team_deletions WHERE team_id = ? AND ended_at = 0`,
		team).Scan(&requestedAt, &out.Removed)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("reading the progress of deleting team %d: %w", team, err)
	}
	out.RequestedAt = db.Time(requestedAt)
	return out, nil
}
