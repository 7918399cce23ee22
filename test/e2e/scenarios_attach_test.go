package e2e

import (
	"fmt"
	"slices"
)

// addMedia adds n images and a video to the library and stores the notes "0", "1", …, and "video".
func addMedia(n int) func(*env) {
	return func(w *env) {
		files := []file{}
		for i := range n {
			files = append(files, aPNG(fmt.Sprintf("shot %d.png", i)))
		}
		for i, id := range w.addFiles(0, append(files, aVideo(w.t, "clip.mp4"))...) {
			if i == n {
				w.setNoteID("video", id)
				continue
			}
			w.setNoteID(fmt.Sprint(i), id)
		}
	}
}

// mediaIDs returns the noted IDs as the argument media_ids.
func (w *env) mediaIDs(names ...string) map[string]any {
	ids := []any{}
	for _, name := range names {
		ids = append(ids, jsonNumber(w.note(name)))
	}
	return map[string]any{"media_ids": ids}
}

// aDraftWithMedia creates a draft with the first two of three images.
func aDraftWithMedia(w *env) {
	addMedia(3)(w)
	w.setNote("post", w.full("create_post", toFirst(w.mediaIDs("0", "1"))(w)).text("data.id"))
}

// hasMedia checks the media of a post and their order.
func hasMedia(names ...string) func(*env, answer) {
	return func(w *env, got answer) {
		w.t.Helper()
		for _, a := range []answer{got, w.post(got.text("data.id"))} {
			have, want := []string{}, []string{}
			for i := range a.list("data.media") {
				have = append(have, a.text(fmt.Sprintf("data.media.%d.id", i)))
			}
			for _, name := range names {
				want = append(want, number(jsonInt(w.note(name))))
			}
			if !slices.Equal(have, want) {
				w.t.Errorf("media %v, want %v: %s", have, want, a.raw)
			}
		}
	}
}

// attachScenarios returns the scenarios of posts with media from the library.
func attachScenarios() []scenario {
	create := func(name string, prepare func(*env), names ...string) scenario {
		return scenario{name: "post with media: " + name, tool: "create_post", as: drafts, prepare: prepare,
			effects: rows{posts: 1, targets: 1, events: 1, attached: len(names)},
			args:    func(w *env) map[string]any { return toFirst(w.mediaIDs(names...))(w) }, check: hasMedia(names...)}
	}
	change := func(name string, effects rows, names ...string) scenario {
		return scenario{name: "post with media: " + name, tool: "update_post", as: drafts, prepare: aDraftWithMedia, effects: effects,
			args: func(w *env) map[string]any { return byID(w.mediaIDs(names...))(w) }, check: hasMedia(names...)}
	}
	not := func(name, tool string, prepare func(*env), args func(*env) map[string]any, expected want) scenario {
		return scenario{name: "post with media: " + name, tool: tool, prepare: prepare, args: args, want: expected}
	}
	theirs := func(w *env) {
		aDraftWithMedia(w)
		w.setNoteID("theirs", w.stranger().addFiles(0, aPNG("theirs.png"))[0])
	}
	first := func(names ...string) func(*env) map[string]any {
		return func(w *env) map[string]any { return toFirst(w.mediaIDs(names...))(w) }
	}
	nowhere := map[string]any{"media_ids": []int64{999999999}}
	all := []scenario{
		create("in their order", addMedia(3), "2", "0", "1"), create("a video", addMedia(1), "video"),
		create("more than any network takes", addMedia(5), "0", "1", "2", "3", "4"),
		change("others in their place", rows{posts: 1, events: 1, attached: 2}, "2", "0"),
		change("in another order", rows{posts: 1, events: 1, attached: 2}, "1", "0"),
		change("one less", rows{posts: 1, events: 1, attached: 1}, "0"),
		change("none any more", rows{posts: 1, events: 1, attached: 2}), change("the same ones", rows{}, "0", "1"),
		not("an item that does not exist", "create_post", func(*env) {}, toFirst(nowhere), missing("media_ids")),
		not("another team's item", "create_post", theirs, first("theirs"), missing("media_ids")),
		not("another team's item among one's own", "create_post", theirs, first("0", "theirs"), missing("media_ids")),
		not("a change to an item that does not exist", "update_post", aDraftWithMedia, byID(nowhere), missing("media_ids")),
		not("a change to another team's item", "update_post", theirs, func(w *env) map[string]any {
			return byID(w.mediaIDs("theirs"))(w)
		}, missing("media_ids")),
		not("an item by its name", "update_post", aDraftWithMedia, byID(map[string]any{"media_ids": []any{"shot"}}),
			invalid("not_an_integer", "media_ids")),
		{name: "post with media: reading the post", tool: "get_post", as: readOnly, prepare: aDraftWithMedia, args: byID(nil),
			check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"data.media.0.id": w.note("0"), "data.media.0.name": "shot 0", "data.media.0.type": "image/png",
						"data.media.1.id": w.note("1"), "data.media.2": nil,
					})
			}},
		{name: "post with media: changing the caption keeps the media", tool: "update_post", prepare: aDraftWithMedia, args: byID(
			map[string]any{"caption": "other"}), effects: rows{posts: 1, events: 1}, check: hasMedia("0", "1")},
		{name: "post with media: without a caption", tool: "validate_post", prepare: inOrder(aDraftWithMedia, set("caption = ''")),
			args: post(nil), check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.problems": "[]"})
			}},
	}
	return append(all, mediaRuleScenarios()...)
}

func mediaRuleScenarios() []scenario {
	finds := func(name string, blocking bool, code string, names ...string) []scenario {
		prepare := func(w *env) {
			addMedia(5)(w)
			w.setNoteID("gif", w.addFiles(0, aGIF("moving.gif"))[0])
			w.setNote("post", w.full("create_post", toFirst(w.mediaIDs(names...))(w)).text("data.id"))
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
					name: "media rule: publishing " + name, tool: "publish_post", prepare: prepare, args: post(nil),
					want: preflightBlocked,
				})
		}
		return all
	}
	return slices.Concat(
		finds("five images", true, "media_too_many", "0", "1", "2", "3", "4"),
		finds("an image and a video", true, "media_mix", "0", "video"),
		finds("a GIF, of which the first frame is sent", false, "media_type", "gif"),
		[]scenario{{name: "media rule: a change reports the problems", tool: "update_post", prepare: inOrder(addMedia(5), aDraft),
			effects: rows{posts: 1, events: 1, attached: 2},
			args:    func(w *env) map[string]any { return byID(w.mediaIDs("0", "video"))(w) }, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.problems.0.code": "media_mix", "data.problems.0.blocking": true})
			}}},
	)
}
