package e2e

import (
	"net/http"
	"testing"
	"time"

	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/core/operation"
	"pressroom/internal/testkit/must"
)

// ended are the ways in which a key or a token becomes invalid.
var ended = map[string]func(w *env) string{
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

// Every operation refuses an expired or revoked key on both edges like a missing one, and does nothing. The limit on
// wrong keys affects few of these requests.
func TestEndedCredentialsRefused(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, extend: refreshing}
	withInstance(t, o, func(t *testing.T, h *instance) {
		for name, end := range ended {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, o)
				w.grant(100)
				for i, op := range w.Registry().All() {
					if i%4 == 0 { // another one, before repeated ones are slowed down
						w.notes["credential"] = end(w)
					}
					w.mustNotBeLetIn(op, w.notes["credential"])
				}
				recordReason("unauthorized", "")
			})
		}
	})
}

// mustNotBeLetIn makes a call on both edges with an invalid credential.
func (w *env) mustNotBeLetIn(op *operation.Operation, credential string) {
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
	if effects := w.footprint().since(before); effects != (rows{}) {
		w.t.Errorf("%s changed %+v", op.Tool, effects)
	}
}
