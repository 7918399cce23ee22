package subscription

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
	"pressroom.example/pressroom/internal/platform/restoreguard"
)

const (
	pollInterval  = time.Second
	dueBatch      = 50
	sendTimeout   = 45 * time.Second
	mailRecordTTL = 400 * 24 * time.Hour // how long the record of an email is kept
	weeklyTTL     = 14 * 24 * time.Hour  // lifetimes of the links in weekly and monthly emails
	monthlyTTL    = 45 * 24 * time.Hour
	sweepBatch    = 500
)

// retryDelays are the delays after failed attempts. After the last delay, there is one more attempt. If it also fails,
// the email is not sent.
var retryDelays = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// Run sends due emails until ctx is canceled. It calls report with each error. Several nodes may run it at the same
// time. It returns immediately if no mail server is configured.
func (s *Service) Run(ctx context.Context, report func(error)) {
	if !s.Mails() {
		return
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if err := s.SendDue(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// SendDue records the emails of the reports that are due and sends all pending emails.
func (s *Service) SendDue(ctx context.Context) error {
	if err := s.beginPeriods(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if more, err := s.sendNext(ctx); err != nil || !more {
			return err
		}
	}
	return nil
}

// dueQuery selects reports whose email is due, unless publishing is on hold after a restore.
const dueQuery = `SELECT report_id FROM report_subscriptions WHERE next_at <= ? AND ` + restoreguard.NotHeld +
	` ORDER BY next_at LIMIT ?`

func (s *Service) beginPeriods(ctx context.Context) error {
	ids, err := db.All(ctx, s.DB, func(rows *sql.Rows, id *string) error { return rows.Scan(id) }, dueQuery,
		db.Micros(s.DB.Now()), dueBatch)
	if err != nil {
		return fmt.Errorf("finding reports to email: %w", err)
	}
	var errs error
	for _, id := range ids {
		errs = errors.Join(errs, s.DB.InTx(ctx, "report.begin_mails", func(ctx context.Context, tx *db.Tx) error {
			return beginPeriod(ctx, tx, id)
		}))
	}
	return errs
}

// beginPeriod records a pending email to each recipient of a report and schedules the next period. If several periods
// were missed, it records only one email per recipient. It does nothing if another node has done this.
func beginPeriod(ctx context.Context, tx *db.Tx, report string) error {
	var schedule Schedule
	var team, dueAt int64
	err := tx.QueryRow(ctx, `UPDATE report_subscriptions SET hour = hour WHERE report_id = ? AND next_at <= ?
		RETURNING team_id, period, day, hour, next_at`, report, db.Micros(tx.Now())).
		Scan(&team, &schedule.Period, &schedule.Day, &schedule.Hour, &dueAt)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("locking the email schedule of report %s: %w", report, err)
	}
	zone, err := readZone(ctx, tx, team)
	if err != nil {
		return err
	}
	now := db.Micros(tx.Now())
	if _, err := tx.Exec(ctx, `INSERT INTO report_mails (recipient_id, period_at, state, try_at, changed_at)
		SELECT id, CAST(? AS BIGINT), 'waiting', CAST(? AS BIGINT), CAST(? AS BIGINT) FROM report_recipients
		WHERE report_id = ? AND unsubscribed_at = 0 ON CONFLICT (recipient_id, period_at) DO NOTHING`,
		dueAt, now, now, report); err != nil {
		return fmt.Errorf("recording the emails of report %s: %w", report, err)
	}
	if _, err := tx.Exec(ctx, `UPDATE report_subscriptions SET next_at = ? WHERE report_id = ?`,
		db.Micros(schedule.Next(tx.Now(), zone)), report); err != nil {
		return fmt.Errorf("setting the time of the next email of report %s: %w", report, err)
	}
	return nil
}

// queuedMail is an email to send.
type queuedMail struct {
	recipient, period int64
	tries             int
	team              int64
	teamName          string
	report            string
	frequency         string // weekly or monthly; empty if the emails were stopped
	recipientAddress  string // empty if the recipient was removed or unsubscribed
	language          string // BCP 47 tag of the member's language, or ""
}

// lang returns the language of an email: the member's language or English.
func (q queuedMail) lang() *locale.Language { return cmp.Or(locale.ByTag(q.language), locale.English) }

// sendNext sends or drops one due email and reports whether there was one.
func (s *Service) sendNext(ctx context.Context) (bool, error) {
	q, found, err := s.nextMail(ctx)
	if err != nil || !found {
		return false, err
	}
	if q.recipientAddress == "" || q.frequency == "" {
		return true, s.finish(ctx, q, "waiting", "dropped", 0)
	}
	summary, err := s.Summarize(ctx, q.lang(), q.team, q.report)
	if apierr.Is(err, apierr.NotFound) { // the report has expired or has no metrics
		return true, s.finish(ctx, q, "waiting", "dropped", 0)
	}
	if err != nil {
		return false, fmt.Errorf("summarizing report %s: %w", q.report, err)
	}
	link, claimed, err := s.claim(ctx, q)
	if err != nil || !claimed {
		return err == nil, err
	}
	q.tries++
	return true, s.deliver(ctx, q, s.composeMail(q, summary, link))
}

// deliver passes an email to the mail server. If the process dies while sending, the email is not sent again, because
// the server may have accepted it. An email that the server rejects is retried.
func (s *Service) deliver(ctx context.Context, q queuedMail, m Mail) error {
	ctx = context.WithoutCancel(ctx)
	sendCtx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	sendErr := s.Send(sendCtx, m)
	if sendErr == nil {
		return s.finish(ctx, q, "sending", "sent", 0)
	}
	s.Log.WarnContext(ctx, "emailing a report failed", "report", q.report, "recipient", q.recipient, "try", q.tries,
		"error", sendErr)
	if q.tries > len(retryDelays) {
		return s.finish(ctx, q, "sending", "failed", 0)
	}
	return s.finish(ctx, q, "sending", "waiting", retryDelays[q.tries-1])
}

// nextMail returns the email that has been due longest. It reports false if none is due.
func (s *Service) nextMail(ctx context.Context) (queuedMail, bool, error) {
	var q queuedMail
	err := s.DB.QueryRow(ctx, `SELECT m.recipient_id, m.period_at, m.tries, r.team_id, t.name, r.report_id,
		COALESCE(s.period, ''), CASE WHEN t.closed_at > 0 OR r.unsubscribed_at > 0 THEN ''
		WHEN r.person_id = 0 THEN r.email ELSE COALESCE(p.email, '') END,
		COALESCE(p.language, '')
		FROM report_mails m JOIN report_recipients r ON r.id = m.recipient_id JOIN teams t ON t.id = r.team_id
		LEFT JOIN report_subscriptions s ON s.report_id = r.report_id
		LEFT JOIN memberships b ON b.team_id = r.team_id AND b.person_id = r.person_id
		LEFT JOIN people p ON p.id = b.person_id AND p.held_at = 0
		WHERE m.try_at > 0 AND m.try_at <= ? AND `+restoreguard.NotHeld+` ORDER BY m.try_at, m.recipient_id LIMIT 1`,
		db.Micros(s.DB.Now())).Scan(&q.recipient, &q.period, &q.tries, &q.team, &q.teamName, &q.report, &q.frequency,
		&q.recipientAddress, &q.language)
	if errors.Is(err, sql.ErrNoRows) {
		return q, false, nil
	}
	if err != nil {
		return q, false, fmt.Errorf("looking for a report to email: %w", err)
	}
	return q, true, nil
}

// claim claims an email for this node and creates its link. It reports false if another node has claimed the email.
func (s *Service) claim(ctx context.Context, q queuedMail) (string, bool, error) {
	var link string
	var claimed bool
	err := s.DB.InTx(ctx, "report.claim_mail", func(ctx context.Context, tx *db.Tx) error {
		link, claimed = "", false
		n, err := tx.Exec(ctx, `UPDATE report_mails SET state = 'sending', try_at = 0, tries = tries + 1, changed_at = ?
			WHERE recipient_id = ? AND period_at = ? AND state = 'waiting' AND tries = ?`, db.Micros(tx.Now()), q.recipient,
			q.period, q.tries)
		if err != nil || n == 0 {
			return err
		}
		claimed = true
		ttl := weeklyTTL
		if q.frequency == Monthly {
			ttl = monthlyTTL
		}
		link, err = s.Links.CreateFor(ctx, tx, q.team, q.report, q.recipient, tx.Now().Add(ttl))
		return err
	})
	if err != nil {
		return "", false, fmt.Errorf("claiming an email of report %s: %w", q.report, err)
	}
	return link, claimed, nil
}

// finish changes the state of an email. If the new state is waiting, the next attempt is due after wait.
func (s *Service) finish(ctx context.Context, q queuedMail, oldState, newState string, wait time.Duration) error {
	return s.DB.InTx(ctx, "report.finish_mail", func(ctx context.Context, tx *db.Tx) error {
		var nextTryAt int64
		if newState == "waiting" {
			nextTryAt = db.Micros(tx.Now().Add(wait))
		}
		if _, err := tx.Exec(ctx, `UPDATE report_mails SET state = ?, try_at = ?, changed_at = ? WHERE recipient_id = ?
			AND period_at = ? AND state = ?`, newState, nextTryAt, db.Micros(tx.Now()), q.recipient, q.period, oldState); err != nil {
			return fmt.Errorf("recording an email of report %s: %w", q.report, err)
		}
		return nil
	})
}

// Sweep deletes a batch of old email records and returns how many it deleted.
func (s *Service) Sweep(ctx context.Context) (int64, error) {
	var n int64
	err := s.DB.InTx(ctx, "report.sweep_mails", func(ctx context.Context, tx *db.Tx) error {
		var err error
		n, err = tx.Exec(ctx, `DELETE FROM report_mails WHERE (recipient_id, period_at) IN (SELECT recipient_id, period_at
			FROM report_mails WHERE period_at <= ? ORDER BY period_at LIMIT ?)`, db.Micros(tx.Now().Add(-mailRecordTTL)), sweepBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sweeping emails of reports: %w", err)
	}
	return n, nil
}

// composeMail returns the email with a summary of a report and a link to it.
func (s *Service) composeMail(q queuedMail, summary Summary, link string) Mail {
	lang, team := q.lang(), plaintext.Line(q.teamName)
	view := content{
		Summary: summary, Lang: lang.Tag, Team: team, Link: link, Unsubscribe: s.PublicURL + Path + s.token(q.recipient),
		Title:    lang.T("Report on %s", summary.Subject),
		Lead:     lang.T("%s, measured %s", summary.Network, summary.Measured),
		TextLead: lang.T("Report on %s (%s), measured %s", summary.Subject, summary.Network, summary.Measured),
		Short:    lang.T("Summary"), Read: lang.T("View full report"), Stop: lang.T("Unsubscribe"),
		Every:    lang.T("Anyone with this link can read the report. %s sends it every week.", team),
		TextStop: lang.T("To stop receiving these emails, open"),
	}
	if q.frequency == Monthly {
		view.Every = lang.T("Anyone with this link can read the report. %s sends it every month.", team)
	}
	return Mail{
		ID: fmt.Sprintf("report-%d-%d", q.recipient, q.period), To: q.recipientAddress, Unsubscribe: view.Unsubscribe,
		Subject: lang.T("%s: report on %s", team, summary.Subject), Text: render(textMail, view), HTML: render(htmlMail, view),
	}
}
