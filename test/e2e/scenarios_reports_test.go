package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

const (
	profilePrice, hashtagPrice               = 5, 10
	profileRefreshPrice, hashtagRefreshPrice = 2, 5
)

// TestReportScenarios runs the scenarios of reports.
func TestReportScenarios(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) { h.playAll(t, reportScenarios()) })
}

func reportScenarios() []scenario {
	out := append(createReportScenarios(), badReportScenarios()...)
	out = append(out, readReportScenarios()...)
	out = append(out, refreshScenarios()...)
	return append(out, trackingScenarios()...)
}

// reportArgs returns the arguments of a new report, merged with more.
func reportArgs(more map[string]any) func(*env) map[string]any {
	return fixedArgs(mergeArgs(map[string]any{"type": "profile", "subject": "harbour_cafe"}, more))
}

// The rows of a charged and of a refunded report.
var (
	chargedReport  = rows{jobs: 1, reports: 1, makings: 1, events: 1, reservations: 1, transfers: 4, wallets: 1, paid: 1}
	refundedReport = rows{jobs: 1, reports: 1, makings: 1, events: 1, reservations: 1, transfers: 4, paid: 1}
)

// addReport grants credits, creates a report and notes its ID.
func addReport(more map[string]any) func(*env) {
	return func(w *env) {
		grantThousand(w)
		w.notes["report"] = w.report(more)
	}
}

// report creates a report and returns its ID.
func (w *env) report(more map[string]any) string {
	w.t.Helper()
	got := w.rest(full(w), "create_report", reportArgs(more)(w), number(w.people.Add(1)))
	got.mustBe(w.t, http.StatusAccepted)
	job := w.awaitJob(got.text("data.job_id"))
	job.mustHave(w.t, map[string]any{"data.state": "succeeded"})
	return job.text("data.result.report.id")
}

// notedReport returns the noted report as type and id, merged with more.
func notedReport(kind string, more map[string]any) func(*env) map[string]any {
	return func(w *env) map[string]any {
		return mergeArgs(map[string]any{"type": kind, "id": w.notes["report"]}, more)
	}
}

var aHashtag = map[string]any{"type": "hashtag", "subject": "#Sourdough"}

