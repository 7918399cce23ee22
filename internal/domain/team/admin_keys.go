package team

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/db"
)

// ListedKey is a key or connection as listed in the app.
type ListedKey struct {
	Key

	PersonID int64       // person for whom the key acts
	MadeBy   string      // that person's name
	Role     access.Role // the person's current role; empty for former members
	TeamName string
	// UsedAt is the last use. It is zero if unknown, and may be up to a minute old for uses on other nodes.
	UsedAt time.Time
	Paused []access.PauseAction // actions that the operator has paused only for this key
}

// HasEnded reports whether the key has permanently stopped working: it was revoked, it was lost (see Key.Lost), or it
// has expired.
func (k ListedKey) HasEnded(now time.Time) bool {
	return !k.RevokedAt.IsZero() || k.Lost != "" || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt)
}

const listedKeyQuery = `SELECT k.id, k.team_id, k.kind, k.name, k.level, k.capabilities, k.client_host, k.daily_credits,
		k.created_at, k.expires_at, k.revoked_at, k.lost, k.used_at, p.id, p.name, COALESCE(m.role, ''), t.name
	FROM api_keys k JOIN people p ON p.id = k.person_id JOIN teams t ON t.id = k.team_id
		LEFT JOIN memberships m ON m.team_id = k.team_id AND m.person_id = k.person_id WHERE `

func scanListedKey(rows *sql.Rows, k *ListedKey) error {
	var createdAt, expiresAt, revokedAt, usedAt int64
	var granted string
	err := rows.Scan(&k.ID, &k.TeamID, &k.Kind, &k.Name, &k.Level, &granted, &k.Host, &k.DailyCredits, &createdAt,
		&expiresAt, &revokedAt, &k.Lost, &usedAt, &k.PersonID, &k.MadeBy, &k.Role, &k.TeamName)
	k.CreatedAt, k.ExpiresAt, k.RevokedAt, k.UsedAt, k.Granted = db.Time(createdAt), db.Time(expiresAt), db.Time(revokedAt),
		db.Time(usedAt), access.SplitCapabilities(granted)
	return err
}

// ListKeys lists at most limit of a team's keys, newest first. If before is not 0, it lists only keys with lower IDs.
func (s *Service) ListKeys(ctx context.Context, team, before int64, limit int) ([]ListedKey, error) {
	return s.listOfKind(ctx, team, KindKey, 0, before, limit)
}

// listOfKind lists a team's keys or connections. If person is not 0, it lists only that person's keys or connections.
func (s *Service) listOfKind(ctx context.Context, team int64, kind Kind, person, beforeID int64, limit int) ([]ListedKey, error) {
	where, args := `k.team_id = ? AND k.kind = ?`, []any{team, string(kind)}
	if person > 0 {
		where, args = where+` AND k.person_id = ?`, append(args, person)
	}
	if beforeID > 0 {
		where, args = where+` AND k.id < ?`, append(args, beforeID)
	}
	return s.queryListedKeys(ctx, team, where+` ORDER BY k.id DESC LIMIT ?`, append(args, limit)...)
}

// ListedKey returns one of a team's keys. It returns not_found if the team has no such key.
func (s *Service) ListedKey(ctx context.Context, team, key int64) (ListedKey, error) {
	return s.getOfKind(ctx, team, KindKey, key)
}

func (s *Service) getOfKind(ctx context.Context, team int64, kind Kind, key int64) (ListedKey, error) {
	keys, err := s.queryListedKeys(ctx, team, `k.team_id = ? AND k.kind = ? AND k.id = ?`, team, string(kind), key)
	if err != nil {
		return ListedKey{}, err
	}
	if len(keys) == 0 {
		return ListedKey{}, apierr.ItemNotFound()
	}
	return keys[0], nil
}

// FindKeyTeam returns the team that owns a key. It returns not_found unless the team is in teams.
func (s *Service) FindKeyTeam(ctx context.Context, key int64, teams []int64) (int64, error) {
	return s.findOwningTeam(ctx, KindKey, key, teams)
}

func (s *Service) findOwningTeam(ctx context.Context, kind Kind, key int64, teams []int64) (int64, error) {
	owner, err := db.OwningTeam(ctx, s.db, `api_keys WHERE kind = '`+string(kind)+`' AND id = ?`, key, teams)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, apierr.ItemNotFound()
	}
	return owner, err
}

func (s *Service) queryListedKeys(ctx context.Context, team int64, clauses string, args ...any) ([]ListedKey, error) {
	out, err := db.All(ctx, s.db, scanListedKey, listedKeyQuery+clauses, args...)
	if err != nil {
		return nil, fmt.Errorf("reading the keys of team %d: %w", team, err)
	}
	paused := map[int64][]access.PauseAction{}
	_, err = db.All(ctx, s.db, func(rows *sql.Rows, p *Pause) error {
		err := rows.Scan(&p.Target, &p.Action)
		paused[p.Target] = append(paused[p.Target], p.Action)
		return err
	}, `SELECT target, action FROM pauses WHERE scope = 'key' AND target IN (SELECT id FROM api_keys
		WHERE team_id = ?) ORDER BY action`, team)
	if err != nil {
		return nil, fmt.Errorf("reading the pauses of keys of team %d: %w", team, err)
	}
	for i := range out {
		out[i].Paused = paused[out[i].ID]
		s.setLatestUse(&out[i])
	}
	return out, nil
}

