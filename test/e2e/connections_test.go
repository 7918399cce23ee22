package e2e

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"pressroom.example/pressroom/internal/auth/oauth"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/core/operation"
	"pressroom.example/pressroom/internal/core/plan"
	"pressroom.example/pressroom/internal/domain/team"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/must"
)

// connection is an assistant's connection, which a member of the team has authorized.
type connection struct {
	id     int64
	token  string
	person int64
}

// connectAssistant authorizes an assistant for a member with the given role: the owner, or a new person.
func (w *env) connectAssistant(role access.Role, may ...access.Capability) connection {
	w.t.Helper()
	ctx, c := w.t.Context(), connection{person: w.owner}
	if role != access.Owner {
		p := must.Get(w.Teams.AddPerson(ctx, "Cleo Marsh", fmt.Sprintf("cleo%d@harbour.example", w.people.Add(1)), ""))(w.t)
		must.NoError(w.t, w.Teams.SetMember(ctx, w.team, p.ID, role))
		c.person = p.ID
	}
	const back = "http://127.0.0.1/back"
	program, err := w.OAuth.Register(ctx, fmt.Sprint("test ", w.people.Add(1)),
		oauth.Registration{Name: "Harbour helper", Redirects: []string{back}})
	must.NoError(w.t, err)
	verifier := oauth2.GenerateVerifier()
	asked := must.Get(w.OAuth.ParseRequest(ctx, "test", url.Values{
		"client_id": {program.ID}, "redirect_uri": {back}, "response_type": {"code"}, "scope": {"read write publish spend"},
		"code_challenge": {oauth2.S256ChallengeFromVerifier(verifier)}, "code_challenge_method": {"S256"},
	}))(w.t)
	to := must.Get(w.OAuth.Allow(ctx, asked, oauth.Consent{Team: w.team, Person: c.person, Capabilities: may}))(w.t)
	came := must.Get(url.Parse(to))(w.t)
	got := must.Get(w.OAuth.Exchange(ctx, program.ID,
		url.Values{
			"grant_type": {"authorization_code"}, "code": {came.Query().Get("code")}, "redirect_uri": {back}, "code_verifier": {verifier},
		}))(w.t)
	c.token = got.Access
	var found bool
	c.id, _, found, err = w.OAuth.Connection(ctx, w.OAuth.ToolsResource(), c.token)
	must.NoError(w.t, err)
	if !found {
		w.t.Fatal("the token belongs to no connection")
	}
	return c
}

// callOperation calls an operation with the connection's token.
func (w *env) callOperation(c connection, op *operation.Operation) answer {
	w.t.Helper()
	idem := ""
	if !op.Reads() {
		idem = "a key"
	}
	return w.tool(c.token, op.Tool, w.sample(op), idem)
}

// mustRejectAll checks that every operation and MCP method is rejected with the code and has no effect.
func (w *env) mustRejectAll(c connection, code string) {
	w.t.Helper()
	before := w.footprint()
	for _, op := range w.Registry().All() {
		w.callOperation(c, op).mustReject(w.t, http.StatusForbidden, code, "")
	}
	for _, method := range []string{"tools/list", "initialize", "ping"} {
		w.message(c.token, method, "{}").mustReject(w.t, http.StatusForbidden, code, "")
	}
	if effects := w.footprint().changesSince(before); effects != (rows{}) {
		w.t.Errorf("%s: changed %+v", code, effects)
	}
}

