// Package sharelink creates links that show a report to people who cannot sign in. A link is secret, expires, and can
// be revoked. Only a hash of its token is stored.
package sharelink

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Path is the path prefix of shared reports, under the public URL. A link's token follows it.
const Path = "/shared/reports/"

const (
	day        = 24 * time.Hour
	maxLinks   = 20  // maximum number of valid links to a report, except links in emails
	tokenSize  = 26  // characters in a token
	sweepBatch = 500 // maximum number of links deleted per sweep
)

// MaxName is the maximum length of a link's name in characters.
const MaxName = 60

// Lifetimes are the offered lifetimes of a link in days.
var Lifetimes = []int{7, 30, 90}

// Service creates, shows and revokes links.
type Service struct {
	db        *db.DB
	publicURL string
}

// New returns a Service for links under publicURL, which has no trailing slash.
func New(d *db.DB, publicURL string) *Service { return &Service{d, publicURL} }

// Link describes a link. It does not contain the link's token.
type Link struct {
	ID        int64
	Name      string // entered by a person; may be empty
	CreatedBy string // the person's name; empty if the account was deleted
	CreatedAt time.Time
	ExpiresAt time.Time
	OpenedAt  time.Time // when it was last opened, rounded down to the hour; zero if never
	Mailed    bool      // whether the link was sent by email
}

// Target identifies the report that a link leads to.
type Target struct {
	Link, Team     int64
	TeamName, Zone string
	Report, Kind   string
	ExpiresAt      time.Time
}

// Create returns the URL of a new link to a report of the caller's team. The URL cannot be retrieved later, because
// only a hash of its token is stored. name may be empty. days must be one of Lifetimes.
func (s *Service) Create(ctx context.Context, call operation.Call, report, name string, days int) (string, error) {
	if name = strings.TrimSpace(name); utf8.RuneCountInString(name) > MaxName {
		return "", apierr.Invalidf(apierr.TooLong, "name", "The name can have at most %d characters.", MaxName)
	}
	if !slices.Contains(Lifetimes, days) {
		return "", apierr.Invalid(apierr.NotAllowedValue, "days", "Choose how long the link works.")
	}
	var token string
	err := s.db.InTx(ctx, "report.share", func(ctx context.Context, tx *db.Tx) error {
		if err := lock(ctx, tx, call.TeamID, report); err != nil {
			return err
		}
		n, err := countLinks(ctx, tx, report)
		if err != nil {
			return err
		}
		if n >= maxLinks {
			return apierr.BadStatef("links", "The report has %d links. Revoke one first.", maxLinks)
		}
		newToken, id, err := insert(ctx, tx, call.TeamID, call.PersonID, 0, report, name, tx.Now().Add(time.Duration(days)*day))
		if err != nil {
			return err
		}
		token = newToken
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "report.link_created", report,
			map[string]any{"link": id, "days": days})
	})
	if err != nil {
		return "", err
	}
	return s.publicURL + Path + token, nil
}

// insert stores a link and returns its token and ID.
func insert(
	ctx context.Context, tx *db.Tx, team, person, recipient int64, report, name string, expiresAt time.Time,
) (string, int64, error) {
	token := strings.ToLower(rand.Text())
	var id int64
	err := tx.QueryRow(ctx, `INSERT INTO report_links (team_id, report_id, token_hash, created_by, recipient_id,
		name, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		team, report, hashToken(token), person, recipient, name, db.Micros(tx.Now()), db.Micros(expiresAt)).Scan(&id)
	if err != nil {
		return "", 0, fmt.Errorf("storing a link to report %s: %w", report, err)
	}
	return token, id, nil
}

// CreateFor returns the URL of a new link for a recipient of the report's emails.
func (s *Service) CreateFor(
	ctx context.Context, tx *db.Tx, team int64, report string, recipient int64, expiresAt time.Time,
) (string, error) {
	token, _, err := insert(ctx, tx, team, 0, recipient, report, "", expiresAt)
	return s.publicURL + Path + token, err
}

func hashToken(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// lock locks a report of a team. It returns not_found if the team has no such report.
func lock(ctx context.Context, tx *db.Tx, team int64, report string) error {
	n, err := tx.Exec(ctx, `UPDATE reports SET subject = subject WHERE id = ? AND team_id = ?`, report, team)
	if err != nil {
		return fmt.Errorf("locking report %s: %w", report, err)
	}
	if n == 0 {
		return apierr.ItemNotFound()
	}
	return nil
}

// countLinks returns the number of valid links to a report, except links in emails.
func countLinks(ctx context.Context, tx *db.Tx, report string) (int, error) {
	var n int
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM report_links WHERE report_id = ? AND expires_at > ?
		AND recipient_id = 0`, report,
		db.Micros(tx.Now())).Scan(&n); err != nil {
		return 0, fmt.Errorf("counting the links of report %s: %w", report, err)
	}
	return n, nil
}

