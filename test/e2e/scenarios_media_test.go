package e2e

import (
	"fmt"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// mediaScenarios returns the scenarios of the media library.
func mediaScenarios() []scenario {
	return slices.Concat(libraryScenarios(), uploadScenarios(), replacingScenarios(), importScenarios(),
		downloadScenarios(), attachScenarios())
}

// aLibrary adds five files, the newest last. Two of them are in the folder Spring.
func aLibrary(w *env) {
	spring := w.addFolder("Spring")
	w.setNoteID("folder", spring)
	w.addFiles(spring, aPNG("Roastery.PNG"), aJPEG("50% off_sale.jpeg"))
	w.addFiles(0, aGIF("ÄRGER in der Straße.gif"), aVideo(w.t, "clip.mp4"), aPNG("plain"))
}

// listsMedia checks that an answer lists the items with the given names.
func listsMedia(names ...string) func(*env, answer) {
	return func(w *env, got answer) {
		w.t.Helper()
		have := []string{}
		for i := range got.list("data.media") {
			have = append(have, got.text(fmt.Sprintf("data.media.%d.name", i)))
		}
		if !slices.Equal(have, names) {
			w.t.Errorf("items %q, want %q", have, names)
		}
	}
}

// inFolder returns the noted folder as folder_id, merged with more.
func inFolder(more map[string]any) func(*env) map[string]any {
	return func(w *env) map[string]any {
		return mergeArgs(map[string]any{"folder_id": jsonNumber(w.note("folder"))}, more)
	}
}

// aStrangersFolder notes a folder of another team, which contains a file.
func aStrangersFolder(w *env) {
	other := w.stranger()
	theirs := other.addFolder("Spring")
	other.addFiles(theirs, aPNG("theirs.png"))
	w.setNoteID("folder", theirs)
}

var folderNotFound = want{status: 404, code: "folder_not_found", argument: "folder_id"}

func libraryScenarios() []scenario {
	list := func(name string, args func(*env) map[string]any, items ...string) scenario {
		return scenario{name: "media: " + name, tool: "list_media", as: readOnly, prepare: aLibrary, args: args,
			check: listsMedia(items...)}
	}
	holding := func(query string, items ...string) scenario {
		return list(fmt.Sprintf("whose name holds %q", query), fixedArgs(map[string]any{"query": query}), items...)
	}
	bad := func(name string, args map[string]any, reason, argument string) scenario {
		return scenario{name: "media: " + name, tool: "list_media", args: fixedArgs(args), want: invalid(reason, argument)}
	}
	all := []scenario{
		list("the newest first", noArgs, "plain", "clip", "ÄRGER in der Straße", "50% off_sale", "Roastery"),
		list("in a folder", inFolder(nil), "50% off_sale", "Roastery"),
		list("in no folder", fixedArgs(map[string]any{"folder_id": 0}), "plain", "clip", "ÄRGER in der Straße"),
		list("images", fixedArgs(map[string]any{"kind": "image"}), "plain", "ÄRGER in der Straße", "50% off_sale", "Roastery"),
		list("videos", fixedArgs(map[string]any{"kind": "video"}), "clip"),
		list("videos in a folder", inFolder(map[string]any{"kind": "video"})),
		list("by all filters at once", inFolder(map[string]any{"kind": "image", "query": "roast"}), "Roastery"),
		holding("ROAST", "Roastery"), holding("%", "50% off_sale"), holding("_", "50% off_sale"), holding("% OFF_", "50% off_sale"),
		holding(`\`), holding(`\%`), holding("'"), holding("ärger", "ÄRGER in der Straße"),
		holding("A\u0308RGER", "ÄRGER in der Straße"), holding("STRASSE", "ÄRGER in der Straße"),
		holding(".jpeg", "50% off_sale"), holding(".PNG", "plain", "Roastery"),
		holding("", "plain", "clip", "ÄRGER in der Straße", "50% off_sale", "Roastery"), holding("absent"),
		bad("an unknown kind", map[string]any{"kind": "sound"}, "not_allowed_value", "kind"),
		bad("a folder by its name", map[string]any{"folder_id": "Spring"}, "not_an_integer", "folder_id"),
		bad("too long a query", map[string]any{"query": strings.Repeat("q", 201)}, "too_long", "query"),
		bad("a query with a NUL", map[string]any{"query": "a\x00b"}, "malformed", "query"),
		bad("an empty folder", map[string]any{"folder_id": ""}, "not_an_integer", "folder_id"),
		bad("a folder beyond all numbers", map[string]any{"folder_id": strings.Repeat("9", 30)}, "not_an_integer", "folder_id"),
		bad("limit 51", map[string]any{"limit": 51}, "out_of_range", "limit"),
		bad("a malformed cursor", map[string]any{"cursor": "rubbish"}, "invalid_cursor", "cursor"),
		bad("an unknown argument", map[string]any{"colour": "red"}, "unknown_argument", "colour"),
		{name: "media: a folder that does not exist", tool: "list_media", args: fixedArgs(map[string]any{
			"folder_id": 999999999,
		}), want: folderNotFound},
		{name: "media: a negative folder ID", tool: "list_media", args: fixedArgs(map[string]any{"folder_id": -1}), want: folderNotFound},
		{name: "media: a folder of another team", tool: "list_media", prepare: aStrangersFolder, args: inFolder(nil),
			want: folderNotFound},
		{name: "media: no files of another team", tool: "list_media", prepare: aStrangersFolder, args: noArgs,
			check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.media": "[]", "data.folders": "[]", "data.storage.used_bytes": 0, "page": nil})
			}},
		{name: "media: does not accept an idempotency key", tool: "list_media", args: noArgs, idem: "k",
			want: invalid("idempotency_key_not_accepted", "")},
	}
	return append(all, entryScenarios()...)
}

func entryScenarios() []scenario {
	return []scenario{
		{name: "media: the fields of an image", tool: "list_media", as: readOnly, prepare: func(w *env) {
			w.setNoteID("folder", w.addFolder("Spring"))
			id := w.addFiles(jsonInt(w.note("folder")), aPNG("Roastery.PNG"))[0]
			w.setNoteID("item", id)
			must.NoError(w.t, w.Media.Describe(w.t.Context(), w.owner, id, " A drum roaster. "))
		}, args: noArgs, check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{
				"data.media.0.id": w.note("item"), "data.media.0.name": "Roastery",
				"data.media.0.file_name": "Roastery.png", "data.media.0.type": "image/png", "data.media.0.kind": "image",
				"data.media.0.size_bytes": len(aPNG("Roastery.PNG").bytes), "data.media.0.width": 12,
				"data.media.0.height": 8, "data.media.0.duration_seconds": nil,
				"data.media.0.alt_text": "A drum roaster.", "data.media.0.folder.id": w.note("folder"),
				"data.media.0.folder.name": "Spring",
				"data.folders.0.id":        w.note("folder"), "data.folders.0.name": "Spring",
				"data.storage.used_bytes": len(aPNG("Roastery.PNG").bytes), "data.storage.limit_bytes": int64(1000) << 30,
			})
			if got.text("data.media.0.created_at.utc") == "" || got.text("meta.app_url") != w.root+"/media?team_id="+number(w.team) {
				w.t.Errorf("got %s", got.raw)
			}
		}},
		{name: "media: the fields of a video", tool: "list_media", prepare: func(w *env) {
			w.addFiles(0, aVideo(w.t, "clip.MP4"))
		}, args: noArgs, check: func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{
				"data.media.0.file_name": "clip.mp4", "data.media.0.type": "video/mp4", "data.media.0.kind": "video",
				"data.media.0.width": 640, "data.media.0.height": 360,
				"data.media.0.duration_seconds": 1, "data.media.0.frame_rate": 15, "data.media.0.folder": nil,
				"data.media.0.alt_text": nil,
			})
		}},
		{name: "media: an empty library", tool: "list_media", plan: smallPlan, args: noArgs, check: func(w *env, got answer) {
			if items, ok := got.at("data.media").([]any); !ok || len(items) != 0 || got.at("page") != nil {
				w.t.Errorf("no empty list: %s", got.raw)
			}
			got.mustHave(w.t, map[string]any{"data.storage.used_bytes": 0, "data.storage.limit_bytes": 1 << 30, "data.folders": "[]"})
		}},
		{name: "media: for a viewer", tool: "list_media", prepare: func(w *env) { w.role(access.Viewer) },
			args: noArgs, check: listsMedia()},
	}
}
