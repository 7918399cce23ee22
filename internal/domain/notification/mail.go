package notification

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/platform/plaintext"
)

// Mail is an email to one address.
type Mail struct {
	ID      string // same for every attempt
	To      string
	Subject string
	Text    string
	HTML    string // HTML version of Text; empty for plain text only
	// Unsubscribe is the URL for one-click unsubscription (RFC 8058). It may be empty.
	Unsubscribe string
}

const (
	pollInterval    = 5 * time.Second  // interval of checks for due messages
	minMailInterval = 10 * time.Minute // minimum time between two emails of the same kind about a team
	claimTime       = 5 * time.Minute  // how long a node claims an email
	maxMailAge      = 24 * time.Hour   // older notifications are not sent by email
	maxMailLines    = 10               // maximum number of notifications in an email
)

// retryDelays are the delays after failed attempts. After the last failed attempt, the email is discarded.
var retryDelays = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 6 * time.Hour}

// RunMail sends due emails until ctx is canceled.
func (s *Service) RunMail(ctx context.Context, report func(error)) {
	if !s.Mails() {
		return
	}
	poll(ctx, s.SendNextMail, report)
}

// poll calls next, which sends one message and reports whether there was one, at every interval until ctx is canceled.
func poll(ctx context.Context, next func(context.Context) (bool, error), report func(error)) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		for more := true; more && ctx.Err() == nil; {
			var err error
			if more, err = next(ctx); err != nil && ctx.Err() == nil {
				report(err)
				break
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// batch holds the notifications for one email. They are of one kind, for one person, and about one team or the person's
// account.
type batch struct {
	person, team int64
	kind         Kind
	email        string // the person's address; empty if no email is sent
	language     string // BCP 47 tag of the person's language, or ""
	name         string // the team's name
	notices      []Notification
	tries        int
}

// SendNextMail sends one due email and reports whether there was one. A failed email is retried later.
func (s *Service) SendNextMail(ctx context.Context) (bool, error) {
	b, found, err := s.claim(ctx)
	if err != nil || !found || len(b.notices) == 0 {
		return found, err
	}
	sendErr := s.Send(ctx, s.newMail(b))
	if sendErr != nil {
		s.Log.WarnContext(ctx, "Sending an email failed; it is retried later", "person", b.person, "kind", b.kind, "try", b.tries, "error",
			sendErr)
	}
	return true, s.saveOutcome(ctx, b, sendErr == nil)
}

// claim returns the email that has been due longest and claims it, so that other nodes do not send it.
func (s *Service) claim(ctx context.Context) (batch, bool, error) {
	var b batch
	var found bool
	err := s.db.InTx(ctx, "notice.claim_mail", func(ctx context.Context, tx *db.Tx) error {
		b, found = batch{}, false
		now := db.Micros(tx.Now())
		err := tx.QueryRow(ctx,
			`SELECT person_id, team_id, kind FROM notices WHERE mail_at > 0 AND mail_at <= ?
		ORDER BY mail_at, id LIMIT 1`, now).Scan(&b.person, &b.team, &b.kind)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("finding emails that are due: %w", err)
		}
		found = true
		return s.claimNotices(ctx, tx, &b)
	})
	return b, found, err
}

// claimNotices adds due notifications to a batch, or delays them if the person recently got an email of this kind.
func (s *Service) claimNotices(ctx context.Context, tx *db.Tx, b *batch) error {
	const groupCondition = ` WHERE person_id = ? AND team_id = ? AND kind = ? AND mail_at > 0 `
	groupArgs := []any{b.person, b.team, string(b.kind)}
	var lastMailedAt int64
	if err := tx.QueryRow(ctx,
		`SELECT COALESCE(MAX(mailed_at), 0) FROM notices
		WHERE person_id = ? AND team_id = ? AND kind = ? AND mailed_at > 0`, groupArgs...).Scan(&lastMailedAt); err != nil {
		return fmt.Errorf("finding the last email: %w", err)
	}
	now := tx.Now()
	if allowedAt := db.Time(lastMailedAt).Add(minMailInterval); lastMailedAt > 0 && allowedAt.After(now) {
		_, err := tx.Exec(ctx, `UPDATE notices SET mail_at = ?`+groupCondition+`AND mail_at <= ?`,
			append([]any{db.Micros(allowedAt)}, append(groupArgs, db.Micros(now))...)...)
		return err
	}
	shouldSend, err := s.shouldMail(ctx, tx, b)
	if err != nil {
		return err
	}
	// Old and muted notifications are not sent by email.
	cutoff := db.Micros(now) + 1
	if shouldSend {
		cutoff = db.Micros(now.Add(-maxMailAge))
	}
	if _, err := tx.Exec(ctx, `UPDATE notices SET mail_at = 0`+groupCondition+`AND created_at < ?`,
		append(groupArgs, cutoff)...); err != nil {
		return fmt.Errorf("canceling unwanted emails: %w", err)
	}
	b.notices, err = db.All(ctx, tx, func(rows *sql.Rows, n *Notification) error {
		var tries int
		err := rows.Scan(&n.ID, &n.Subject, &tries)
		n.Kind, b.tries = b.kind, max(b.tries, tries)
		return err
	}, `UPDATE notices SET mail_at = ?, mail_tries = mail_tries + 1`+groupCondition+
		`AND (mail_at <= ? OR mail_tries = 0) RETURNING id, subject, mail_tries`,
		append([]any{db.Micros(now.Add(claimTime))}, append(groupArgs, db.Micros(now))...)...)
	if err != nil {
		return fmt.Errorf("claiming notices to email: %w", err)
	}
	return s.loadNotices(ctx, tx, b)
}

// loadNotices reads a batch's notifications.
func (s *Service) loadNotices(ctx context.Context, tx *db.Tx, b *batch) error {
	for i := range b.notices {
		found, err := db.All(ctx, tx, scan, selectColumns+fromVisibleNotices+`n.id = ?`, b.person, b.notices[i].ID)
		if err != nil {
			return fmt.Errorf("reading a notice to email: %w", err)
		}
		if len(found) > 0 {
			b.notices[i] = found[0]
		}
	}
	return nil
}

// shouldMail loads the address of the recipient into b. It reports false if the person has left the team, no longer has
// a role for this kind, is suspended, or has muted emails of this kind.
func (s *Service) shouldMail(ctx context.Context, tx *db.Tx, b *batch) (bool, error) {
	if b.team == 0 {
		return s.shouldMailAccount(ctx, tx, b)
	}
	info, roleCondition, args := b.kind.info(), ``, []any{b.team, b.person}
	if !info.NotifyActor { // Otherwise, the recipient may be the actor, who is notified in any role.
		roleCondition = ` AND m.role IN (` + rolePlaceholders(info.Roles) + `)`
		for _, r := range info.Roles {
			args = append(args, string(r))
		}
	}
	err := tx.QueryRow(ctx,
		`SELECT p.email, p.language, t.name FROM memberships m JOIN people p ON p.id = m.person_id JOIN teams t ON t.id = m.team_id
		WHERE m.team_id = ? AND m.person_id = ?`+roleCondition+
			` AND p.held_at = 0 AND NOT EXISTS (SELECT 1 FROM notice_choices c WHERE c.person_id = p.id AND c.kind = ?)`,
		append(args, string(b.kind))...).Scan(&b.email, &b.language, &b.name)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("checking whether an email is wanted: %w", err)
	}
	return true, nil
}

