// Package team is people, teams, their members and plans, and the API keys by which programs act for them.
package team

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"pressroom/internal/access"
	"pressroom/internal/db"
	"pressroom/internal/event"
	"pressroom/internal/secret"
)

// Service changes and reads teams.
type Service struct {
	db    *db.DB
	cache *keyCache
	slow  Guesses
}

// Guesses slows down whoever repeats the same wrong credential.
type Guesses interface {
	// Wrong notes one more failure of a credential and tells how long to wait; 0 while it is not too often.
	Wrong(credential string) time.Duration
}

// New makes the service.
func New(d *db.DB, slow Guesses) *Service {
	return &Service{db: d, cache: newKeyCache(d), slow: slow}
}

// Person is somebody who can sign in.
type Person struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

// Team is a customer's team.
type Team struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Timezone string `json:"timezone"`
	Language string `json:"content_language"`
	Plan     string `json:"plan"`
}

// Key is an API key as it is listed; its value is shown only when it is made.
type Key struct {
	ID        int64        `json:"id"`
	TeamID    int64        `json:"team_id"`
	Name      string       `json:"name"`
	Level     access.Level `json:"level"`
	CreatedAt time.Time    `json:"created_at"`
	RevokedAt time.Time    `json:"revoked_at,omitzero"`
}

// invalid refuses what the operator asked for; the text says what to mend.
func invalid(format string, args ...any) error { return fmt.Errorf(format, args...) }

// AddPerson makes a person. The password may be empty: such a person cannot sign in yet.
func (s *Service) AddPerson(ctx context.Context, name, email, password string) (Person, error) {
	p := Person{Name: strings.TrimSpace(name), Email: strings.ToLower(strings.TrimSpace(email))}
	if p.Name == "" || !strings.Contains(p.Email, "@") {
		return p, invalid("a person needs a name and an e-mail address")
	}
	hash, err := HashPassword(password)
	if err != nil {
		return p, err
	}
	err = s.db.Write(ctx, "team.add_person", func(ctx context.Context, tx *db.Tx) error {
		row := tx.QueryRow(ctx, `INSERT INTO people (name, email, password_hash, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (email) DO NOTHING RETURNING id`,
			p.Name, p.Email, hash, db.Micros(tx.Now()))
		if err := row.Scan(&p.ID); err != nil {
			return invalid("somebody has this e-mail address already")
		}
		return nil
	})
	return p, err
}

// AddTeam makes a team with its owner.
func (s *Service) AddTeam(ctx context.Context, t Team, owner int64) (Team, error) {
	if _, err := time.LoadLocation(t.Timezone); err != nil || t.Timezone == "" || t.Timezone == "Local" {
		return t, invalid("the time zone has to be an IANA name such as Europe/Berlin")
	}
	if t.Name = strings.TrimSpace(t.Name); t.Name == "" {
		return t, invalid("a team needs a name")
	}
	if PlanOf(t.Plan).ID == "" {
		return t, invalid("there is no plan of this name; the plans are %s", strings.Join(planIDs(), ", "))
	}
	err := s.db.Write(ctx, "team.add_team", func(ctx context.Context, tx *db.Tx) error {
		row := tx.QueryRow(ctx, `INSERT INTO teams (name, timezone, content_language, plan, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id`,
			t.Name, t.Timezone, t.Language, t.Plan, db.Micros(tx.Now()))
		if err := row.Scan(&t.ID); err != nil {
			return fmt.Errorf("adding a team: %w", err)
		}
		if err := s.setMember(ctx, tx, t.ID, owner, access.Owner); err != nil {
			return err
		}
		return event.Record(ctx, tx, t.ID, event.Actor{}, "team.created", id(t.ID), map[string]any{"plan": t.Plan})
	})
	return t, err
}

// SetMember gives a person a role in a team.
func (s *Service) SetMember(ctx context.Context, team, person int64, role access.Role) error {
	if !role.Valid() {
		return invalid("there is no role of this name")
	}
	err := s.db.Write(ctx, "team.set_member", func(ctx context.Context, tx *db.Tx) error {
		if err := s.setMember(ctx, tx, team, person, role); err != nil {
			return err
		}
		return event.Record(ctx, tx, team, event.Actor{}, "member.set", id(person), map[string]any{"role": role})
	})
	return s.forget(ctx, err)
}

