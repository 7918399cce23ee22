package notification

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// fromVisibleNotices selects a person's notifications. It omits notifications about teams that the person has left.
const fromVisibleNotices = ` FROM notices n LEFT JOIN memberships m ON m.team_id = n.team_id AND m.person_id = n.person_id LEFT
		JOIN teams t ON t.id = n.team_id
	WHERE n.person_id = ? AND (n.team_id = 0 OR m.person_id IS NOT NULL) AND `

// inAppCondition omits the kinds that a person muted in the app.
const inAppCondition = `NOT EXISTS (SELECT 1 FROM notice_mutes h WHERE h.person_id = n.person_id AND h.kind = n.kind) AND `

const selectColumns = `SELECT n.id, n.team_id, COALESCE(t.name, ''), COALESCE(
		(SELECT NULLIF(p.timezone, '') FROM people p WHERE p.id = n.person_id), t.timezone,
		(SELECT o.timezone FROM memberships f JOIN teams o ON o.id = f.team_id WHERE f.person_id = n.person_id
		ORDER BY o.id LIMIT 1), 'UTC'),
	n.kind, n.subject, n.detail, n.created_at, n.read_at, n.unmailed,
	COALESCE((SELECT x.excerpt FROM posts x WHERE x.id = n.subject AND x.team_id = n.team_id), ''),
	COALESCE((SELECT x.status FROM posts x WHERE x.id = n.subject AND x.team_id = n.team_id), ''),
	` + clientColumnExpr + `client_name` + fromCommentClause + `client_name` + fromDecisionClause + `,
	` + clientColumnExpr + `comment` + fromCommentClause + `comment` + fromDecisionClause

// Fragments of an SQL expression that selects a column of the client's comment or decision that a notification is
// about. The column follows clientColumnExpr and fromCommentClause.
const (
	clientColumnExpr  = `COALESCE(CASE n.kind WHEN 'approval_comment' THEN (SELECT c.`
	fromCommentClause = ` FROM approval_comments c WHERE c.post_id = n.subject AND c.team_id = n.team_id AND c.client_name <> ''
	AND c.created_at <= n.created_at ORDER BY c.id DESC LIMIT 1)
	WHEN 'approval_decided' THEN (SELECT a.`
	fromDecisionClause = ` FROM post_approvals a JOIN posts x ON x.id = a.post_id WHERE a.post_id = n.subject AND
	x.team_id = n.team_id AND a.decided_at BETWEEN n.created_at - 60000000 AND n.created_at ORDER BY a.round DESC LIMIT 1) END, '')`
)

func scan(rows *sql.Rows, n *Notification) error {
	var raw, zone string
	var at, readAt int64
	if err := rows.Scan(&n.ID, &n.Team, &n.TeamName, &zone, &n.Kind, &n.Subject, &raw, &at, &readAt, &n.Unmailed,
		&n.Post, &n.status, &n.Client, &n.Quote); err != nil {
		return err
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return fmt.Errorf("reading the zone of team %d: %w", n.Team, err)
	}
	n.At, n.Read = db.Time(at).In(location), readAt > 0
	if err := json.Unmarshal([]byte(raw), &n.detail); err != nil {
		return fmt.Errorf("reading the details of notice %d: %w", n.ID, err)
	}
	return nil
}

// List returns at most limit of a person's notifications from all teams, newest first, without muted kinds. If before
// is not 0, it returns only notifications with lower IDs.
func (s *Service) List(ctx context.Context, person, before int64, limit int) ([]Notification, error) {
	return s.list(ctx, person, before, limit, `1 = 1`)
}

// ListUnread is like List, but returns only unread notifications.
func (s *Service) ListUnread(ctx context.Context, person, before int64, limit int) ([]Notification, error) {
	return s.list(ctx, person, before, limit, `n.read_at = 0`)
}

