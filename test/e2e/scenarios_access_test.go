package e2e

import (
	"strconv"
	"strings"
	"time"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// accessScenarios returns the scenarios of keys and their access.
func accessScenarios() []scenario {
	unauthorized := func(name string, as func(*env) string) scenario {
		return scenario{name: "key: " + name, tool: "create_post", as: as, args: toFirst(nil), want: rejection(401, "unauthorized")}
	}
	role := func(role access.Role, tool string, args func(*env) map[string]any, expected want, effects rows) scenario {
		return scenario{name: "role: " + string(role) + " and " + tool, tool: tool, prepare: inOrder(aDraft, func(w *env) {
			w.role(role)
		}), args: args, want: expected, effects: effects}
	}
	return []scenario{
		unauthorized("none", func(*env) string { return "" }),
		unauthorized("mistyped", func(w *env) string { return corruptKey(full(w)) }),
		unauthorized("never made", func(*env) string { return apikey.New(apikey.APIKey) }),
		unauthorized("an upload secret", func(*env) string { return apikey.New(apikey.Upload) }),
		unauthorized("expired", func(w *env) string {
			_, key := w.newKey(w.team, access.Full, time.Now().Add(-time.Second))
			return key
		}),
		unauthorized("revoked", func(w *env) string {
			id, key := w.newKey(w.team, access.Full, time.Time{})
			must.NoError(w.t, w.Teams.RevokeKey(w.t.Context(), id))
			return key
		}),
		{name: "API key: that will expire", tool: "create_post", args: toFirst(nil), effects: oneDraft, as: func(w *env) string {
			_, key := w.newKey(w.team, access.Drafts, time.Now().Add(time.Hour))
			return key
		}},
		role(access.Viewer, "create_post", toFirst(nil), rejection(403, "write_not_allowed"), rows{}),
		role(access.Viewer, "get_post", byID(nil), want{}, rows{}),
		role(access.Client, "publish_post", post(nil), rejection(403, "publish_not_allowed"), rows{}),
		role(access.Editor, "publish_post", post(nil), want{}, oneSent),
		role(access.Admin, "publish_post", post(nil), want{}, oneSent),
		{name: "the service fails", tool: "get_identity", args: noArgs, want: rejection(500, "internal_error"), prepare: func(w *env) {
			w.exec("UPDATE teams SET timezone = 'Nowhere/Land' WHERE id = ?", w.team)
		}},
	}
}

// awaitCapabilities waits until a key has exactly the given capabilities, because nodes cache keys.
func (w *env) awaitCapabilities(key string, capabilities []access.Capability) {
	w.t.Helper()
	w.until("the key to change", func() bool {
		return len(w.rest(key, "get_identity", nil, "").list("data.capabilities")) == len(capabilities)
	})
}

// corruptKey returns a key with one wrong character.
func corruptKey(key string) string {
	if strings.HasSuffix(key, "a") {
		return key[:len(key)-1] + "b"
	}
	return key[:len(key)-1] + "a"
}

// replayScenarios returns the scenarios of the Idempotency-Key, which is an argument in tool calls.
func replayScenarios() []scenario {
	const key = "order 66"
	first := func(w *env) {
		w.setNote("post", w.rest(full(w), "create_post", toFirst(nil)(w), key).text("data.id"))
	}
	bad := func(name, idem string, expected want) scenario {
		return scenario{name: "replay: " + name, tool: "create_post", args: toFirst(nil), idem: idem, want: expected}
	}
	same := func(w *env, got answer) {
		got.mustHave(w.t, map[string]any{"data.id": w.note("post")})
		if replayed := got.header.Get("Idempotent-Replayed"); got.header.Get("Location") != "" && replayed != "true" {
			w.t.Errorf("Idempotent-Replayed is %q", replayed)
		}
	}
	return []scenario{
		{name: "replay: a new idempotency key", tool: "create_post", args: toFirst(nil), idem: key,
			effects: rows{posts: 1, targets: 1, events: 1, keys: 1}, check: func(w *env, got answer) {
				if got.header.Get("Idempotent-Replayed") != "" {
					w.t.Errorf("a first answer is marked as a replay")
				}
			}},
		{name: "replay: the same call", tool: "create_post", prepare: first, args: toFirst(nil), idem: key, check: same},
		{name: "replay: the same call with the idempotency key in quotes", tool: "create_post", prepare: first,
			args: toFirst(nil), idem: `"` + key + `"`, check: same},
		{name: "replay: the same call with a default value written out", tool: "create_post", prepare: first,
			args: func(w *env) map[string]any {
				return map[string]any{"caption": "hello", "account_ids": []float64{float64(w.accounts[0])}}
			}, idem: key, check: same},
		{name: "replay: other arguments", tool: "create_post", prepare: first, args: toFirst(map[string]any{
			"caption": "other",
		}), idem: key, want: rejection(422, "idempotency_key_reused")},
		{name: "replay: another operation", tool: "cancel_post", prepare: first, args: post(
			nil), idem: key, want: rejection(422, "idempotency_key_reused")},
		{name: "replay: another item", tool: "cancel_post", idem: key, args: post(nil),
			want: rejection(422, "idempotency_key_reused"), prepare: func(w *env) {
				w.rest(full(w), "cancel_post", map[string]any{"post_id": w.draft("one")}, key)
				aDraft(w)
			}},
		{
			name: "replay: the same idempotency key with another API key is a new call", tool: "create_post", as: drafts, prepare: first,
			args: toFirst(map[string]any{"caption": "other"}), idem: key,
			effects: rows{posts: 1, targets: 1, events: 1, keys: 1},
		},
		{name: "replay: after a rejection, the idempotency key can be used again", tool: "create_post", args: toFirst(nil), idem: key,
			effects: rows{posts: 1, targets: 1, events: 1, keys: 1}, prepare: func(w *env) {
				w.rest(full(w), "create_post", toFirst(map[string]any{"account_ids": []int64{999999999}})(w), key).
					mustReject(w.t, 404, "not_found", "")
				aDraft(w)
				w.rest(full(w), "retry_post", post(nil)(w), key).mustReject(w.t, 422, "validation_failed", "wrong_state")
				if n := w.count("idempotency_records WHERE key_id = ?", w.keyIDs[access.Full]); n != 0 {
					w.t.Errorf("an error was stored and replayed")
				}
			}},
		{name: "replay: publishing again", tool: "publish_post", idem: key, args: post(nil), prepare: func(w *env) {
			aDraft(w)
			w.setNote("job", w.rest(full(w), "publish_post", post(nil)(w), key).text("data.job_id"))
		}, check: func(w *env, got answer) {
			// The answer is the first one, not the current state.
			got.mustHave(w.t, map[string]any{"data.job_id": w.note("job"), "data.already_submitted": false, "data.finished": false})
		}},
		{name: "replay: an idempotency key of 128 characters", tool: "create_post", args: toFirst(nil), idem: strings.Repeat("k",
			128), effects: rows{posts: 1, targets: 1, events: 1, keys: 1}},
		{name: "replay: an idempotency key of 128 characters in quotes", tool: "create_post", args: toFirst(nil), idem: `"` +
			strings.Repeat("k", 128) + `"`, effects: rows{posts: 1, targets: 1, events: 1, keys: 1}},
		bad("129 characters", strings.Repeat("k", 129), invalid("idempotency_key_too_long", "")),
		bad("129 characters in quotes", `"`+strings.Repeat("k", 129)+`"`, invalid("idempotency_key_too_long", "")),
		bad("129 characters for a change", strings.Repeat("k", 129), invalid("idempotency_key_too_long", "")),
		bad("nothing in quotes", `""`, invalid("idempotency_key_empty", "")),
		bad("nothing but a space", " ", invalid("idempotency_key_empty", "")),
		bad("a tab", "a\tb", invalid("malformed", "")),
		// The key would be stored unchanged.
		bad("an API key", apikey.New(apikey.APIKey), invalid("secret_in_argument", "")),
	}
}

// timeScenarios returns the times of the team's zone (spec, Conventions).
func timeScenarios() []scenario {
	year := time.Now().UTC().Year() + 1
	ahead := strconv.Itoa(year)
	march, october := lastSunday(year, time.March), lastSunday(year, time.October)
	reads := func(name, zone, text, utc, team string) scenario {
		return scenario{name: "time: " + name, tool: "schedule_post", zone: zone, prepare: aDraft, args: scheduleAt(text),
			effects: oneChange, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.scheduled_at.utc": utc, "data.scheduled_at.team": team})
			}}
	}
	skipped := func(name, zone, text string) scenario {
		return scenario{
			name: "time: " + name, tool: "schedule_post", zone: zone, prepare: aDraft, args: scheduleAt(text),
			want: invalid("time_does_not_exist", "scheduled_at"),
		}
	}
	all := []scenario{
		reads("in winter", "", ahead+"-01-10T12:00", ahead+"-01-10T11:00:00Z", ahead+"-01-10T12:00:00+01:00"),
		reads("in summer", "", ahead+"-07-10T12:00:30", ahead+"-07-10T10:00:30Z", ahead+"-07-10T12:00:30+02:00"),
		reads("in UTC", "", ahead+"-07-10T12:00:00Z", ahead+"-07-10T12:00:00Z", ahead+"-07-10T14:00:00+02:00"),
		reads("with an offset", "", ahead+"-07-10T12:00:00-05:30", ahead+"-07-10T17:30:00Z", ahead+"-07-10T19:30:00+02:00"),
		reads("with an unescaped plus", "", ahead+"-07-10T12:00:00 02:00", ahead+"-07-10T10:00:00Z", ahead+"-07-10T12:00:00+02:00"),
		reads("with a fraction", "", ahead+"-07-10T12:00:00.25Z", ahead+"-07-10T12:00:00.25Z", ahead+"-07-10T14:00:00.25+02:00"),
		reads("with hours only", "", ahead+"-07-10T12", ahead+"-07-10T10:00:00Z", ahead+"-07-10T12:00:00+02:00"),
		reads("in the basic format", "", ahead+"0710T120000Z", ahead+"-07-10T12:00:00Z", ahead+"-07-10T14:00:00+02:00"),
		reads("at the end of a day", "", ahead+"-07-10T24:00", ahead+"-07-10T22:00:00Z", ahead+"-07-11T00:00:00+02:00"),
		reads("with a comma", "", ahead+"-07-10T12:00:00,5Z", ahead+"-07-10T12:00:00.5Z", ahead+"-07-10T14:00:00.5+02:00"),
		reads("with a leap second", "", ahead+"-06-30T23:59:60Z", ahead+"-07-01T00:00:00Z", ahead+"-07-01T02:00:00+02:00"),
		reads("before the skipped hour", "", march+"T01:59", march+"T00:59:00Z", march+"T01:59:00+01:00"),
		reads("after the skipped hour", "", march+"T03:00", march+"T01:00:00Z", march+"T03:00:00+02:00"),
		reads("in the skipped hour with an offset", "", march+"T02:30:00+01:00", march+"T01:30:00Z", march+"T03:30:00+02:00"),
		reads("in the doubled hour, the earlier", "", october+"T02:30", october+"T00:30:00Z", october+"T02:30:00+02:00"),
		reads("in the doubled hour, the later by its offset", "", october+"T02:30:00+01:00", october+"T01:30:00Z",
			october+"T02:30:00+01:00"),
		reads("in half-hour zones", "Asia/Kolkata", ahead+"-07-10T12:00", ahead+"-07-10T06:30:00Z", ahead+"-07-10T12:00:00+05:30"),
		skipped("in the skipped hour", "", march+"T02:30"),
		skipped("at the first skipped instant", "", march+"T02:00"),
		skipped("at the last skipped second", "", march+"T02:59:59"),
		{name: "time: a time from a response is accepted as an argument", tool: "update_post", prepare: aScheduledPost,
			args: func(w *env) map[string]any {
				return map[string]any{"id": w.note("post"), "scheduled_at": w.post(w.note("post")).text("data.scheduled_at.team")}
			}},
		{name: "time: update_post parses times in the same way", tool: "update_post", prepare: aDraft, args: byID(map[string]any{
			"scheduled_at": march + "T02:30",
		}), want: invalid("time_does_not_exist", "scheduled_at")},
	}
	return all
}

// lastSunday returns the last Sunday of a month, on which Europe's clocks change.
func lastSunday(year int, month time.Month) string {
	day := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	return day.AddDate(0, 0, -int(day.Weekday())).Format(time.DateOnly)
}
