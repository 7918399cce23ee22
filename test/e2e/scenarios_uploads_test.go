package e2e

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
)

// batchOf returns the rows of an opened batch with the given number of files.
func batchOf(files int) rows { return rows{jobs: 1, batches: 1, links: files, events: 1} }

var (
	pageForm    = regexp.MustCompile(`^http://127\.0\.0\.1:\d+/upload/[0-9a-f-]{36}$`)
	linkForm    = regexp.MustCompile(`^http://127\.0\.0\.1:\d+/uploads/[0-9a-f-]{36}$`)
	secretForm  = regexp.MustCompile(`^Bearer pru_[0-9A-Za-z]{38}$`)
	mediaImport = regexp.MustCompile(`^media_import:[0-9a-f-]{36}$`)
)

// mustHaveLink checks an upload entry that has a link.
func (w *env) mustHaveLink(got answer, n int, f file) {
	w.t.Helper()
	at := func(name string) string { return fmt.Sprintf("data.upload.uploads.%d.%s", n, name) }
	got.mustHave(w.t,
		map[string]any{
			at("state"): "waiting", at("method"): "PUT", at("media_id"): nil, at("file.sha256"): f.digest(),
			at("file.size_bytes"): len(f.bytes), at("file.file_name"): f.name, at("file.mime_type"): f.mime,
		})
	if !linkForm.MatchString(got.text(at("url"))) || !secretForm.MatchString(got.text(at("headers.Authorization"))) ||
		got.text(at("expires_at.utc")) == "" {
		w.t.Errorf("no link: %s", got.raw)
	}
}

// mustBeBatch checks an answer that opens a batch.
func (w *env) mustBeBatch(got answer) {
	w.t.Helper()
	id := got.text("data.job_id")
	location := got.header.Get("Location") // tools have none
	if !mediaImport.MatchString(id) || location != "" && location != w.root+"/api/v1/jobs/"+strings.Replace(id, ":",
		"%3A", 1) || !pageForm.MatchString(got.text("data.upload_page_url")) {
		w.t.Errorf("no batch: Location %q, %s", location, got.raw)
	}
	got.mustHave(w.t, map[string]any{
		"data.type": "media_import", "data.limits.types": "[image/jpeg image/png image/webp image/gif video/mp4 video/quicktime]",
		"data.limits.max_image_bytes": 50 << 20, "data.limits.max_video_bytes": int64(4) << 30, "data.limits.max_files": 50,
	})
}

// mustHaveFileStates checks the states of the files of a batch's job: "stored", or "rejected type_refused".
func (w *env) mustHaveFileStates(job string, states ...string) {
	w.t.Helper()
	got := w.full("get_job", map[string]any{"job_id": job})
	have := []string{}
	for i := range got.list("data.result.files") {
		at := func(name string) string { return got.text(fmt.Sprintf("data.result.files.%d.%s", i, name)) }
		if (at("state") == "stored") != (at("media_id") != "") {
			w.t.Errorf("media_id must be present exactly for stored files: %s", got.raw)
		}
		have = append(have, strings.TrimSpace(at("state")+" "+at("reason")))
	}
	if !slices.Equal(have, states) {
		w.t.Errorf("files %v, want %v: %s", have, states, got.raw)
	}
}

