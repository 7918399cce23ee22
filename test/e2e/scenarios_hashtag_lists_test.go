package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
)

// TestHashtagListScenarios runs the scenarios of hashtag lists.
func TestHashtagListScenarios(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) { h.playAll(t, hashtagListScenarios()) })
}

func hashtagListScenarios() []scenario {
	return slices.Concat(listsScenarios(), openedListScenarios(), createListScenarios(), badListScenarios(),
		repeatedListScenarios(), addScenarios(), badAddScenarios())
}

// travelList is the ID of a ready-made list, which is the same on every installation.
const travelList = 3

// listArgs returns the arguments of a new list, merged with more.
func listArgs(more map[string]any) func(*env) map[string]any {
	return fixedArgs(mergeArgs(map[string]any{"name": "Harbour"}, more))
}

// addHashtagList creates a hashtag list without a network and returns its ID.
func (w *env) addHashtagList(hashtags []any) int64 {
	w.t.Helper()
	return w.full("create_hashtag_list", listArgs(map[string]any{"hashtags": append([]any{}, hashtags...)})(w)).number("data.id")
}

// addList creates a list with listArgs and notes its ID.
func addList(more map[string]any) func(*env) {
	return func(w *env) { w.setNoteID("list", w.full("create_hashtag_list", listArgs(more)(w)).number("data.id")) }
}

// notedList returns the noted list as list_id, merged with more.
func notedList(more map[string]any) func(*env) map[string]any {
	return func(w *env) map[string]any { return mergeArgs(map[string]any{"list_id": w.noteID("list")}, more) }
}

// numberedTags returns numbered hashtags in a range of numbers.
func numberedTags(from, to int) []any {
	var out []any
	for n := from; n <= to; n++ {
		out = append(out, fmt.Sprint("harbour_", n))
	}
	return out
}

// mustContainHashtags checks the hashtags of a list in order. A subcategory follows its hashtag after a slash.
func (w *env) mustContainHashtags(id int64, want ...string) {
	w.t.Helper()
	opened := w.full("get_hashtag_list", map[string]any{"list_id": id})
	var got []string
	for i := range opened.list("data.hashtags") {
		at := fmt.Sprintf("data.hashtags.%d.", i)
		one := opened.text(at + "hashtag")
		if label := opened.text(at + "subcategory"); label != "" {
			one += "/" + label
		}
		got = append(got, one)
	}
	if !slices.Equal(got, want) || opened.number("data.size") != int64(len(want)) {
		w.t.Errorf("hashtags = %q, want %q: %s", got, want, opened.raw)
	}
}