// For every set of capabilities that can be granted, operations within the set are allowed and others are rejected. A
// connection that is not permitted to read is rejected for every operation.
func TestConnectionCapabilities(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, extend: paidTestOperation}
	withInstance(t, o, func(t *testing.T, h *instance) {
		w := h.newEnv(t, o)
		w.grant(100)
		all := access.Capabilities()
		for set := 1; set < 1<<len(all); set++ {
			var may []access.Capability
			for i, c := range all {
				if set&(1<<i) != 0 {
					may = append(may, c)
				}
			}
			c := w.connectAssistant(access.Owner, may...)
			for _, op := range w.Registry().All() {
				status, code := allowedResult(op)
				rejection := notAllowed(op, may)
				if rejection == "" && slices.Contains([]string{"create_report", "download_profile_media"},
					op.Tool) && !slices.Contains(may, access.Write) {
					rejection = "write_not_allowed" // writes are checked first
				}
				if rejection != "" {
					status, code = http.StatusForbidden, rejection
					recordReason(code, "")
				}
				if got := w.callOperation(c, op); got.status != status || got.code() != code {
					t.Errorf("%s with capabilities %v: got %d %s, want %d %s", op.Tool, may, got.status, got.code(), status, code)
				}
			}
		}
	})
}

// Gates of keys also block connections until they are opened.
func TestGatesBlockConnections(t *testing.T) {
	t.Parallel()
	o := options{accounts: 1, extend: paidTestOperation}
	withInstance(t, o, func(t *testing.T, h *instance) {
		for _, g := range slices.Concat(teamGates(), pausesOf(team.ForKey), pausesOf(team.ForTeam), serviceGates()) {
			w := h.newEnv(t, o)
			w.grant(100)
			c := w.connectAssistant(access.Admin, access.Capabilities()...)
			w.keyIDs = map[access.Level]int64{access.Full: c.id} // the gate pauses the connection
			must.NoError(t, g.closes(w))
			if g.code != "" {
				w.mustRejectAll(c, g.code)
			} else {
				for _, op := range w.Registry().All() {
					status, code := allowedResult(op)
					if op.Needs == g.stops {
						status, code = http.StatusForbidden, "connection_suspended"
					}
					if got := w.callOperation(c, op); got.status != status || got.code() != code {
						t.Errorf("%s: %s: got %d %s, want %d %s", g.name, op.Tool, got.status, got.code(), status, code)
					}
				}
			}
			must.NoError(t, g.opens(w))
			w.tool(c.token, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK)
		}
	})
}

// A connection ends when its person leaves the team or gets a role that cannot publish. Its token returns that error
// until it expires. The connection gets no new tokens and cannot be restored. Other connections are unaffected.
func TestConnectionEndsWithMembership(t *testing.T) {
	t.Parallel()
	withInstance(t, options{accounts: 1}, func(t *testing.T, h *instance) {
		for name, c := range map[string]struct {
			loses func(w *env, c connection) error
			code  string
		}{
			"the membership": {func(w *env, c connection) error {
				return w.Teams.RemoveMember(w.t.Context(), w.team, c.person)
			}, "membership_lost"},
			"the role": {func(w *env, c connection) error {
				return w.Teams.SetMember(w.t.Context(), w.team, c.person, access.Viewer)
			}, "role_lost"},
			"the role, as a client": {func(w *env, c connection) error {
				return w.Teams.SetMember(w.t.Context(), w.team, c.person, access.Client)
			}, "role_lost"},
			"the team": {func(w *env, c connection) error { return w.Erasure.Leave(w.t.Context(), c.person, w.team) }, "membership_lost"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				lost, other := w.connectAssistant(access.Editor, access.Read, access.Write), w.connectAssistant(access.Viewer,
					access.Read)
				w.tool(lost.token, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK)
				must.NoError(t, c.loses(w, lost))
				w.until(c.code, func() bool { return w.tool(lost.token, "list_posts", map[string]any{}, "").status != http.StatusOK })
				w.mustRejectAll(lost, c.code)
				w.tool(other.token, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK)
				must.NoError(t, w.Teams.SetMember(t.Context(), w.team, lost.person, access.Admin))
				w.tool(lost.token, "list_posts", map[string]any{}, "").mustReject(t, http.StatusForbidden, c.code, "")
				must.NoError(t, w.Teams.RevokeKey(t.Context(), lost.id))
				w.tool(lost.token, "list_posts", map[string]any{}, "").mustReject(t, http.StatusUnauthorized, "unauthorized", "")
			})
		}
	})
}

