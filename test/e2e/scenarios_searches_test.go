package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

const searchPrice = 3

// TestSearchScenarios runs the scenarios of hashtag search.
func TestSearchScenarios(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) { h.playAll(t, searchScenarios()) })
}

func searchScenarios() []scenario {
	return slices.Concat(newSearchScenarios(), searchAgainScenarios(), freeSearchScenarios(), rejectedSearchScenarios(),
		badSearchScenarios())
}

// searchArgs returns arguments with a keyword, merged with more.
func searchArgs(more map[string]any) func(*env) map[string]any {
	return fixedArgs(mergeArgs(map[string]any{"query": "summer beach"}, more))
}

// The rows of a charged search, a refunded search, and a free search for a known keyword.
var (
	chargedSearch  = rows{searches: 1, looks: 1, found: 1, jobs: 1, events: 1, reservations: 1, transfers: 4, wallets: 1, paid: 1}
	refundedSearch = rows{searches: 1, looks: 1, jobs: 1, events: 1, reservations: 1, transfers: 4, paid: 1}
	freeSearch     = rows{looks: 1, found: 1, jobs: 1, events: 1, paid: 1}
)

// makePaidSearch grants credits and makes a charged search with the Idempotency-Key paying.
func makePaidSearch(more map[string]any) func(*env) {
	return func(w *env) {
		grantThousand(w)
		got := w.rest(full(w), "search_hashtags", searchArgs(more)(w), paidKey)
		got.mustBe(w.t, http.StatusAccepted)
		w.setNote("job", got.text("data.job_id"))
		w.awaitJob(w.note("job")).mustHave(w.t, map[string]any{"data.state": "succeeded", "data.result.credits_charged": searchPrice})
	}
}

// mustShowMetrics checks that each found hashtag has a number of posts, a rate, a tier and a score.
func (w *env) mustShowMetrics(job answer) {
	w.t.Helper()
	if len(job.list("data.result.hashtags")) == 0 || job.at("data.result.related") == nil || job.at("data.result.incomplete") == nil {
		w.t.Errorf("nothing was found: %s", job.raw)
	}
	for i := range job.list("data.result.hashtags") {
		at := func(name string) any { return job.at(fmt.Sprintf("data.result.hashtags.%d.%s", i, name)) }
		score, scored := at("score").(float64)
		count, counted := at("posts.count").(float64)
		if basis := at("posts.basis"); basis != "measured" && basis != "estimated" || !counted ||
			at("tier") != tierOf(count) || at("posts_per_day") == nil || !scored || score < 0 || score > 100 ||
			at("measured_at.utc") == nil {
			w.t.Errorf("a hashtag without metrics: %v", job.list("data.result.hashtags")[i])
		}
	}
	for i := range job.list("data.result.related") {
		for _, name := range []string{"hashtag", "support", "share", "lift"} {
			if job.at(fmt.Sprintf("data.result.related.%d.%s", i, name)) == nil {
				w.t.Errorf("a related hashtag without its %s: %s", name, job.raw)
			}
		}
	}
}

// tierOf returns the tier of a hashtag with the given number of posts.
func tierOf(posts float64) string {
	switch {
	case posts < 10_000:
		return "nano"
	case posts < 100_000:
		return "small"
	case posts < 500_000:
		return "medium"
	case posts < 1_000_000:
		return "large"
	}
	return "huge"
}