// setLatestUse sets UsedAt to a later use on this node that is not stored yet, if there is one.
func (s *Service) setLatestUse(k *ListedKey) {
	if at := s.LastUse(k.ID); at.After(k.UsedAt) {
		k.UsedAt = at
	}
}

var (
	errKeyName = apierr.Invalidf(apierr.Malformed, "name", "Enter a name for the key: one line of at most %d characters.",
		names.MaxLength)
	errKeyLevel          = apierr.Invalid(apierr.NotAllowedValue, "level", "Choose a level for the key.")
	errKeyLimit          = apierr.Invalid(apierr.OutOfRange, "daily_credits", "Enter a daily limit of 0 or more credits.")
	errExpiryPassed      = apierr.Invalid(apierr.InThePast, "expires", "That date has passed. Choose a future date.")
	errKeyAlreadyCreated = apierr.BadState("made",
		"This key was already created. Its value is shown only once. If you lost it, revoke the key and create a new "+
			"one.")
	errConnectionEnded = apierr.BadState("ended", "This connection has already ended.")

	errKeyEnded = apierr.BadState("ended", "This key has expired or was revoked, so it cannot be changed.")
	errNoKeys   = apierr.New(apierr.PlanLapsed,
		"The team’s plan does not include API keys. Change the plan to create keys.")
	errNoFormID = apierr.Invalid(apierr.Malformed, "once", "This page has expired. Reload it and try again.")
)

func checkKeyLimits(level access.Level, credits int64) error {
	switch {
	case !level.IsValid():
		return errKeyLevel
	case !isDailyLimit(credits):
		return errKeyLimit
	}
	return nil
}

// AddKey creates a key that acts for the owner. Only the owner may call it. The second result is the secret key, which
// is not stored. formID identifies a submitted form. A second call with the same formID returns wrong_state.
func (a Admin) AddKey(ctx context.Context, n NewKey, formID string) (Key, string, error) {
	k := Key{
		TeamID: a.team, Kind: KindKey, Name: n.Name, Level: n.Level, ExpiresAt: n.Expires, DailyCredits: plan.Unlimited,
	}
	if n.DailyCredits != nil {
		k.DailyCredits = *n.DailyCredits
	}
	if err := k.checkNew(a.s.db.Now(), formID); err != nil {
		return k, "", err
	}
	value := apikey.New(apikey.APIKey)
	err := a.change(ctx, "key.created", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		if err := a.checkPlanHasKeys(ctx, tx); err != nil {
			return auditEntry{}, err
		}
		hash := apikey.Hash(value)
		k.CreatedAt = tx.Now()
		err := tx.QueryRow(ctx,
			`INSERT INTO api_keys (team_id, person_id, name, level, hash, created_at, expires_at, daily_credits,
		sending) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (team_id, sending) WHERE sending <> '' DO NOTHING RETURNING id`,
			a.team, a.person, k.Name, string(k.Level), hash[:], db.Micros(k.CreatedAt), db.Micros(k.ExpiresAt),
			k.DailyCredits, formID).Scan(&k.ID)
		if errors.Is(err, sql.ErrNoRows) {
			return auditEntry{}, errKeyAlreadyCreated
		}
		if err != nil {
			return auditEntry{}, fmt.Errorf("adding a key: %w", err)
		}
		return auditEntry{k.ID, map[string]any{"level": k.Level}}, nil
	})
	if err != nil {
		return Key{}, "", err
	}
	return k, value, nil
}

// maxFormID is the maximum length of a form's ID.
const maxFormID = 100

func (k Key) checkNew(now time.Time, formID string) error {
	switch {
	case formID == "" || len(formID) > maxFormID:
		return errNoFormID
	case !names.IsValid(k.Name):
		return errKeyName
	case !k.ExpiresAt.IsZero() && !k.ExpiresAt.After(now):
		return errExpiryPassed
	}
	return checkKeyLimits(k.Level, k.DailyCredits)
}

// checkPlanHasKeys returns an error if the team's plan does not include API keys.
func (a Admin) checkPlanHasKeys(ctx context.Context, tx *db.Tx) error {
	p, err := a.s.plan(ctx, tx, a.team)
	if err == nil && !p.APIKeys {
		return errNoKeys
	}
	return err
}

// Plan returns the current plan of a team. A plan that was removed from the catalog has no features.
func (s *Service) Plan(ctx context.Context, team int64) (plan.Plan, error) {
	return s.plan(ctx, s.db, team)
}

func (s *Service) plan(ctx context.Context, q db.Querier, team int64) (plan.Plan, error) {
	var name string
	var planUntil int64
	if err := q.QueryRow(ctx, `SELECT plan, plan_until FROM teams WHERE id = ?`, team).Scan(&name, &planUntil); err != nil {
		return plan.Plan{}, fmt.Errorf("reading the plan of team %d: %w", team, err)
	}
	out := s.catalog.PlanInEffect(name, db.Time(planUntil), s.db.Now())
	if out.Name == "" {
		out.Name = out.ID
	}
	return out, nil
}