func listsScenarios() []scenario {
	three := func(w *env) {
		for _, platform := range []any{"instagram", "tiktok", nil} {
			args := map[string]any{"name": fmt.Sprint("for ", platform), "hashtags": []any{"harbour"}}
			if platform != nil {
				args["platform"] = platform
			}
			w.setNoteID(fmt.Sprint(platform), w.full("create_hashtag_list", args).number("data.id"))
		}
	}
	shows := func(name string, args map[string]any, readyMade bool, want ...string) scenario {
		return scenario{name: "hashtag lists: " + name, tool: "list_hashtag_lists", as: readOnly, prepare: three,
			args: fixedArgs(args), check: func(w *env, got answer) {
				var own []string
				others := 0
				for i := range got.list("data.hashtag_lists") {
					at := fmt.Sprintf("data.hashtag_lists.%d.", i)
					if got.at(at+"ready_made") == true {
						others++
						continue
					}
					if others > 0 {
						w.t.Errorf("an own list after a ready-made one: %s", got.raw)
					}
					own = append(own, strings.TrimPrefix(got.text(at+"name"), "for "))
					got.mustHave(w.t, map[string]any{at + "id": w.noteID(own[len(own)-1]), at + "size": 1, at + "hashtags": nil})
				}
				if !slices.Equal(own, want) || (others > 0) != readyMade {
					w.t.Errorf("%q and %d ready-made ones, want %q: %s", own, others, want, got.raw)
				}
			}}
	}
	rejects := func(name string, args map[string]any, reason, argument string) scenario {
		return scenario{
			name: "hashtag lists: " + name, tool: "list_hashtag_lists", prepare: three, args: fixedArgs(args),
			want: invalid(reason, argument),
		}
	}
	return []scenario{
		shows("the team's own before the ready-made ones, the newest first", nil, true, "<nil>", "tiktok", "instagram"),
		shows("all, which is what is shown otherwise too", map[string]any{"scope": "all"}, true, "<nil>", "tiktok", "instagram"),
		shows("its own", map[string]any{"scope": "own"}, false, "<nil>", "tiktok", "instagram"),
		shows("the ready-made ones", map[string]any{"scope": "system"}, true),
		shows("for TikTok", map[string]any{"platform": "tiktok"}, true, "<nil>", "tiktok"),
		shows("its own for Instagram", map[string]any{"platform": "instagram", "scope": "own"}, false, "<nil>", "instagram"),
		shows("one", map[string]any{"limit": 1}, false, "<nil>"),
		{name: "hashtag lists: of another team", tool: "list_hashtag_lists", prepare: func(w *env) {
			three(w.stranger())
		}, args: fixedArgs(map[string]any{"scope": "own"}), check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.hashtag_lists": "[]", "page": nil, "billing": nil})
		}},
		rejects("another scope", map[string]any{"scope": "mine"}, "not_allowed_value", "scope"),
		rejects("another platform", map[string]any{"platform": "facebook"}, "not_allowed_value", "platform"),
		rejects("no item", map[string]any{"limit": 0}, "out_of_range", "limit"),
		rejects("51 items", map[string]any{"limit": 51}, "out_of_range", "limit"),
		rejects("a malformed cursor", map[string]any{"cursor": "rubbish"}, "invalid_cursor", "cursor"),
		rejects("an unknown argument", map[string]any{"name": "Harbour"}, "unknown_argument", "name"),
		{name: "hashtag lists: with an idempotency key", tool: "list_hashtag_lists", args: noArgs, idem: "k", want: invalid(
			"idempotency_key_not_accepted", "")},
	}
}

func openedListScenarios() []scenario {
	opens := func(name string, prepare func(*env), args func(*env) map[string]any, expected want, check func(*env, answer)) scenario {
		return scenario{
			name: "opened list: " + name, tool: "get_hashtag_list", as: readOnly, prepare: prepare, args: args,
			want: expected, check: check,
		}
	}
	full := addList(map[string]any{"platform": "instagram", "color": "#C0643A", "icon": "ri-cup-line",
		"hashtags": []any{"zander", "#Aal"}})
	travel := fixedArgs(map[string]any{"list_id": travelList})
	return []scenario{
		opens("one of the team's own", full, notedList(nil), want{}, func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.id": w.noteID("list"), "data.name": "Harbour",
				"data.platform": "instagram", "data.color": "#c0643a", "data.icon": "ri-cup-line", "data.ready_made": false,
				"data.size": 2, "data.hashtags.0.hashtag": "zander", "data.hashtags.0.subcategory": nil,
				"data.hashtags.1.hashtag": "aal", "data.hashtags.2": nil, "page": nil, "untrusted_content": nil})
		}),
		opens("an empty one that is tied to no network", addList(nil), notedList(nil), want{}, func(w *env, got answer) {
			got.mustHave(w.t,
				map[string]any{"data.platform": nil, "data.color": nil, "data.icon": nil, "data.size": 0, "data.hashtags": "[]"})
		}),
		opens("a ready-made one", nil, travel, want{}, func(w *env, got answer) {
			got.mustHave(w.t,
				map[string]any{
					"data.id": travelList, "data.name": "Travel", "data.ready_made": true,
					"data.size": len(got.list("data.hashtags")), "data.hashtags.0.hashtag": "travel",
					"data.hashtags.0.subcategory": "Everyday",
				})
		}),
		opens("longer than any page", addList(map[string]any{"hashtags": numberedTags(1, 120)}), notedList(nil),
			want{}, func(w *env, got answer) {
				if n := len(got.list("data.hashtags")); n != 120 || got.at("page") != nil || got.header.Get("Link") != "" {
					w.t.Errorf("%d hashtags, page %v, Link %q", n, got.at("page"), got.header.Get("Link"))
				}
			}),
		opens("one that does not exist", nil, fixedArgs(map[string]any{"list_id": 999999999}), notFound, nil),
		opens("a ready-made one that does not exist", nil, fixedArgs(map[string]any{"list_id": 999999}), notFound, nil),
		opens("one of another team", func(w *env) {
			w.setNoteID("list", w.stranger().addHashtagList([]any{"harbour"}))
		}, notedList(nil), notFound, nil),
		opens("a page", full, notedList(map[string]any{"limit": 20}), invalid("unknown_argument", "limit"), nil),
		opens("a cursor", full, notedList(map[string]any{"cursor": "x"}), invalid("unknown_argument", "cursor"), nil),
		{name: "opened list: with an idempotency key", tool: "get_hashtag_list", args: travel, idem: "k",
			want: invalid("idempotency_key_not_accepted", "")},
	}
}

