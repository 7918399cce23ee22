package e2e

import (
	"fmt"
	"strings"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

const downloadPrice = 2

// profileArgs returns arguments that request a profile's media without storing files, merged with more.
func profileArgs(more map[string]any) func(*env) map[string]any {
	return fixedArgs(mergeArgs(map[string]any{
		"platform": "instagram", "type": "posts", "username": "harbour_cafe", "limit": 2, "save_to_library": false,
	}, more))
}

// downloadRows returns the rows of a charged download with the given number of items.
func downloadRows(items int) rows {
	return rows{jobs: 1, downloads: 1, items: items, events: 1, reservations: 1, transfers: 4, wallets: 1, paid: 1}
}

// refundedDownload has the rows of a refunded download.
var refundedDownload = rows{jobs: 1, downloads: 1, events: 1, reservations: 1, transfers: 4, paid: 1}

// withMedia adds the rows of files that were stored in the library.
func (r rows) withMedia(media, folders, events int) rows {
	r.media, r.folders, r.storage, r.events = media, folders, min(media, 1), r.events+events
	return r
}

func downloadScenarios() []scenario {
	succeeding := func(name string, more map[string]any, effects rows, check func(*env, answer)) scenario {
		return scenario{name: "download: " + name, tool: "download_profile_media", prepare: grantThousand, args: profileArgs(more),
			idem: paidKey, effects: effects, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"billing.credits_charged": downloadPrice, "billing.credits_refunded": 0, "billing.balance": 1000 - downloadPrice,
					})
				job := w.awaitJob(got.text("data.job_id"))
				w.mustHideNetworkURLs(job)
				check(w, job)
			}}
	}
	// succeededWith checks a job that returned items and stored no files.
	succeededWith := func(items int) func(*env, answer) {
		return func(w *env, job answer) {
			job.mustHave(w.t,
				map[string]any{
					"data.state": "succeeded", "data.error": nil, "data.result.credits_charged": downloadPrice,
					"data.progress.done": items, "data.progress.total": items,
				})
			if len(job.list("data.result.items")) != items {
				w.t.Errorf("want %d items: %s", items, job.raw)
			}
			w.full("get_credits", nil).
				mustHave(w.t,
					map[string]any{
						"data.balance": 1000 - downloadPrice, "data.used_today.team": downloadPrice, "data.reserved_today.team": 0,
					})
		}
	}
	failing := func(name, username, code string) scenario {
		return succeeding(name, map[string]any{"username": username}, refundedDownload, func(w *env, job answer) {
			job.mustHave(w.t,
				map[string]any{
					"data.state": "failed", "data.error.code": code, "data.result.items": "[]", "data.result.credits_charged": 0,
				})
			w.full("get_credits", nil).
				mustHave(w.t, map[string]any{"data.balance": 1000, "data.used_today.team": 0, "data.reserved_today.team": 0})
		})
	}
	sameProfile := func(name, username string) scenario {
		return succeeding("a profile by "+name, map[string]any{"username": username}, downloadRows(2), succeededWith(2))
	}
	return append([]scenario{
		succeeding("without saving files", nil, downloadRows(2), func(w *env, job answer) {
			succeededWith(2)(w, job)
			w.mustSeparateCaptions(job, "instagram", "harbour_cafe")
			job.mustHave(w.t, map[string]any{"data.result.items.0.media_id": nil})
			listsMedia()(w, w.full("list_media", nil))
			if !strings.HasPrefix(job.text("data.result.next_cursor"), "f1-") {
				w.t.Errorf("no cursor: %s", job.raw)
			}
		}),
		sameProfile("its handle", "@Harbour_Cafe"), sameProfile("its link", "https://www.instagram.com/harbour_cafe/?hl=en"),
		succeeding("an avatar, with a limit above one", map[string]any{"type": "avatar", "limit": 50}, downloadRows(1), succeededWith(1)),
		succeeding("of a profile without posts", map[string]any{"username": "empty.harbour"}, downloadRows(0), succeededWith(0)),
		succeeding("files into the library", map[string]any{"type": "avatar", "save_to_library": true},
			downloadRows(1).withMedia(1, 1, 1), mustBeSaved),
		failing("of a missing profile", "missing.harbour", "profile_not_found"),
		failing("of a private profile", "private.harbour", "profile_private"),
		failing("while the provider fails", "error.harbour", "source_unavailable"),
	}, append(paidDownloadScenarios(), badDownloadScenarios()...)...)
}