// List returns the valid links of a team's report, newest first.
func (s *Service) List(ctx context.Context, team int64, report string) ([]Link, error) {
	out, err := db.All(ctx, s.db, func(rows *sql.Rows, l *Link) error {
		var createdAt, expiresAt, openedAt, recipient int64
		err := rows.Scan(&l.ID, &l.Name, &l.CreatedBy, &createdAt, &expiresAt, &openedAt, &recipient)
		l.Mailed = recipient > 0
		l.CreatedAt, l.ExpiresAt = db.Time(createdAt), db.Time(expiresAt)
		if openedAt > 0 {
			l.OpenedAt = db.Time(openedAt)
		}
		return err
	}, `SELECT l.id, l.name, COALESCE(p.name, ''), l.created_at, l.expires_at, l.opened_at, l.recipient_id
		FROM report_links l
		LEFT JOIN people p ON p.id = l.created_by
		WHERE l.report_id = ? AND l.team_id = ? AND l.expires_at > ? ORDER BY l.id DESC`,
		report, team, db.Micros(s.db.Now()))
	if err != nil {
		return nil, fmt.Errorf("listing the links of report %s: %w", report, err)
	}
	return out, nil
}

// Revoke revokes a link of the caller's team. It returns not_found if the link does not exist or was already revoked.
func (s *Service) Revoke(ctx context.Context, call operation.Call, report string, link int64) error {
	return s.db.InTx(ctx, "report.unshare", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM report_links WHERE id = ? AND report_id = ? AND team_id = ?`, link, report,
			call.TeamID)
		if err != nil {
			return fmt.Errorf("revoking a link to report %s: %w", report, err)
		}
		if n == 0 {
			return apierr.ItemNotFound()
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "report.link_revoked", report,
			map[string]any{"link": link})
	})
}

// Replace revokes a link and returns the URL of a new link with the same name and expiry, for people who no longer have
// the old URL. It returns not_found if the old link has expired, was revoked or was sent by email.
func (s *Service) Replace(ctx context.Context, call operation.Call, report string, link int64) (string, error) {
	var token string
	err := s.db.InTx(ctx, "report.share", func(ctx context.Context, tx *db.Tx) error {
		var expires int64
		var name string
		err := tx.QueryRow(ctx, `DELETE FROM report_links WHERE id = ? AND report_id = ? AND team_id = ? AND expires_at > ?
			AND recipient_id = 0 RETURNING expires_at, name`, link, report, call.TeamID, db.Micros(tx.Now())).Scan(&expires, &name)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.ItemNotFound()
		}
		if err != nil {
			return fmt.Errorf("replacing a link to report %s: %w", report, err)
		}
		expiresAt := db.Time(expires)
		newToken, id, err := insert(ctx, tx, call.TeamID, call.PersonID, 0, report, name, expiresAt)
		if err != nil {
			return err
		}
		token = newToken
		actor, days := auditlog.NewActor(call), int(math.Ceil(expiresAt.Sub(tx.Now()).Hours()/24))
		if err := auditlog.Record(ctx, tx, call.TeamID, actor, "report.link_revoked", report,
			map[string]any{"link": link}); err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, call.TeamID, actor, "report.link_created", report, map[string]any{"link": id, "days": days})
	})
	if err != nil {
		return "", err
	}
	return s.publicURL + Path + token, nil
}

// Open returns the report of a token and records that its link was opened. It returns not_found for unknown, expired
// and revoked tokens, for tokens of closed teams, and if the report has no metrics yet.
func (s *Service) Open(ctx context.Context, token string) (Target, error) {
	var out Target
	if len(token) != tokenSize {
		return out, apierr.ItemNotFound()
	}
	var expiresAt, openedAt int64
	err := s.db.QueryRow(ctx, `SELECT l.id, l.team_id, t.name, t.timezone, r.id, r.kind, l.expires_at, l.opened_at
		FROM report_links l JOIN teams t ON t.id = l.team_id JOIN reports r ON r.id = l.report_id
		WHERE l.token_hash = ? AND l.expires_at > ? AND t.closed_at = 0 AND r.measured_at > 0`,
		hashToken(token), db.Micros(s.db.Now())).Scan(&out.Link, &out.Team, &out.TeamName, &out.Zone, &out.Report, &out.Kind,
		&expiresAt, &openedAt)
	if errors.Is(err, sql.ErrNoRows) {
		return out, apierr.ItemNotFound()
	}
	if err != nil {
		return out, fmt.Errorf("opening a shared report: %w", err)
	}
	out.ExpiresAt = db.Time(expiresAt)
	return out, s.recordOpening(ctx, out.Link, openedAt)
}

// recordOpening records that a link was opened, at most once an hour.
func (s *Service) recordOpening(ctx context.Context, link, previous int64) error {
	hour := db.Micros(s.db.Now().Truncate(time.Hour))
	if previous >= hour {
		return nil
	}
	return s.db.InTx(ctx, "report.link_opened", func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.Exec(ctx, `UPDATE report_links SET opened_at = ? WHERE id = ? AND opened_at < ?`, hour, link,
			hour); err != nil {
			return fmt.Errorf("recording that a link was opened: %w", err)
		}
		return nil
	})
}

// Sweep deletes a batch of expired links and returns how many it deleted.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.db.InTx(ctx, "report.sweep_links", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM report_links WHERE id IN (SELECT id FROM report_links WHERE expires_at <= ?
			ORDER BY expires_at LIMIT ?)`, db.Micros(tx.Now()), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping links to reports: %w", err)
	}
	return n, nil
}