func createReportScenarios() []scenario {
	makes := func(name string, more map[string]any, price int, kind string) scenario {
		return scenario{name: "report: " + name, tool: "create_report", prepare: grantThousand, args: reportArgs(more), idem: paidKey,
			effects: chargedReport, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"billing.credits_charged": price, "billing.credits_refunded": 0,
						"billing.balance": 1000 - price, "data.type": kind + "_report",
					})
				job := w.awaitJob(got.text("data.job_id"))
				job.mustHave(w.t,
					map[string]any{
						"data.state": "succeeded", "data.error": nil, "data.result.report.kind": kind,
						"data.result.report.status": "ready", "data.result.credits_charged": price,
					})
				w.mustBeSound()
			}}
	}
	fails := func(name, code string, more map[string]any, price int) scenario {
		return scenario{name: "report: " + name, tool: "create_report", prepare: grantThousand, args: reportArgs(more), idem: paidKey,
			effects: refundedReport, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing.credits_charged": price})
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t,
						map[string]any{
							"data.state": "failed", "data.error.code": code, "data.result.report.status": "error",
							"data.result.credits_charged": 0,
						})
				w.full("get_credits", nil).
					mustHave(w.t, map[string]any{"data.balance": 1000, "data.used_today.team": 0, "data.reserved_today.team": 0})
				w.full("list_reports", map[string]any{"status": "error"}).
					mustHave(w.t, map[string]any{"data.reports.0.status": "error", "data.reports.0.available_until": nil})
				w.mustBeSound()
			}}
	}
	again := func(name string, more map[string]any) scenario {
		return scenario{name: "report again: " + name, tool: "create_report", prepare: addReport(nil),
			args: reportArgs(more), idem: paidKey, effects: rows{paid: 1}, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"billing.credits_charged": 0, "billing.balance": 1000 - profilePrice, "data.finished": true,
						"data.state": "succeeded", "data.result.report.id": w.notes["report"],
					})
			}}
	}
	return []scenario{
		makes("a profile", nil, profilePrice, "profile"),
		makes("a profile on TikTok", map[string]any{"platform": "tiktok"}, profilePrice, "profile"),
		makes("a profile without posts", map[string]any{"subject": "empty.harbour"}, profilePrice, "profile"),
		makes("a hashtag", aHashtag, hashtagPrice, "hashtag"),
		fails("a profile that does not exist", "profile_not_found", map[string]any{"subject": "missing.harbour"}, profilePrice),
		fails("a private profile", "profile_private", map[string]any{"subject": "private.harbour"}, profilePrice),
		fails("a profile while the source fails", "source_unavailable", map[string]any{"subject": "error.harbour"}, profilePrice),
		fails("a hashtag that does not exist", "nothing_found", map[string]any{"type": "hashtag", "subject": "missingtag"}, hashtagPrice),
		again("the same", nil), again("its handle", map[string]any{"subject": "@Harbour_Cafe"}),
		again("its link", map[string]any{"subject": "https://www.instagram.com/harbour_cafe/?hl=en"}),
		{name: "report again: after it failed", tool: "create_report",
			args: reportArgs(map[string]any{"subject": "missing.harbour"}), idem: "another", effects: refundedReport,
			prepare: func(w *env) {
				grantThousand(w)
				got := w.rest(full(w), "create_report", reportArgs(map[string]any{"subject": "missing.harbour"})(w), "one")
				w.awaitJob(got.text("data.job_id")).mustHave(w.t, map[string]any{"data.state": "failed"})
			}},
		{name: "report again: with the same idempotency key", tool: "create_report", idem: paidKey, args: reportArgs(nil),
			prepare: func(w *env) {
				grantThousand(w)
				got := w.rest(full(w), "create_report", reportArgs(nil)(w), paidKey)
				w.awaitJob(got.text("data.job_id"))
				w.setNote("job", got.text("data.job_id"))
			}, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.job_id": w.notes["job"], "billing.credits_charged": profilePrice})
			}},
		{name: "report again: after the report was deleted", tool: "create_report", idem: paidKey, args: reportArgs(nil),
			effects: rows{
				jobs: 1, reports: 1, makings: 1, events: 1, reservations: 1, transfers: 4, wallets: 1, paid: 1,
			}, prepare: func(w *env) {
				addReport(nil)(w)
				w.exec("UPDATE reports SET available_until = 1 WHERE id = ?", w.notes["report"])
				w.full("list_reports", nil).mustHave(w.t, map[string]any{"data.reports": "[]"})
			}, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing.credits_charged": profilePrice})
			}},
	}
}

func badReportScenarios() []scenario {
	bad := func(name string, more map[string]any, expected want) scenario {
		return scenario{name: "bad report: " + name, tool: "create_report", prepare: grantThousand,
			args: reportArgs(more), idem: paidKey, want: expected}
	}
	by := func(name string, as func(*env) string, expected want) scenario {
		return scenario{
			name: "bad report: " + name, tool: "create_report", as: as, prepare: grantThousand, args: reportArgs(nil),
			idem: paidKey, want: expected,
		}
	}
	return []scenario{
		bad("a hashtag on TikTok", map[string]any{"type": "hashtag", "platform": "tiktok", "subject": "x1"},
			invalid("not_allowed_value", "platform")),
		bad("another type", map[string]any{"type": "story"}, invalid("not_allowed_value", "type")),
		bad("another platform", map[string]any{"platform": "facebook"}, invalid("not_allowed_value", "platform")),
		bad("no subject", map[string]any{"subject": ""}, invalid("too_short", "subject")),
		bad("201 characters", map[string]any{"subject": strings.Repeat("s", 201)}, invalid("too_long", "subject")),
		bad("two words", map[string]any{"subject": "two words"}, invalid("malformed", "subject")),
		bad("a link elsewhere", map[string]any{"subject": "https://example.org/harbour_cafe"}, invalid("malformed", "subject")),
		bad("two hashtags", map[string]any{"type": "hashtag", "subject": "#one #two"}, invalid("malformed", "subject")),
		bad("an unknown argument", map[string]any{"limit": 5}, invalid("unknown_argument", "limit")),
		bad("a list", map[string]any{"subject": []any{"harbour_cafe"}}, invalid("not_a_single_value", "subject")),
		by("with an API key of level drafts", drafts, rejection(403, "spend_not_allowed")),
		by("with a read-only API key", readOnly, rejection(403, "spend_not_allowed")),
		{name: "bad report: without credits", tool: "create_report", args: reportArgs(nil), idem: paidKey, want: rejection(402,
			"insufficient_credits")},
		{name: "bad report: without an Idempotency-Key", tool: "create_report", prepare: grantThousand, args: reportArgs(
			nil), want: invalid("idempotency_key_required", "")},
	}
}