// Deleting a person's account deletes the person's tokens.
func TestConnectionOfDeletedPerson(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		c := w.connectAssistant(access.Editor, access.Read)
		w.tool(c.token, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK)
		must.NoError(t, w.Erasure.DeletePerson(t.Context(), c.person))
		w.mustApplySoon(func() bool {
			return w.tool(c.token, "list_posts", map[string]any{}, "").status == http.StatusUnauthorized
		})
	})
}

// After a transfer of ownership, the former owner's keys end. The connections continue with the new role, and
// without spending if the role may publish but not spend.
func TestConnectionsContinueAfterOwnershipTransfer(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, extend: paidTestOperation}, func(t *testing.T, w *env) {
		c := w.connectAssistant(access.Owner, access.Capabilities()...)
		must.NoError(t, w.transferOwnership())
		w.tool(full(w), "get_identity", map[string]any{}, "").mustReject(t, http.StatusForbidden, "ownership_lost", "")
		w.tool(c.token, "get_identity", map[string]any{}, "").
			mustHave(t, map[string]any{"data.role": "admin", "data.capabilities": "[read write publish spend]"})
		must.NoError(t, w.Teams.SetMember(t.Context(), w.team, c.person, access.Editor))
		w.tool(c.token, "get_identity", map[string]any{}, "").
			mustHave(t, map[string]any{"data.role": "editor", "data.key.level": "full", "data.capabilities": "[read write publish]"})
		w.callOperation(c, w.Registry().Tool("refresh_standin")).mustReject(t, http.StatusForbidden, "spend_not_allowed", "")
	})
}

// The identity of a connection has the highest level whose capabilities are all granted. It links to the connection's
// page, which an editor may open.
func TestConnectionIdentity(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		for _, one := range []struct {
			level access.Level
			may   []access.Capability
		}{
			{access.ReadOnly, []access.Capability{access.Read}},
			{access.ReadOnly, []access.Capability{access.Read, access.Publish}},
			{access.Drafts, []access.Capability{access.Read, access.Write}},
			{access.Drafts, []access.Capability{access.Read, access.Write, access.Publish}},
		} {
			level, may := one.level, one.may
			c := w.connectAssistant(access.Editor, may...)
			w.tool(c.token, "get_identity", map[string]any{}, "").mustHave(t, map[string]any{
				"data.person.id": c.person, "data.person.name": "Cleo Marsh", "data.team.id": w.team, "data.role": "editor",
				"data.key.id": c.id, "data.key.name": "Harbour helper", "data.key.level": string(level),
				"data.capabilities": fmt.Sprint(may),
				"meta.app_url":      fmt.Sprintf("%s/settings/assistants/%d?team_id=%d", w.root, c.id, w.team),
			})
		}
	})
}

// A token works only for MCP. REST returns the same response as for a wrong key, byte for byte.
func TestTokensWorkOnlyForMCP(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, extend: paidTestOperation}, func(t *testing.T, w *env) {
		c := w.connectAssistant(access.Owner, access.Capabilities()...)
		w.tool(c.token, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK) // fills the cache
		for i, op := range w.Registry().All() {
			idem := ""
			if !op.Reads() {
				idem = "a key"
			}
			wrong := w.rest(fmt.Sprint("error", i), op.Tool, w.sample(op), idem)
			wrong.mustReject(t, http.StatusUnauthorized, "unauthorized", "")
			if i > 8 {
				break // repeated tokens are throttled like wrong keys
			}
			if got := w.rest(c.token, op.Tool, w.sample(op), idem); comparableText(got) != comparableText(wrong) {
				t.Errorf("%s:\n%s\n\nwant\n\n%s", op.Tool, comparableText(got), comparableText(wrong))
			}
		}
		pixel := aPNG("pixel.png")
		_, to := w.openUpload(pixel)
		to.authorization = "Bearer " + c.token
		w.put(to, pixel).mustReject(t, http.StatusUnauthorized, "unauthorized", "")
		w.until("the token to be slowed", func() bool { return w.rest(c.token, "list_posts", nil, "").code() == "rate_limited" })
		w.tool(c.token, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK) // still valid for MCP
	})
}

