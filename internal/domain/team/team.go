// Package team manages people, teams, their members and plans, and API keys.
package team

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"pressroom/internal/apierr"
	"pressroom/internal/auth/passwords"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/domain/team/authn"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// Service manages teams and people.
type Service struct {
	*authn.Authenticator // returns the actors of keys

	db    *db.DB
	terms plan.Terms
}

// New returns a Service.
func New(d *db.DB, slow authn.Guesses, t plan.Terms) *Service {
	return &Service{authn.New(d, slow, t), d, t}
}

// Person is a person who can sign in.
type Person struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	// suspended: the person's assistants and the keys of the person's teams do not work
	Held     bool  `json:"held,omitempty"`
	Operator bool  `json:"operator,omitempty"` // runs the service
	Deleted  bool  `json:"deleted,omitempty"`  // only the ID is left
	Epoch    int64 `json:"-"`                  // counts up when all sessions of the person end

	EmailConfirmed bool `json:"email_confirmed"` // the person has confirmed the address
}

// Team is a customer's team.
type Team struct {
	ID           int64     `json:"id"`
	Name         string    `json:"name"`
	Timezone     string    `json:"timezone"`
	Language     string    `json:"content_language"`
	Plan         string    `json:"plan"`
	PlanUntil    time.Time `json:"plan_until,omitzero"`     // when the plan lapses
	DailyCredits *int64    `json:"daily_credits,omitempty"` // in place of the plan's figure
	AccessOff    bool      `json:"access_off,omitempty"`
	Closed       bool      `json:"closed,omitempty"`
	Deleted      bool      `json:"deleted,omitempty"` // deleted or being deleted
}

// Key is an API key or an assistant's connection in a list. A key's value is only shown when it is created.
type Key struct {
	ID           int64        `json:"id"`
	TeamID       int64        `json:"team_id"`
	Kind         Kind         `json:"kind"`
	Name         string       `json:"name"` // for a connection, the client's name for itself
	Level        access.Level `json:"level"`
	DailyCredits int64        `json:"daily_credits"` // -1 is unlimited, 0 none
	CreatedAt    time.Time    `json:"created_at"`
	ExpiresAt    time.Time    `json:"expires_at,omitzero"`
	RevokedAt    time.Time    `json:"revoked_at,omitzero"`
	Lost         string       `json:"lost,omitempty"` // why it ended without being revoked

	Granted []access.Capability `json:"capabilities,omitempty"` // to a connection
	Host    string              `json:"client_host,omitempty"`  // of a connection: host of its client's redirect URI
}

// maxLine is how long a name may be, in characters.
const maxLine = 200

// isLine reports whether a text fits in one line of a list.
func isLine(text string) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= maxLine &&
		!strings.ContainsFunc(text, unicode.IsControl)
}

// errAddress is returned for names that mail programs would show as links.
var errAddress = apierr.Invalid(apierr.NotAllowedValue, "name", "Names must not contain web addresses. Remove “://”.")

// holdsAddress reports whether a name contains a URL with its scheme. Names such as Booking.com do not.
func holdsAddress(name string) bool { return strings.Contains(name, "://") }

// invalid returns an error for the operator that says what to fix.
func invalid(format string, args ...any) error {
	return apierr.OperatorErrorf(format, args...)
}