// forget makes a change of access hold in this process at once; others see it within a second.
func (s *Service) forget(ctx context.Context, err error) error {
	if err != nil {
		return err
	}
	return s.cache.look(ctx)
}

func (s *Service) setMember(ctx context.Context, tx *db.Tx, team, person int64, role access.Role) error {
	_, err := tx.Exec(ctx, `INSERT INTO memberships (team_id, person_id, role, created_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (team_id, person_id) DO UPDATE SET role = excluded.role`, team, person, string(role), db.Micros(tx.Now()))
	if err != nil {
		return invalid("there is no such team or person")
	}
	return s.changed(ctx, tx)
}

// AddKey makes an API key of the team's owner. The second value is the key itself; it is kept nowhere.
func (s *Service) AddKey(ctx context.Context, team int64, name string, level access.Level, expires time.Time) (Key, string, error) {
	if !level.Valid() {
		return Key{}, "", invalid("the level has to be read_only, drafts or full")
	}
	value := secret.New(secret.APIKey)
	hash := secret.Hash(value)
	k := Key{TeamID: team, Name: name, Level: level}
	err := s.db.Write(ctx, "team.add_key", func(ctx context.Context, tx *db.Tx) error {
		var owner int64
		if err := tx.QueryRow(ctx, `SELECT person_id FROM memberships WHERE team_id = ? AND role = 'owner' ORDER BY person_id LIMIT 1`, team).Scan(&owner); err != nil {
			return invalid("there is no such team, or it has no owner")
		}
		k.CreatedAt = tx.Now()
		row := tx.QueryRow(ctx, `INSERT INTO api_keys (team_id, person_id, name, level, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id`,
			team, owner, name, string(level), hash[:], db.Micros(tx.Now()), db.Micros(expires))
		if err := row.Scan(&k.ID); err != nil {
			return fmt.Errorf("adding a key: %w", err)
		}
		return event.Record(ctx, tx, team, event.Actor{PersonID: owner}, "key.created", id(k.ID), map[string]any{"level": level})
	})
	return k, value, err
}

// RevokeKey ends a key for good.
func (s *Service) RevokeKey(ctx context.Context, key int64) error {
	return s.changeKey(ctx, key, "key.revoked", nil, `UPDATE api_keys SET revoked_at = ? WHERE id = ? AND revoked_at = 0 RETURNING team_id`,
		func(tx *db.Tx) []any { return []any{db.Micros(tx.Now()), key} })
}

// SetKeyLevel changes what a key may do.
func (s *Service) SetKeyLevel(ctx context.Context, key int64, level access.Level) error {
	if !level.Valid() {
		return invalid("the level has to be read_only, drafts or full")
	}
	return s.changeKey(ctx, key, "key.level_changed", map[string]any{"level": level}, `UPDATE api_keys SET level = ? WHERE id = ? AND revoked_at = 0 RETURNING team_id`,
		func(*db.Tx) []any { return []any{string(level), key} })
}

func (s *Service) changeKey(ctx context.Context, key int64, kind string, detail map[string]any, update string, args func(*db.Tx) []any) error {
	err := s.db.Write(ctx, "team."+kind, func(ctx context.Context, tx *db.Tx) error {
		var team int64
		if err := tx.QueryRow(ctx, update, args(tx)...).Scan(&team); err != nil {
			return invalid("there is no such key, or it is revoked")
		}
		if err := s.changed(ctx, tx); err != nil {
			return err
		}
		return event.Record(ctx, tx, team, event.Actor{}, kind, id(key), detail)
	})
	return s.forget(ctx, err)
}

// changed tells every node that what it remembers of keys is out of date.
func (s *Service) changed(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `UPDATE access_version SET version = version + 1 WHERE id = 1`)
	if err != nil {
		return fmt.Errorf("noting a change of access: %w", err)
	}
	return nil
}

func id(n int64) string { return strconv.FormatInt(n, 10) }
