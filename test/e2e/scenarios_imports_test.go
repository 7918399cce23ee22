package e2e

import (
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
)

// importArgs returns arguments with a URL of the test's web server, merged with more.
func importArgs(path string, more map[string]any) func(*env) map[string]any {
	return func(w *env) map[string]any { return mergeArgs(map[string]any{"url": w.public.URL + path}, more) }
}

// The rows of a successful and of a failed import.
var (
	oneImport = rows{jobs: 1, imports: 1, media: 1, storage: 1, events: 2}
	noImport  = rows{jobs: 1, imports: 1, events: 1}
)

// mustBeStarted checks that an answer contains a new job of the given type.
func (w *env) mustBeStarted(got answer, kind string, total int) {
	w.t.Helper()
	id := got.text("data.job_id")
	got.mustHave(w.t,
		map[string]any{
			"data.type": kind, "data.state": "pending", "data.finished": false, "data.result": nil,
			"data.progress.done": 0, "data.progress.total": total,
		})
	if len(id) != len(kind)+1+36 || !strings.HasPrefix(id, kind+":") {
		w.t.Errorf("no job: %s", got.raw)
	}
	if location := got.header.Get("Location"); location != "" && location != w.root+"/api/v1/jobs/"+strings.Replace(id, ":", "%3A", 1) {
		w.t.Errorf("Location %q of %s", location, id)
	}
}

func importScenarios() []scenario {
	brings := func(name, path, filename, called, fileName string) scenario {
		more := map[string]any{}
		if filename != "" {
			more["filename"] = filename
		}
		return scenario{name: "import: " + name, tool: "import_media", as: drafts, args: importArgs(path, more),
			effects: oneImport, check: func(w *env, got answer) {
				w.mustBeStarted(got, "media_import", 1)
				job := w.awaitJob(got.text("data.job_id"))
				item := w.full("list_media", nil)
				job.mustHave(w.t,
					map[string]any{
						"data.state": "succeeded", "data.result.already_in_library": false,
						"data.result.media.id": item.at("data.media.0.id"), "data.error": nil, "data.progress.done": 1,
					})
				item.mustHave(w.t,
					map[string]any{
						"data.media.0.name": called, "data.media.0.file_name": fileName,
						"data.media.0.type": "image/png", "data.media.0.folder": nil,
					})
				w.mustNotContain(job, w.public.URL)
			}}
	}
	fails := func(name, path, code string) scenario {
		return scenario{name: "import: " + name, tool: "import_media", args: importArgs(path, nil), effects: noImport,
			check: func(w *env, got answer) {
				job := w.awaitJob(got.text("data.job_id"))
				job.mustHave(w.t, map[string]any{"data.state": "failed", "data.error.code": code, "data.result": nil})
				if job.text("data.error.message") == "" {
					w.t.Errorf("no message: %s", job.raw)
				}
				w.mustNotContain(job, w.public.URL)
				w.mustNotContain(job, "10.0.0.1")
				listsMedia()(w, w.full("list_media", nil))
			}}
	}
	all := []scenario{
		brings("by the address's name", "/files/roastery.png", "", "roastery", "roastery.png"),
		brings("by a name that was asked for", "/files/roastery.png", "Spring menu", "Spring menu", "Spring menu.png"),
		brings("of which the extension does not count", "/files/roastery.png", "menu.html", "menu", "menu.png"),
		brings("of which the last extension does not count", "/files/roastery.png", "menu.v2.exe", "menu.v2", "menu.v2.png"),
		brings("from which a path is taken", "/files/roastery.png", `..\..\etc/passwd.txt`, "passwd", "passwd.png"),
		brings("of letters that no file system takes", "/files/roastery.png", "a:b?\u202e.png", "a_b_", "a_b_.png"),
		brings("with nothing left of the name", "/files/roastery.png", " . .", "roastery", "roastery.png"),
		brings("of a name without an extension", "/files/Übersicht", "", "Übersicht", "Übersicht.png"),
		brings("of a type that the address tells wrongly", "/files/photo.jpg", "", "photo", "photo.png"),
		brings("with a query", "/files/roastery.png?size=large#top", "", "roastery", "roastery.png"),
		brings("after a redirect", "/moved.png", "", "moved-there", "moved-there.png"),
		fails("a page that says it is an image", "/page.png", "type_refused"),
		fails("half an image", "/damaged.png", "type_refused"),
		fails("what is not there", "/nowhere.png", "source_unavailable"),
		fails("nothing", "/empty.png", "source_unavailable"),
		fails("what breaks off", "/broken.png", "source_unavailable"),
		fails("what redirects to itself", "/loop.png", "source_unavailable"),
		fails("more than any file may have", "/large.png", "too_large"),
		fails("what redirects to a private address", "/inside.png", "address_refused"),
		fails("what redirects to the cloud's own", "/cloud.png", "address_refused"),
		fails("what redirects to this machine", "/named.png", "address_refused"),
		fails("what redirects out of TLS", "/plain.png", "address_refused"),
		fails("what redirects to a file of this machine", "/local.png", "address_refused"),
	}
	return append(append(all, importPlaceScenarios()...), badImportScenarios()...)
}