func uploadScenarios() []scenario {
	opens := func(name string, args func(*env) map[string]any, effects rows, check func(*env, answer)) scenario {
		return scenario{name: "uploads: " + name, tool: "create_uploads", as: drafts, args: args, effects: effects,
			check: func(w *env, got answer) {
				w.mustBeBatch(got)
				check(w, got)
			}}
	}
	one, two := aPNG("one.png"), aJPEG("two.jpg")
	there := func(w *env) { w.setNoteID("item", w.addFiles(0, one)[0]) }
	waits := func(w *env, got answer) {
		got.mustHave(w.t,
			map[string]any{"data.state": "pending", "data.finished": false, "data.progress.done": 0, "data.progress.total": 1})
		w.mustHaveLink(got, 0, one)
		w.mustHaveFileStates(got.text("data.job_id"), "waiting")
	}
	partly := opens("one of them is there already", uploadOf(nil, one, two), batchOf(2), func(w *env, got answer) {
		got.mustHave(w.t,
			map[string]any{
				"data.upload.uploads.0.state": "stored", "data.upload.uploads.0.media_id": w.note("item"),
				"data.upload.uploads.0.url": nil, "data.upload.uploads.0.headers": nil, "data.finished": false,
			})
		w.mustHaveLink(got, 1, two)
		w.put(got.linkOf(1), two).mustBe(w.t, 201)
		w.awaitJob(got.text("data.job_id")).
			mustHave(w.t, map[string]any{"data.state": "succeeded", "data.result.files.0.media_id": w.note("item")})
	})
	partly.prepare = there
	wholly := opens("all are there already", uploadOf(nil, one), batchOf(1), func(w *env, got answer) {
		got.mustHave(w.t,
			map[string]any{
				"data.state": "succeeded", "data.finished": true, "data.upload.uploads.0.media_id": w.note("item"),
				"data.upload.uploads.0.url": nil,
			})
		w.mustHaveFileStates(got.text("data.job_id"), "stored")
	})
	wholly.prepare = there
	foldered := opens("into a folder", func(w *env) map[string]any {
		return uploadArgs(inFolder(nil)(w), one)
	}, batchOf(1), func(w *env, got answer) {
		w.put(got.linkOf(0), one).mustBe(w.t, 201)
		w.full("list_media", inFolder(nil)(w)).
			mustHave(w.t, map[string]any{"data.media.0.name": "one", "data.media.0.folder.name": "Spring"})
	})
	foldered.prepare = func(w *env) { w.setNoteID("folder", w.addFolder("Spring")) }
	keyed := opens("with a key", uploadOf(nil, one), rows{jobs: 1, batches: 1, links: 1, events: 1, keys: 1}, waits)
	keyed.as, keyed.idem = full, "k"
	all := []scenario{
		opens("one file", uploadOf(nil, one), batchOf(1), waits), keyed, partly, wholly, foldered,
		opens("without a name and a type", func(*env) map[string]any {
			return map[string]any{"files": []any{map[string]any{"sha256": one.digest(), "size_bytes": len(one.bytes)}}}
		}, batchOf(1), func(w *env, got answer) {
			w.put(got.linkOf(0), one).mustBe(w.t, 201)
			w.full("list_media", nil).mustHave(w.t, map[string]any{"data.media.0.name": "file", "data.media.0.file_name": "file.png"})
		}),
		opens("several files", uploadOf(nil, one, two), batchOf(2), func(w *env, got answer) {
			job := got.text("data.job_id")
			w.put(got.linkOf(1), two).mustBe(w.t, 201)
			w.mustHaveFileStates(job, "waiting", "stored")
			w.full("get_job", map[string]any{"job_id": job}).
				mustHave(w.t, map[string]any{"data.finished": false, "data.progress.done": 1, "data.progress.total": 2})
			w.put(got.linkOf(0), one).mustBe(w.t, 201)
			w.awaitJob(job).mustHave(w.t, map[string]any{"data.state": "succeeded", "data.error": nil, "data.progress.done": 2})
			w.mustHaveFileStates(job, "stored", "stored")
			listsMedia("one", "two")(w, w.full("list_media", nil))
		}),
		opens("none, for the page", noArgs, batchOf(0), func(w *env, got answer) {
			got.mustHave(w.t, map[string]any{"data.upload.uploads": "[]", "data.state": "pending", "data.finished": false})
		}),
		opens("the same file twice", uploadOf(nil, one, one), batchOf(2), func(w *env, got answer) {
			a, b := w.put(got.linkOf(0), one), w.put(got.linkOf(1), one)
			if a.number("data.media_id") != b.number("data.media_id") || w.usedBytes() != int64(len(one.bytes)) {
				w.t.Errorf("stored twice: %s, %s", a.raw, b.raw)
			}
			w.mustHaveFileStates(got.text("data.job_id"), "stored", "stored")
		}),
	}
	return slices.Concat(all, badUploadScenarios(), badFileScenarios())
}

