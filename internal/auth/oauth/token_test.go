package oauth_test

import (
	"errors"
	"net/url"
	"slices"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/testkit/must"
)

// refresh exchanges a refresh token, and returns the error code of a rejection.
func (w *env) refresh(t *testing.T, client, token string, more ...string) (oauth.Tokens, string) {
	t.Helper()
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}}
	for pair := range slices.Chunk(more, 2) {
		form.Set(pair[0], pair[1])
	}
	got, err := w.Exchange(t.Context(), client, form)
	if rejected, is := errors.AsType[*oauth.Error](err); is {
		return got, rejected.Code
	}
	must.NoError(t, err)
	return got, ""
}

// A refresh token may be used repeatedly during the grace period, but only one of the resulting tokens can be used.
// Using a second one ends the connection, because one of the two users is a thief.
func TestRefreshTokenReuse(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		for name, uses := range map[string]func(lost, first string) string{
			"a second token from a repeated use": func(lost, _ string) string { return lost },
			"the token before both":              func(_, first string) string { return first },
		} {
			t.Run(name, func(t *testing.T) {
				client := w.register(t).ID
				first := w.connect(t, client)
				lost, _ := w.refresh(t, client, first.Refresh)
				w.clock.Advance(20 * time.Second)
				kept, _ := w.refresh(t, client, first.Refresh)
				next, rejected := w.refresh(t, client, kept.Refresh)
				if rejected != "" {
					t.Fatalf("after one lost response: %s", rejected)
				}
				if again, rejected := w.refresh(t, client, kept.Refresh); rejected != "" ||
					again.Refresh == next.Refresh {
					t.Fatalf("after two lost responses: %s", rejected)
				}
				if got, rejected := w.refresh(t, client,
					uses(lost.Refresh, first.Refresh)); rejected != oauth.InvalidGrant || got.Refresh != "" {
					t.Errorf("exchanged: %s", rejected)
				}
				if _, rejected := w.refresh(t, client, next.Refresh); rejected != oauth.InvalidGrant {
					t.Errorf("the connection is still active: %q", rejected)
				}
				if _, _, found, err := w.Connection(t.Context(), w.ToolsResource(), next.Access); found || err != nil {
					t.Errorf("the access token is still valid: %v", err)
				}
			})
		}
	})
}

// A client that sometimes loses responses stays connected for months.
func TestLostResponses(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		client := w.register(t).ID
		now := w.connect(t, client)
		for i := range 12 {
			for range i % 3 {
				w.refresh(t, client, now.Refresh)
			}
			var rejected string
			if now, rejected = w.refresh(t, client, now.Refresh); rejected != "" {
				t.Fatalf("turn %d: %s", i, rejected)
			}
			w.clock.Advance(time.Duration(i%2) * 10 * 24 * time.Hour)
		}
		if _, _, found, err := w.Connection(t.Context(), w.ToolsResource(), now.Access); err != nil || found {
			t.Errorf("ten days later the access token is invalid: %v", err)
		}
	})
}

// Refreshed tokens always have the whole granted scope.
func TestScopeOfRefreshedTokens(t *testing.T) {
	eachEnv(t, func(t *testing.T, w *env) {
		client := w.register(t).ID
		now := w.connect(t, client)
		for scope, want := range map[string]string{
			"read": oauth.InvalidScope, "write offline_access": oauth.InvalidScope,
			"read write publish": oauth.InvalidScope, "email": oauth.InvalidScope,
		} {
			if _, rejected := w.refresh(t, client, now.Refresh, "scope", scope); rejected != want {
				t.Errorf("%s: %q", scope, rejected)
			}
		}
		for _, scope := range []string{"write read", "read write offline_access", ""} {
			got, rejected := w.refresh(t, client, now.Refresh, "scope", scope)
			if rejected != "" || got.Scope != "read write" {
				t.Errorf("%s: %q, %q", scope, rejected, got.Scope)
			}
			now = got
		}
	})
}
