package mcp_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/pipeline"
	"pressroom.example/pressroom/internal/platform/db"
)

// keys accepts the name of a level as a key.
type keys struct{}

func (keys) Authenticate(_ context.Context, credential string) (*access.Actor, error) {
	level := access.Level(credential)
	switch {
	case level.IsValid():
		return &access.Actor{
			TeamID: 7, KeyID: 3, Level: level, Role: access.Owner, Capabilities: access.EffectiveCapabilities(level, access.Owner),
			Zone: time.FixedZone("", 2*60*60),
		}, nil
	case credential == "many":
		return nil, apierr.New(apierr.RateLimited, "Wait.").With("scope",
			"failed_authentication").WithRetryAfter(41 * time.Second)
	case credential == "down":
		return nil, errors.New("the hidden text of the database")
	}
	return nil, apierr.New(apierr.Unauthorized, "Send a key.")
}

// replays is an idempotency store that returns the first result for repeats.
type replays struct {
	mu    sync.Mutex
	byKey map[string]pipeline.Outcome
}

func (k *replays) Once(ctx context.Context, c pipeline.Claim,
	work func(context.Context, *db.Tx) (operation.Result, error)) (operation.Result, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if first, ok := k.byKey[c.Key]; ok {
		return first.Result, true, nil
	}
	result, err := work(ctx, nil)
	if err == nil {
		k.byKey[c.Key] = pipeline.Outcome{Result: result}
	}
	return result, false, err
}

// syncBuffer is a buffer that can be read while a log writes to it.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *syncBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *syncBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// withKey adds a key to every request of a client.
type withKey string

func (k withKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(k))
	return http.DefaultTransport.RoundTrip(r)
}

// rates allows every call and counts the requests of keys.
type rates struct{ requests atomic.Int64 }

func (r *rates) Take(_ context.Context, scope pipeline.Scope, _ int64) pipeline.Rate {
	if scope == pipeline.PerCredential {
		r.requests.Add(1)
	}
	return pipeline.Rate{Scope: scope, Quota: 30, Window: 15 * time.Second, Remaining: 29, Reset: time.Second}
}

// freeCalls never run out.
type freeCalls struct{}

func (freeCalls) Take(context.Context, *access.Actor) (pipeline.FreeCall, bool, error) {
	return freeCall{}, true, nil
}

type freeCall struct{}

func (freeCall) Return() {}

// credits never run out.
type credits struct{}

func (credits) CheckUnspent(context.Context, *db.Tx, pipeline.Claim) error      { return nil }
func (credits) Reserve(context.Context, *db.Tx, pipeline.Charge) (int64, error) { return 1, nil }
func (credits) Balance(context.Context, db.Querier, int64) (int64, error)       { return 97, nil }