// mustBeSaved checks a download of one file.
func mustBeSaved(w *env, job answer) {
	w.t.Helper()
	media := w.full("list_media", nil)
	job.mustHave(w.t,
		map[string]any{
			"data.state": "succeeded", "data.result.items.0.media_id": media.at("data.media.0.id"), "data.result.items.0.reason": nil,
		})
	media.mustHave(w.t,
		map[string]any{
			"data.media.0.folder.name": "Downloads", "data.folders.0.name": "Downloads",
			"data.media.0.type": "image/jpeg", "data.storage.used_bytes": media.at("data.media.0.size_bytes"),
		})
	if !strings.HasPrefix(media.text("data.media.0.name"), "harbour_cafe ") {
		w.t.Errorf("file name = %q", media.text("data.media.0.name"))
	}
	w.mustBeSound()
}

// mustHideNetworkURLs checks that neither an answer nor the database contains a URL of the network.
func (w *env) mustHideNetworkURLs(job answer) {
	w.t.Helper()
	w.mustNotContain(job, w.box.URL)
	w.mustNotContain(job, "/vendor/")
	if n := w.count("media_download_items WHERE address <> '' AND job_id = ?", job.text("data.job_id")); n != 0 {
		w.t.Errorf("%d URLs of the network are stored", n)
	}
}

// mustSeparateCaptions checks that captions are only in untrusted_content.
func (w *env) mustSeparateCaptions(job answer, platform, account string) {
	w.t.Helper()
	data := fmt.Sprint(job.at("data"))
	for i := range job.list("untrusted_content") {
		at := func(name string) string { return job.text(fmt.Sprintf("untrusted_content.%d.%s", i, name)) }
		if at("source.kind") != "caption" || at("source.platform") != platform || at("source.account") != account ||
			at("source.url") == "" || at("text") == "" || strings.Contains(data, at("text")) {
			w.t.Errorf("untrusted_content.%d is not a separate caption of %s on %s: %s", i, account, platform, job.raw)
		}
	}
	if len(job.list("untrusted_content")) == 0 || job.text("data.result.items.0.caption.untrusted") != job.text("untrusted_content.0.id") {
		w.t.Errorf("no caption: %s", job.raw)
	}
}

func paidDownloadScenarios() []scenario {
	hadPaid := func(w *env) {
		grantThousand(w)
		got := w.rest(full(w), "download_profile_media", profileArgs(nil)(w), paidKey)
		got.mustBe(w.t, 202)
		w.setNote("job", got.text("data.job_id"))
		w.awaitJob(w.note("job"))
	}
	rejected := func(name string, as func(*env) string, prepare func(*env), more map[string]any, expected want) scenario {
		return scenario{
			name: "download: " + name, tool: "download_profile_media", as: as, prepare: prepare, args: profileArgs(more),
			idem: paidKey, want: expected,
		}
	}
	limitKey := func(credits int64) func(*env) {
		return func(w *env) { must.NoError(w.t, w.Teams.SetKeyLimit(w.t.Context(), w.keyIDs[access.Full], credits)) }
	}
	fullLibrary := func(w *env) {
		grantThousand(w)
		allowance := int64(1000)
		must.NoError(w.t, w.Teams.SetDailyCredits(w.t.Context(), w.team, &allowance))
		w.exec("INSERT INTO storage (team_id, used_bytes) VALUES (?, ?)", w.team, 1<<30)
	}
	storageFull := rejected("into a full library", full, fullLibrary, map[string]any{"save_to_library": true}, planLimit)
	storageFull.plan = smallPlan
	return []scenario{
		storageFull,
		rejected("with an API key of level drafts", drafts, grantThousand, nil, rejection(403, "spend_not_allowed")),
		rejected("with an API key that can only read", readOnly, grantThousand, nil, rejection(403, "spend_not_allowed")),
		rejected("for an editor", full, inOrder(grantThousand, func(w *env) { w.role(access.Editor) }), nil, rejection(403,
			"spend_not_allowed")),
		rejected("without credits", full, func(*env) {}, nil, rejection(402, "insufficient_credits")),
		rejected("with a credit too few", full, func(w *env) { w.grant(downloadPrice - 1) }, nil, rejection(402, "insufficient_credits")),
		rejected("over the API key's daily credit limit", full, inOrder(grantThousand, limitKey(downloadPrice-1)), nil,
			rejection(429, "daily_credit_limit_reached")),
		{name: "download: without an idempotency key", tool: "download_profile_media", prepare: grantThousand, args: profileArgs(
			nil), want: invalid("idempotency_key_required", "")},
		{
			name: "download: without saving files, with a full library", tool: "download_profile_media", plan: smallPlan,
			prepare: fullLibrary, args: profileArgs(nil), idem: paidKey, effects: downloadRows(2),
		},
		{name: "download: repeated with the same idempotency key", tool: "download_profile_media", prepare: hadPaid,
			args: profileArgs(nil),
			idem: paidKey, check: func(w *env, got answer) {
				got.mustHave(w.t,
					map[string]any{
						"data.job_id": w.note("job"), "billing.credits_charged": downloadPrice, "billing.balance": 1000 - downloadPrice,
					})
			}},
		{name: "download: repeated with a default value written out", tool: "download_profile_media", prepare: hadPaid,
			args: profileArgs(map[string]any{"username": "harbour_cafe", "limit": 2.0}), idem: paidKey, check: func(w *env, got answer) {
				got.mustHave(w.t, map[string]any{"data.job_id": w.note("job")})
			}},
		{
			name: "download: other arguments with the same idempotency key are a new call", tool: "download_profile_media",
			prepare: hadPaid,
			args:    profileArgs(map[string]any{"limit": 1}), idem: paidKey, effects: downloadRows(1),
		},
		{name: "download: repeated after the stored response was deleted", tool: "download_profile_media", args: profileArgs(nil),
			idem: paidKey, want: want{status: 422, code: "idempotency_key_reused", reason: "charge_key_spent"},
			prepare: inOrder(hadPaid, func(w *env) { w.exec("DELETE FROM paid_requests WHERE key_id = ?", w.keyIDs[access.Full]) })},
	}
}

