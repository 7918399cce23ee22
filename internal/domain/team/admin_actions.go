package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/language"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/post/teamoptions"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
	"pressroom.example/pressroom/internal/teamtime"
)

// Admin performs the actions that members use to manage a team in the app. Its methods return not_found if the person
// is not a member, or if the member's role does not allow the action.
type Admin struct {
	s            *Service
	person, team int64
}

// Admin returns an Admin that acts for a person in a team.
func (s *Service) Admin(person, team int64) Admin { return Admin{s, person, team} }

// Roles that may perform actions.
var (
	ownerRoles   = []access.Role{access.Owner}
	managerRoles = []access.Role{access.Owner, access.Admin}
)

// auditEntry is the subject and detail of an entry in the audit log.
type auditEntry struct {
	subject int64
	detail  map[string]any
}

// change locks the team, calls fn in the same transaction, and adds an entry of the given kind to the audit log. It
// returns not_found unless the person has one of the given roles.
func (a Admin) change(
	ctx context.Context, kind string, roles []access.Role, fn func(context.Context, *db.Tx) (auditEntry, error),
) error {
	return a.s.change(ctx, "team.by_hand", func(ctx context.Context, tx *db.Tx) error {
		if _, err := a.s.lockOwner(ctx, tx, a.team); err != nil {
			return apierr.ItemNotFound()
		}
		role, err := memberRole(ctx, tx, a.team, a.person)
		if err != nil {
			return err
		}
		if !slices.Contains(roles, role) {
			return apierr.ItemNotFound()
		}
		entry, err := fn(ctx, tx)
		if err != nil {
			return err
		}
		return auditlog.Record(ctx, tx, a.team, auditlog.Actor{PersonID: a.person}, kind, formatID(entry.subject), entry.detail)
	})
}

// memberRole returns a member's role. It returns not_found for a suspended member and for people who are not members.
func memberRole(ctx context.Context, q db.Querier, team, person int64) (access.Role, error) {
	var role access.Role
	err := q.QueryRow(ctx,
		`SELECT m.role FROM memberships m JOIN people p ON p.id = m.person_id
		WHERE m.team_id = ? AND m.person_id = ? AND p.held_at = 0`, team, person).Scan(&role)
	if errors.Is(err, sql.ErrNoRows) {
		return "", apierr.ItemNotFound()
	}
	if err != nil {
		return "", fmt.Errorf("looking up a member's role: %w", err)
	}
	return role, nil
}

// SetAccess turns the team's API and tool access on or off. Only the owner may call it.
func (a Admin) SetAccess(ctx context.Context, on bool) error {
	return a.change(ctx, "team.access", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		return auditEntry{a.team, map[string]any{"on": on}}, a.updateTeam(ctx, tx, `access_off_at = ?`,
			zeroIf(on, db.Micros(tx.Now())))
	})
}

// updateTeam updates columns of the team's row.
func (a Admin) updateTeam(ctx context.Context, tx *db.Tx, columns string, values ...any) error {
	if _, err := tx.Exec(ctx, `UPDATE teams SET `+columns+` WHERE id = ?`, append(values, a.team)...); err != nil {
		return fmt.Errorf("changing a team: %w", err)
	}
	return nil
}

// Profile is a team's name, time zone and content language.
type Profile struct {
	Name     string
	Timezone string // IANA
	Language string // BCP 47
	// KeepOriginals is set if uploads are stored with their metadata. Published files never have metadata.
	KeepOriginals bool
}

// normalize validates a profile and returns it in canonical form.
func (p Profile) normalize() (Profile, error) {
	p.Name, p.Timezone = strings.TrimSpace(p.Name), strings.TrimSpace(p.Timezone)
	if !names.IsValid(p.Name) {
		return p, apierr.Invalidf(apierr.Malformed, "name",
			"Enter a name for the team: one line of at most %d characters.", names.MaxLength)
	}
	if !teamtime.IsZone(p.Timezone) {
		return p, errTimezone
	}
	var err error
	p.Language, err = normalizeLanguage(p.Language)
	return p, err
}

// normalizeLanguage returns a BCP 47 language tag in canonical form.
func normalizeLanguage(text string) (string, error) {
	tag, err := language.Parse(strings.TrimSpace(text))
	if err != nil || len(tag.Extensions()) > 0 || strings.HasPrefix(tag.String(), "und") {
		return text, apierr.Invalid(apierr.NotAllowedValue, "content_language",
			"Enter a BCP 47 language tag, such as en, de-AT or pt-BR.")
	}
	return tag.String(), nil
}

// Profile returns a team's profile.
func (s *Service) Profile(ctx context.Context, team int64) (Profile, error) {
	return readProfile(ctx, s.db, team)
}