func createListScenarios() []scenario {
	makes := func(name string, more map[string]any, size int, holds map[string]any) scenario {
		return scenario{name: "new list: " + name, tool: "create_hashtag_list", as: drafts, args: listArgs(more),
			effects: rows{lists: 1, tags: size, events: 1}, check: func(w *env, got answer) {
				got.mustHave(w.t,
					mergeArgs(map[string]any{
						"data.name": "Harbour", "data.size": size, "data.ready_made": false,
						"data.already_present": "[]", "billing": nil, "data.hashtags": nil,
					}, holds))
				if where := got.header.Get("Location"); where != "" &&
					where != w.root+"/api/v1/hashtag-lists/"+number(got.number("data.id")) {
					w.t.Errorf("Location = %s", where)
				}
				if n := w.count("events WHERE team_id = ? AND kind = 'hashtag_list.created' AND subject = ?", w.team,
					number(got.number("data.id"))); n != 1 {
					w.t.Errorf("%d events of the creation", n)
				}
				w.full("get_hashtag_list", map[string]any{"list_id": got.number("data.id")}).
					mustHave(w.t, map[string]any{"data.size": size})
			}}
	}
	bare := map[string]any{"data.platform": nil, "data.color": nil, "data.icon": nil, "data.added": "[]", "data.refused": "[]"}
	atPlan := makes("as long as the plan has it", map[string]any{"hashtags": append(numberedTags(1, 501), "#")}, 500,
		map[string]any{
			"data.added.499": "harbour_500", "data.refused.0.hashtag": "#", "data.refused.0.reason": "empty",
			"data.refused.1.hashtag": "harbour_501", "data.refused.1.reason": "list_full", "data.refused.2": nil,
		})
	atPlan.plan = smallPlan
	return []scenario{
		atPlan,
		makes("only a name", nil, 0, bare),
		makes("no hashtags", map[string]any{"hashtags": []any{}}, 0, bare),
		makes("everything",
			map[string]any{"platform": "tiktok", "color": "#C0643A", "icon": "ri-cup-line", "hashtags": []any{"harbour"}}, 1,
			map[string]any{"data.platform": "tiktok", "data.color": "#c0643a", "data.icon": "ri-cup-line", "data.added": "[harbour]"}),
		makes("spaces around the name", map[string]any{"name": "  Harbour "}, 0, bare),
		makes("a name of 50 characters", map[string]any{"name": strings.Repeat("ä", 50)}, 0,
			mergeArgs(bare, map[string]any{"data.name": strings.Repeat("ä", 50)})),
		makes("hashtags however they are written",
			map[string]any{"hashtags": []any{"once", "#once", "ONCE", "＃Once", "https://www.instagram.com/explore/tags/once/"}}, 1,
			map[string]any{"data.added": "[once]", "data.refused": "[]"}),
		makes("hashtags of other scripts", map[string]any{"hashtags": []any{"旅行", "café", "море", "हिन्दी"}}, 4,
			map[string]any{"data.added": "[旅行 café море हिन्दी]", "data.refused": "[]"}),
		makes("what is no hashtag",
			map[string]any{
				"hashtags": []any{"", "#", "two words", "2026", strings.Repeat("l", 101), strings.Repeat("l", 100), "a-b"},
			}, 1, map[string]any{
				"data.added.0": strings.Repeat("l", 100), "data.added.1": nil, "data.refused.0.reason": "empty",
				"data.refused.0.hashtag": "", "data.refused.1.reason": "empty", "data.refused.1.hashtag": "#",
				"data.refused.2.reason": "bad_characters", "data.refused.2.hashtag": "two words",
				"data.refused.3.reason": "bad_characters", "data.refused.4.reason": "too_long",
				"data.refused.4.hashtag": strings.Repeat("l", 100), "data.refused.5.hashtag": "a-b", "data.refused.6": nil,
			}),
		makes("a link to another network",
			map[string]any{"platform": "tiktok", "hashtags": []any{"https://www.instagram.com/explore/tags/once/"}}, 0,
			map[string]any{"data.refused.0.reason": "bad_characters"}),
		{name: "new list: of the same name", tool: "create_hashtag_list", prepare: addList(nil), args: listArgs(nil),
			effects: rows{lists: 1, events: 1}, check: func(w *env, got answer) {
				if got.number("data.id") <= w.noteID("list") {
					w.t.Errorf("not another list: %s", got.raw)
				}
			}},
		{name: "new list: more lists than the plan allows", tool: "create_hashtag_list", plan: smallPlan,
			prepare: inOrder(addList(nil), addList(nil), addList(nil)), args: listArgs(nil), want: planLimit,
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"context.limit": "hashtag_lists"})
			}},
		{name: "new list: the last list that the plan allows", tool: "create_hashtag_list", plan: smallPlan,
			prepare: inOrder(addList(nil),
				addList(nil)), args: listArgs(nil), effects: rows{lists: 1, events: 1}},
		{name: "new list: adding hashtags if the team has the maximum number of lists", tool: "add_hashtags", plan: smallPlan,
			prepare: inOrder(addList(nil), addList(nil), addList(nil)), args: notedList(map[string]any{"hashtags": []any{"harbour"}}),
			effects: rows{lists: 1, tags: 1, events: 1}},
		{name: "new list: with a read-only API key", tool: "create_hashtag_list", as: readOnly, args: listArgs(
			nil), want: rejection(403, "write_not_allowed")},
	}
}