// A change of a connection by another process takes effect within a second.
func TestConnectionChangePropagation(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		elsewhere := team.New(testkit.Open(t, w.url, nil), nil, plan.Default())
		c := w.connectAssistant(access.Admin, access.Read, access.Spend)
		w.tool(c.token, "get_credits", map[string]any{}, "").mustHave(t, map[string]any{"data.daily_limits.key": -1})
		must.NoError(t, elsewhere.Admin(w.owner, w.team).LimitConnection(t.Context(), c.id, 7))
		w.mustApplySoon(func() bool {
			return w.tool(c.token, "get_credits", map[string]any{}, "").number("data.daily_limits.key") == 7
		})
		must.NoError(t, elsewhere.Admin(c.person, w.team).EndConnection(t.Context(), c.id))
		w.mustApplySoon(func() bool {
			return w.tool(c.token, "get_credits", map[string]any{}, "").status == http.StatusUnauthorized
		})
	})
}

// mustApplySoon waits until holds returns true. A request that starts a second after the change must see the change.
func (w *env) mustApplySoon(holds func() bool) {
	w.t.Helper()
	changed := time.Now()
	w.until("the change to hold", func() bool {
		asked := time.Now()
		held := holds()
		if !held && asked.Sub(changed) > propagationTime {
			w.t.Fatalf("the change is not effective %v later", asked.Sub(changed))
		}
		return held
	})
}

// lowLimits sets low limits for keys, connections and the team.
func lowLimits(t *plan.Catalog) {
	t.Limits.Requests = plan.Rate{PerMinute: 6, Burst: 40}
	t.Limits.Writes = plan.Rate{PerMinute: 6, Burst: 12}
	dailyPlans(t)
}

