package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// The scenarios of the paid test operation.
func TestPaidScenarios(t *testing.T) {
	t.Parallel()
	withInstance(t, options{extend: paidTestOperation}, func(t *testing.T, h *instance) { h.playAll(t, paidScenarios()) })
}

// The rows of a charged call, a fully refunded call, and a free call.
var (
	onePaid   = rows{reservations: 1, transfers: 4, wallets: 1, paid: 1}
	oneRefund = rows{reservations: 1, transfers: 4, paid: 1} // the wallet is unchanged
	oneFree   = rows{paid: 1}
)

// grantThousand grants a thousand credits.
func grantThousand(w *env) { w.grant(1000) }

// reportArg returns the arguments for a report.
func reportArg(id string) func(*env) map[string]any { return fixedArgs(map[string]any{"id": id}) }

const paidKey = "invoice 7"

// makePaidCall makes a charged call for aReport with the Idempotency-Key paying.
func makePaidCall(w *env) {
	grantThousand(w)
	w.rest(full(w), "refresh_standin", reportArg(aReport)(w), paidKey).mustBe(w.t, 200)
}

func paidScenarios() []scenario {
	return append(priceScenarios(), append(paidKeyScenarios(), creditLimitScenarios()...)...)
}

func priceScenarios() []scenario {
	costs := func(name, id string, effects rows, billing map[string]any) scenario {
		return scenario{name: "price: " + name, tool: "refresh_standin", prepare: grantThousand, args: reportArg(id), idem: paidKey,
			effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, billing)
			}}
	}
	seenBy := func(role access.Role, balance any) scenario {
		return scenario{name: "price: the balance for " + string(role), tool: "refresh_standin", args: reportArg(aReport),
			idem: paidKey, effects: onePaid,
			prepare: inOrder(grantThousand, func(w *env) { w.role(role) }), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing.credits_charged": refreshPrice, "billing.balance": balance})
			}}
	}
	not := func(name string, as func(*env) string, prepare func(*env), args func(*env) map[string]any, expected want) scenario {
		return scenario{
			name: "price: " + name, tool: "refresh_standin", as: as, prepare: inOrder(grantThousand, prepare),
			args: args, idem: paidKey, want: expected,
		}
	}
	nothing := func(*env) {}
	return []scenario{
		costs("what is charged", aReport, onePaid,
			map[string]any{"billing.credits_charged": 3, "billing.credits_refunded": 0, "billing.balance": 997}),
		costs("what costs nothing", newReport, oneFree,
			map[string]any{"billing.credits_charged": 0, "billing.credits_refunded": 0, "billing.balance": 1000}),
		costs("what is refunded", unchangedReport, oneRefund,
			map[string]any{"billing.credits_charged": 3, "billing.credits_refunded": 3, "billing.balance": 1000}),
		seenBy(access.Owner, 997), seenBy(access.Admin, 997),
		not("a report that does not exist", full, nothing, reportArg("nowhere"), notFound),
		not("what fails once it is paid for", full, nothing, reportArg(brokenReport), rejection(500, "internal_error")),
		not("an unknown argument", full, nothing, fixedArgs(map[string]any{"id": aReport, "colour": "red"}),
			invalid("unknown_argument", "colour")),
		not("with an API key of level drafts", drafts, nothing, reportArg(aReport), rejection(403, "spend_not_allowed")),
		not("with a read-only API key", readOnly, nothing, reportArg(aReport), rejection(403, "spend_not_allowed")),
		not("what costs nothing, with an API key of level drafts", drafts, nothing, reportArg(newReport), rejection(403,
			"spend_not_allowed")),
		not("for an editor", full, func(w *env) { w.role(access.Editor) }, reportArg(aReport), rejection(403, "spend_not_allowed")),
		{name: "price: reads return no billing", tool: "list_posts", prepare: grantThousand, args: noArgs,
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing": nil})
			}},
		{name: "price: a free write returns no billing", tool: "create_post", prepare: grantThousand, args: toFirst(nil),
			effects: oneDraft, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing": nil})
			}},
	}
}