func (s *Service) list(ctx context.Context, person, beforeID int64, limit int, where string) ([]Notification, error) {
	args := []any{person}
	if beforeID > 0 {
		where, args = where+` AND n.id < ?`, append(args, beforeID)
	}
	out, err := db.AllSized(ctx, s.db, limit, scan,
		selectColumns+fromVisibleNotices+inAppCondition+where+` ORDER BY n.id DESC LIMIT ?`,
		append(args, limit)...)
	if err != nil {
		return nil, fmt.Errorf("reading the notices of person %d: %w", person, err)
	}
	return out, nil
}

// Get returns one of a person's notifications. It returns not_found if the person has no such notification.
func (s *Service) Get(ctx context.Context, person, id int64) (Notification, error) {
	out, err := db.All(ctx, s.db, scan, selectColumns+fromVisibleNotices+`n.id = ?`, person, id)
	if err != nil {
		return Notification{}, fmt.Errorf("reading notice %d: %w", id, err)
	}
	if len(out) == 0 {
		return Notification{}, apierr.ItemNotFound()
	}
	return out[0], nil
}

// MaxUnread is the maximum number of unread notifications that Unread counts.
const MaxUnread = 100

// resultKey is an SQL expression that is equal for all notifications about the same result of a post.
const resultKey = `CASE WHEN n.kind IN ('post_failed', 'post_unconfirmed')
	THEN n.kind || ' ' || CAST(n.team_id AS TEXT) || ' ' || n.subject ELSE CAST(n.id AS TEXT) END`

// Unread counts a person's unread notifications without muted kinds, up to MaxUnread. Notifications about the same
// result of a post count once.
func (s *Service) Unread(ctx context.Context, person int64) (int, error) {
	var n int
	if err := s.db.QueryRow(ctx, `SELECT COUNT(*) FROM (SELECT DISTINCT `+resultKey+fromVisibleNotices+inAppCondition+
		`n.read_at = 0 LIMIT ?) u`, person, MaxUnread).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting unread notices: %w", err)
	}
	return n, nil
}

// sameResultCondition is an SQL condition that selects a notification by its ID, and the notifications about the same
// result of a post on other accounts. Both placeholders are the ID.
const sameResultCondition = `(id = ? OR EXISTS (SELECT 1 FROM notices o WHERE o.id = ? AND o.person_id = notices.person_id
	AND o.team_id = notices.team_id AND o.kind = notices.kind AND o.subject = notices.subject
	AND o.kind IN ('post_failed', 'post_unconfirmed')))`

