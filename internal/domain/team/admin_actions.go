package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"pressroom/internal/apierr"
	"pressroom/internal/core/access"
	"pressroom/internal/core/plan"
	"pressroom/internal/platform/auditlog"
	"pressroom/internal/platform/db"
	"pressroom/internal/teamtime"
)

// Admin is a member who manages a team in the app, with the rights of the member's role. It returns
// not_found if the role does not allow an action or the person is not a member.
type Admin struct {
	s            *Service
	person, team int64
}

// Admin returns an Admin that acts for a person in a team.
func (s *Service) Admin(person, team int64) Admin { return Admin{s, person, team} }

// The roles that may change things.
var (
	owners   = []access.Role{access.Owner}
	managers = []access.Role{access.Owner, access.Admin}
)

// done describes a change for the audit log.
type done struct {
	subject int64
	detail  map[string]any
}

// change runs work in the person's name with the team locked, if the person has one of the given roles.
func (h Admin) change(
	ctx context.Context, kind string, may []access.Role, work func(context.Context, *db.Tx) (done, error),
) error {
	return h.s.change(ctx, "team.by_hand", func(ctx context.Context, tx *db.Tx) error {
		if _, err := h.s.lockOwner(ctx, tx, h.team); err != nil {
			return apierr.Missing()
		}
		role, err := roleOf(ctx, tx, h.team, h.person)
		if err != nil {
			return err
		}
		if !slices.Contains(may, role) {
			return apierr.Missing()
		}
		what, err := work(ctx, tx)
		if err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, h.team, auditlog.Actor{PersonID: h.person}, kind, id(what.subject), what.detail)
	})
}

// roleOf returns a member's role. It returns not_found for others and for suspended members.
func roleOf(ctx context.Context, q db.Querier, team, person int64) (access.Role, error) {
	var role access.Role
	err := q.QueryRow(ctx,
		`SELECT m.role FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE m.team_id = ? AND m.person_id = ? AND p.held_at = 0`, team, person).Scan(&role)
	if errors.Is(err, sql.ErrNoRows) {
		return "", apierr.Missing()
	}
	if err != nil {
		return "", fmt.Errorf("looking up a member's role: %w", err)
	}
	return role, nil
}

// SetAccess turns API and tool access on or off, for the owner.
func (h Admin) SetAccess(ctx context.Context, on bool) error {
	return h.change(ctx, "team.access", owners, func(ctx context.Context, tx *db.Tx) (done, error) {
		return done{h.team, map[string]any{"on": on}}, h.set(ctx, tx, `access_off_at = ?`,
			unless(on, db.Micros(tx.Now())))
	})
}

// set changes columns of the team.
func (h Admin) set(ctx context.Context, tx *db.Tx, columns string, values ...any) error {
	if _, err := tx.Exec(ctx, `UPDATE teams SET `+columns+` WHERE id = ?`, append(values, h.team)...); err != nil {
		return fmt.Errorf("changing a team: %w", err)
	}
	return nil
}

// Profile is a team's name, time zone and content language.
type Profile struct {
	Name     string
	Timezone string // IANA
	Language string // BCP 47
	// KeepOriginals stores uploads with their metadata. Files that leave the service never have any.
	KeepOriginals bool
}

// tidy checks a profile, and writes its parts in their usual form.
func (p Profile) tidy() (Profile, error) {
	p.Name, p.Timezone = strings.TrimSpace(p.Name), strings.TrimSpace(p.Timezone)
	if !isLine(p.Name) {
		return p, apierr.Invalidf(apierr.Malformed, "name", "The team needs a name, one line of at most %d characters.", maxLine)
	}
	if !teamtime.IsZone(p.Timezone) {
		return p, errTimezone
	}
	var err error
	p.Language, err = tidyLanguage(p.Language)
	return p, err
}

// tidyLanguage returns a BCP 47 language tag in its usual form.
func tidyLanguage(text string) (string, error) {
	tag, err := language.Parse(strings.TrimSpace(text))
	if err != nil || len(tag.Extensions()) > 0 || strings.HasPrefix(tag.String(), "und") {
		return text, apierr.Invalid(apierr.NotAllowedValue, "content_language",
			"Enter a BCP 47 language tag, such as en, de-AT or pt-BR.")
	}
	return tag.String(), nil
}