func readReportScenarios() []scenario {
	reads := func(name, kind string, prepare func(*env), more map[string]any, check func(*env, answer)) scenario {
		return scenario{name: "read report: " + name, tool: "get_report", prepare: prepare, args: notedReport(kind, more), check: check}
	}
	rejects := func(name, kind string, more map[string]any, expected want) scenario {
		return scenario{name: "read report: " + name, tool: "get_report", prepare: addReport(nil),
			args: notedReport(kind, more), want: expected}
	}
	return []scenario{
		reads("a profile", "profile", addReport(nil), nil, func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.id": w.notes["report"], "data.kind": "profile",
				"data.subject": "harbour_cafe", "data.status": "ready", "data.tracked": false,
				"data.profile.username": "harbour_cafe", "data.sections": nil, "data.sections_available.0": "posts",
				"data.profile.biography.untrusted": got.at("untrusted_content.1.id")})
			for _, path := range []string{
				"data.profile.followers", "data.engagement.rate_by_followers.median", "data.score.value",
				"data.top_hashtags.0.hashtag", "data.top_words.0.word", "data.measured_at.utc", "data.refreshed_at.utc",
				"data.available_until.utc",
			} {
				if got.at(path) == nil {
					w.t.Errorf("no value at %s: %s", path, got.raw)
				}
			}
			w.mustSeparateTexts(got)
		}),
		reads("a hashtag", "hashtag", addReport(aHashtag), nil, func(w *env, got answer) {
			got.mustHave(w.t,
				map[string]any{"data.kind": "hashtag", "data.subject": "sourdough", "data.hashtag.name": "sourdough",
					"data.profile": nil})
			for _, path := range []string{"data.hashtag.posts_per_day.value", "data.engagement.likes.median", "data.score.value"} {
				if got.at(path) == nil {
					w.t.Errorf("no value at %s: %s", path, got.raw)
				}
			}
		}),
		reads("one that is not ready", "profile", func(w *env) {
			grantThousand(w)
			w.awaitJob(w.rest(full(w), "create_report", reportArgs(map[string]any{"subject": "missing.harbour"})(w),
				"k").text("data.job_id"))
			w.notes["report"] = w.full("list_reports", nil).text("data.reports.0.id")
		}, nil, func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.status": "error", "data.sections_available": "[]", "data.engagement": nil})
			if len(got.list("notes")) == 0 {
				w.t.Errorf("no reason: %s", got.raw)
			}
		}),
		rejects("of the other kind", "hashtag", nil, notFound),
		rejects("an unknown section", "profile", map[string]any{"sections": []any{"gossip"}}, invalid("not_allowed_value", "sections")),
		rejects("an invalid cursor", "profile", map[string]any{"sections": []any{"posts"}, "cursor": "x"},
			invalid("invalid_cursor", "cursor")),
		rejects("an unknown argument", "profile", map[string]any{"fields": "score"}, invalid("unknown_argument", "fields")),
		{name: "read report: of another team", tool: "get_report", args: notedReport("profile", nil), want: notFound,
			prepare: func(w *env) {
				other := w.stranger()
				addReport(nil)(other)
				w.notes["report"] = other.notes["report"]
			}},
		{name: "read report: with a read-only API key", tool: "get_report", as: readOnly, prepare: addReport(
			nil), args: notedReport("profile", nil)},
	}
}

// mustSeparateTexts checks that texts of the analyzed account are only in untrusted_content.
func (w *env) mustSeparateTexts(got answer) {
	w.t.Helper()
	data := fmt.Sprint(got.at("data"))
	for i := range got.list("untrusted_content") {
		at := func(name string) string { return got.text(fmt.Sprintf("untrusted_content.%d.%s", i, name)) }
		if at("source.platform") == "" || at("source.url") == "" || at("text") == "" || strings.Contains(data, at("text")) {
			w.t.Errorf("a text is not in untrusted_content: %s", got.raw)
		}
	}
}