func badUploadScenarios() []scenario {
	bad := func(name string, as func(*env) string, prepare func(*env), args func(*env) map[string]any, expected want) scenario {
		return scenario{name: "uploads: " + name, tool: "create_uploads", as: as, prepare: prepare, args: args, want: expected}
	}
	nothing := func(*env) {}
	one := aPNG("one.png")
	fifty := slices.Repeat([]file{one}, 51)
	fullLibrary := func(w *env) {
		w.exec("INSERT INTO storage (team_id, used_bytes) VALUES (?, ?)", w.team, 1<<30)
	}
	storageFull := bad("no room left", full, fullLibrary, uploadOf(nil, one), planLimit)
	storageFull.plan = smallPlan
	storageFullForPage := bad("no room left for the page", full, fullLibrary, noArgs, planLimit)
	storageFullForPage.plan = smallPlan
	return []scenario{
		storageFull, storageFullForPage,
		bad("with a read-only API key", readOnly, nothing, uploadOf(nil, one), rejection(403, "write_not_allowed")),
		bad("for a viewer", full, func(w *env) { w.role(access.Viewer) }, uploadOf(nil, one), rejection(403, "write_not_allowed")),
		bad("into a folder that does not exist", full, nothing, uploadOf(map[string]any{"folder_id": 999999999}, one), folderNotFound),
		bad("into a folder of another team", full, aStrangersFolder, func(w *env) map[string]any {
			return uploadArgs(inFolder(nil)(w), one)
		}, folderNotFound),
		bad("an unknown argument", full, nothing, uploadOf(map[string]any{"colour": "red"}, one),
			invalid("unknown_argument", "colour")),
		bad("51 files", full, nothing, uploadOf(nil, fifty...), invalid("too_long", "files")),
		bad("files that are a text", full, nothing, fixedArgs(map[string]any{"files": "one"}), invalid("not_a_list", "files")),
		bad("files that are null", full, nothing, fixedArgs(map[string]any{"files": nil}), invalid("not_a_list", "files")),
		bad("a batch to replace that is no job's id", full, nothing,
			uploadOf(map[string]any{"replaces_batch": "social_post:" + noSuchID}, one), invalid("malformed", "replaces_batch")),
		bad("a batch to replace that is empty", full, nothing, uploadOf(map[string]any{"replaces_batch": ""}, one),
			invalid("malformed", "replaces_batch")),
		bad("a key as a file's name", full, nothing, uploadOf(nil, aPNG(apikey.New(apikey.APIKey))),
			invalid("secret_in_argument", "files")),
		bad("an upload secret as a file's name", full, nothing, uploadOf(nil, aPNG("a "+apikey.New(apikey.Upload))),
			invalid("secret_in_argument", "files")),
	}
}

// badFileScenarios returns scenarios with invalid file descriptions.
func badFileScenarios() []scenario {
	bad := func(name string, change map[string]any, reason, argument string) scenario {
		return scenario{name: "file: " + name, tool: "create_uploads", want: invalid(reason, argument), args: func(*env) map[string]any {
			f := mergeArgs(aPNG("one.png").description(), change)
			maps.DeleteFunc(f, func(_ string, value any) bool { return value == omitted })
			return map[string]any{"files": []any{aPNG("another.png").description(), f}}
		}}
	}
	return []scenario{
		bad("without a digest", map[string]any{"sha256": omitted}, "missing_argument", "files.sha256"),
		bad("without a size", map[string]any{"size_bytes": omitted}, "missing_argument", "files.size_bytes"),
		bad("a digest in large letters", map[string]any{"sha256": strings.Repeat("A", 64)}, "malformed", "files.sha256"),
		bad("a digest one too short", map[string]any{"sha256": strings.Repeat("a", 63)}, "malformed", "files.sha256"),
		bad("a digest one too long", map[string]any{"sha256": strings.Repeat("a", 65)}, "malformed", "files.sha256"),
		bad("a digest that is a number", map[string]any{"sha256": 5}, "malformed", "files.sha256"),
		bad("no bytes", map[string]any{"size_bytes": 0}, "out_of_range", "files.size_bytes"),
		bad("fewer bytes than none", map[string]any{"size_bytes": -5}, "out_of_range", "files.size_bytes"),
		bad("half a byte", map[string]any{"size_bytes": 0.5}, "not_an_integer", "files.size_bytes"),
		bad("a size that is a text", map[string]any{"size_bytes": "12"}, "not_an_integer", "files.size_bytes"),
		bad("an image larger than images may be", map[string]any{"size_bytes": 50<<20 + 1}, "out_of_range", "files.size_bytes"),
		bad("a video larger than videos may be",
			map[string]any{"size_bytes": int64(4)<<30 + 1, "mime_type": "video/mp4"}, "out_of_range", "files.size_bytes"),
		bad("a file of no type that is larger than any",
			map[string]any{"size_bytes": int64(4)<<30 + 1, "mime_type": omitted}, "out_of_range", "files.size_bytes"),
		bad("too long a name", map[string]any{"file_name": strings.Repeat("n", 256)}, "too_long", "files.file_name"),
		bad("a name with a NUL", map[string]any{"file_name": "a\x00.png"}, "malformed", "files.file_name"),
		bad("a type with a NUL", map[string]any{"mime_type": "image/png\x00"}, "malformed", "files.mime_type"),
		bad("a page", map[string]any{"mime_type": "text/html"}, "not_allowed_value", "files.mime_type"),
		bad("an unknown type", map[string]any{"mime_type": "picture"}, "not_allowed_value", "files.mime_type"),
		bad("an SVG", map[string]any{"mime_type": "image/svg+xml"}, "not_allowed_value", "files.mime_type"),
		bad("an unknown member", map[string]any{"colour": "red"}, "unknown_argument", "files.colour"),
	}
}

