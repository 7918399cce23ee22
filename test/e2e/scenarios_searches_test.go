package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"pressroom/internal/auth/apikey"
	"pressroom/internal/core/access"
	"pressroom/internal/testkit/must"
)

const searchPrice = 3

// TestSearchScenarios runs the scenarios of hashtag search.
func TestSearchScenarios(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) { h.playAll(t, searchScenarios()) })
}

func searchScenarios() []scenario {
	return slices.Concat(newSearchScenarios(), searchAgainScenarios(), freeSearchScenarios(), refusedSearchScenarios(),
		badSearchScenarios())
}

// looksFor returns arguments with a keyword, with changes.
func looksFor(more map[string]any) func(*env) map[string]any {
	return these(mergeArgs(map[string]any{"query": "summer beach"}, more))
}

// The rows of a charged search, a refunded one, and a free one of a known keyword.
var (
	searched   = rows{searches: 1, looks: 1, found: 1, jobs: 1, events: 1, reservations: 1, transfers: 4, wallets: 1, paid: 1}
	unsearched = rows{searches: 1, looks: 1, jobs: 1, events: 1, reservations: 1, transfers: 4, paid: 1}
	foundAgain = rows{looks: 1, found: 1, jobs: 1, events: 1, paid: 1}
)

// hasSearched returns a team with credits that has paid for a search, under the Idempotency-Key paying.
func hasSearched(more map[string]any) func(*env) {
	return func(w *env) {
		rich(w)
		got := w.rest(full(w), "search_hashtags", looksFor(more)(w), paying)
		got.mustBe(w.t, http.StatusAccepted)
		w.keep("job", got.text("data.job_id"))
		w.awaitJob(w.its("job")).mustHave(w.t, map[string]any{"data.state": "succeeded", "data.result.credits_charged": searchPrice})
	}
}

