package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// comparableText returns the status, body and headers of an answer as text, without the headers that differ between
// equal requests.
func comparableText(a answer) string {
	lines := []string{}
	for name, values := range a.header {
		if !slices.Contains([]string{"Date", "X-Request-Id", "Ratelimit"}, name) {
			lines = append(lines, name+": "+strings.Join(values, " | "))
		}
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d\n%s\n\n%s", a.status, strings.Join(lines, "\n"), a.raw)
}

// The response to every invalid credential is the same, byte for byte.
func TestAuthenticationErrors(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		revoked, revokedKey := w.newKey(w.team, access.Full, time.Time{})
		must.NoError(t, w.Teams.RevokeKey(t.Context(), revoked))
		_, expiredKey := w.newKey(w.team, access.Full, time.Now().Add(-time.Hour))
		key := full(w)
		first := w.raw(http.MethodGet, w.base+"/me", nil, nil)
		first.mustReject(t, http.StatusUnauthorized, "unauthorized", "")
		if got := first.header.Get("WWW-Authenticate"); got != `Bearer realm="api"` {
			t.Errorf("WWW-Authenticate: %s", got)
		}
		same := func(name string, got answer) {
			t.Helper()
			if comparableText(got) != comparableText(first) {
				t.Errorf("%s:\n%s\n\nwant\n\n%s", name, comparableText(got), comparableText(first))
			}
		}
		for name, values := range map[string][]string{
			"empty": {""}, "only the scheme": {"Bearer"}, "nothing after the scheme": {"Bearer "}, "no scheme": {key},
			"another scheme": {"Basic " + key},
			"mistyped":       {"Bearer " + corruptKey(key)}, "cut short": {"Bearer " + key[:len(key)-1]},
			"too long":    {"Bearer " + key + "a"},
			"in capitals": {"Bearer " + strings.ToUpper(key)}, "two keys": {"Bearer " + key + " " + key},
			"two headers":      {"Bearer " + key, "Bearer " + key},
			"never made":       {"Bearer " + apikey.New(apikey.APIKey)},
			"an upload secret": {"Bearer " + apikey.New(apikey.Upload)}, "revoked": {"Bearer " + revokedKey},
			"expired":              {"Bearer " + expiredKey},
			"an assistant's token": {"Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"}, "in quotes": {`Bearer "` + key + `"`},
			"very long": {"Bearer " + strings.Repeat("a", 30_000)},
		} {
			same(name, w.raw(http.MethodGet, w.base+"/me", http.Header{"Authorization": values}, nil))
		}
		for name, header := range map[string]http.Header{
			"in a cookie": {"Cookie": {"key=" + key}}, "in another header": {"X-Api-Key": {key}},
			"for a proxy": {"Proxy-Authorization": {"Bearer " + key}},
		} {
			same(name, w.raw(http.MethodGet, w.base+"/me", header, nil))
		}
		same("in the address", w.raw(http.MethodGet, w.base+"/me?api_key="+key+"&access_token="+key, nil, nil))
		same("in the body",
			w.raw(http.MethodPost, w.base+"/posts", jsonType, []byte(`{"api_key":"`+key+`","caption":"x","account_ids":[1]}`)))
		same("of a write", w.raw(http.MethodPost, w.base+"/posts/"+noSuchID+"/publish", nil, nil))
		same("with rubbish in the body", w.raw(http.MethodPost, w.base+"/posts", jsonType, []byte("{")))
		same("with a key of no use", w.raw(http.MethodGet, w.base+"/me", http.Header{"Idempotency-Key": {"x"}}, nil))
		for _, scheme := range []string{"Bearer ", "bearer ", "BEARER ", "Bearer   "} {
			w.raw(http.MethodGet, w.base+"/me", http.Header{"Authorization": {scheme + key}}, nil).mustBe(t, http.StatusOK)
		}
	})
}

// Repeated requests with one wrong key are throttled across REST and MCP. Other callers are not affected.
func TestRepeatedWrongKey(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for _, wrong := range []string{apikey.New(apikey.APIKey), "no key at all"} {
			rejections := map[int]int{}
			var slowed answer
			for range 30 {
				got := w.rest(wrong, "get_identity", nil, "")
				rejections[got.status]++
				if got.status == http.StatusTooManyRequests {
					slowed = got
				}
			}
			if rejections[401] < 10 || rejections[429] == 0 || len(rejections) != 2 {
				t.Fatalf("30 wrong keys: %v", rejections)
			}
			slowed.mustReject(t, http.StatusTooManyRequests, "rate_limited", "")
			wait, err := strconv.Atoi(slowed.header.Get("Retry-After"))
			if err != nil || wait < 1 || wait > 60 || slowed.number("context.retry_after_seconds") != int64(wait) ||
				slowed.text("context.scope") != "failed_authentication" {
				t.Errorf("Retry-After %q: %s", slowed.header.Get("Retry-After"), slowed.raw)
			}
			w.tool(wrong, "get_identity", nil, "").mustReject(t, http.StatusTooManyRequests, "rate_limited", "")
			// The response does not reveal other errors of the request.
			w.raw(http.MethodPost, w.base+"/posts", bearer(wrong), []byte("{")).
				mustReject(t, http.StatusTooManyRequests, "rate_limited", "")
			w.raw(http.MethodGet, w.base+"/nowhere", bearer(wrong), nil).mustReject(t, http.StatusNotFound, "endpoint_not_found", "")
		}
		w.rest(apikey.New(apikey.APIKey), "get_identity", nil, "").mustReject(t, http.StatusUnauthorized, "unauthorized", "")
		w.full("get_identity", nil)
		for range 30 {
			w.rest("", "get_identity", nil, "").mustReject(t, http.StatusUnauthorized, "unauthorized", "")
		}
	})
}
