package subscription

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// Recipient receives a report by email.
type Recipient struct {
	ID           int64
	PersonID     int64  // 0 if not a member
	Name         string // of the member
	Email        string
	Unsubscribed bool
	SentAt       time.Time // when the last email was sent; zero if never
	Failed       bool      // whether the newest email could not be sent
}

// Subscription is the schedule of a report and its recipients.
type Subscription struct {
	Schedule

	On         bool
	NextAt     time.Time // zero unless On
	Recipients []Recipient
}

// Get returns the subscription of a team's report. If there is none, it returns a default schedule that is off.
func (s *Service) Get(ctx context.Context, team int64, report string) (Subscription, error) {
	var out Subscription
	var nextAt int64
	err := s.DB.QueryRow(ctx, `SELECT period, day, hour, next_at FROM report_subscriptions WHERE report_id = ?
		AND team_id = ?`, report, team).Scan(&out.Period, &out.Day, &out.Hour, &nextAt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		out.Schedule = Schedule{Period: Weekly, Day: 1, Hour: 9}
	case err != nil:
		return out, fmt.Errorf("reading the email schedule of report %s: %w", report, err)
	default:
		out.On, out.NextAt = true, db.Time(nextAt)
	}
	out.Recipients, err = db.All(ctx, s.DB, func(rows *sql.Rows, r *Recipient) error {
		var sentAt, unsubscribedAt, failedAt int64
		err := rows.Scan(&r.ID, &r.PersonID, &r.Name, &r.Email, &unsubscribedAt, &sentAt, &failedAt)
		r.Unsubscribed, r.Failed = unsubscribedAt > 0, failedAt > sentAt
		if sentAt > 0 {
			r.SentAt = db.Time(sentAt)
		}
		return err
	}, `SELECT r.id, r.person_id, COALESCE(p.name, ''), COALESCE(p.email, r.email), r.unsubscribed_at,
		COALESCE((SELECT MAX(changed_at) FROM report_mails m WHERE m.recipient_id = r.id AND m.state = 'sent'), 0),
		COALESCE((SELECT MAX(changed_at) FROM report_mails m WHERE m.recipient_id = r.id AND m.state = 'failed'), 0)
		FROM report_recipients r LEFT JOIN people p ON p.id = r.person_id AND r.person_id > 0
		WHERE r.report_id = ? AND r.team_id = ? ORDER BY r.id`, report, team)
	if err != nil {
		return out, fmt.Errorf("reading the recipients of report %s: %w", report, err)
	}
	return out, nil
}

// errNoMail is returned by Save, AddMember and AddAddress if no mail server is configured.
var errNoMail = apierr.BadState("no_mail", "This service has no mail server, so it cannot email reports.")

// Save sets when a report of the caller's team is emailed.
func (s *Service) Save(ctx context.Context, call operation.Call, report string, schedule Schedule) error {
	if !s.Mails() {
		return errNoMail
	}
	if err := schedule.check(); err != nil {
		return err
	}
	return s.DB.InTx(ctx, "report.schedule_mail", func(ctx context.Context, tx *db.Tx) error {
		zone, err := lock(ctx, tx, call.TeamID, report)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `INSERT INTO report_subscriptions
			(report_id, team_id, period, day, hour, next_at, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (report_id) DO UPDATE SET period = excluded.period, day = excluded.day, hour = excluded.hour,
			next_at = excluded.next_at`, report, call.TeamID, schedule.Period, schedule.Day, schedule.Hour,
			db.Micros(schedule.Next(tx.Now(), zone)), call.PersonID, db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("storing the email schedule of report %s: %w", report, err)
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "report.mail_scheduled", report,
			map[string]any{"period": schedule.Period})
	})
}

// Stop stops emailing a report. The list of recipients is kept. It returns not_found if the report is not emailed.
func (s *Service) Stop(ctx context.Context, call operation.Call, report string) error {
	return s.DB.InTx(ctx, "report.stop_mail", func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `DELETE FROM report_subscriptions WHERE report_id = ? AND team_id = ?`, report, call.TeamID)
		if err != nil {
			return fmt.Errorf("stopping the emails of report %s: %w", report, err)
		}
		if n == 0 {
			return apierr.ItemNotFound()
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "report.mail_stopped", report, nil)
	})
}

// lock locks a team's report and returns the team's time zone. It returns not_found if the team has no such report.
func lock(ctx context.Context, tx *db.Tx, team int64, report string) (*time.Location, error) {
	n, err := tx.Exec(ctx, `UPDATE reports SET subject = subject WHERE id = ? AND team_id = ?`, report, team)
	if err != nil {
		return nil, fmt.Errorf("locking report %s: %w", report, err)
	}
	if n == 0 {
		return nil, apierr.ItemNotFound()
	}
	return readZone(ctx, tx, team)
}

func readZone(ctx context.Context, q db.Querier, team int64) (*time.Location, error) {
	var name string
	if err := q.QueryRow(ctx, `SELECT timezone FROM teams WHERE id = ?`, team).Scan(&name); err != nil {
		return nil, fmt.Errorf("reading the time zone of team %d: %w", team, err)
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("loading the time zone of team %d: %w", team, err)
	}
	return zone, nil
}

