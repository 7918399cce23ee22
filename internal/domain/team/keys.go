package team

import (
	"context"
	"fmt"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team/names"
	"pressroom.example/pressroom/internal/platform/auditlog"
	"pressroom.example/pressroom/internal/platform/db"
)

// NewKey describes an API key to create.
type NewKey struct {
	Team         int64
	Name         string
	Level        access.Level
	Expires      time.Time // zero if the key does not expire
	DailyCredits *int64    // nil means unlimited
}

// AddKey creates an API key that acts for the team's owner. The second result is the secret key, which is not stored.
func (s *Service) AddKey(ctx context.Context, n NewKey) (Key, string, error) {
	k := Key{
		TeamID: n.Team, Kind: KindKey, Name: n.Name, Level: n.Level, ExpiresAt: n.Expires, DailyCredits: plan.Unlimited,
	}
	if n.DailyCredits != nil {
		k.DailyCredits = *n.DailyCredits
	}
	if err := k.check(); err != nil {
		return Key{}, "", err
	}
	value := apikey.New(apikey.APIKey)
	hash := apikey.Hash(value)
	err := s.db.InTx(ctx, "team.add_key", func(ctx context.Context, tx *db.Tx) error {
		owner, err := s.lockOwner(ctx, tx, n.Team)
		if err != nil {
			return err
		}
		if owner == 0 {
			return operatorErrorf("the team has no owner for whom the key could act")
		}
		k.CreatedAt = tx.Now()
		row := tx.QueryRow(ctx,
			`INSERT INTO api_keys (team_id, person_id, name, level, hash, created_at, expires_at, daily_credits)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			k.TeamID, owner, k.Name, string(k.Level), hash[:], db.Micros(k.CreatedAt), db.Micros(k.ExpiresAt),
			k.DailyCredits)
		if err := row.Scan(&k.ID); err != nil {
			return fmt.Errorf("adding a key: %w", err)
		}
		return auditlog.Record(ctx, tx, n.Team, auditlog.Actor{PersonID: owner}, "key.created", formatID(k.ID),
			map[string]any{"level": k.Level})
	})
	return k, value, err
}

func (k Key) check() error {
	if !k.Level.IsValid() {
		return errLevel
	}
	if !isDailyLimit(k.DailyCredits) {
		return errDailyCredits
	}
	if !names.IsValid(k.Name) {
		return operatorErrorf("a key needs a name, one line of at most %d characters", names.MaxLength)
	}
	return nil
}

var errLevel = operatorErrorf("the level must be read_only, drafts or full")

// RevokeKey permanently revokes a key or ends a connection.
func (s *Service) RevokeKey(ctx context.Context, key int64) error {
	return s.changeKey(ctx, key, "revoked", nil, `revoked_at = ?`, func(now int64) any { return now })
}

var errGranted = operatorErrorf("a person granted the capabilities of this assistant's connection; to change them, the person must " +
	"connect the assistant again")

// SetKeyLevel changes the level of a key. It returns an error for a connection, whose capabilities a person granted.
func (s *Service) SetKeyLevel(ctx context.Context, key int64, level access.Level) error {
	if !level.IsValid() {
		return errLevel
	}
	var kind Kind
	err := s.db.QueryRow(ctx, `SELECT kind FROM api_keys WHERE id = ?`, key).Scan(&kind)
	if err == nil && kind == KindAssistant {
		return errGranted
	}
	return s.changeKey(ctx, key, "level_changed", map[string]any{"level": level}, `level = ?`, func(int64) any {
		return string(level)
	})
}

// SetKeyLimit changes how many credits a key or connection may spend per day. -1 means unlimited.
func (s *Service) SetKeyLimit(ctx context.Context, key, credits int64) error {
	if !isDailyLimit(credits) {
		return errDailyCredits
	}
	return s.changeKey(ctx, key, "limit_changed", map[string]any{"daily_credits": credits},
		`daily_credits = ?`, func(int64) any {
			return credits
		})
}

// SetKeyEnd changes when a key or connection expires. The zero time means that it does not expire.
func (s *Service) SetKeyEnd(ctx context.Context, key int64, expires time.Time) error {
	return s.changeKey(ctx, key, "end_changed", map[string]any{"expires_at": db.Micros(expires)},
		`expires_at = ?`, func(int64) any {
			return db.Micros(expires)
		})
}

// changeKey updates a column of a key or connection that is not revoked, and adds an entry with the verb to the audit
// log. value returns the new value for the time of the change.
func (s *Service) changeKey(
	ctx context.Context, key int64, verb string, detail map[string]any, column string, value func(now int64) any,
) error {
	return s.change(ctx, "team.key_"+verb, func(ctx context.Context, tx *db.Tx) error {
		var team int64
		var kind Kind
		err := tx.QueryRow(ctx,
			`UPDATE api_keys SET `+column+` WHERE id = ? AND revoked_at = 0 RETURNING team_id, kind`,
			value(db.Micros(tx.Now())), key).Scan(&team, &kind)
		if err != nil {
			return operatorErrorf("there is no such key, or it is revoked")
		}
		return auditlog.Record(ctx, tx, team, auditlog.Actor{}, string(kind)+"."+verb, formatID(key), detail)
	})
}