func badDownloadScenarios() []scenario {
	invalidArg := func(name string, more map[string]any, reason, argument string) scenario {
		return scenario{
			name: "download: " + name, tool: "download_profile_media", prepare: grantThousand, args: profileArgs(more),
			idem: paidKey, want: invalid(reason, argument),
		}
	}
	all := []scenario{
		invalidArg("from an unsupported platform", map[string]any{"platform": "bluesky"}, "not_allowed_value", "platform"),
		invalidArg("of an unknown type", map[string]any{"type": "tagged"}, "not_allowed_value", "type"),
		invalidArg("limit 0", map[string]any{"limit": 0}, "out_of_range", "limit"),
		invalidArg("limit 51", map[string]any{"limit": 51}, "out_of_range", "limit"),
		invalidArg("save_to_library maybe", map[string]any{"save_to_library": "maybe"}, "not_a_boolean", "save_to_library"),
		invalidArg("an empty name", map[string]any{"username": ""}, "too_short", "username"),
		invalidArg("too long a name", map[string]any{"username": strings.Repeat("n", 201)}, "too_long", "username"),
		invalidArg("a malformed cursor", map[string]any{"cursor": "rubbish"}, "invalid_cursor", "cursor"),
		invalidArg("a cursor of a missing download", map[string]any{"cursor": "f1-" + noSuchID}, "invalid_cursor", "cursor"),
		invalidArg("a name with a NUL", map[string]any{"username": "a\x00b"}, "malformed", "username"),
		invalidArg("a cursor with a NUL", map[string]any{"cursor": "f1-\x00"}, "malformed", "cursor"),
		invalidArg("an API key as the name", map[string]any{"username": apikey.New(apikey.APIKey)}, "secret_in_argument", "username"),
		invalidArg("an upload secret as the cursor", map[string]any{"cursor": apikey.New(apikey.Upload)}, "secret_in_argument", "cursor"),
		invalidArg("too long a cursor", map[string]any{"cursor": strings.Repeat("c", 201)}, "too_long", "cursor"),
		invalidArg("an unknown argument", map[string]any{"quality": "high"}, "unknown_argument", "quality"),
	}
	for _, name := range []string{
		"two words", "https://www.tiktok.com/@harbour_cafe", "https://www.instagram.com/p/C0ffee/", "harbour/../cafe", "explore", "häfen",
	} {
		all = append(all, invalidArg(fmt.Sprintf("of %q", name), map[string]any{"username": name}, "malformed", "username"))
	}
	for platform, types := range map[string][]string{"instagram": {"playlists"}, "tiktok": {"reels", "stories", "highlights"}} {
		for _, kind := range types {
			all = append(all, invalidArg(kind+" of "+platform, map[string]any{"platform": platform, "type": kind},
				"not_allowed_value", "type"))
		}
	}
	return all
}