// AddMember adds a member of the caller's team to the recipients of a report.
func (s *Service) AddMember(ctx context.Context, call operation.Call, report string, person int64) error {
	return s.add(ctx, call, report, func(ctx context.Context, tx *db.Tx) (int64, string, error) {
		var n int64
		err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM memberships WHERE team_id = ? AND person_id = ?`, call.TeamID,
			person).Scan(&n)
		if err != nil {
			return 0, "", fmt.Errorf("looking for a member of team %d: %w", call.TeamID, err)
		}
		if n == 0 {
			return 0, "", apierr.Invalid(apierr.NotAllowedValue, "person", "Choose a member of the team.")
		}
		return person, "", nil
	})
}

// AddAddress adds an email address to the recipients of a report. The caller must have checked that the person may
// manage the team.
func (s *Service) AddAddress(ctx context.Context, call operation.Call, report, email string) error {
	email = strings.ToLower(strings.TrimSpace(email))
	parsed, err := mail.ParseAddress(email)
	if err != nil || parsed.Address != email || len(email) > maxEmailLength {
		return apierr.Invalid(apierr.Malformed, "email", "Enter an email address.")
	}
	return s.add(ctx, call, report, func(ctx context.Context, tx *db.Tx) (int64, string, error) {
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM report_recipients WHERE team_id = ? AND person_id = 0`,
			call.TeamID).Scan(&n); err != nil {
			return 0, "", fmt.Errorf("counting the addresses of team %d: %w", call.TeamID, err)
		}
		if n >= maxAddresses {
			return 0, "", apierr.BadStatef("addresses",
				"The team emails reports to %d addresses. Remove one first.", maxAddresses)
		}
		return 0, email, nil
	})
}

// add adds the recipient that pick returns: a person's ID, or 0 and an email address.
func (s *Service) add(
	ctx context.Context, call operation.Call, report string, pick func(context.Context, *db.Tx) (int64, string, error),
) error {
	if !s.Mails() {
		return errNoMail
	}
	return s.DB.InTx(ctx, "report.add_recipient", func(ctx context.Context, tx *db.Tx) error {
		if _, err := lock(ctx, tx, call.TeamID, report); err != nil {
			return err
		}
		person, email, err := pick(ctx, tx)
		if err != nil {
			return err
		}
		var n int
		if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM report_recipients WHERE report_id = ?`, report).
			Scan(&n); err != nil {
			return fmt.Errorf("counting the recipients of report %s: %w", report, err)
		}
		if n >= maxRecipients {
			return apierr.BadStatef("recipients",
				"The report has %d recipients. Remove one first.", maxRecipients)
		}
		addedCount, err := tx.Exec(ctx, `INSERT INTO report_recipients (team_id, report_id, person_id, email, added_by,
			created_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (report_id, person_id, email) DO NOTHING`,
			call.TeamID, report, person, email, call.PersonID, db.Micros(tx.Now()))
		if err != nil {
			return fmt.Errorf("adding a recipient of report %s: %w", report, err)
		}
		if addedCount == 0 {
			return apierr.BadState("recipient", "This recipient is already in the list.")
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "report.recipient_added", report, nil)
	})
}

// errUnsubscribed is returned by Remove for an address that unsubscribed. The remaining entry prevents the address from
// being added again.
var errUnsubscribed = apierr.BadState("unsubscribed",
	"This recipient unsubscribed. The entry stays, so that nobody adds it again by mistake.")

// Remove removes a recipient of a report and revokes the links in the recipient's emails.
func (s *Service) Remove(ctx context.Context, call operation.Call, report string, recipient int64) error {
	return s.DB.InTx(ctx, "report.remove_recipient", func(ctx context.Context, tx *db.Tx) error {
		var unsubscribedAt, person int64
		err := tx.QueryRow(ctx, `SELECT unsubscribed_at, person_id FROM report_recipients WHERE id = ? AND report_id = ?
			AND team_id = ?`, recipient, report, call.TeamID).Scan(&unsubscribedAt, &person)
		if errors.Is(err, sql.ErrNoRows) {
			return apierr.ItemNotFound()
		}
		if err != nil {
			return fmt.Errorf("reading a recipient of report %s: %w", report, err)
		}
		if unsubscribedAt > 0 && person == 0 {
			return errUnsubscribed
		}
		if err := removeLinks(ctx, tx, recipient); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM report_recipients WHERE id = ?`, recipient); err != nil {
			return fmt.Errorf("removing a recipient of report %s: %w", report, err)
		}
		return auditlog.Record(ctx, tx, call.TeamID, auditlog.NewActor(call), "report.recipient_removed", report, nil)
	})
}

func removeLinks(ctx context.Context, tx *db.Tx, recipient int64) error {
	if _, err := tx.Exec(ctx, `DELETE FROM report_links WHERE recipient_id = ?`, recipient); err != nil {
		return fmt.Errorf("revoking the links of a recipient: %w", err)
	}
	return nil
}