func paidKeyScenarios() []scenario {
	bad := func(name, idem string, expected want) scenario {
		return scenario{name: "paid call: " + name, tool: "refresh_standin", prepare: grantThousand,
			args: reportArg(aReport), idem: idem, want: expected}
	}
	replayed := func(w *env, got answer) {
		got.mustHave(w.t, map[string]any{"data.id": aReport, "billing.credits_charged": 3, "billing.balance": 997})
	}
	expired := func(w *env) {
		w.exec("UPDATE paid_requests SET expires_at = 1 WHERE key_id = ?", w.keyIDs[access.Full])
	}
	forgotten := func(w *env) { w.exec("DELETE FROM paid_requests WHERE key_id = ?", w.keyIDs[access.Full]) }
	spent := want{status: 422, code: "idempotency_key_reused", reason: "charge_key_spent"}
	return []scenario{
		bad("none", "", invalid("idempotency_key_required", "")),
		bad("empty", " ", invalid("idempotency_key_empty", "")),
		bad("256 characters", strings.Repeat("k", 256), invalid("idempotency_key_too_long", "")),
		{name: "paid call: an idempotency key of 255 characters", tool: "refresh_standin", prepare: grantThousand, args: reportArg(
			aReport), idem: strings.Repeat("k", 255), effects: onePaid},
		{name: "paid call: repeated with the same idempotency key", tool: "refresh_standin", prepare: makePaidCall,
			args: reportArg(aReport),
			idem: paidKey, check: replayed},
		{name: "paid call: repeated with the idempotency key in quotes", tool: "refresh_standin", prepare: makePaidCall, args: reportArg(
			aReport), idem: `"` + paidKey + `"`, check: replayed},
		{name: "paid call: repeated without balance", tool: "refresh_standin", args: reportArg(aReport), idem: paidKey,
			check: replayed, prepare: inOrder(makePaidCall, func(w *env) {
				must.Get(w.Credits.Withdraw(w.t.Context(), w.team, 997, "all of it", ""))(w.t)
			})},
		{name: "paid call: repeated after the level of the API key was lowered", tool: "refresh_standin",
			args: reportArg(aReport), idem: paidKey,
			want: rejection(403, "spend_not_allowed"), prepare: inOrder(makePaidCall, func(w *env) {
				must.NoError(w.t, w.Teams.SetKeyLevel(w.t.Context(), w.keyIDs[access.Full], access.Drafts))
			})},
		{name: "paid call: repeated while spending is paused", tool: "refresh_standin", args: reportArg(aReport),
			idem: paidKey, want: rejection(403, "connection_suspended"), prepare: inOrder(makePaidCall, func(w *env) {
				must.NoError(w.t, pausesOf("team")[1].closes(w))
			})},
		{name: "paid call: another request with the same idempotency key is charged", tool: "refresh_standin",
			prepare: makePaidCall, args: reportArg(
				unchangedReport), idem: paidKey, effects: oneRefund},
		{name: "paid call: other arguments with the same idempotency key are charged", tool: "refresh_standin",
			prepare: makePaidCall, args: fixedArgs(
				map[string]any{"id": aReport, "note": "again"}), idem: paidKey, effects: onePaid},
		{name: "paid call: repeated after the stored response was deleted", tool: "refresh_standin", prepare: inOrder(makePaidCall,
			forgotten), args: reportArg(aReport), idem: paidKey, want: spent},
		{name: "paid call: repeated after 24 hours", tool: "refresh_standin", prepare: inOrder(makePaidCall,
			expired), args: reportArg(aReport), idem: paidKey, want: spent},
		{name: "paid call: another request with an expired idempotency key", tool: "refresh_standin", prepare: inOrder(makePaidCall,
			forgotten), args: fixedArgs(map[string]any{"id": aReport, "note": "again"}), idem: paidKey, effects: onePaid},
		{name: "paid call: after a rejection, the idempotency key can be used again", tool: "refresh_standin",
			args: reportArg(aReport), idem: paidKey,
			effects: onePaid, prepare: func(w *env) {
				w.rest(full(w), "refresh_standin", reportArg(aReport)(w), paidKey).mustReject(w.t, 402, "insufficient_credits", "")
				grantThousand(w)
			}},
		{name: "paid call: its idempotency key used for a free write", tool: "create_post", prepare: makePaidCall, args: toFirst(
			nil), idem: paidKey, want: rejection(422, "idempotency_key_reused")},
		{name: "paid call: with the idempotency key of a free write", tool: "refresh_standin", args: reportArg(aReport), idem: paidKey,
			effects: onePaid, prepare: func(w *env) {
				grantThousand(w)
				w.rest(full(w), "create_post", toFirst(nil)(w), paidKey).mustBe(w.t, 201)
			}},
		{name: "paid call: the same idempotency key with another API key is charged", tool: "refresh_standin",
			args: reportArg(aReport), idem: paidKey,
			effects: onePaid, prepare: makePaidCall, as: func(w *env) string {
				_, key := w.newKey(w.team, access.Full, testStart.AddDate(1, 0, 0))
				return key
			}},
	}
}

