// Package team manages people, teams, their members and plans, and API keys.
package team

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/passwords"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team/authn"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// Service manages teams and people.
type Service struct {
	*authn.Authenticator

	db      *db.DB
	catalog plan.Catalog
}

// New returns a Service.
func New(d *db.DB, limiter authn.GuessLimiter, catalog plan.Catalog) *Service {
	return &Service{authn.New(d, limiter, catalog), d, catalog}
}

// Person is a person who can sign in.
type Person struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	// Suspended is set if the account is suspended. The person's assistants and the keys of the person's teams do not
	// work.
	Suspended bool  `json:"held,omitempty"`
	Operator  bool  `json:"operator,omitempty"` // whether the person is an operator of the installation
	Deleted   bool  `json:"deleted,omitempty"`  // whether all data except the ID was deleted
	Epoch     int64 `json:"-"`                  // incremented to end all sessions of the person

	EmailConfirmed bool `json:"email_confirmed"`
}

// Team is a customer's team.
type Team struct {
	ID           int64     `json:"id"`
	Name         string    `json:"name"`
	Timezone     string    `json:"timezone"`
	Language     string    `json:"content_language"`
	Plan         string    `json:"plan"`
	PlanUntil    time.Time `json:"plan_until,omitzero"`     // when the plan lapses
	DailyCredits *int64    `json:"daily_credits,omitempty"` // replaces the plan's limit; nil if not set
	AccessOff    bool      `json:"access_off,omitempty"`
	Closed       bool      `json:"closed,omitempty"`
	Deleted      bool      `json:"deleted,omitempty"` // deleted or being deleted
}

// Key is an API key or an assistant's connection, without the secret.
type Key struct {
	ID           int64        `json:"id"`
	TeamID       int64        `json:"team_id"`
	Kind         Kind         `json:"kind"`
	Name         string       `json:"name"` // for a connection, the client's name for itself
	Level        access.Level `json:"level"`
	DailyCredits int64        `json:"daily_credits"` // -1 means unlimited
	CreatedAt    time.Time    `json:"created_at"`
	ExpiresAt    time.Time    `json:"expires_at,omitzero"`
	RevokedAt    time.Time    `json:"revoked_at,omitzero"`
	Lost         string       `json:"lost,omitempty"` // why the key ended without being revoked, such as authn.LostRole

	Granted []access.Capability `json:"capabilities,omitempty"` // granted to a connection
	Host    string              `json:"client_host,omitempty"`  // for a connection, the host of the client's redirect URI
}

// operatorErrorf returns an error that is shown to the operator.
func operatorErrorf(format string, args ...any) error {
	return apierr.OperatorErrorf(format, args...)
}

// AddPerson creates a person. A person with an empty password cannot sign in with a password.
func (s *Service) AddPerson(ctx context.Context, name, email, password string) (Person, error) {
	p := Person{Name: strings.TrimSpace(name), Email: strings.ToLower(strings.TrimSpace(email))}
	if !names.IsValid(p.Name) || !names.IsValid(p.Email) || !strings.Contains(p.Email, "@") {
		return p, operatorErrorf("a person needs a name and an email address, each a line of at most %d characters", names.MaxLength)
	}
	if names.ContainsURL(p.Name) {
		return p, names.ErrURL
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
			return operatorErrorf("another person already has this email address")
		}
		return auditlog.Record(ctx, tx, 0, auditlog.Actor{}, "person.added", formatID(p.ID), nil)
	})
	return p, err
}

func (s *Service) checkPlan(planID string) error {
	if _, ok := s.catalog.Plan(planID); !ok {
		return operatorErrorf("there is no plan with this name; the plans are %s", strings.Join(s.catalog.PlanIDs(), ", "))
	}
	return nil
}

var errTimezone = apierr.Invalid(apierr.NotAllowedValue, "timezone", "Use an IANA time zone such as Europe/Berlin.")

// SetPlan sets a team's plan. If until is not zero, the plan lapses at that time. The plan for lapsed teams applies
// afterwards.
func (s *Service) SetPlan(ctx context.Context, team int64, planID string, until time.Time) error {
	if err := s.checkPlan(planID); err != nil {
		return err
	}
	return s.setTeam(ctx, team, "team.plan", map[string]any{"plan": planID, "until": db.Micros(until)},
		`plan = ?, plan_until = ?`,
		func(int64) []any { return []any{planID, db.Micros(until)} })
}

// SetTimezone changes a team's time zone, and with it the start and the end of the team's day. Calls and credits that
// were used in the new day still count.
func (s *Service) SetTimezone(ctx context.Context, team int64, zone string) error {
	if !teamtime.IsZone(zone) {
		return errTimezone
	}
	return s.setTeam(ctx, team, "team.timezone", map[string]any{"timezone": zone}, `timezone = ?`, func(int64) []any {
		return []any{zone}
	})
}

// SetDailyCredits sets how many credits the team's keys and assistants may spend per day, instead of the plan's limit.
// nil restores the plan's limit.
func (s *Service) SetDailyCredits(ctx context.Context, team int64, credits *int64) error {
	if credits != nil && !isDailyLimit(*credits) {
		return errDailyCredits
	}
	return s.setTeam(ctx, team, "team.daily_credits", map[string]any{"credits": credits},
		`daily_credits = ?`, func(int64) []any {
			return []any{credits}
		})
}

// maxDailyCredits is the highest daily limit.
const maxDailyCredits = 1_000_000_000_000

func isDailyLimit(credits int64) bool {
	return credits >= plan.Unlimited && credits <= maxDailyCredits
}

var errDailyCredits = operatorErrorf("a daily limit is a number of credits up to 10^12, 0 to allow no spending, or -1 for no limit")

// setTeam updates columns of a team's row and adds an entry to the audit log. args returns the new values, given the
// time of the change.
func (s *Service) setTeam(
	ctx context.Context, team int64, kind string, detail map[string]any, columns string, args func(now int64) []any,
) error {
	return s.change(ctx, kind, func(ctx context.Context, tx *db.Tx) error {
		n, err := tx.Exec(ctx, `UPDATE teams SET `+columns+` WHERE id = ?`, append(args(db.Micros(tx.Now())), team)...)
		if err != nil {
			return fmt.Errorf("changing a team: %w", err)
		}
		if n == 0 {
			return operatorErrorf("team not found")
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, kind, formatID(team), detail)
	})
}

// change runs fn in a transaction that changes permissions. The change applies immediately in this process, and within
// a second in others.
func (s *Service) change(ctx context.Context, name string, fn func(context.Context, *db.Tx) error) error {
	err := s.db.InTx(ctx, name, func(ctx context.Context, tx *db.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return s.bumpAccessVersion(ctx, tx)
	})
	if err != nil {
		return err
	}
	return s.Refresh(ctx)
}

// bumpAccessVersion invalidates the key caches of all nodes.
func (s *Service) bumpAccessVersion(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1`)
	if err != nil {
		return fmt.Errorf("recording a change of access: %w", err)
	}
	return nil
}

func formatID(n int64) string { return strconv.FormatInt(n, 10) }