func refreshScenarios() []scenario {
	refreshed := func(name, kind string, prepare func(*env), price, had int) scenario {
		effects := rows{jobs: 1, reports: 1, makings: 1, events: 1, reservations: 1, transfers: 4, wallets: 1, paid: 1}
		return scenario{name: "refresh: " + name, tool: "refresh_report", prepare: prepare, args: notedReport(kind, nil),
			idem: paidKey, effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing.credits_charged": price, "billing.balance": 1000 - had - price})
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t,
						map[string]any{
							"data.state": "succeeded", "data.result.report.id": w.notes["report"], "data.result.credits_charged": price,
						})
				again := w.rest(full(w), "refresh_report", notedReport(kind, nil)(w), "at once")
				again.mustReject(w.t, http.StatusTooManyRequests, "rate_limited", "")
				again.mustHave(w.t, map[string]any{"context.scope": "connection"})
				w.mustBeSound()
			}}
	}
	rejects := func(name string, prepare func(*env), more map[string]any, expected want) scenario {
		return scenario{
			name: "refresh: " + name, tool: "refresh_report", prepare: prepare, args: notedReport("profile", more),
			idem: paidKey, want: expected,
		}
	}
	broken := func(w *env) { // its profile no longer exists
		addReport(nil)(w)
		w.exec("UPDATE reports SET subject = 'missing.harbour' WHERE id = ?", w.notes["report"])
	}
	return []scenario{
		refreshed("a profile", "profile", addReport(nil), profileRefreshPrice, profilePrice),
		refreshed("a hashtag", "hashtag", addReport(aHashtag), hashtagRefreshPrice, hashtagPrice),
		{name: "refresh: that fetches nothing", tool: "refresh_report", prepare: broken, args: notedReport("profile", nil), idem: paidKey,
			effects: rows{jobs: 1, reports: 1, makings: 1, events: 1, reservations: 1, transfers: 4, paid: 1},
			check: func(w *env, got answer) {
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t,
						map[string]any{
							"data.state": "failed", "data.error.code": "profile_not_found",
							"data.result.report.status": "ready", "data.result.credits_charged": 0,
						})
				w.full("get_credits", nil).mustHave(w.t, map[string]any{"data.balance": 1000 - profilePrice})
				w.full("get_report", notedReport("profile", nil)(w)).mustHave(w.t, map[string]any{"data.status": "ready"})
				w.rest(full(w), "refresh_report", notedReport("profile", nil)(w), "at once").mustBe(w.t, http.StatusAccepted)
			}},
		rejects("one that does not exist", grantThousand, map[string]any{"id": noSuchID}, notFound),
		rejects("with members", addReport(nil), map[string]any{"force": true}, invalid("unknown_argument", "force")),
		rejects("one that failed", func(w *env) {
			addReport(nil)(w)
			w.exec("UPDATE reports SET status = 'error' WHERE id = ?", w.notes["report"])
		}, nil, wrongState("error")),
		{name: "refresh: with an API key of level drafts", tool: "refresh_report", as: drafts, prepare: addReport(nil), args: notedReport(
			"profile", nil), idem: paidKey, want: rejection(403, "spend_not_allowed")},
	}
}