func creditLimitScenarios() []scenario {
	limited := func(name string, prepare func(*env), scope string) scenario {
		return scenario{name: "credits: " + name, tool: "refresh_standin", args: reportArg(aReport), idem: "k",
			prepare: inOrder(grantThousand, prepare), want: rejection(429, "daily_credit_limit_reached"), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"context.scope": scope})
				w.mustWaitForMidnight(got)
			}}
	}
	goes := func(name string, prepare func(*env)) scenario {
		return scenario{
			name: "credits: " + name, tool: "refresh_standin", args: reportArg(aReport), idem: "k",
			prepare: inOrder(grantThousand, prepare), effects: onePaid,
		}
	}
	keyTo := func(credits int64) func(*env) {
		return func(w *env) { must.NoError(w.t, w.Teams.SetKeyLimit(w.t.Context(), w.keyIDs[access.Full], credits)) }
	}
	teamTo := func(credits int64) func(*env) {
		return func(w *env) { must.NoError(w.t, w.Teams.SetDailyCredits(w.t.Context(), w.team, &credits)) }
	}
	pays := func(w *env) { w.rest(full(w), "refresh_standin", reportArg(aReport)(w), "another").mustBe(w.t, 200) }
	refunded := func(w *env) {
		w.rest(full(w), "refresh_standin", reportArg(unchangedReport)(w), "another").mustBe(w.t, 200)
	}
	otherPays := func(w *env) {
		_, key := w.newKey(w.team, access.Full, testStart.AddDate(1, 0, 0))
		w.rest(key, "refresh_standin", reportArg(aReport)(w), "another").mustBe(w.t, 200)
	}
	return []scenario{
		limited("a key that may spend none", keyTo(0), "connection"),
		limited("a key that may spend less", keyTo(2), "connection"),
		limited("a key that has spent", inOrder(keyTo(5), pays), "connection"),
		limited("a team that may spend none", teamTo(0), "team"),
		limited("a team whose other key has spent", inOrder(teamTo(5), otherPays), "team"),
		limited("a key and a team that may spend none", inOrder(keyTo(0), teamTo(0)), "connection"),
		goes("a key that may spend just so much", inOrder(keyTo(6), pays)),
		goes("a key that may spend any number", inOrder(keyTo(-1), teamTo(-1))),
		goes("a key whose other calls were refunded", inOrder(keyTo(3), refunded)),
		goes("a key beside another that has spent", inOrder(keyTo(3), otherPays)),
		{name: "credits: no balance", tool: "refresh_standin", args: reportArg(aReport), idem: "k", want: rejection(402,
			"insufficient_credits")},
		{name: "credits: a balance that is too low", tool: "refresh_standin", args: reportArg(aReport), idem: "k", prepare: func(w *env) {
			w.grant(2)
		}, want: rejection(402, "insufficient_credits")},
		{name: "credits: a balance that is just sufficient", tool: "refresh_standin", args: reportArg(aReport), idem: "k",
			prepare: func(w *env) {
				w.grant(3)
			}, effects: onePaid},
		{name: "credits: a free call needs no balance", tool: "refresh_standin", args: reportArg(
			newReport), idem: "k", prepare: keyTo(0), effects: oneFree},
		{name: "credits: an error does not advertise credits", tool: "refresh_standin", args: reportArg(aReport), idem: "k",
			want: rejection(402, "insufficient_credits"), check: func(w *env, got answer) {
				for _, word := range []string{"buy", "top up", "purchase", "upgrade"} {
					if strings.Contains(strings.ToLower(string(got.raw)), word) {
						w.t.Errorf("it says %q: %s", word, got.raw)
					}
				}
			}},
	}
}