// mustShowFigures checks the result of a search that found something: each hashtag with its size, its rate, a tier and
// a score.
func (w *env) mustShowFigures(job answer) {
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
			w.t.Errorf("a hashtag without figures: %v", job.list("data.result.hashtags")[i])
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

// tierOf returns the tier of a hashtag with so many posts.
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
		return scenario{name: "search: " + name, tool: "search_hashtags", prepare: rich, args: looksFor(more),
			idem: paying, effects: searched, check: func(w *env, got answer) {
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
				w.mustShowFigures(job)
				w.full("get_credits", nil).
					mustHave(w.t,
						map[string]any{
							"data.balance": 1000 - searchPrice, "data.used_today.team": searchPrice,
							"data.used_today.keys_and_tools": searchPrice, "data.reserved_today.team": 0,
						})
			}}
	}
	fails := func(name, query, code string) scenario {
		return scenario{name: "search: " + name, tool: "search_hashtags", prepare: rich,
			args: looksFor(map[string]any{"query": query}), idem: paying, effects: unsearched, check: func(w *env, got answer) {
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
		return scenario{name: "search again: " + name, tool: "search_hashtags", prepare: hasSearched(nil),
			args: looksFor(more), idem: idem, effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, holds)
				w.mustShowFigures(w.awaitJob(got.text("data.job_id")))
			}}
	}
	free := func(name, query string) scenario {
		s := again(name, "another", map[string]any{"query": query}, foundAgain,
			map[string]any{
				"billing.credits_charged": 0, "billing.balance": 1000 - searchPrice, "data.finished": true,
				"data.state": "succeeded", "data.result.credits_charged": 0, "page": nil,
			})
		shows := s.check
		s.check = func(w *env, got answer) {
			shows(w, got)
			w.mustShowFigures(got)
			if first := w.full("get_job",
				map[string]any{
					"job_id": w.its("job"), "limit": 50,
				}); got.text("data.result.hashtags") != first.text("data.result.hashtags") || got.text("data.job_id") == w.its("job") {
				w.t.Errorf("not what was found before:\n%s\n%s", got.raw, first.raw)
			}
			if !strings.Contains(got.text("notes.0"), "paid") {
				w.t.Errorf("it does not say why it costs nothing: %s", got.raw)
			}
		}
		return s
	}
	charged := map[string]any{"billing.credits_charged": searchPrice, "billing.balance": 1000 - 2*searchPrice}
	same := again("with its key", paying, nil, rows{},
		map[string]any{"billing.credits_charged": searchPrice, "billing.balance": 1000 - searchPrice})
	same.check = func(w *env, got answer) { got.mustHave(w.t, map[string]any{"data.job_id": w.its("job")}) }
	return []scenario{
		same, free("the same", "summer beach"), free("the words the other way round", "beach summer"),
		free("in capitals", "SUMMER Beach"), free("with more spaces", "  summer   beach "), free("as hashtags", "#summer #beach"),
		again("with the platform written out", paying, map[string]any{"platform": "instagram"}, rows{},
			map[string]any{"billing.credits_charged": searchPrice}),
		again("another keyword with its key is another call", paying, map[string]any{"query": "winter beach"}, searched, charged),
		again("the words as one are another keyword", "another", map[string]any{"query": "summerbeach"}, searched, charged),
		again("on the other platform", "another", map[string]any{"platform": "tiktok"}, searched, charged),
		{name: "search again: when its time is over", tool: "search_hashtags", args: looksFor(nil), idem: "another", effects: searched,
			prepare: with(hasSearched(nil), func(w *env) {
				w.exec("UPDATE hashtag_searches SET paid_until = 1 WHERE team_id = ?", w.team)
			}), check: func(w *env, got answer) { got.mustHave(w.t, charged) }},
		{name: "search again: after nothing was found", tool: "search_hashtags",
			args: looksFor(map[string]any{"query": "missingharbour"}), idem: "another",
			effects: rows{looks: 1, jobs: 1, events: 1, reservations: 1, transfers: 4, paid: 1}, prepare: func(w *env) {
				rich(w)
				w.awaitJob(w.rest(full(w), "search_hashtags", looksFor(map[string]any{"query": "missingharbour"})(w),
					"one").text("data.job_id"))
			}},
		{name: "search again: with its key, which is no longer kept", tool: "search_hashtags", args: looksFor(nil),
			idem: paying, want: want{status: 422, code: "idempotency_key_reused", reason: "charge_key_spent"},
			prepare: with(hasSearched(nil), func(w *env) {
				w.exec("DELETE FROM paid_requests WHERE key_id = ?", w.keyIDs[access.Full])
			})},
		{name: "search again: by another team", tool: "search_hashtags",
			args: looksFor(map[string]any{"query": "boathouse"}), idem: paying, effects: searched, prepare: func(w *env) {
				rich(w)
				hasSearched(map[string]any{"query": "boathouse"})(w.stranger())
			}},
	}
}

func freeSearchScenarios() []scenario {
	free := func(name string, as func(*env) string, prepare func(*env), query string, effects rows) scenario {
		return scenario{name: "free search: " + name, tool: "search_hashtags", as: as, prepare: prepare,
			args: looksFor(map[string]any{"query": query}), idem: "another", effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"billing.credits_charged": 0, "billing.credits_refunded": 0})
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t, map[string]any{"data.state": "succeeded", "data.result.credits_charged": 0})
			}}
	}
	another := func(w *env) string {
		_, key := w.newKey(w.team, access.Full, begun.AddDate(1, 0, 0))
		return key
	}
	spent := with(hasSearched(nil), func(w *env) {
		must.Get(w.Credits.Withdraw(w.t.Context(), w.team, 1000-searchPrice, "all of it", ""))(w.t)
	})
	limited := with(hasSearched(nil), func(w *env) { must.NoError(w.t, w.Teams.SetKeyLimit(w.t.Context(), w.keyIDs[access.Full], 0)) })
	asReport := foundAgain
	asReport.searches = 1
	return []scenario{
		free("another key of the team", another, hasSearched(nil), "summer beach", foundAgain),
		free("with nothing left", full, spent, "beach summer", foundAgain),
		free("by a key that may spend none", full, limited, "summer beach", foundAgain),
		free("of a hashtag that the team has a report on", full, hasReport(aHashtag), "sourdough", asReport),
		{name: "free search: a report on a hashtag pays for no phrase", tool: "search_hashtags", prepare: hasReport(
			aHashtag), args: looksFor(map[string]any{"query": "sourdough bread"}), idem: paying, effects: searched},
		{name: "free search: nor on the other platform", tool: "search_hashtags", prepare: hasReport(
			aHashtag), args: looksFor(map[string]any{"query": "sourdough", "platform": "tiktok"}), idem: paying, effects: searched},
	}
}