func newSearchScenarios() []scenario {
	finds := func(name, first string, more map[string]any) scenario {
		return scenario{name: "search: " + name, tool: "search_hashtags", prepare: grantThousand, args: searchArgs(more),
			idem: paidKey, effects: chargedSearch, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"billing.credits_charged": searchPrice, "billing.credits_refunded": 0,
						"billing.balance": 1000 - searchPrice, "data.type": "hashtag_search", "data.result": nil,
					})
				job := w.awaitJob(got.text("data.job_id"))
				job.mustHave(w.t,
					map[string]any{
						"data.state": "succeeded", "data.error": nil, "data.result.credits_charged": searchPrice,
						"data.result.hashtags.0.hashtag": first, "untrusted_content": nil,
					})
				w.mustShowMetrics(job)
				w.full("get_credits", nil).
					mustHave(w.t,
						map[string]any{
							"data.balance": 1000 - searchPrice, "data.used_today.team": searchPrice,
							"data.used_today.keys_and_tools": searchPrice, "data.reserved_today.team": 0,
						})
			}}
	}
	fails := func(name, query, code string) scenario {
		return scenario{name: "search: " + name, tool: "search_hashtags", prepare: grantThousand,
			args: searchArgs(map[string]any{"query": query}), idem: paidKey, effects: refundedSearch, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing.credits_charged": searchPrice})
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t, map[string]any{"data.state": "failed", "data.error.code": code,
						"data.result.hashtags": "[]", "data.result.incomplete": "[]", "data.result.related": "[]",
						"data.result.credits_charged": 0, "page": nil})
				w.full("get_credits", nil).
					mustHave(w.t, map[string]any{"data.balance": 1000, "data.used_today.team": 0, "data.reserved_today.team": 0})
			}}
	}
	return []scenario{
		finds("a phrase", "summerbeach", nil),
		finds("a keyword", "harbourlife", map[string]any{"query": "harbourlife"}),
		finds("a hashtag", "quayside", map[string]any{"query": "#QuaySide"}),
		finds("a hashtag's link", "quayside", map[string]any{"query": "https://www.instagram.com/explore/tags/quayside/"}),
		finds("on TikTok", "summerbeach", map[string]any{"platform": "tiktok"}),
		finds("another script", "旅行", map[string]any{"query": "旅行"}),
		finds("2 characters", "qz", map[string]any{"query": "qz"}),
		finds("100 characters", strings.Repeat("q", 100), map[string]any{"query": strings.Repeat("q", 100)}),
		finds("what is there beside what is not", "marina", map[string]any{"query": "missing marina"}),
		fails("what is not there", "missingharbour", "nothing_found"),
		fails("while the source fails", "errorharbour", "source_unavailable"),
		fails("a number that nobody uses", "20260917", "nothing_found"),
	}
}

func searchAgainScenarios() []scenario {
	again := func(name, idem string, more map[string]any, effects rows, holds map[string]any) scenario {
		return scenario{name: "search again: " + name, tool: "search_hashtags", prepare: makePaidSearch(nil),
			args: searchArgs(more), idem: idem, effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, holds)
				w.mustShowMetrics(w.awaitJob(got.text("data.job_id")))
			}}
	}
	free := func(name, query string) scenario {
		s := again(name, "another", map[string]any{"query": query}, freeSearch,
			map[string]any{
				"billing.credits_charged": 0, "billing.balance": 1000 - searchPrice, "data.finished": true,
				"data.state": "succeeded", "data.result.credits_charged": 0, "page": nil,
			})
		shows := s.check
		s.check = func(w *env, got answer) {
			shows(w, got)
			w.mustShowMetrics(got)
			if first := w.full("get_job",
				map[string]any{
					"job_id": w.note("job"), "limit": 50,
				}); got.text("data.result.hashtags") != first.text("data.result.hashtags") || got.text("data.job_id") == w.note("job") {
				w.t.Errorf("differs from the first result:\n%s\n%s", got.raw, first.raw)
			}
			if !strings.Contains(got.text("notes.0"), "paid") {
				w.t.Errorf("no note about the free search: %s", got.raw)
			}
		}
		return s
	}
	charged := map[string]any{"billing.credits_charged": searchPrice, "billing.balance": 1000 - 2*searchPrice}
	same := again("with its key", paidKey, nil, rows{},
		map[string]any{"billing.credits_charged": searchPrice, "billing.balance": 1000 - searchPrice})
	same.check = func(w *env, got answer) { got.mustHave(w.t, map[string]any{"data.job_id": w.note("job")}) }
	return []scenario{
		same, free("the same", "summer beach"), free("the words in another order", "beach summer"),
		free("in capitals", "SUMMER Beach"), free("with more spaces", "  summer   beach "), free("as hashtags", "#summer #beach"),
		again("with the platform written out", paidKey, map[string]any{"platform": "instagram"}, rows{},
			map[string]any{"billing.credits_charged": searchPrice}),
		again("another keyword with its key is another call", paidKey, map[string]any{"query": "winter beach"}, chargedSearch, charged),
		again("the words as one are another keyword", "another", map[string]any{"query": "summerbeach"}, chargedSearch, charged),
		again("on the other platform", "another", map[string]any{"platform": "tiktok"}, chargedSearch, charged),
		{name: "search again: after the data window", tool: "search_hashtags", args: searchArgs(nil), idem: "another",
			effects: chargedSearch,
			prepare: inOrder(makePaidSearch(nil), func(w *env) {
				w.exec("UPDATE hashtag_searches SET paid_until = 1 WHERE team_id = ?", w.team)
			}), check: func(w *env, got answer) { got.mustHave(w.t, charged) }},
		{name: "search again: after nothing was found", tool: "search_hashtags",
			args: searchArgs(map[string]any{"query": "missingharbour"}), idem: "another",
			effects: rows{looks: 1, jobs: 1, events: 1, reservations: 1, transfers: 4, paid: 1}, prepare: func(w *env) {
				grantThousand(w)
				w.awaitJob(w.rest(full(w), "search_hashtags", searchArgs(map[string]any{"query": "missingharbour"})(w),
					"one").text("data.job_id"))
			}},
		{name: "search again: with the same idempotency key after the stored response was deleted", tool: "search_hashtags",
			args: searchArgs(nil),
			idem: paidKey, want: want{status: 422, code: "idempotency_key_reused", reason: "charge_key_spent"},
			prepare: inOrder(makePaidSearch(nil), func(w *env) {
				w.exec("DELETE FROM paid_requests WHERE key_id = ?", w.keyIDs[access.Full])
			})},
		{name: "search again: by another team", tool: "search_hashtags",
			args: searchArgs(map[string]any{"query": "boathouse"}), idem: paidKey, effects: chargedSearch, prepare: func(w *env) {
				grantThousand(w)
				makePaidSearch(map[string]any{"query": "boathouse"})(w.stranger())
			}},
	}
}

