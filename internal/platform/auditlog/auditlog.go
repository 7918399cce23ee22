// Package auditlog records events: who did what, when and with which API key. The log is append-only: the database
// rejects updates and deletes. An event is recorded in the same transaction as the change that it describes.
package auditlog

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/platform/db"
)

// Actor identifies who caused an event. The zero value means the service itself or the operator.
type Actor struct {
	PersonID, KeyID int64
	RequestID       string
}

// NewActor returns the actor of an API call.
func NewActor(call operation.Call) Actor {
	return Actor{PersonID: call.PersonID, KeyID: call.KeyID, RequestID: call.RequestID}
}

type operatorKey struct{}

// WithOperator returns a context with the ID of the operator who acts. Events that the operator causes include this ID
// in their detail.
func WithOperator(ctx context.Context, person int64) context.Context {
	return context.WithValue(ctx, operatorKey{}, person)
}

type browserKey struct{}

// WithBrowser returns a context with the display name of the browser that sent a request. Events about people's own
// accounts include this name in their detail.
func WithBrowser(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, browserKey{}, name)
}

// Record adds an event. kind has the form subject.verb, such as post.created. detail contains identifiers and states,
// but must not contain user input or secrets.
func Record(ctx context.Context, tx *db.Tx, team int64, actor Actor, kind, subject string, detail map[string]any) error {
	if detail == nil {
		detail = map[string]any{}
	}
	if operator, ok := ctx.Value(operatorKey{}).(int64); ok && actor == (Actor{}) {
		detail = maps.Clone(detail)
		detail["operator"] = operator
	}
	if browser, ok := ctx.Value(browserKey{}).(string); ok && team == 0 && actor.PersonID != 0 {
		detail = maps.Clone(detail)
		detail["browser"] = browser
	}
	raw, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("encoding event %s: %w", kind, err)
	}
	e := db.Event{Team: team, Person: actor.PersonID, Key: actor.KeyID, Kind: kind, Subject: subject, Detail: raw}
	err = tx.QueryRow(ctx,
		`INSERT INTO events (team_id, at, person_id, key_id, request_id, kind, subject, detail)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
		team, db.Micros(tx.Now()), actor.PersonID, actor.KeyID, actor.RequestID, kind, subject, string(raw)).Scan(&e.ID)
	if err != nil {
		return fmt.Errorf("recording event %s: %w", kind, err)
	}
	return tx.Notify(ctx, e)
}