func refusedSearchScenarios() []scenario {
	not := func(name string, as func(*env) string, prepare func(*env), expected want) scenario {
		return scenario{
			name: "refused search: " + name, tool: "search_hashtags", as: as, prepare: prepare, args: looksFor(nil),
			idem: "another", want: expected,
		}
	}
	keyTo := func(credits int64) func(*env) {
		return func(w *env) { must.NoError(w.t, w.Teams.SetKeyLimit(w.t.Context(), w.keyIDs[access.Full], credits)) }
	}
	teamTo := func(credits int64) func(*env) {
		return func(w *env) { must.NoError(w.t, w.Teams.SetDailyCredits(w.t.Context(), w.team, &credits)) }
	}
	replayed := not("by a key for drafts, with the key that has paid", full, with(hasSearched(nil), func(w *env) {
		must.NoError(w.t, w.Teams.SetKeyLevel(w.t.Context(), w.keyIDs[access.Full], access.Drafts))
	}), refusal(403, "spend_not_allowed"))
	replayed.idem = paying
	return []scenario{
		replayed,
		not("by a key for drafts", drafts, rich, refusal(403, "spend_not_allowed")),
		not("by a key that only reads", readOnly, rich, refusal(403, "spend_not_allowed")),
		not("by a key for drafts, of what is paid for", drafts, hasSearched(nil), refusal(403, "spend_not_allowed")),
		not("for an editor", full, with(rich, func(w *env) { w.role(access.Editor) }), refusal(403, "spend_not_allowed")),
		not("while spending is paused", full, with(hasSearched(nil), func(w *env) {
			must.NoError(w.t, pausesOf("team")[1].closes(w))
		}), refusal(403, "connection_suspended")),
		not("without credits", full, func(*env) {}, refusal(402, "insufficient_credits")),
		not("with a credit too few", full, func(w *env) { w.grant(searchPrice - 1) }, refusal(402, "insufficient_credits")),
		not("beyond the key's day", full, with(rich, keyTo(searchPrice-1)), refusal(429, "daily_credit_limit_reached")),
		not("beyond the team's day", full, with(rich, teamTo(searchPrice-1)), refusal(429, "daily_credit_limit_reached")),
		{name: "refused search: without a key", tool: "search_hashtags", prepare: rich, args: looksFor(
			nil), want: invalid("idempotency_key_required", "")},
		{name: "refused search: what is paid for, without a key", tool: "search_hashtags", prepare: hasSearched(
			nil), args: looksFor(nil), want: invalid("idempotency_key_required", "")},
		{name: "refused search: a key of 256 characters", tool: "search_hashtags", prepare: rich, args: looksFor(
			nil), idem: strings.Repeat("k", 256), want: invalid("idempotency_key_too_long", "")},
		{name: "refused search: a key of 255 characters", tool: "search_hashtags", prepare: rich, args: looksFor(
			nil), idem: strings.Repeat("k", 255), effects: searched},
	}
}

func badSearchScenarios() []scenario {
	bad := func(name string, more map[string]any, reason, argument string) scenario {
		return scenario{
			name: "bad search: " + name, tool: "search_hashtags", prepare: rich, args: looksFor(more), idem: paying,
			want: invalid(reason, argument),
		}
	}
	all := []scenario{
		{
			name: "bad search: for nothing", tool: "search_hashtags", prepare: rich, args: noArgs, idem: paying,
			want: invalid("missing_argument", "query"),
		},
		bad("an empty query", map[string]any{"query": ""}, "too_short", "query"),
		bad("1 character", map[string]any{"query": "ä"}, "too_short", "query"),
		bad("101 characters", map[string]any{"query": strings.Repeat("q", 101)}, "too_long", "query"),
		bad("a list", map[string]any{"query": []any{"travel"}}, "not_a_single_value", "query"),
		bad("a number", map[string]any{"query": 2026}, "malformed", "query"),
		bad("another platform", map[string]any{"platform": "facebook"}, "not_allowed_value", "platform"),
		bad("an argument that is none", map[string]any{"limit": 5}, "unknown_argument", "limit"),
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