// REST and MCP share a key's limits: requests, writes, daily calls, credits, idempotency keys and upload batches. A
// connection has its own limits and shares the team's limits.
func TestOneLimitForBothEdges(t *testing.T) {
	t.Parallel()
	withLimits(t, lowLimits, func(t *testing.T, w *env, _ *testkit.Clock) {
		w.grant(100)
		c := w.connectAssistant(access.Owner, access.Capabilities()...)
		draft := map[string]any{"caption": "a draft", "account_ids": w.accounts}
		paid := reportArg(aReport)(w)
		key, value := w.newKey(w.team, access.Full, time.Time{})
		must.NoError(t, w.Teams.SetKeyLimit(t.Context(), key, 2*refreshPrice))

		// One refresh over REST and one over MCP use the key's daily credits. The connection has not used any.
		w.rest(value, "refresh_standin", paid, "one").mustBe(t, http.StatusOK)
		w.tool(value, "refresh_standin", paid, "two").mustBe(t, http.StatusOK)
		for _, call := range []edgeCall{w.rest, w.tool} {
			got := call(value, "refresh_standin", paid, "three")
			got.mustReject(t, http.StatusTooManyRequests, "daily_credit_limit_reached", "")
			got.mustHave(t, map[string]any{"context.scope": "connection"})
		}
		w.tool(c.token, "refresh_standin", paid, "one").
			mustHave(t, map[string]any{"billing.credits_charged": refreshPrice}) // the connection's first
		w.tool(c.token, "get_credits", map[string]any{}, "").
			mustHave(t, map[string]any{"data.used_today.keys_and_tools": 3 * refreshPrice, "data.daily_limits.key": -1})
		must.NoError(t, w.Teams.SetKeyLimit(t.Context(), c.id, refreshPrice))
		w.tool(c.token, "refresh_standin", paid, "four").
			mustHave(t, map[string]any{"code": "daily_credit_limit_reached", "context.scope": "connection"})
		must.NoError(t, w.Teams.SetKeyLimit(t.Context(), c.id, plan.Unlimited))
		four := int64(4 * refreshPrice)
		must.NoError(t, w.Teams.SetDailyCredits(t.Context(), w.team, &four))
		w.tool(c.token, "refresh_standin", paid, "five").mustBe(t, http.StatusOK)
		for credential, call := range map[string]edgeCall{full(w): w.rest, c.token: w.tool} {
			call(credential, "refresh_standin", paid, "six").
				mustHave(t, map[string]any{"code": "daily_credit_limit_reached", "context.scope": "team"})
		}

		// REST and MCP share idempotency keys and upload batches.
		made := w.rest(value, "create_post", draft, "a key").text("data.id")
		w.tool(value, "create_post", draft, "a key").mustHave(t, map[string]any{"data.id": made})
		if own := w.tool(c.token, "create_post", draft, "a key"); own.status != http.StatusCreated || own.text("data.id") == made {
			t.Errorf("a connection replayed a key's answer: %d %s", own.status, own.raw)
		}
		first := w.rest(value, "create_uploads", uploadArgs(nil, aPNG("one.png")), "").text("data.job_id")
		replacing := uploadArgs(map[string]any{"replaces_batch": first}, aPNG("two.png"))
		w.tool(c.token, "create_uploads", replacing, "").mustReject(t, http.StatusNotFound, "not_found", "")
		w.tool(value, "create_uploads", replacing, "").mustBe(t, http.StatusCreated)
		w.full("get_job", map[string]any{"job_id": first}).mustHave(t, map[string]any{"data.result.files.0.state": "replaced"})

		// Requests and writes have separate limits, which REST and MCP share.
		_, fresh := w.newKey(w.team, access.Full, time.Time{})
		w.rest(fresh, "create_post", draft, "").
			mustHaveRateLimit(t, `"credential";q=40;w=400, "connection";q=12;w=120`, `"credential";r=39;t=10, "connection";r=11;t=10`)
		w.tool(fresh, "create_post", draft, "").
			mustHaveRateLimit(t, `"credential";q=40;w=400, "connection";q=12;w=120`, `"credential";r=38;t=20, "connection";r=10;t=20`)
		own := w.connectAssistant(access.Owner, access.Capabilities()...)
		w.tool(own.token, "create_post", draft, "").
			mustHaveRateLimit(t, `"credential";q=40;w=400, "connection";q=12;w=120`, `"credential";r=39;t=10, "connection";r=11;t=10`)
	})
}

// All keys and connections of a team share the daily free calls, on all nodes.
func TestDailyCallsOfConnections(t *testing.T) {
	t.Parallel()
	withLimits(t, dailyPlans, func(t *testing.T, w *env, clock *testkit.Clock) {
		clock.Advance(time.Date(2027, 3, 27, 22, 30, 0, 0, time.UTC).Sub(clock.Now())) // half an hour before the team's midnight
		w.setPlan("few")
		c, other := w.connectAssistant(access.Owner, access.Read), w.connectAssistant(access.Viewer, access.Read)
		w.tool(c.token, "list_posts", map[string]any{}, "").mustBe(t, http.StatusOK)
		w.mustLeave(2, "a connection's call")
		w.tool(other.token, "list_media", map[string]any{}, "").mustBe(t, http.StatusOK)
		w.mustLeave(1, "another connection's call")
		w.rest(full(w), "list_posts", nil, "").mustBe(t, http.StatusOK)
		w.tool(c.token, "list_posts", map[string]any{}, "").mustExceedDailyCalls(t, 30*time.Minute)
		w.rest(full(w), "list_posts", nil, "").mustExceedDailyCalls(t, 30*time.Minute)
		w.tool(c.token, "get_limits", map[string]any{}, "").mustHave(t, map[string]any{"data.free_calls_left_today": 0})
	})
}