func freeSearchScenarios() []scenario {
	free := func(name string, as func(*env) string, prepare func(*env), query string, effects rows) scenario {
		return scenario{name: "free search: " + name, tool: "search_hashtags", as: as, prepare: prepare,
			args: searchArgs(map[string]any{"query": query}), idem: "another", effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing.credits_charged": 0, "billing.credits_refunded": 0})
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t, map[string]any{"data.state": "succeeded", "data.result.credits_charged": 0})
			}}
	}
	another := func(w *env) string {
		_, key := w.newKey(w.team, access.Full, testStart.AddDate(1, 0, 0))
		return key
	}
	spent := inOrder(makePaidSearch(nil), func(w *env) {
		must.Get(w.Credits.Withdraw(w.t.Context(), w.team, 1000-searchPrice, "all of it", ""))(w.t)
	})
	limited := inOrder(makePaidSearch(nil), func(w *env) {
		must.NoError(w.t, w.Teams.SetKeyLimit(w.t.Context(),
			w.keyIDs[access.Full], 0))
	})
	asReport := freeSearch
	asReport.searches = 1
	return []scenario{
		free("another API key of the team", another, makePaidSearch(nil), "summer beach", freeSearch),
		free("without balance", full, spent, "beach summer", freeSearch),
		free("with an API key whose daily limit is 0", full, limited, "summer beach", freeSearch),
		free("of a hashtag that the team has a report on", full, addReport(aHashtag), "sourdough", asReport),
		{name: "free search: a report on a hashtag does not pay for a phrase", tool: "search_hashtags", prepare: addReport(
			aHashtag), args: searchArgs(map[string]any{"query": "sourdough bread"}), idem: paidKey, effects: chargedSearch},
		{name: "free search: a report does not pay for the other platform", tool: "search_hashtags", prepare: addReport(
			aHashtag), args: searchArgs(map[string]any{"query": "sourdough", "platform": "tiktok"}), idem: paidKey,
			effects: chargedSearch},
	}
}

