// Package subscription emails reports on a schedule. Recipients are members of the team, and email addresses that its
// owner and admins enter. Each recipient gets one email per week or month, regardless of how many nodes are running.
package subscription

import (
	"context"
	"log/slog"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/tokencrypt"
	"pressroom.example/pressroom/internal/locale"
	"pressroom.example/pressroom/internal/platform/db"
)

// The periods of a schedule.
const (
	Weekly  = "weekly"
	Monthly = "monthly"
)

const (
	lastMonthDay   = 28  // exists in every month
	maxRecipients  = 20  // of a report
	maxAddresses   = 100 // of a team, other than members' addresses
	maxEmailLength = 254 // bytes
)

// Mail is an email with a report for one recipient.
type Mail struct {
	ID          string // identifies the email; the same for each attempt
	To, Subject string
	Text, HTML  string
	Unsubscribe string // URL of the page to unsubscribe
}

// Line is a formatted metric of a report, with its name.
type Line struct{ Name, Value string }

// Summary is the summary of a report in an email.
type Summary struct {
	Subject  string // @name or #tag
	Network  string
	Measured string // formatted time of the measurement
	Lines    []Line
	Findings []string
}

// Links creates links to a report for recipients, in the transaction that claims the email.
type Links interface {
	CreateFor(ctx context.Context, tx *db.Tx, team int64, report string, recipient int64, until time.Time) (string, error)
}

// Options are the dependencies of a Service.
type Options struct {
	DB        *db.DB
	Sealer    *tokencrypt.Sealer
	PublicURL string // without a trailing slash
	Links     Links
	Send      func(context.Context, Mail) error // nil if there is no mail server
	// Summarize returns the summary of a report for an email in a language.
	Summarize func(ctx context.Context, l *locale.Language, team int64, report string) (Summary, error)
	Log       *slog.Logger
}

// Service stores schedules and recipients and sends the emails.
type Service struct {
	Options

	signer tokencrypt.Signer
}

// New returns a Service.
func New(o Options) *Service { return &Service{o, o.Sealer.Signer("report mails")} }

// Mails reports whether a mail server is configured.
func (s *Service) Mails() bool { return s.Send != nil }

// Schedule says when a report is emailed, in the team's time zone.
type Schedule struct {
	Period string // Weekly or Monthly
	Day    int    // day of the week (Monday is 1) or day of the month
	Hour   int
}

// check validates the schedule.
func (s Schedule) check() error {
	maxDay := lastMonthDay
	switch s.Period {
	case Weekly:
		maxDay = 7
	case Monthly:
	default:
		return apierr.Invalid(apierr.NotAllowedValue, "period", "Choose weekly or monthly.")
	}
	if s.Day < 1 || s.Day > maxDay {
		return apierr.Invalid(apierr.OutOfRange, "day", "Choose a day.")
	}
	if s.Hour < 0 || s.Hour > 23 {
		return apierr.Invalid(apierr.OutOfRange, "hour", "Choose an hour.")
	}
	return nil
}

// Next returns the first scheduled time after a given time. If daylight saving time skips the scheduled hour, it
// returns the following hour.
func (s Schedule) Next(after time.Time, zone *time.Location) time.Time {
	at := after.In(zone)
	if s.Period == Monthly {
		for month := at.Month(); ; month++ {
			if next := time.Date(at.Year(), month, s.Day, s.Hour, 0, 0, 0, zone); next.After(after) {
				return next
			}
		}
	}
	today := (int(at.Weekday())+6)%7 + 1
	for day := at.Day() + s.Day - today; ; day += 7 {
		if next := time.Date(at.Year(), at.Month(), day, s.Hour, 0, 0, 0, zone); next.After(after) {
			return next
		}
	}
}