func readProfile(ctx context.Context, q db.Querier, team int64) (Profile, error) {
	var p Profile
	var keepOriginals int64
	err := q.QueryRow(ctx, `SELECT name, timezone, content_language, keep_originals FROM teams WHERE id = ?`, team).
		Scan(&p.Name, &p.Timezone, &p.Language, &keepOriginals)
	if err != nil {
		return p, fmt.Errorf("reading a team's profile: %w", err)
	}
	p.KeepOriginals = keepOriginals != 0
	return p, nil
}

// SetProfile changes the team's profile. Only the owner and admins may call it. If the time zone changes, scheduled
// posts are still sent at the same instants. The start and end of the team's day change, and calls and credits that
// were used within the new day still count.
func (a Admin) SetProfile(ctx context.Context, p Profile) error {
	p, err := p.normalize()
	if err != nil {
		return err
	}
	return a.change(ctx, "team.changed", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		oldProfile, err := readProfile(ctx, tx, a.team)
		if err != nil {
			return auditEntry{}, err
		}
		if p.Name != oldProfile.Name && names.ContainsURL(p.Name) {
			return auditEntry{}, names.ErrURL
		}
		detail := map[string]any{"renamed": p.Name != oldProfile.Name}
		if p.Timezone != oldProfile.Timezone {
			detail["timezone"] = p.Timezone
		}
		if p.Language != oldProfile.Language {
			detail["language"] = p.Language
		}
		if p.KeepOriginals != oldProfile.KeepOriginals {
			detail["keep_originals"] = p.KeepOriginals
		}
		return auditEntry{a.team, detail}, a.updateTeam(ctx, tx, `name = ?, timezone = ?, content_language = ?, keep_originals = ?`,
			p.Name, p.Timezone, p.Language, db.BoolToInt(p.KeepOriginals))
	})
}

// DailyLimit is the number of credits that a team's keys and assistants may spend per day. -1 means unlimited.
type DailyLimit struct {
	Offered int64  // the limit of the plan, or the limit that the operator set instead
	Own     *int64 // the lower limit that the owner set; nil if there is none
}

// Effective returns the lower of the two limits.
func (l DailyLimit) Effective() int64 {
	if l.Own == nil {
		return l.Offered
	}
	return plan.LowerLimit(l.Offered, *l.Own)
}

// DailyLimit returns a team's daily limit.
func (s *Service) DailyLimit(ctx context.Context, team int64) (DailyLimit, error) {
	return s.dailyLimit(ctx, s.db, team)
}

func (s *Service) dailyLimit(ctx context.Context, q db.Querier, team int64) (DailyLimit, error) {
	var planID string
	var planUntil int64
	var operatorLimit *int64
	var out DailyLimit
	err := q.QueryRow(ctx, `SELECT plan, plan_until, daily_credits, own_daily_credits FROM teams WHERE id = ?`,
		team).Scan(&planID, &planUntil, &operatorLimit, &out.Own)
	if err != nil {
		return out, fmt.Errorf("reading a team's daily limit: %w", err)
	}
	out.Offered = s.catalog.PlanInEffect(planID, db.Time(planUntil), s.db.Now()).DailyCredits
	if operatorLimit != nil {
		out.Offered = *operatorLimit
	}
	return out, nil
}

// SetDailyCredits sets the owner's daily credit limit for keys and assistants. nil removes the limit. Only the owner
// may.
func (a Admin) SetDailyCredits(ctx context.Context, credits *int64) error {
	return a.change(ctx, "team.own_daily_credits", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		limit, err := a.s.dailyLimit(ctx, tx, a.team)
		if err != nil {
			return auditEntry{}, err
		}
		if credits != nil && (*credits < 0 || *credits > maxDailyCredits ||
			limit.Offered != plan.Unlimited && *credits > limit.Offered) {
			return auditEntry{}, apierr.Invalid(apierr.OutOfRange, "daily_credits",
				"Enter a whole number from 0 to the limit of the plan.")
		}
		return auditEntry{a.team, map[string]any{"credits": credits}}, a.updateTeam(ctx, tx, `own_daily_credits = ?`, credits)
	})
}

// SetPostOptions sets the default options for the team's posts. Only the owner and admins may call it.
func (a Admin) SetPostOptions(ctx context.Context, o network.Options) error {
	if err := teamoptions.Validate(o); err != nil {
		return err
	}
	return a.change(ctx, "team.post_options", managerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		return auditEntry{a.team, map[string]any{"on": !o.IsZero()}}, teamoptions.Set(ctx, tx, a.team, o)
	})
}