// mustWaitForMidnight checks that Retry-After points to the team's next day.
func (w *env) mustWaitForMidnight(got answer) {
	w.t.Helper()
	zone := must.Get(time.LoadLocation("Europe/Berlin"))(w.t)
	now := time.Now().In(zone)
	left := time.Date(now.Year(), now.Month(), now.Day()+1, 0, 0, 0, 0, zone).Sub(now)
	wait := time.Duration(got.number("context.retry_after_seconds")) * time.Second
	if early := left - wait; early > 0 || early < -10*time.Second {
		w.t.Errorf("Retry-After %v, but midnight is in %v: %s", wait, left, got.raw)
	}
}

// A repeat over REST is marked as a replay. A repeat over REST or MCP is charged once.
func TestPaidReplay(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, extend: paidTestOperation}, func(t *testing.T, w *env) {
		grantThousand(w)
		args := reportArg(aReport)(w)
		first := w.rest(full(w), "refresh_standin", args, paidKey)
		again := w.rest(full(w), "refresh_standin", args, paidKey)
		w.tool(full(w), "refresh_standin", args, paidKey).mustHave(t, map[string]any{"billing.credits_charged": 3,
			"billing.replayed": true})
		first.mustHave(t, map[string]any{"billing.credits_charged": 3, "billing.balance": 997, "billing.replayed": nil})
		again.mustHave(t, map[string]any{"billing.credits_charged": 3, "billing.balance": 997, "billing.replayed": true})
		if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("Idempotent-Replayed: %v, then %v", first.header, again.header)
		}
		w.full("get_credits", nil).
			mustHave(t, map[string]any{"data.balance": 997, "data.used_today.team": 3, "data.used_today.keys_and_tools": 3})
	})
}

// Of fifty concurrent repeats, one is charged. Of fifty concurrent calls, only as many are charged as credits suffice
// for.
func TestConcurrentPaidCalls(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1, extend: paidTestOperation}, func(t *testing.T, w *env) {
		w.grant(4 * refreshPrice)
		w.callConcurrently(50, func(int) (answer, error) {
			return w.tryRest(w.base, full(w), "refresh_standin", reportArg(aReport)(w), paidKey)
		})
		w.full("get_credits", nil).
			mustHave(t,
				map[string]any{"data.balance": 3 * refreshPrice, "data.used_today.team": refreshPrice, "data.reserved_today.team": 0})
		paid := 0
		for _, got := range w.callConcurrently(50, func(i int) (answer, error) {
			return w.tryRest(w.base, full(w), "refresh_standin", reportArg(aReport)(w), fmt.Sprint("call ", i))
		}) {
			if got.status == http.StatusOK {
				paid++
				continue
			}
			got.mustReject(t, http.StatusPaymentRequired, "insufficient_credits", "")
		}
		if paid != 3 {
			t.Errorf("%d calls were charged, want 3", paid)
		}
		w.full("get_credits", nil).mustHave(t, map[string]any{"data.balance": 0, "data.used_today.team": 4 * refreshPrice})
	})
}