func badListScenarios() []scenario {
	bad := func(name string, more map[string]any, reason, argument string) scenario {
		return scenario{name: "bad list: " + name, tool: "create_hashtag_list", args: listArgs(more), want: invalid(reason, argument)}
	}
	all := []scenario{
		{name: "bad list: without a name", tool: "create_hashtag_list", args: noArgs, want: invalid("missing_argument", "name")},
		bad("an empty name", map[string]any{"name": ""}, "too_short", "name"),
		bad("a name of spaces", map[string]any{"name": "   "}, "too_short", "name"),
		bad("a name that nobody sees", map[string]any{"name": "\u200b\u2060"}, "too_short", "name"),
		bad("a name of 51 characters", map[string]any{"name": strings.Repeat("ä", 51)}, "too_long", "name"),
		bad("a name of two lines", map[string]any{"name": "two\nlines"}, "malformed", "name"),
		bad("a name with a NUL", map[string]any{"name": "a\x00b"}, "malformed", "name"),
		bad("a name that is a number", map[string]any{"name": 5}, "malformed", "name"),
		bad("a name that is a list", map[string]any{"name": []any{"Harbour"}}, "not_a_single_value", "name"),
		bad("another platform", map[string]any{"platform": "facebook"}, "not_allowed_value", "platform"),
		bad("hashtags that are a text", map[string]any{"hashtags": "travel"}, "not_a_list", "hashtags"),
		bad("hashtags that are numbers", map[string]any{"hashtags": []any{5}}, "malformed", "hashtags"),
		bad("5,001 hashtags", map[string]any{"hashtags": numberedTags(1, 5001)}, "too_long", "hashtags"),
		bad("an unknown argument", map[string]any{"shared": true}, "unknown_argument", "shared"),
		bad("an API key as the name", map[string]any{"name": apikey.New(apikey.APIKey)}, "secret_in_argument", "name"),
		bad("an upload secret among the hashtags",
			map[string]any{"hashtags": []any{"harbour", "#" + apikey.New(apikey.Upload)}}, "secret_in_argument", "hashtags"),
		bad("an icon that the set does not have", map[string]any{"icon": "ri-no-such-icon"}, "not_allowed_value", "icon"),
	}
	for _, color := range []string{"red", "12ab9f", "#abc", "#12ab9fff", "#12ab9g", "#12ab9f\n", ""} {
		all = append(all, bad(fmt.Sprintf("the color %q", color), map[string]any{"color": color}, "malformed", "color"))
	}
	for _, icon := range []string{"fa-star", "ri-", "ri-<script>", "ri-a b", "RI-CUP-LINE", "ri-cup-line\n"} {
		all = append(all, bad(fmt.Sprintf("the icon %q", icon), map[string]any{"icon": icon}, "malformed", "icon"))
	}
	return all
}