// omitted marks an omitted member.
const omitted = "<left out>"

func replacingScenarios() []scenario {
	one, two := aPNG("one.png"), aPNG("two.png")
	opened := func(as func(*env) string, files ...file) func(*env) {
		return func(w *env) {
			got := w.rest(as(w), "create_uploads", uploadArgs(nil, files...), "")
			got.mustBe(w.t, 201)
			w.setNote("batch", got.text("data.job_id"))
			w.setNote("url", got.linkOf(0).url)
			w.setNote("authorization", got.linkOf(0).authorization)
		}
	}
	arrives := func(f file) func(*env) {
		return func(w *env) { w.put(link{w.note("url"), w.note("authorization")}, f).mustBe(w.t, 201) }
	}
	args := func(w *env) map[string]any {
		return uploadArgs(map[string]any{"replaces_batch": w.note("batch")}, two)
	}
	replaces := func(name string, prepare func(*env), effects rows, state string, states []string, note string) scenario {
		return scenario{name: "replaces: " + name, tool: "create_uploads", prepare: prepare, args: args,
			effects: effects, check: func(w *env, got answer) {
				if len(got.list("notes")) != 1 || !strings.Contains(got.text("notes.0"), note) {
					w.t.Errorf("notes %v, want %q", got.list("notes"), note)
				}
				w.mustHaveLink(got, 0, two)
				w.full("get_job", map[string]any{"job_id": w.note("batch")}).
					mustHave(w.t, map[string]any{"data.state": state, "data.finished": state != "running"})
				w.mustHaveFileStates(w.note("batch"), states...)
				w.put(got.linkOf(0), two).mustBe(w.t, 201)
			}}
	}
	both := rows{jobs: 2, batches: 2, links: 3, events: 2} // the old batch with its two files, and the new one
	not := func(name string, prepare func(*env)) scenario {
		return scenario{name: "replaces: " + name, tool: "create_uploads", prepare: prepare, args: args, want: missing("replaces_batch")}
	}
	return []scenario{
		replaces("a batch of two", opened(full, one, aPNG("three.png")), both, "failed", []string{"replaced",
			"replaced"}, "batch was closed"),
		replaces("a batch for the page", func(w *env) {
			w.setNote("batch", w.full("create_uploads", nil).text("data.job_id"))
		}, rows{jobs: 2, batches: 2, links: 1, events: 2}, "failed", []string{}, "batch was closed"),
		replaces("a batch of which a file was there", inOrder(func(w *env) {
			w.addFiles(0, one)
		}, opened(full, one, aPNG("three.png"))), rows{jobs: 2, batches: 2, links: 2, events: 2}, "partially_succeeded",
			[]string{"stored", "replaced"}, "batch was closed"),
		replaces("a batch of which a file has arrived", inOrder(opened(full, one, aPNG("three.png")), arrives(one)),
			batchOf(1), "running", []string{"stored", "waiting"}, "was not replaced"),
		replaces("a batch that has ended", inOrder(opened(full, one), arrives(one)), batchOf(1), "succeeded",
			[]string{"stored"}, "not replaced"),
		replaces("a batch that was replaced", inOrder(opened(full, one), func(w *env) {
			w.full("create_uploads", args(w))
		}), batchOf(1), "failed", []string{"replaced"}, "already ended"),
		not("another key's batch", opened(drafts, one)),
		not("another team's batch", func(w *env) {
			other := w.stranger()
			opened(full, one)(other)
			w.setNote("batch", other.note("batch"))
		}),
		not("an import", func(w *env) {
			w.setNote("batch", w.full("import_media", map[string]any{"url": w.public.URL + "/files/a.png"}).text("data.job_id"))
		}),
		not("a batch that does not exist", func(w *env) { w.setNote("batch", "media_import:"+noSuchID) }),
		{name: "replaces: a new batch for which the old links are closed", tool: "create_uploads",
			prepare: opened(full, one, aPNG("three.png")),
			args:    args, effects: both, check: func(w *env, _ answer) {
				w.put(link{w.note("url"), w.note("authorization")}, one).mustReject(w.t, 410, "upload_link_closed", "")
			}},
	}
}