// saveOutcome records whether an email was sent.
func (s *Service) saveOutcome(ctx context.Context, b batch, sent bool) error {
	return s.db.InTx(ctx, "notice.keep_mail", func(ctx context.Context, tx *db.Tx) error {
		var nextAt, mailedAt, discardedFlag int64
		switch {
		case sent:
			mailedAt = db.Micros(tx.Now())
		case b.tries > len(retryDelays):
			discardedFlag = 1
		default:
			nextAt = db.Micros(tx.Now().Add(retryDelays[b.tries-1]))
		}
		for _, n := range b.notices {
			if _, err := tx.Exec(ctx, `UPDATE notices SET mail_at = ?, mailed_at = ?, unmailed = ? WHERE id = ?`, nextAt,
				mailedAt, discardedFlag, n.ID); err != nil {
				return fmt.Errorf("recording the result of an email: %w", err)
			}
		}
		return nil
	})
}

// newMail returns the email for a batch.
func (s *Service) newMail(b batch) Mail {
	l := cmp.Or(locale.ByTag(b.language), locale.English)
	sender := plaintext.Line(b.name)
	footer := l.T("This email is about the team %s. Choose which emails you get in the app, under Notifications.", sender)
	if b.team == 0 {
		sender = "pressroom"
		footer = l.T("This email is about your account %s at %s. These emails cannot be turned off.", b.email, s.PublicURL)
	}
	first := b.notices[0]
	m := Mail{ID: messageID(first), To: b.email, Subject: sender + ": " + l.T(b.kind.info().Name)}
	if len(b.notices) == 1 {
		m.Text = first.mailText(l) + "\n\n" + fmt.Sprintf("%s/notices/%d\n", s.PublicURL, first.ID)
	} else {
		m.Subject = sender + ": " + l.T(b.kind.info().Plural, len(b.notices))
		var out strings.Builder
		for _, n := range b.notices[:min(len(b.notices), maxMailLines)] {
			out.WriteString("- " + strings.ReplaceAll(n.mailText(l), "\n", "\n  ") + "\n")
		}
		if more := len(b.notices) - maxMailLines; more > 0 {
			out.WriteString("- " + l.T("and %d more", more) + "\n")
		}
		m.Text = out.String() + "\n" + s.PublicURL + "/notices\n"
	}
	m.Text += "\n" + footer + "\n"
	return m
}

// mailText returns the text of a notification for an email.
func (n Notification) mailText(l *locale.Language) string {
	if n.Team != 0 {
		return n.Text(l)
	}
	return n.Text(l) + "\n" + n.timeAndBrowser(l)
}