func repeatedListScenarios() []scenario {
	made := func(w *env) {
		w.setNoteID("list",
			w.rest(full(w), "create_hashtag_list", listArgs(map[string]any{"hashtags": []any{"harbour"}})(w), "a key").number("data.id"))
	}
	again := func(name string, more map[string]any, expected want) scenario {
		s := scenario{
			name: "list again: " + name, tool: "create_hashtag_list", prepare: made, args: listArgs(more), idem: "a key", want: expected,
		}
		if expected == (want{}) {
			s.check = func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.id": w.noteID("list"), "data.added": "[harbour]", "data.size": 1})
				if got.header.Get("Location") != "" && got.header.Get("Idempotent-Replayed") != "true" {
					w.t.Errorf("not marked as a replay: %v", got.header)
				}
			}
		}
		return s
	}
	return []scenario{
		again("with its key", map[string]any{"hashtags": []any{"harbour"}}, want{}),
		again("with its key and another name", map[string]any{"name": "Quay", "hashtags": []any{"harbour"}},
			rejection(422, "idempotency_key_reused")),
		again("with its key and other hashtags", nil, rejection(422, "idempotency_key_reused")),
		{name: "list again: an idempotency key of 128 characters", tool: "create_hashtag_list", args: listArgs(
			nil), idem: strings.Repeat("k", 128), effects: rows{lists: 1, events: 1, keys: 1}},
		{name: "list again: an idempotency key of 129 characters", tool: "create_hashtag_list", args: listArgs(
			nil), idem: strings.Repeat("k", 129), want: invalid("idempotency_key_too_long", "")},
		{name: "list again: an addition repeated with the same idempotency key", tool: "add_hashtags",
			args: notedList(map[string]any{"hashtags": []any{"kept"}}), idem: "a key", prepare: func(w *env) {
				addList(nil)(w)
				w.rest(full(w), "add_hashtags", notedList(map[string]any{"hashtags": []any{"kept"}})(w), "a key").mustBe(w.t, 200)
			}, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.added": "[kept]", "data.already_present": "[]"})
			}},
		{name: "list again: another addition with the same idempotency key", tool: "add_hashtags",
			args: notedList(map[string]any{"hashtags": []any{"other"}}), idem: "a key",
			want: rejection(422, "idempotency_key_reused"), prepare: func(w *env) {
				addList(nil)(w)
				w.rest(full(w), "add_hashtags", notedList(map[string]any{"hashtags": []any{"kept"}})(w), "a key").mustBe(w.t, 200)
			}},
	}
}
