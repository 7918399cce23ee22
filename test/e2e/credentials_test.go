package e2e

import (
	"net/http"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/testkit/must"
)

// invalidCredentials returns a key or token for each way of becoming invalid.
var invalidCredentials = map[string]func(w *env) string{
	"a key that was never made": func(*env) string { return apikey.New(apikey.APIKey) },
	"an upload's secret":        func(*env) string { return apikey.New(apikey.Upload) },
	"a key that was revoked": func(w *env) string {
		id, key := w.newKey(w.team, access.Full, time.Time{})
		w.rest(key, "get_identity", nil, "").mustBe(w.t, http.StatusOK) // to cache it
		must.NoError(w.t, w.Teams.RevokeKey(w.t.Context(), id))
		return key
	},
	"a key that has expired": func(w *env) string {
		_, key := w.newKey(w.team, access.Full, time.Now().Add(-time.Second))
		return key
	},
	"a connection that was ended": func(w *env) string {
		c := w.connectAssistant(access.Admin, access.Capabilities()...)
		must.NoError(w.t, w.Teams.RevokeKey(w.t.Context(), c.id))
		return c.token
	},
	"a connection of a person who is gone": func(w *env) string {
		c := w.connectAssistant(access.Editor, access.Read, access.Write)
		w.tool(c.token, "list_posts", map[string]any{}, "").mustBe(w.t, http.StatusOK)
		must.NoError(w.t, w.Erasure.DeletePerson(w.t.Context(), c.person))
		w.until("the token to be nobody's", func() bool {
			return w.tool(c.token, "list_posts", map[string]any{}, "").status == http.StatusUnauthorized
		})
		return c.token
	},
}

// Every operation rejects an invalid key or token like a missing one, over REST and MCP, and has no effect.
func TestEndedCredentialsRejected(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, extend: paidTestOperation}
	withInstance(t, o, func(t *testing.T, h *instance) {
		for name, end := range invalidCredentials {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, o)
				w.grant(100)
				for i, op := range w.Registry().All() {
					if i%4 == 0 { // use a new credential before the repeated one is throttled
						w.notes["credential"] = end(w)
					}
					w.mustRejectCredential(op, w.notes["credential"])
				}
				recordReason("unauthorized", "")
			})
		}
	})
}

// mustRejectCredential calls an operation with an invalid credential, over REST and MCP. The call must fail without
// effects.
func (w *env) mustRejectCredential(op *operation.Operation, credential string) {
	w.t.Helper()
	before, idem := w.footprint(), ""
	if !op.Reads() {
		idem = "a key"
	}
	for edge, got := range map[string]answer{
		"REST": w.rest(credential, op.Tool, w.sample(op), idem), "tools": w.tool(credential, op.Tool, w.sample(op), idem),
	} {
		if got.status != http.StatusUnauthorized || got.code() != "unauthorized" {
			w.t.Errorf("%s over %s: %d %s", op.Tool, edge, got.status, got.raw)
		}
	}
	if effects := w.footprint().changesSince(before); effects != (rows{}) {
		w.t.Errorf("%s changed %+v", op.Tool, effects)
	}
}