// MarkRead marks one of a person's notifications as read. It also marks the notifications about the same result of a
// post on other accounts. If all is set, it marks all notifications up to the ID.
func (s *Service) MarkRead(ctx context.Context, person, id int64, all bool) error {
	condition, args := sameResultCondition, []any{id, id}
	if all {
		condition, args = `id <= ?`, []any{id}
	}
	return s.db.InTx(ctx, "notice.read", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE notices SET read_at = ? WHERE person_id = ? AND read_at = 0 AND `+condition,
			append([]any{db.Micros(tx.Now()), person}, args...)...); err != nil {
			return fmt.Errorf("marking notices as read: %w", err)
		}
		return nil
	})
}

// Delete deletes a team's notifications of a kind about a subject, for all people.
func (s *Service) Delete(ctx context.Context, team int64, kind Kind, subject string) error {
	return s.db.InTx(ctx, "notice.forget", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `DELETE FROM notices WHERE team_id = ? AND kind = ? AND subject = ?`, team,
			string(kind), subject); err != nil {
			return fmt.Errorf("deleting notices: %w", err)
		}
		return nil
	})
}

// retention is how long notifications are kept.
const retention = 90 * 24 * time.Hour

// Sweep deletes at most 1,000 notifications older than 90 days. It returns the number of deleted notifications.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "notice.sweep", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx,
			`DELETE FROM notices WHERE id IN (SELECT id FROM notices WHERE created_at < ? ORDER BY created_at
		LIMIT 1000)`, db.Micros(tx.Now().Add(-retention)))
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("deleting old notices: %w", err)
	}
	return n, nil
}

// MutedKinds holds the kinds of notifications that a person does not want, in the app and by email.
type MutedKinds struct{ App, Mail []Kind }

// Muted returns the kinds of notifications that a person muted.
func (s *Service) Muted(ctx context.Context, person int64) (MutedKinds, error) {
	var out MutedKinds
	kinds := func(table string) ([]Kind, error) {
		return db.All(ctx, s.db, func(rows *sql.Rows, k *Kind) error { return rows.Scan(k) },
			`SELECT kind FROM `+table+` WHERE person_id = ?`, person)
	}
	var err error
	if out.App, err = kinds("notice_mutes"); err == nil {
		out.Mail, err = kinds("notice_choices")
	}
	if err != nil {
		return MutedKinds{}, fmt.Errorf("reading the muted kinds of person %d: %w", person, err)
	}
	return out, nil
}

// SetMuted sets the kinds of notifications that a person does not want. It ignores unknown kinds.
func (s *Service) SetMuted(ctx context.Context, person int64, muted MutedKinds) error {
	return s.db.InTx(ctx, "notice.choose", func(ctx context.Context, tx *db.Tx) error {
		if err := replaceKinds(ctx, tx, "notice_mutes", person, muted.App); err != nil {
			return err
		}
		return replaceKinds(ctx, tx, "notice_choices", person, muted.Mail)
	})
}

// replaceKinds replaces a person's kinds in a table.
func replaceKinds(ctx context.Context, tx *db.Tx, table string, person int64, kinds []Kind) error {
	if _, err := tx.Exec(ctx, `DELETE FROM `+table+` WHERE person_id = ?`, person); err != nil {
		return fmt.Errorf("deleting the muted kinds of a person: %w", err)
	}
	for _, k := range Kinds {
		if !slices.Contains(kinds, k.Kind) {
			continue
		}
		if _, err := tx.Exec(ctx, `INSERT INTO `+table+` (person_id, kind) VALUES (?, ?) ON CONFLICT DO NOTHING`, person,
			string(k.Kind)); err != nil {
			return fmt.Errorf("storing the muted kinds of a person: %w", err)
		}
	}
	return nil
}

// Threshold returns the number of credits below which a team is notified. 0 means never.
func (s *Service) Threshold(ctx context.Context, team int64) (int64, error) {
	var n int64
	err := s.db.QueryRow(ctx, `SELECT credits FROM notice_thresholds WHERE team_id = ?`, team).Scan(&n)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, fmt.Errorf("reading the threshold of low credits: %w", err)
	}
	return n, nil
}

const maxThreshold = 1_000_000_000_000

// SetThreshold sets the number of credits below which a team is notified. 0 means never. Only the team's owner can set
// it.
func (s *Service) SetThreshold(ctx context.Context, person, team, credits int64) error {
	if credits < 0 || credits > maxThreshold {
		return apierr.Invalid(apierr.OutOfRange, "credits", "Enter a threshold from 0 to 1,000,000,000,000 credits.")
	}
	return s.db.InTx(ctx, "notice.set_threshold", func(ctx context.Context, tx *db.Tx) error {
		var ownerCount int
		if err := tx.QueryRow(ctx,
			`SELECT COUNT(*) FROM memberships WHERE team_id = ? AND person_id = ? AND role = 'owner'`, team,
			person).Scan(&ownerCount); err != nil {
			return fmt.Errorf("finding the owner: %w", err)
		}
		if ownerCount == 0 {
			return apierr.ItemNotFound()
		}
		_, err := tx.Exec(ctx,
			`INSERT INTO notice_thresholds (team_id, credits) VALUES (?, ?) ON CONFLICT (team_id) DO UPDATE
		SET credits = excluded.credits, told_at = 0`, team, credits)
		if err != nil {
			return fmt.Errorf("storing the threshold of low credits: %w", err)
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{PersonID: person}, "credits.threshold_set",
			fmt.Sprint(team), map[string]any{"credits": credits})
	})
}