// AddPerson creates a person. The password may be empty: such a person cannot sign in yet.
func (s *Service) AddPerson(ctx context.Context, name, email, password string) (Person, error) {
	p := Person{Name: strings.TrimSpace(name), Email: strings.ToLower(strings.TrimSpace(email))}
	if !isLine(p.Name) || !isLine(p.Email) || !strings.Contains(p.Email, "@") {
		return p, invalid("a person needs a name and an email address, one line of at most %d characters", maxLine)
	}
	if holdsAddress(p.Name) {
		return p, errAddress
	}
	if password != "" {
		if err := passwords.Check(password, p.Name, p.Email); err != nil {
			return p, err
		}
	}
	hash, err := passwords.Hash(password)
	if err != nil {
		return p, err
	}
	err = s.db.InTx(ctx, "team.add_person", func(ctx context.Context, tx *db.Tx) error {
		row := tx.QueryRow(ctx,
			`INSERT INTO people (name, email, password_hash, created_at, made_by_operator) VALUES (?, ?, ?, ?, 1)
		ON CONFLICT (email) DO NOTHING RETURNING id`,
			p.Name, p.Email, hash, db.Micros(tx.Now()))
		if err := row.Scan(&p.ID); err != nil {
			return invalid("somebody has this email address already")
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.added", id(p.ID), nil)
	})
	return p, err
}

func (s *Service) checkPlan(plan string) error {
	if _, ok := s.terms.Plan(plan); !ok {
		return invalid("there is no plan of this name; the plans are %s", strings.Join(s.terms.PlanIDs(), ", "))
	}
	return nil
}

var errTimezone = apierr.Invalid(apierr.NotAllowedValue, "timezone", "Use an IANA time zone such as Europe/Berlin.")

// SetPlan puts a team on a plan, permanently or until a time; then the team changes to the plan for lapsed ones.
func (s *Service) SetPlan(ctx context.Context, team int64, plan string, until time.Time) error {
	if err := s.checkPlan(plan); err != nil {
		return err
	}
	return s.setTeam(ctx, team, "team.plan", map[string]any{"plan": plan, "until": db.Micros(until)},
		`plan = ?, plan_until = ?`,
		func(int64) []any { return []any{plan, db.Micros(until)} })
}

// SetTimezone moves a team to another time zone. Its day changes too; calls and credits used within the new day still
// count.
func (s *Service) SetTimezone(ctx context.Context, team int64, zone string) error {
	if !teamtime.IsZone(zone) {
		return errTimezone
	}
	return s.setTeam(ctx, team, "team.timezone", map[string]any{"timezone": zone}, `timezone = ?`, func(int64) []any {
		return []any{zone}
	})
}

// SetDailyCredits limits how many credits the team's keys and assistants spend per day, instead of the plan's limit;
// nil restores the plan's.
func (s *Service) SetDailyCredits(ctx context.Context, team int64, credits *int64) error {
	if credits != nil && !isDailyLimit(*credits) {
		return errDailyCredits
	}
	return s.setTeam(ctx, team, "team.daily_credits", map[string]any{"credits": credits},
		`daily_credits = ?`, func(int64) []any {
			return []any{credits}
		})
}

// maxDailyCredits is the most that an operator can grant at once.
const maxDailyCredits = 1_000_000_000_000

func isDailyLimit(credits int64) bool {
	return credits >= plan.Unlimited && credits <= maxDailyCredits
}

var errDailyCredits = invalid("a daily limit is a number of credits up to 10^12, 0 for none or -1 for unlimited")

// setTeam changes columns of a team; the arguments are made from the time of the change.
func (s *Service) setTeam(
	ctx context.Context, team int64, kind string, detail map[string]any, columns string, args func(now int64) []any,
) error {
	return s.change(ctx, kind, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE teams SET `+columns+` WHERE id = ?`, append(args(db.Micros(tx.Now())), team)...)
		if err != nil {
			return fmt.Errorf("changing a team: %w", err)
		}
		if n == 0 {
			return invalid("there is no such team")
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, kind, id(team), detail)
	})
}

// change runs a change of access in a transaction. It applies in this process at once, in others within a second.
func (s *Service) change(ctx context.Context, name string, work func(context.Context, *db.Tx) error) error {
	err := s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		if err := work(ctx, tx); err != nil {
			return err
		}
		return s.bumpAccessVersion(ctx, tx)
	})
	if err != nil {
		return err
	}
	return s.Refresh(ctx)
}

// bumpAccessVersion makes every node discard its cache of keys.
func (s *Service) bumpAccessVersion(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1`)
	if err != nil {
		return fmt.Errorf("recording a change of access: %w", err)
	}
	return nil
}

func id(n int64) string { return strconv.FormatInt(n, 10) }
