package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/testkit"
)

// withLimits runs a test in an instance with changed limits and a clock that the test controls.
func withLimits(t *testing.T, limits func(*plan.Catalog), run func(t *testing.T, w *env, clock *testkit.Clock)) {
	t.Helper()
	withClock(t, options{accounts: 1, extend: paidTestOperation}, limits, run)
}

// withClock is like withLimits, with options.
func withClock(t *testing.T, o options, limits func(*plan.Catalog), run func(t *testing.T, w *env, clock *testkit.Clock)) {
	t.Helper()
	o.catalog = ampleCatalog()
	limits(o.catalog)
	testkit.EachDatabase(t, func(t *testing.T, url string) {
		t.Parallel()
		clock := testkit.NewClock(testStart)
		of := o
		of.now = clock.Now
		run(t, newInstance(t, url, of).newEnv(t, of), clock)
	})
}

// limitRequests allows a burst of six requests, and then one every ten seconds.
func limitRequests(t *plan.Catalog) { t.Limits.Requests = plan.Rate{PerMinute: 6, Burst: 6} }

// mustHaveRateLimit checks the RateLimit header fields of an answer.
func (a answer) mustHaveRateLimit(t *testing.T, policy, limit string) {
	t.Helper()
	if p, l := a.header.Get("RateLimit-Policy"), a.header.Get("RateLimit"); p != policy || l != limit {
		t.Errorf("RateLimit-Policy: %s, RateLimit: %s; want %s and %s (%d %s)", p, l, policy, limit, a.status, a.raw)
	}
}

// mustBeRateLimited checks the error of a call above a rate limit.
func (a answer) mustBeRateLimited(t *testing.T, scope string, seconds int) {
	t.Helper()
	a.mustReject(t, http.StatusTooManyRequests, "rate_limited", "")
	a.mustHave(t, map[string]any{"context.scope": scope, "context.retry_after_seconds": seconds})
	if after := a.header.Get("Retry-After"); after != fmt.Sprint(seconds) && !a.isTool() {
		t.Errorf("Retry-After: %q, want %d", after, seconds)
	}
}

// isTool reports whether an answer came over MCP, where errors have status 200.
func (a answer) isTool() bool { return a.header.Get("Content-Type") != "application/problem+json" }

// A key's requests over REST and MCP are counted together. Every answer states the remaining requests.
func TestKeyRequestRate(t *testing.T) {
	t.Parallel()
	withLimits(t, limitRequests, func(t *testing.T, w *env, clock *testkit.Clock) {
		const policy = `"credential";q=6;w=60`
		for i := range 3 {
			w.rest(full(w), "get_identity", nil, "").mustHaveRateLimit(t, policy, fmt.Sprintf(`"credential";r=%d;t=%d`, 5-2*i, 20*i+10))
			w.tool(full(w), "get_identity", nil, "").mustHaveRateLimit(t, policy, fmt.Sprintf(`"credential";r=%d;t=%d`, 4-2*i, 20*i+20))
		}
		for _, got := range []answer{
			w.rest(full(w), "get_identity", nil, ""), w.tool(full(w), "get_identity", nil, ""),
			w.rest(full(w), "create_post", map[string]any{"caption": 1}, ""),
			w.message(full(w), "tools/list", "{}"), w.message(full(w), "nowhere/list", "{}"), w.toolVerbatim(full(w),
				"no_such_tool", "{}"),
		} {
			got.mustBeRateLimited(t, "credential", 10)
			got.mustHaveRateLimit(t, policy, `"credential";r=0;t=10`)
		}
		w.rest(drafts(w), "get_identity", nil, "").mustHaveRateLimit(t, policy, `"credential";r=5;t=10`)
		clock.Advance(10*time.Second - time.Millisecond)
		w.tool(full(w), "get_identity", nil, "").mustBeRateLimited(t, "credential", 1)
		clock.Advance(time.Millisecond)
		w.tool(full(w), "get_identity", nil, "").mustBe(t, http.StatusOK)
		w.rest(full(w), "get_identity", nil, "").mustBeRateLimited(t, "credential", 10)
	})
}

