package e2e

import (
	"fmt"
	"slices"
)

// shots adds n images to the library and notes them as 0, 1, 2, …; a video follows as "video".
func shots(n int) func(*env) {
	return func(w *env) {
		files := []file{}
		for i := range n {
			files = append(files, aPNG(fmt.Sprintf("shot %d.png", i)))
		}
		for i, id := range w.library(0, append(files, aVideo(w.t, "clip.mp4"))...) {
			if i == n {
				w.keepID("video", id)
				continue
			}
			w.keepID(fmt.Sprint(i), id)
		}
	}
}

// showing returns the noted IDs as an argument.
func (w *env) showing(names ...string) map[string]any {
	ids := []any{}
	for _, name := range names {
		ids = append(ids, jsonNumber(w.its(name)))
	}
	return map[string]any{"media_ids": ids}
}

// aShow is a draft that shows the first two of three shots.
func aShow(w *env) {
	shots(3)(w)
	w.keep("post", w.full("create_post", toFirst(w.showing("0", "1"))(w)).text("data.id"))
}

// shows checks which media a post shows, in their order.
func shows(names ...string) func(*env, answer) {
	return func(w *env, got answer) {
		w.t.Helper()
		for _, a := range []answer{got, w.post(got.text("data.id"))} {
			have, want := []string{}, []string{}
			for i := range a.list("data.media") {
				have = append(have, a.text(fmt.Sprintf("data.media.%d.id", i)))
			}
			for _, name := range names {
				want = append(want, number(jsonInt(w.its(name))))
			}
			if !slices.Equal(have, want) {
				w.t.Errorf("it shows %v, want %v: %s", have, want, a.raw)
			}
		}
	}
}

// attachScenarios returns the scenarios of posts that show media of the library.
func attachScenarios() []scenario {
	create := func(name string, prepare func(*env), names ...string) scenario {
		return scenario{name: "post with media: " + name, tool: "create_post", as: drafts, prepare: prepare,
			effects: rows{posts: 1, targets: 1, events: 1, attached: len(names)},
			args:    func(w *env) map[string]any { return toFirst(w.showing(names...))(w) }, check: shows(names...)}
	}
	change := func(name string, effects rows, names ...string) scenario {
		return scenario{name: "post with media: " + name, tool: "update_post", as: drafts, prepare: aShow, effects: effects,
			args: func(w *env) map[string]any { return byID(w.showing(names...))(w) }, check: shows(names...)}
	}
	not := func(name, tool string, prepare func(*env), args func(*env) map[string]any, expected want) scenario {
		return scenario{name: "post with media: " + name, tool: tool, prepare: prepare, args: args, want: expected}
	}
	theirs := func(w *env) {
		aShow(w)
		w.keepID("theirs", w.stranger().library(0, aPNG("theirs.png"))[0])
	}
	first := func(names ...string) func(*env) map[string]any {
		return func(w *env) map[string]any { return toFirst(w.showing(names...))(w) }
	}
	nowhere := map[string]any{"media_ids": []int64{999999999}}
	all := []scenario{
		create("in their order", shots(3), "2", "0", "1"), create("a video", shots(1), "video"),
		create("more than any network takes", shots(5), "0", "1", "2", "3", "4"),
		change("others in their place", rows{posts: 1, events: 1, attached: 2}, "2", "0"),
		change("in another order", rows{posts: 1, events: 1, attached: 2}, "1", "0"),
		change("one less", rows{posts: 1, events: 1, attached: 1}, "0"),
		change("none any more", rows{posts: 1, events: 1, attached: 2}), change("the same ones", rows{}, "0", "1"),
		not("an item that is not there", "create_post", func(*env) {}, toFirst(nowhere), missing("media_ids")),
		not("another team's item", "create_post", theirs, first("theirs"), missing("media_ids")),
		not("another team's item among one's own", "create_post", theirs, first("0", "theirs"), missing("media_ids")),
		not("a change to an item that is not there", "update_post", aShow, byID(nowhere), missing("media_ids")),
		not("a change to another team's item", "update_post", theirs, func(w *env) map[string]any {
			return byID(w.showing("theirs"))(w)
		}, missing("media_ids")),
		not("an item by its name", "update_post", aShow, byID(map[string]any{"media_ids": []any{"shot"}}),
			invalid("not_an_integer", "media_ids")),
		{name: "post with media: in full", tool: "get_post", as: readOnly, prepare: aShow, args: byID(nil),
			check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"data.media.0.id": w.its("0"), "data.media.0.name": "shot 0", "data.media.0.type": "image/png",
						"data.media.1.id": w.its("1"), "data.media.2": nil,
					})
			}},
		{name: "post with media: another caption leaves them", tool: "update_post", prepare: aShow, args: byID(
			map[string]any{"caption": "other"}), effects: rows{posts: 1, events: 1}, check: shows("0", "1")},
		{name: "post with media: nothing but media", tool: "validate_post", prepare: with(aShow, set("caption = ''")),
			args: post(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.problems": "[]"})
			}},
	}
	return append(all, mediaRuleScenarios()...)
}

func mediaRuleScenarios() []scenario {
	finds := func(name string, blocking bool, code string, names ...string) []scenario {
		prepare := func(w *env) {
			shots(5)(w)
			w.keepID("gif", w.library(0, aGIF("moving.gif"))[0])
			w.keep("post", w.full("create_post", toFirst(w.showing(names...))(w)).text("data.id"))
		}
		all := []scenario{{name: "media rule: " + name, tool: "validate_post", prepare: prepare, args: post(nil),
			check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"data.problems.0.code": code, "data.problems.0.blocking": blocking,
						"data.problems.0.account_id": w.accounts[0], "data.problems.1": nil,
					})
			}}}
		if blocking {
			all = append(all,
				scenario{
					name: "media rule: publishing " + name, tool: "publish_post", prepare: prepare, args: post(nil), want: preflightBlocked,
				})
		}
		return all
	}
	return slices.Concat(
		finds("five images", true, "media_too_many", "0", "1", "2", "3", "4"),
		finds("an image and a video", true, "media_mix", "0", "video"),
		finds("a GIF, of which the first frame is sent", false, "media_type", "gif"),
		[]scenario{{name: "media rule: a change tells them", tool: "update_post", prepare: with(shots(5), aDraft),
			effects: rows{posts: 1, events: 1, attached: 2},
			args:    func(w *env) map[string]any { return byID(w.showing("0", "video"))(w) }, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.problems.0.code": "media_mix", "data.problems.0.blocking": true})
			}}},
	)
}