// mustNotContain checks that an answer does not contain a text.
func (w *env) mustNotContain(got answer, text string) {
	w.t.Helper()
	if strings.Contains(string(got.raw), text) {
		w.t.Errorf("the answer contains %q: %s", text, got.raw)
	}
}

func importPlaceScenarios() []scenario {
	keyed := func(w *env) {
		w.setNote("job", w.rest(full(w), "import_media", importArgs("/files/a.png", nil)(w), "k").text("data.job_id"))
	}
	nearlyFull := func(left int) func(*env) {
		return func(w *env) {
			w.exec("INSERT INTO storage (team_id, used_bytes) VALUES (?, ?)", w.team, 1<<30-left)
		}
	}
	return []scenario{
		{name: "import: into a folder", tool: "import_media", prepare: func(w *env) {
			w.setNoteID("folder", w.addFolder("Spring"))
		}, effects: oneImport,
			args: func(w *env) map[string]any {
				return mergeArgs(inFolder(nil)(w), importArgs("/files/a.png", nil)(w))
			}, check: func(w *env, _ answer) {
				w.full("list_media", nil).mustHave(w.t, map[string]any{"data.media.0.folder.name": "Spring"})
			}},
		{name: "import: into a folder that does not exist", tool: "import_media", args: importArgs("/files/a.png",
			map[string]any{"folder_id": 999999999}), want: folderNotFound},
		{name: "import: into a folder of another team", tool: "import_media", prepare: aStrangersFolder, want: folderNotFound,
			args: func(w *env) map[string]any { return mergeArgs(inFolder(nil)(w), importArgs("/files/a.png", nil)(w)) }},
		{name: "import: a file that the library already has", tool: "import_media", prepare: func(w *env) {
			w.setNoteID("item", w.addFiles(0, aPNG("a.png"))[0])
		},
			args: importArgs("/files/a.png", map[string]any{"filename": "another"}), effects: noImport, check: func(w *env, got answer) {
				w.awaitJob(got.text("data.job_id")).
					mustHave(w.t,
						map[string]any{
							"data.state": "succeeded", "data.result.already_in_library": true, "data.result.media.id": w.note("item"),
						})
				listsMedia("a")(w, w.full("list_media", nil))
			}},
		{name: "import: with an idempotency key", tool: "import_media", args: importArgs("/files/a.png", nil), idem: "k", effects: rows{
			jobs: 1, imports: 1, media: 1, storage: 1, events: 2, keys: 1,
		}},
		{name: "import: repeated with the same idempotency key", tool: "import_media", prepare: keyed,
			args: importArgs("/files/a.png", nil),
			idem: "k", check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.job_id": w.note("job"), "data.finished": false}) // the first answer
			}},
		{name: "import: another URL with the same idempotency key", tool: "import_media", prepare: keyed, args: importArgs("/files/b.png",
			nil), idem: "k", want: rejection(422, "idempotency_key_reused")},
		{name: "import: no storage left", tool: "import_media", plan: smallPlan, prepare: nearlyFull(0),
			args: importArgs("/files/a.png", nil), want: planLimit, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"context.limit": "storage_bytes"})
			}},
		{name: "import: too little storage left", tool: "import_media", plan: smallPlan, prepare: nearlyFull(10),
			args: importArgs("/files/a.png", nil), effects: noImport, check: func(w *env, got answer) {
				w.awaitJob(got.text("data.job_id")).mustHave(w.t, map[string]any{"data.state": "failed",
					"data.error.code": "storage_full"})
			}},
		{name: "import: just enough storage", tool: "import_media", plan: smallPlan, prepare: nearlyFull(
			len(aPNG("a.png").bytes)), args: importArgs("/files/a.png", nil), effects: oneImport},
		{name: "import: storage reserved for open upload links", tool: "import_media", plan: smallPlan,
			args: importArgs("/files/a.png", nil), effects: noImport, prepare: func(w *env) {
				nearlyFull(len(aPNG("a.png").bytes) + 1)(w)
				w.full("create_uploads", map[string]any{"files": []any{map[string]any{"sha256": strings.Repeat("0", 64),
					"size_bytes": 2}}})
			}, check: func(w *env, got answer) {
				w.awaitJob(got.text("data.job_id")).mustHave(w.t, map[string]any{"data.state": "failed",
					"data.error.code": "storage_full"})
			}},
	}
}

