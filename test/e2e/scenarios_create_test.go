package e2e

import (
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/auth/apikey"
)

// toFirst returns the arguments of a post to the first account, merged with more.
func toFirst(more map[string]any) func(*env) map[string]any {
	return func(w *env) map[string]any {
		return mergeArgs(map[string]any{"caption": "hello", "account_ids": w.accounts[:1]}, more)
	}
}

var oneDraft = rows{posts: 1, targets: 1, events: 1}

func createScenarios() []scenario {
	makes := func(name string, more map[string]any, check func(*env, answer)) scenario {
		return scenario{name: "create: " + name, tool: "create_post", args: toFirst(more), effects: oneDraft, check: check}
	}
	caption := func(want string) func(*env, answer) {
		return func(w *env, got answer) {
			id := got.text("data.id")
			if got.text("data.caption") != want || w.post(id).text("data.caption") != want {
				w.t.Errorf("the caption differs from the input: %s", got.raw)
			}
		}
	}
	accounts := func(order ...int) func(*env, answer) {
		return func(w *env, got answer) {
			have, want := []int64{}, []int64{}
			for _, a := range got.list("data.accounts") {
				have = append(have, int64(a.(map[string]any)["id"].(float64)))
			}
			for _, i := range order {
				want = append(want, w.accounts[i])
			}
			if !slices.Equal(have, want) {
				w.t.Errorf("accounts %v, want %v", have, want)
			}
		}
	}
	to := func(order ...int) func(*env) map[string]any {
		return func(w *env) map[string]any {
			ids := []int64{}
			for _, i := range order {
				ids = append(ids, w.accounts[i])
			}
			return map[string]any{"caption": "hello", "account_ids": ids}
		}
	}
	return []scenario{
		{name: "create: a draft", tool: "create_post", as: drafts, args: toFirst(nil), effects: oneDraft,
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.status": "draft", "data.caption": "hello",
					"data.approval": "not_needed", "data.media": "[]",
					"data.scheduled_at": nil, "data.accounts.0.state": "pending", "data.accounts.0.username": "harbour.test"})
				if location := got.header.Get("Location"); location != "" && location != w.root+"/api/v1/posts/"+got.text("data.id") {
					w.t.Errorf("Location %q", location)
				}
				if held := w.accountsWith("hello"); len(held) > 0 && w.count("deliveries WHERE team_id = ?", w.team) > 0 {
					w.t.Errorf("the post was published: %v", held)
				}
			}},
		{name: "create: to two accounts, in their order", tool: "create_post", args: to(1, 0), effects: rows{
			posts: 1, targets: 2, events: 1,
		}, check: accounts(1, 0)},
		{name: "create: an account listed twice is one target", tool: "create_post", args: to(0, 1, 0), effects: rows{
			posts: 1, targets: 2, events: 1,
		}, check: accounts(0, 1)},
		makes("a caption as long as may be", map[string]any{"caption": words(10_000)}, caption(words(10_000))),
		makes("a long caption of wide characters", map[string]any{"caption": strings.Repeat("🌍", 10_000)},
			caption(strings.Repeat("🌍", 10_000))),
		makes("a caption of many scripts", map[string]any{"caption": "  Grüße, 東京 \u202eabc\u0301\n\tend  "},
			caption("  Grüße, 東京 \u202eabc\u0301\n\tend  ")),
		makes("an empty caption", map[string]any{"caption": ""}, caption("")),
		makes("no media", map[string]any{"media_ids": []int64{}}, nil),
		makes("what looks like SQL", map[string]any{"caption": "'); DROP TABLE posts; -- ?"}, caption("'); DROP TABLE posts; -- ?")),
		makes("a text that only begins as a key does", map[string]any{"caption": "prk_ABCDEFGHabcdefgh"}, nil),
		{name: "create: an account that does not exist", tool: "create_post", args: toFirst(map[string]any{
			"account_ids": []int64{999999999},
		}), want: missing("account_ids")},
		{name: "create: an account of another team", tool: "create_post", want: missing("account_ids"), prepare: func(w *env) {
			w.accounts = append(w.accounts, w.stranger().accounts[0])
		}, args: to(0, 2)},
		{name: "create: media that are not in the library", tool: "create_post", args: toFirst(map[string]any{
			"media_ids": []int64{1},
		}), want: missing("media_ids")},
		{name: "create: with a read-only API key", tool: "create_post", as: readOnly, args: toFirst(nil), want: rejection(
			403, "write_not_allowed")},
	}
}