func rejectedSearchScenarios() []scenario {
	not := func(name string, as func(*env) string, prepare func(*env), expected want) scenario {
		return scenario{
			name: "rejected search: " + name, tool: "search_hashtags", as: as, prepare: prepare, args: searchArgs(nil),
			idem: "another", want: expected,
		}
	}
	keyTo := func(credits int64) func(*env) {
		return func(w *env) { must.NoError(w.t, w.Teams.SetKeyLimit(w.t.Context(), w.keyIDs[access.Full], credits)) }
	}
	teamTo := func(credits int64) func(*env) {
		return func(w *env) { must.NoError(w.t, w.Teams.SetDailyCredits(w.t.Context(), w.team, &credits)) }
	}
	replayed := not("with an API key of level drafts, with the key that has paid", full, inOrder(makePaidSearch(nil), func(w *env) {
		must.NoError(w.t, w.Teams.SetKeyLevel(w.t.Context(), w.keyIDs[access.Full], access.Drafts))
	}), rejection(403, "spend_not_allowed"))
	replayed.idem = paidKey
	return []scenario{
		replayed,
		not("with an API key of level drafts", drafts, grantThousand, rejection(403, "spend_not_allowed")),
		not("with a read-only API key", readOnly, grantThousand, rejection(403, "spend_not_allowed")),
		not("with an API key of level drafts, of what is paid for", drafts, makePaidSearch(nil), rejection(403, "spend_not_allowed")),
		not("for an editor", full, inOrder(grantThousand, func(w *env) { w.role(access.Editor) }), rejection(403, "spend_not_allowed")),
		not("while spending is paused", full, inOrder(makePaidSearch(nil), func(w *env) {
			must.NoError(w.t, pausesOf("team")[1].closes(w))
		}), rejection(403, "connection_suspended")),
		not("without credits", full, func(*env) {}, rejection(402, "insufficient_credits")),
		not("with a credit too few", full, func(w *env) { w.grant(searchPrice - 1) }, rejection(402, "insufficient_credits")),
		not("beyond the key's day", full, inOrder(grantThousand, keyTo(searchPrice-1)), rejection(429, "daily_credit_limit_reached")),
		not("beyond the team's day", full, inOrder(grantThousand, teamTo(searchPrice-1)), rejection(429, "daily_credit_limit_reached")),
		{name: "rejected search: without an idempotency key", tool: "search_hashtags", prepare: grantThousand, args: searchArgs(
			nil), want: invalid("idempotency_key_required", "")},
		{name: "rejected search: a paid keyword without an idempotency key", tool: "search_hashtags", prepare: makePaidSearch(
			nil), args: searchArgs(nil), want: invalid("idempotency_key_required", "")},
		{name: "rejected search: an idempotency key of 256 characters", tool: "search_hashtags", prepare: grantThousand, args: searchArgs(
			nil), idem: strings.Repeat("k", 256), want: invalid("idempotency_key_too_long", "")},
		{name: "rejected search: an idempotency key of 255 characters", tool: "search_hashtags", prepare: grantThousand, args: searchArgs(
			nil), idem: strings.Repeat("k", 255), effects: chargedSearch},
	}
}

func badSearchScenarios() []scenario {
	bad := func(name string, more map[string]any, reason, argument string) scenario {
		return scenario{
			name: "bad search: " + name, tool: "search_hashtags", prepare: grantThousand, args: searchArgs(more), idem: paidKey,
			want: invalid(reason, argument),
		}
	}
	all := []scenario{
		{
			name: "bad search: without a query", tool: "search_hashtags", prepare: grantThousand, args: noArgs, idem: paidKey,
			want: invalid("missing_argument", "query"),
		},
		bad("an empty query", map[string]any{"query": ""}, "too_short", "query"),
		bad("1 character", map[string]any{"query": "ä"}, "too_short", "query"),
		bad("101 characters", map[string]any{"query": strings.Repeat("q", 101)}, "too_long", "query"),
		bad("a list", map[string]any{"query": []any{"travel"}}, "not_a_single_value", "query"),
		bad("a number", map[string]any{"query": 2026}, "malformed", "query"),
		bad("another platform", map[string]any{"platform": "facebook"}, "not_allowed_value", "platform"),
		bad("an unknown argument", map[string]any{"limit": 5}, "unknown_argument", "limit"),
		bad("a list to save to", map[string]any{"list_id": 1000000}, "unknown_argument", "list_id"),
		bad("an API key", map[string]any{"query": "my key " + apikey.New(apikey.APIKey)}, "secret_in_argument", "query"),
		bad("an upload secret", map[string]any{"query": "#" + apikey.New(apikey.Upload)}, "secret_in_argument", "query"),
	}
	for _, query := range []string{
		"?!", "##", "  ", "https://example.org/harbour", "https://www.tiktok.com/tag/harbour", "https://www.instagram.com/harbour_cafe/",
	} {
		all = append(all, bad(fmt.Sprintf("%q", query), map[string]any{"query": query}, "malformed", "query"))
	}
	return all
}