// hostileURLs lists URLs that are rejected before any DNS lookup.
var hostileURLs = []string{
	"http://files.harbour.example.org/a.png", "ftp://files.harbour.example.org/a.png",
	"//files.harbour.example.org/a.png", "files.harbour.example.org/a.png", "file:///etc/passwd", "nonsense",
	"https://", "https:///a.png", "https://localhost/a.png", "https://printer.local/a.png",
	"https://vault.internal/a.png", "https://intranet/a.png", "https://files.harbour.test/a.png",
	"https://10.0.0.1/a.png", "https://169.254.169.254/latest/meta-data/", "https://127.0.0.2/a.png",
	"https://192.168.1.1/a.png", "https://8.8.8.8/a.png", "https://[::1]/a.png", "https://[::ffff:10.0.0.1]/a.png",
	"https://2130706433/a.png", "https://0x7f000001/a.png", "https://0177.0.0.1/a.png", "https://127.1/a.png", "https://①②⑦.⓪.⓪.①/a.png",
	"https://ada:secret@files.harbour.example.org/a.png", "https://files.harbour.example.org@10.0.0.1/a.png",
	"https://files.harbour.example.org:8443/a.png", "https://files.harbour.example.org:22/a.png",
	`https://files.harbour.example.org\@10.0.0.1/a.png`, "https://files.harbour.example.org/a b.png",
	"https://files.harbour.example.org/\u202ea.png", "https://files%2eharbour.example.org/a.png",
}

func badImportScenarios() []scenario {
	bad := func(name string, as func(*env) string, prepare func(*env), more map[string]any, expected want) scenario {
		return scenario{
			name: "import: " + name, tool: "import_media", as: as, prepare: prepare, args: importArgs("/files/a.png", more),
			want: expected,
		}
	}
	nothing := func(*env) {}
	all := []scenario{
		{name: "import: no URL", tool: "import_media", args: noArgs, want: invalid("missing_argument", "url")},
		bad("with a read-only API key", readOnly, nothing, nil, rejection(403, "write_not_allowed")),
		bad("for a viewer", full, func(w *env) { w.role(access.Viewer) }, nil, rejection(403, "write_not_allowed")),
		bad("an empty address", full, nothing, map[string]any{"url": ""}, invalid("too_short", "url")),
		bad("too long an address", full, nothing,
			map[string]any{"url": "https://files.harbour.example.org/" + strings.Repeat("a", 2048)}, invalid("too_long", "url")),
		bad("an address that is a list", full, nothing,
			map[string]any{"url": []string{"https://files.harbour.example.org/a.png"}}, invalid("not_a_single_value", "url")),
		bad("too long a name", full, nothing, map[string]any{"filename": strings.Repeat("n", 256)}, invalid("too_long", "filename")),
		bad("a name with a NUL", full, nothing, map[string]any{"filename": "a\x00"}, invalid("malformed", "filename")),
		bad("an address with a NUL", full, nothing, map[string]any{"url": "https://files.harbour.example.org/\x00"},
			invalid("malformed", "url")),
		bad("an unknown argument", full, nothing, map[string]any{"headers": "x"}, invalid("unknown_argument", "headers")),
		bad("a key in the address", full, nothing,
			map[string]any{"url": "https://files.harbour.example.org/?key=" + apikey.New(apikey.APIKey)},
			invalid("secret_in_argument", "url")),
		bad("an upload secret as the name", full, nothing, map[string]any{"filename": apikey.New(apikey.Upload)},
			invalid("secret_in_argument", "filename")),
	}
	for i, address := range hostileURLs {
		all = append(all, scenario{name: fmt.Sprintf("import: hostile address %d", i), tool: "import_media",
			args: fixedArgs(map[string]any{"url": address}), want: invalid("not_allowed_value", "url"), check: func(w *env, got answer) {
				for _, part := range []string{address, "harbour", "169.254", "secret", "passwd"} {
					w.mustNotContain(got, part)
				}
			}})
	}
	return all
}