// Failed requests count and have the RateLimit fields, unless they fail before the key is checked.
func TestCountedRequests(t *testing.T) {
	t.Parallel()
	withLimits(t, limitRequests, func(t *testing.T, w *env, _ *testkit.Clock) {
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_identity"}}`
		oddly := func(body, accept, version string) func(string) answer {
			return func(key string) answer {
				header := bearer(key)
				header["Content-Type"], header["Accept"], header["Mcp-Protocol-Version"] = []string{"application/json"},
					[]string{accept}, []string{version}
				return w.raw(http.MethodPost, w.root+"/mcp", header, []byte(body))
			}
		}
		sent := func(body string) func(string) answer {
			return oddly(body, "application/json, text/event-stream", "2025-06-18")
		}
		asks := func(tool string, args map[string]any, idem string) func(string) answer {
			return func(key string) answer { return w.rest(key, tool, args, idem) }
		}
		for name, send := range map[string]func(key string) answer{
			"a missing item":                asks("get_post", map[string]any{"id": noSuchID}, ""),
			"an unknown argument":           asks("get_identity", map[string]any{"a": 1}, ""),
			"an operation beyond the level": asks("create_post", nil, ""),
			"a tool beyond the level":       func(key string) answer { return w.tool(key, "create_post", map[string]any{}, "") },
			"an unknown tool":               func(key string) answer { return w.message(key, "tools/call", `{"name":"no_such_tool"}`) },
			"initialize": func(key string) answer {
				return w.message(key, "initialize",
					`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}`)
			},
			"tools/list":                     func(key string) answer { return w.message(key, "tools/list", "{}") },
			"ping":                           func(key string) answer { return w.message(key, "ping", "{}") },
			"an unknown method":              func(key string) answer { return w.message(key, "nowhere/list", "{}") },
			"a notification":                 sent(`{"jsonrpc":"2.0","method":"notifications/initialized"}`),
			"a batch":                        sent(`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`),
			"no JSON":                        sent(`{`),
			"no message":                     sent(`{"id":{}}`),
			"a tool call without a name":     sent(strings.Replace(call, `"get_identity"`, "5", 1)),
			"a tool call in an odd version":  oddly(call, "application/json, text/event-stream", "1999-01-01"),
			"a tool call that wants no JSON": oddly(call, "text/html", "2025-06-18"),
			"a body of more than 1 MiB":      sent(fmt.Sprintf(`{"a":%q}`, words(1<<20))),
		} {
			_, key := w.newKey(w.team, access.ReadOnly, time.Time{})
			send(key).mustHaveRateLimit(t, `"credential";q=6;w=60`, `"credential";r=5;t=10`)
			if got := w.rest(key, "get_identity", nil, ""); got.header.Get("RateLimit") != `"credential";r=4;t=20` {
				t.Errorf("%s: not counted: %s", name, got.header.Get("RateLimit"))
			}
		}
		for name, send := range map[string]func(header http.Header) answer{
			"an invalid address": func(h http.Header) answer { return w.raw(http.MethodGet, w.base+"/nowhere", h, nil) },
			"another method":     func(h http.Header) answer { return w.raw(http.MethodDelete, w.base+"/me", h, nil) },
			"the description":    func(h http.Header) answer { return w.raw(http.MethodGet, w.base+"/openapi.json", h, nil) },
			"no key": func(http.Header) answer {
				return w.raw(http.MethodGet, w.base+"/me", nil, nil)
			},
		} {
			_, key := w.newKey(w.team, access.ReadOnly, time.Time{})
			send(bearer(key)).mustHaveRateLimit(t, "", "")
			if got := w.rest(key, "get_identity", nil, ""); got.header.Get("RateLimit") != `"credential";r=5;t=10` {
				t.Errorf("%s: counted: %s", name, got.header.Get("RateLimit"))
			}
		}
	})
}

// limitActions allows bursts of three writes and one call to networks.
func limitActions(t *plan.Catalog) {
	t.Limits.Requests = plan.Rate{PerMinute: 60, Burst: 100}
	t.Limits.Writes = plan.Rate{PerMinute: 6, Burst: 3}
	t.Limits.Networks = plan.Rate{PerMinute: 2, Burst: 1}
}

// A key's successful writes over REST and MCP are counted together. Reads, repeats and rejected calls do not count.
func TestConnectionWriteRate(t *testing.T) {
	t.Parallel()
	withLimits(t, limitActions, func(t *testing.T, w *env, clock *testkit.Clock) {
		draft := map[string]any{"caption": "a draft", "account_ids": w.accounts}
		stands := func(got answer, writes string) {
			t.Helper()
			got.mustHaveRateLimit(t, `"credential";q=100;w=100, "connection";q=3;w=30`,
				fmt.Sprintf(`"credential";r=%s, "connection";%s`, got.requestsLeft(), writes))
		}
		made := w.rest(full(w), "create_post", draft, "a key")
		stands(made, "r=2;t=10")
		for i, again := range []answer{w.rest(full(w), "create_post", draft, "a key"), w.tool(full(w), "create_post", draft, "a key")} {
			again.mustHave(t, map[string]any{"data.id": made.text("data.id")})
			again.mustHaveRateLimit(t, `"credential";q=100;w=100`, fmt.Sprintf(`"credential";r=%d;t=%d`, 98-i,
				2+i)) // a repeat counts as a request
		}
		w.rest(full(w), "create_post", map[string]any{"caption": 5}, "").mustBe(t, http.StatusUnprocessableEntity)
		w.rest(full(w), "create_post", mergeArgs(draft, map[string]any{"caption": "other"}), "a key").
			mustReject(t, http.StatusUnprocessableEntity, "idempotency_key_reused", "")
		w.rest(readOnly(w), "create_post", draft, "").mustReject(t, http.StatusForbidden, "write_not_allowed", "")
		w.rest(full(w), "list_posts", nil, "").mustBe(t, http.StatusOK)
		stands(w.tool(full(w), "cancel_post", map[string]any{"post_id": noSuchID}, ""), "r=1;t=20")
		stands(w.tool(full(w), "create_post", draft, ""), "r=0;t=30")
		for _, call := range []edgeCall{w.rest, w.tool} {
			got := call(full(w), "create_post", draft, "")
			got.mustBeRateLimited(t, "connection", 10)
			stands(got, "r=0;t=10")
		}
		w.rest(full(w), "create_post", draft, "a key").mustHave(t, map[string]any{"data.id": made.text("data.id")})
		w.rest(full(w), "list_posts", nil, "").mustBe(t, http.StatusOK)
		stands(w.rest(drafts(w), "create_post", draft, ""), "r=2;t=10")
		clock.Advance(10 * time.Second)
		stands(w.rest(full(w), "create_post", draft, ""), "r=0;t=30")
		if n := w.count("posts WHERE team_id = ?", w.team); n != 4 {
			t.Errorf("%d drafts, want 4", n)
		}
	})
}

