// Package auditlog keeps the append-only record of who did what, when and through which key. Every change writes
// to it in its own transaction; the database refuses to change or delete a row.
package auditlog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"pressroom/internal/core/operation"
	"pressroom/internal/platform/db"
)

// Actor is who did it; all zero for what the service does by itself and for the operator.
type Actor struct {
	PersonID, KeyID int64
	RequestID       string
}

// By is the actor of a call.
func By(call operation.Call) Actor {
	return Actor{PersonID: call.PersonID, KeyID: call.KeyID, RequestID: call.RequestID}
}

type operatingKey struct{}

// Operating notes in a context which of the people who run the service acts. What is recorded as the operator's names
// that person's id in its detail from then on.
func Operating(ctx context.Context, person int64) context.Context {
	return context.WithValue(ctx, operatingKey{}, person)
}

type browserKey struct{}

// InBrowser notes in a context which browser a request came from, as people call it. What a person does about accounts
// of people names it in its detail from then on.
func InBrowser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, browserKey{}, name)
}

// Record adds an event. The kind has the form subject.verb, such as post.created; the detail holds identifiers
// and states, never texts or secrets.
func Record(ctx context.Context, tx *db.Tx, team int64, by Actor, kind, subject string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	if operator, ok := ctx.Value(operatingKey{}).(int64); ok && by == (Actor{}) {
		detail = maps.Clone(detail)
		detail["operator"] = operator
	}
	if browser, ok := ctx.Value(browserKey{}).(string); ok && team == 0 && by.PersonID != 0 {
		detail = maps.Clone(detail)
		detail["browser"] = browser
	}
	raw, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("writing event %s: %w", kind, err)
	}
	e := db.Recorded{Team: team, Person: by.PersonID, Key: by.KeyID, Kind: kind, Subject: subject, Detail: raw}
	err = tx.QueryRow(ctx,
		`INSERT INTO events (team_id, at, person_id, key_id, request_id, kind, subject, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		team, db.Micros(tx.Now()), by.PersonID, by.KeyID, by.RequestID, kind, subject, string(raw)).Scan(&e.ID)
	if err != nil {
		return fmt.Errorf("recording event %s: %w", kind, err)
	}
	return tx.Tell(ctx, e)
}