// Profile returns a team's profile.
func (s *Service) Profile(ctx context.Context, team int64) (Profile, error) {
	return profile(ctx, s.db, team)
}

func profile(ctx context.Context, q db.Querier, team int64) (Profile, error) {
	var p Profile
	var keeps int64
	err := q.QueryRow(ctx, `SELECT name, timezone, content_language, keep_originals FROM teams WHERE id = ?`, team).
		Scan(&p.Name, &p.Timezone, &p.Language, &keeps)
	if err != nil {
		return p, fmt.Errorf("reading a team's profile: %w", err)
	}
	p.KeepOriginals = keeps != 0
	return p, nil
}

// SetProfile changes a team's profile, for its owner and admins. Scheduled posts keep their instants. The team's day
// changes with the zone; calls and credits used within the new day still count.
func (h Admin) SetProfile(ctx context.Context, p Profile) error {
	p, err := p.tidy()
	if err != nil {
		return err
	}
	return h.change(ctx, "team.changed", managers, func(ctx context.Context, tx *db.Tx) (done, error) {
		old, err := profile(ctx, tx, h.team)
		if err != nil {
			return done{}, err
		}
		if p.Name != old.Name && holdsAddress(p.Name) {
			return done{}, errAddress
		}
		detail := map[string]any{"renamed": p.Name != old.Name}
		if p.Timezone != old.Timezone {
			detail["timezone"] = p.Timezone
		}
		if p.Language != old.Language {
			detail["language"] = p.Language
		}
		if p.KeepOriginals != old.KeepOriginals {
			detail["keep_originals"] = p.KeepOriginals
		}
		return done{h.team, detail}, h.set(ctx, tx, `name = ?, timezone = ?, content_language = ?, keep_originals = ?`,
			p.Name, p.Timezone, p.Language, db.Flag(p.KeepOriginals))
	})
}

// DailyLimit is how many credits a team's keys and assistants may spend per day: -1 is unlimited, 0 none.
type DailyLimit struct {
	Offered int64  // the plan's, or the operator's instead
	Own     *int64 // the owner's lower limit; nil for none
}

// Holds returns the effective limit.
func (s DailyLimit) Holds() int64 {
	if s.Own == nil {
		return s.Offered
	}
	return plan.LowerLimit(s.Offered, *s.Own)
}

// DailyLimit returns a team's daily limit.
func (s *Service) DailyLimit(ctx context.Context, team int64) (DailyLimit, error) {
	return s.dailyLimit(ctx, s.db, team)
}

func (s *Service) dailyLimit(ctx context.Context, q db.Querier, team int64) (DailyLimit, error) {
	var plan string
	var until int64
	var operators *int64
	var out DailyLimit
	err := q.QueryRow(ctx, `SELECT plan, plan_until, daily_credits, own_daily_credits FROM teams WHERE id = ?`,
		team).Scan(&plan, &until, &operators, &out.Own)
	if err != nil {
		return out, fmt.Errorf("reading a team's daily limit: %w", err)
	}
	out.Offered = s.terms.InEffect(plan, db.Time(until), s.db.Now()).DailyCredits
	if operators != nil {
		out.Offered = *operators
	}
	return out, nil
}

// SetDailyCredits sets the owner's daily credit limit for keys and assistants, or removes it if nil.
func (h Admin) SetDailyCredits(ctx context.Context, credits *int64) error {
	return h.change(ctx, "team.own_daily_credits", owners, func(ctx context.Context, tx *db.Tx) (done, error) {
		offered, err := h.s.dailyLimit(ctx, tx, h.team)
		if err != nil {
			return done{}, err
		}
		if credits != nil && (*credits < 0 || *credits > maxDailyCredits ||
			offered.Offered != plan.Unlimited && *credits > offered.Offered) {
			return done{}, apierr.Invalid(apierr.OutOfRange, "daily_credits",
				"Enter a whole number from 0 to the limit of the plan.")
		}
		return done{h.team, map[string]any{"credits": credits}}, h.set(ctx, tx, `own_daily_credits = ?`, credits)
	})
}