// argumentScenarios returns every kind of invalid argument, for the operation with the most kinds.
func argumentScenarios() []scenario {
	bad := func(name string, more map[string]any, reason, argument string) scenario {
		return scenario{name: "arguments: " + name, tool: "create_post", args: toFirst(more), want: invalid(reason, argument)}
	}
	without := func(name string) func(*env) map[string]any {
		return func(w *env) map[string]any {
			args := toFirst(nil)(w)
			delete(args, name)
			return args
		}
	}
	key := apikey.New(apikey.APIKey)
	all := []scenario{
		{name: "arguments: no caption", tool: "create_post", args: without("caption"), want: invalid("missing_argument", "caption")},
		{name: "arguments: no accounts", tool: "create_post", args: without("account_ids"), want: invalid(
			"missing_argument", "account_ids")},
		{name: "arguments: no arguments", tool: "create_post", args: noArgs, want: invalid("missing_argument", "caption")},
		bad("a caption one too long", map[string]any{"caption": words(10_001)}, "too_long", "caption"),
		bad("a caption that is a number", map[string]any{"caption": 5}, "malformed", "caption"),
		bad("a caption that is true", map[string]any{"caption": true}, "malformed", "caption"),
		bad("a caption that is null", map[string]any{"caption": nil}, "malformed", "caption"),
		bad("a caption that is a list", map[string]any{"caption": []string{"hello"}}, "not_a_single_value", "caption"),
		bad("a caption that is an object", map[string]any{"caption": map[string]any{"a": "b"}}, "not_a_single_value", "caption"),
		bad("a caption with a NUL", map[string]any{"caption": "a\x00b"}, "malformed", "caption"),
		bad("accounts that are a number", map[string]any{"account_ids": 5}, "not_a_list", "account_ids"),
		bad("accounts that are a text", map[string]any{"account_ids": "1,2"}, "not_a_list", "account_ids"),
		bad("accounts that are null", map[string]any{"account_ids": nil}, "not_a_list", "account_ids"),
		bad("accounts that are an object", map[string]any{"account_ids": map[string]any{"0": 1}}, "not_a_list", "account_ids"),
		bad("an empty list of accounts", map[string]any{"account_ids": []int64{}}, "too_short", "account_ids"),
		bad("101 accounts", map[string]any{"account_ids": make([]int64, 101)}, "too_long", "account_ids"),
		bad("an account that is a word", map[string]any{"account_ids": []any{"first"}}, "not_an_integer", "account_ids"),
		bad("an account that is a number as text", map[string]any{"account_ids": []any{"1"}}, "not_an_integer", "account_ids"),
		bad("an account that is a fraction", map[string]any{"account_ids": []any{1.5}}, "not_an_integer", "account_ids"),
		bad("an account that is true", map[string]any{"account_ids": []any{true}}, "not_an_integer", "account_ids"),
		bad("an account that is null", map[string]any{"account_ids": []any{nil}}, "not_an_integer", "account_ids"),
		bad("an account that is a list", map[string]any{"account_ids": []any{[]int64{1}}}, "not_an_integer", "account_ids"),
		bad("51 media", map[string]any{"media_ids": make([]int64, 51)}, "too_long", "media_ids"),
		bad("an unknown argument", map[string]any{"colour": "red"}, "unknown_argument", "colour"),
		bad("an argument whose name is no name", map[string]any{"<b>colour</b>": "red"}, "unknown_argument", ""),
		bad("an argument of another case", map[string]any{"Caption": "x"}, "unknown_argument", "Caption"),
		bad("a key in the caption", map[string]any{"caption": "mine is " + key + "!"}, "secret_in_argument", "caption"),
		bad("an upload secret in the caption", map[string]any{"caption": apikey.New(apikey.Upload)}, "secret_in_argument", "caption"),
		bad("a key nested in an unknown argument", map[string]any{"a": []any{map[string]any{"b": []any{key}}}},
			"secret_in_argument", ""),
		bad("a key as the name of a member", map[string]any{"a": map[string]any{key: 1}}, "secret_in_argument", ""),
		bad("a key as the name of an argument", map[string]any{key: 1}, "secret_in_argument", ""),
	}
	return append(all, verbatimScenarios()...)
}

// verbatimScenarios returns scenarios with JSON that no encoder produces.
func verbatimScenarios() []scenario {
	bad := func(name, arguments, reason, argument string) scenario {
		return scenario{name: "JSON: " + name, tool: "create_post", verbatim: arguments, want: invalid(reason, argument)}
	}
	return []scenario{
		bad("an argument twice", `{"caption":"a","caption":"b","account_ids":[1]}`, "argument_given_twice", ""),
		bad("an argument twice, once escaped", `{"caption":"a","\u0063aption":"b","account_ids":[1]}`, "argument_given_twice", ""),
		bad("a member twice, deep down", `{"caption":"a","account_ids":[1],"x":[{"a":1,"a":2}]}`, "argument_given_twice", ""),
		bad("nested a hundred deep",
			`{"caption":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`,"account_ids":[1]}`, "malformed", ""),
		bad("a NUL as an escape", `{"caption":"a\u0000b","account_ids":[1]}`, "malformed", "caption"),
		bad("an account beyond all numbers", `{"caption":"a","account_ids":[1e400]}`, "not_an_integer", "account_ids"),
		bad("an account of 31 digits", `{"caption":"a","account_ids":[1000000000000000000000000000000]}`, "not_an_integer", "account_ids"),
		bad("an account just beyond 64 bits", `{"caption":"a","account_ids":[9223372036854775808]}`, "not_an_integer", "account_ids"),
		bad("an account of 1.5", `{"caption":"a","account_ids":[1.5]}`, "not_an_integer", "account_ids"),
		bad("an account of 1e-1", `{"caption":"a","account_ids":[1e-1]}`, "not_an_integer", "account_ids"),
		{
			name: "JSON: the largest account", tool: "create_post",
			verbatim: `{"caption":"a","account_ids":[9223372036854775807]}`, want: missing("account_ids"),
		},
		{
			name: "JSON: a whole number written as a fraction", tool: "create_post",
			verbatim: `{"caption":"a","account_ids":[999999999.0]}`, want: missing("account_ids"),
		},
		{
			name: "JSON: a whole number written with an exponent", tool: "create_post",
			verbatim: `{"caption":"a","account_ids":[9e8]}`, want: missing("account_ids"),
		},
		{
			name: "JSON: a negative account", tool: "create_post", verbatim: `{"caption":"a","account_ids":[-1]}`,
			want: missing("account_ids"),
		},
	}
}
