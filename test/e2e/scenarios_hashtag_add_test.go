package e2e

import (
	"strings"

	"pressroom.example/pressroom/internal/auth/apikey"
)

func addScenarios() []scenario {
	has := addList(map[string]any{"platform": "instagram", "hashtags": []any{"one", "two"}})
	adds := func(name string, prepare func(*env), more map[string]any, effects rows, holds map[string]any, want ...string) scenario {
		return scenario{name: "add: " + name, tool: "add_hashtags", as: drafts, prepare: prepare, args: notedList(more),
			effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t, mergeArgs(map[string]any{"data.id": w.noteID("list"), "data.size": len(want), "billing": nil}, holds))
				w.mustContainHashtags(w.noteID("list"), want...)
			}}
	}
	grown := func(by int) rows { return rows{lists: 1, tags: by, events: 1} }
	full := adds("as far as the plan has room", inOrder(addList(map[string]any{"hashtags": numberedTags(1, 499)})),
		map[string]any{"hashtags": []any{"harbour_7", "last", "beyond"}}, grown(1),
		map[string]any{
			"data.added": "[last]", "data.already_present": "[harbour_7]", "data.refused.0.hashtag": "beyond",
			"data.refused.0.reason": "list_full",
		})
	full.plan = smallPlan
	full.check = func(w *env, got answer) { // even a full list accepts hashtags that it already has
		got.mustHave(w.t,
			map[string]any{
				"data.added": "[last]", "data.already_present": "[harbour_7]", "data.refused.0.hashtag": "beyond",
				"data.refused.0.reason": "list_full", "data.size": 500,
			})
	}
	return []scenario{
		full,
		adds("after those that are there", has, map[string]any{"hashtags": []any{"#Three", "zero"}}, grown(2),
			map[string]any{"data.added": "[three zero]", "data.already_present": "[]", "data.refused": "[]"}, "one",
			"two", "three", "zero"),
		adds("what is there already", has, map[string]any{"hashtags": []any{"TWO", "#one"}}, rows{},
			map[string]any{"data.added": "[]", "data.already_present": "[two one]", "data.refused": "[]"}, "one", "two"),
		adds("some of each", has, map[string]any{"hashtags": []any{"two", "a b", "three", "#three"}}, grown(1),
			map[string]any{
				"data.added": "[three]", "data.already_present": "[two]", "data.refused.0.hashtag": "a b",
				"data.refused.0.reason": "bad_characters", "data.refused.1": nil,
			}, "one", "two", "three"),
		adds("nothing", has, map[string]any{"hashtags": []any{}}, rows{},
			map[string]any{"data.added": "[]", "data.already_present": "[]", "data.refused": "[]"}, "one", "two"),
		adds("under a label, which what is there does not get", has,
			map[string]any{"hashtags": []any{"two", "three"}, "subcategory": " Boats "}, grown(1),
			map[string]any{"data.added": "[three]"}, "one", "two", "three/Boats"),
		adds("under another label, which what is there keeps", inOrder(has, func(w *env) {
			w.full("add_hashtags", notedList(map[string]any{"hashtags": []any{"three"}, "subcategory": "Boats"})(w))
		}), map[string]any{"hashtags": []any{"three", "four"}, "subcategory": "Ships"}, grown(1),
			map[string]any{"data.already_present": "[three]"}, "one", "two", "three/Boats", "four/Ships"),
	}
}

func badAddScenarios() []scenario {
	has := addList(map[string]any{"hashtags": []any{"one"}})
	one := map[string]any{"hashtags": []any{"intruder"}}
	bad := func(name string, more map[string]any, reason, argument string) scenario {
		return scenario{
			name: "bad addition: " + name, tool: "add_hashtags", prepare: has, args: notedList(more), want: invalid(reason, argument),
		}
	}
	to := func(name string, list any, expected want) scenario {
		return scenario{
			name: "bad addition: " + name, tool: "add_hashtags", want: expected,
			args: fixedArgs(mergeArgs(one, map[string]any{"list_id": list})),
		}
	}
	return []scenario{
		bad("without hashtags", nil, "missing_argument", "hashtags"),
		bad("hashtags that are a text", map[string]any{"hashtags": "intruder"}, "not_a_list", "hashtags"),
		bad("hashtags that are null", map[string]any{"hashtags": nil}, "not_a_list", "hashtags"),
		bad("a hashtag that is an object", map[string]any{"hashtags": []any{map[string]any{"hashtag": "x"}}},
			"not_a_single_value", "hashtags"),
		bad("5,001 hashtags", map[string]any{"hashtags": numberedTags(1, 5001)}, "too_long", "hashtags"),
		bad("a label of 51 characters", mergeArgs(one, map[string]any{"subcategory": strings.Repeat("l", 51)}), "too_long",
			"subcategory"),
		bad("a label of two lines", mergeArgs(one, map[string]any{"subcategory": "two\nlines"}), "malformed", "subcategory"),
		bad("an unknown argument", mergeArgs(one, map[string]any{"platform": "tiktok"}), "unknown_argument", "platform"),
		bad("an API key among the hashtags", map[string]any{"hashtags": []any{apikey.New(apikey.APIKey)}},
			"secret_in_argument", "hashtags"),
		bad("an API key as the label", mergeArgs(one, map[string]any{"subcategory": apikey.New(apikey.APIKey)}),
			"secret_in_argument", "subcategory"),
		to("to a list that does not exist", 999999999, notFound),
		to("to a ready-made list", travelList, wrongState("ready_made")),
		to("to a ready-made list that does not exist", 999999, notFound),
		{name: "bad addition: to a list of another team", tool: "add_hashtags", prepare: func(w *env) {
			w.setNoteID("list", w.stranger().addHashtagList(nil))
		}, args: notedList(one), want: notFound},
		{
			name: "bad addition: with a read-only API key", tool: "add_hashtags", as: readOnly, prepare: has,
			args: notedList(one), want: rejection(403, "write_not_allowed"),
		},
	}
}