func trackingScenarios() []scenario {
	switches := func(name, kind string, prepare func(*env), more map[string]any, effects rows, holds, credits map[string]any) scenario {
		return scenario{name: "tracking: " + name, tool: "set_report_tracking", prepare: prepare, args: notedReport(kind, more),
			idem: paidKey, effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, holds)
				w.full("get_credits", nil).mustHave(w.t, credits)
				w.mustBeSound()
			}}
	}
	tracked := func(more map[string]any) func(*env) {
		return func(w *env) {
			addReport(nil)(w)
			w.rest(full(w), "set_report_tracking", notedReport("profile", mergeArgs(map[string]any{"enabled": true}, more))(w),
				"on").mustBe(w.t, http.StatusOK)
		}
	}
	rejects := func(name string, prepare func(*env), more map[string]any, expected want) scenario {
		return scenario{
			name: "tracking: " + name, tool: "set_report_tracking", prepare: prepare, args: notedReport("profile", more),
			idem: paidKey, want: expected,
		}
	}
	on, off := map[string]any{"enabled": true}, map[string]any{"enabled": false}
	is := func(enabled bool, days, credits int) map[string]any {
		return map[string]any{"data.enabled": enabled, "data.frequency_days": days, "data.credits_per_refresh": credits}
	}
	had := 1000 - profilePrice
	return []scenario{
		switches("a profile, on", "profile", addReport(nil), on, rows{reports: 1, events: 1, holds: 1, paid: 1},
			mergeArgs(is(true, 3, profileRefreshPrice), map[string]any{"billing.credits_charged": 0}),
			map[string]any{
				"data.balance": had, "data.reserved_today.key": profileRefreshPrice,
				"data.reserved_today.team": profileRefreshPrice, "data.used_today.team": profilePrice,
			}),
		switches("a profile, on again", "profile", tracked(nil), on, rows{paid: 1}, is(true, 3, profileRefreshPrice),
			map[string]any{"data.balance": had, "data.reserved_today.key": profileRefreshPrice}),
		switches("a profile, more often", "profile", tracked(nil), map[string]any{"enabled": true, "frequency_days": 1},
			rows{reports: 1, events: 1, paid: 1}, is(true, 1, profileRefreshPrice),
			map[string]any{"data.reserved_today.key": profileRefreshPrice}),
		switches("a profile, off", "profile", tracked(map[string]any{"frequency_days": 7}), off,
			rows{reports: 1, events: 1, holds: 1, paid: 1},
			mergeArgs(is(false, 3, profileRefreshPrice), map[string]any{"data.next_refresh_at": nil}),
			map[string]any{"data.balance": had, "data.reserved_today.key": 0, "data.reserved_today.team": 0}),
		switches("a profile, off and weekly", "profile", tracked(nil), mergeArgs(off, map[string]any{"frequency_days": 7}),
			rows{reports: 1, events: 1, holds: 1, paid: 1},
			mergeArgs(is(false, 7, profileRefreshPrice), map[string]any{"data.next_refresh_at": nil}),
			map[string]any{"data.balance": had, "data.reserved_today.key": 0}),
		switches("a profile, weekly while it is off", "profile", addReport(nil),
			mergeArgs(off, map[string]any{"frequency_days": 7}), rows{reports: 1, events: 1, paid: 1},
			mergeArgs(is(false, 7, profileRefreshPrice), map[string]any{"data.next_refresh_at": nil}),
			map[string]any{"data.balance": had, "data.reserved_today.key": 0}),
		switches("a profile, off although it is off", "profile", addReport(nil), off, rows{paid: 1},
			is(false, 3, profileRefreshPrice), map[string]any{"data.balance": had}),
		switches("a hashtag, on", "hashtag", addReport(aHashtag), on,
			rows{reports: 1, events: 1, jobs: 1, makings: 1, reservations: 1, transfers: 4, wallets: 1, paid: 1},
			mergeArgs(is(true, 3, hashtagRefreshPrice), map[string]any{"billing.credits_charged": hashtagRefreshPrice}),
			map[string]any{
				"data.balance": 1000 - hashtagPrice - hashtagRefreshPrice, "data.reserved_today.key": 0,
				"data.used_today.team": hashtagPrice + hashtagRefreshPrice,
			}),
		rejects("without saying which", addReport(nil), nil, invalid("missing_argument", "enabled")),
		rejects("a word", addReport(nil), map[string]any{"enabled": "yes"}, invalid("not_a_boolean", "enabled")),
		rejects("every other day", addReport(nil), map[string]any{"enabled": true, "frequency_days": 2},
			invalid("not_allowed_value", "frequency_days")),
		rejects("of one that does not exist", grantThousand, map[string]any{"id": noSuchID, "enabled": true}, notFound),
		rejects("of one that failed", func(w *env) {
			addReport(nil)(w)
			w.exec("UPDATE reports SET status = 'error' WHERE id = ?", w.notes["report"])
		}, on, wrongState("error")),
		rejects("past the key's credits of the day", func(w *env) {
			addReport(nil)(w)
			must.NoError(w.t, w.Teams.SetKeyLimit(w.t.Context(), w.keyIDs[access.Full], profilePrice+1))
		}, on, rejection(429, "daily_credit_limit_reached")),
		{name: "tracking: on a plan without tracking", tool: "set_report_tracking", plan: smallPlan,
			args: notedReport("profile", on), idem: paidKey, want: planLimit, prepare: func(w *env) {
				must.NoError(w.t, w.Teams.SetDailyCredits(w.t.Context(), w.team, new(int64(-1))))
				addReport(nil)(w)
			}},
		{name: "tracking: with an API key of level drafts", tool: "set_report_tracking", as: drafts, prepare: addReport(
			nil), args: notedReport("profile", on), idem: paidKey, want: rejection(403, "spend_not_allowed")},
	}
}