// requestsLeft returns the key's remaining requests from an answer.
func (a answer) requestsLeft() string {
	var left, until int
	_, _ = fmt.Sscanf(a.header.Get("RateLimit"), `"credential";r=%d;t=%d`, &left, &until)
	return fmt.Sprintf("%d;t=%d", left, until)
}

// Publishing, retrying and paid calls share a lower rate limit, because they call networks.
func TestNetworkCallRate(t *testing.T) {
	t.Parallel()
	withLimits(t, limitActions, func(t *testing.T, w *env, clock *testkit.Clock) {
		nowhere := map[string]any{"post_id": noSuchID}
		got := w.rest(full(w), "publish_post", nowhere, "")
		got.mustReject(t, http.StatusNotFound, "not_found", "")
		got.mustHaveRateLimit(t, `"credential";q=100;w=100, "connection";q=3;w=30, "provider";q=1;w=30`,
			`"credential";r=99;t=1, "connection";r=2;t=10, "provider";r=0;t=30`)
		w.tool(full(w), "retry_post", nowhere, "").mustBeRateLimited(t, "provider", 30)
		w.rest(full(w), "refresh_standin", reportArg(aReport)(w), "k").mustBeRateLimited(t, "provider", 30)
		w.rest(full(w), "publish_post", nowhere, "").mustBeRateLimited(t, "connection", 10)
		_, other := w.newKey(w.team, access.Full, time.Time{})
		w.rest(other, "retry_post", nowhere, "").mustReject(t, http.StatusNotFound, "not_found", "")
		clock.Advance(30 * time.Second)
		w.grant(refreshPrice)
		w.rest(full(w), "refresh_standin", reportArg(aReport)(w), "k").mustBe(t, http.StatusOK)
		w.rest(full(w), "refresh_standin", reportArg(aReport)(w), "k").mustBe(t, http.StatusOK) // a repeat does not reach a network
		w.rest(full(w), "publish_post", nowhere, "").mustBeRateLimited(t, "provider", 30)
		w.rest(full(w), "schedule_post", mergeArgs(nowhere, map[string]any{"scheduled_at": ahead(48 * time.Hour)}), "").
			mustReject(t, http.StatusNotFound, "not_found", "")
	})
}

// Enabling the tracking of a hashtag counts as a network call. Disabling it is never rate limited.
func TestTrackingCallsNetworks(t *testing.T) {
	t.Parallel()
	slow := func(t *plan.Catalog) { t.Limits.Networks = plan.Rate{PerMinute: 2, Burst: 2} }
	withLimits(t, slow, func(t *testing.T, w *env, clock *testkit.Clock) {
		addReport(aHashtag)(w) // one call
		track := func(enabled bool, days int, key string) answer {
			return w.rest(full(w), "set_report_tracking",
				notedReport("hashtag", map[string]any{"enabled": enabled, "frequency_days": days})(w), key)
		}
		track(false, 3, "off before").mustBe(t, http.StatusOK)
		track(true, 3, "on").mustBe(t, http.StatusOK)
		track(true, 3, "on as before").mustBe(t, http.StatusOK)
		track(true, 7, "more rarely").mustBe(t, http.StatusOK)
		track(false, 7, "off").mustBe(t, http.StatusOK)
		track(true, 7, "on again").mustBeRateLimited(t, "provider", 30)
		clock.Advance(30 * time.Second)
		track(true, 7, "on again").mustBe(t, http.StatusOK)
		w.rest(full(w), "set_report_tracking", notedReport("hashtag", map[string]any{"id": noSuchID, "enabled": true})(w),
			"nothing").mustReject(t, http.StatusNotFound, "not_found", "")
	})
}

// The operations that count as network calls.
func TestNetworkCallers(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		reach, some := []string{}, []string{}
		for _, op := range w.Registry().All() {
			if op.Networks {
				reach = append(reach, op.Tool)
			}
			if op.NetworkCondition != nil {
				some = append(some, op.Tool)
			}
		}
		if slices.Sort(reach); !slices.Equal(reach,
			[]string{"create_report", "download_profile_media", "publish_post", "refresh_report", "retry_post", "search_hashtags"}) {
			t.Errorf("operations that always call networks: %v", reach)
		}
		if !slices.Equal(some, []string{"set_report_tracking"}) {
			t.Errorf("operations that sometimes call networks: %v", some)
		}
	})
}