// ChangeKey changes the level and daily limit of one of the team's keys. Only the owner may call it.
func (a Admin) ChangeKey(ctx context.Context, key int64, level access.Level, credits int64) error {
	if err := checkKeyLimits(level, credits); err != nil {
		return err
	}
	err := a.change(ctx, "key.changed", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		detail, err := a.previousKeySettings(ctx, tx, key, level, credits)
		if err != nil {
			return auditEntry{}, err
		}
		n, err := tx.Exec(ctx,
			`UPDATE api_keys SET level = ?, daily_credits = ?
		WHERE id = ? AND team_id = ? AND kind = 'key' AND revoked_at = 0 AND lost = '' AND (expires_at = 0 OR
		expires_at > ?)`,
			string(level), credits, key, a.team, db.Micros(tx.Now()))
		if err := a.checkKeyChanged(ctx, tx, KindKey, key, n, err); err != nil {
			return auditEntry{}, err
		}
		if len(detail) == 0 {
			return auditEntry{}, errUnchanged
		}
		detail["level"], detail["daily_credits"] = level, credits
		return auditEntry{key, detail}, nil
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// RenameKey changes the name of one of the team's keys. Only the owner may call it.
func (a Admin) RenameKey(ctx context.Context, key int64, name string) error {
	if !names.IsValid(name) {
		return errKeyName
	}
	err := a.change(ctx, "key.renamed", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		var oldName string
		err := tx.QueryRow(ctx, `SELECT name FROM api_keys WHERE id = ? AND team_id = ? AND kind = 'key'`, key,
			a.team).Scan(&oldName)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return auditEntry{}, fmt.Errorf("reading the name of a key: %w", err)
		}
		if err == nil && oldName == name {
			return auditEntry{}, errUnchanged
		}
		n, err := tx.Exec(ctx, `UPDATE api_keys SET name = ? WHERE id = ? AND team_id = ? AND kind = 'key' AND revoked_at = 0
			AND lost = '' AND (expires_at = 0 OR expires_at > ?)`, name, key, a.team, db.Micros(tx.Now()))
		return auditEntry{key, map[string]any{}}, a.checkKeyChanged(ctx, tx, KindKey, key, n, err)
	})
	if errors.Is(err, errUnchanged) {
		return nil
	}
	return err
}

// errUnchanged rolls back a change that would not change anything, so that the audit log gets no entry.
var errUnchanged = errors.New("the key already has this setting")

// previousKeySettings returns the current values of the settings that a change replaces, as details of an audit log
// entry. It omits settings that keep their values.
func (a Admin) previousKeySettings(
	ctx context.Context, tx *db.Tx, key int64, level access.Level, credits int64,
) (map[string]any, error) {
	var oldLevel access.Level
	var oldLimit int64
	err := tx.QueryRow(ctx, `SELECT level, daily_credits FROM api_keys WHERE id = ? AND team_id = ? AND kind = 'key'`,
		key, a.team).Scan(&oldLevel, &oldLimit)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, apierr.ItemNotFound()
	}
	if err != nil {
		return nil, fmt.Errorf("reading a key before its change: %w", err)
	}
	out := map[string]any{}
	if oldLevel != level {
		out["level_before"] = oldLevel
	}
	if oldLimit != credits {
		out["daily_credits_before"] = oldLimit
	}
	return out, nil
}

// checkKeyChanged checks the result of an UPDATE of a key. If no row changed, it returns wrong_state for an ended key
// and not_found for an unknown key.
func (a Admin) checkKeyChanged(ctx context.Context, tx *db.Tx, kind Kind, key, rowsChanged int64, err error) error {
	if err != nil {
		return fmt.Errorf("changing a key: %w", err)
	}
	if rowsChanged > 0 {
		return nil
	}
	var n int64
	if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM api_keys WHERE id = ? AND team_id = ? AND kind = ?`, key, a.team,
		string(kind)).Scan(&n); err != nil {
		return fmt.Errorf("finding a key: %w", err)
	}
	switch {
	case n == 0:
		return apierr.ItemNotFound()
	case kind == KindAssistant:
		return errConnectionEnded
	}
	return errKeyEnded
}

// RevokeKey permanently revokes one of the team's keys. Only the owner may call it.
func (a Admin) RevokeKey(ctx context.Context, key int64) error {
	return a.change(ctx, "key.revoked", ownerRoles, func(ctx context.Context, tx *db.Tx) (auditEntry, error) {
		n, err := tx.Exec(ctx,
			`UPDATE api_keys SET revoked_at = ? WHERE id = ? AND team_id = ? AND kind = 'key' AND revoked_at = 0`,
			db.Micros(tx.Now()), key, a.team)
		return auditEntry{subject: key}, a.checkKeyChanged(ctx, tx, KindKey, key, n, err)
	})
}
