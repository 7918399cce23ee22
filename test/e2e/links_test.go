package e2e

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/auth/apikey"
	"pressroom.example/pressroom/internal/core/access"
	"pressroom.example/pressroom/internal/testkit/must"
)

// rejectedUpload is a request to an upload link that is rejected and leaves the link usable.
type rejectedUpload struct {
	name         string
	send         func(w *env, to link, f file) answer
	status       int
	code, reason string
}

// openUpload opens an upload batch of one file and returns its job ID and link.
func (w *env) openUpload(f file) (string, link) {
	w.t.Helper()
	got := w.full("create_uploads", uploadArgs(nil, f))
	return got.text("data.job_id"), got.linkOf(0)
}

// unsizedBody returns a body of unknown length.
func unsizedBody(content []byte) io.Reader { return io.MultiReader(bytes.NewReader(content)) }

func rejectedUploads() []rejectedUpload {
	with := func(authorization func(w *env) string) func(*env, link, file) answer {
		return func(w *env, to link, f file) answer { return w.put(link{to.url, authorization(w)}, f) }
	}
	fixed := func(text string) func(*env, link, file) answer {
		return with(func(*env) string { return text })
	}
	as := func(mime string) func(*env, link, file) answer {
		return func(w *env, to link, f file) answer { return w.putAs(to, mime, bytes.NewReader(f.bytes)) }
	}
	body := func(change func([]byte) io.Reader) func(*env, link, file) answer {
		return func(w *env, to link, f file) answer { return w.putAs(to, f.mime, change(f.bytes)) }
	}
	longer := func(b []byte) []byte { return append(bytes.Clone(b), 'x') }
	shorter := func(b []byte) []byte { return b[:len(b)-1] }
	otherwise := func(b []byte) []byte { return append(bytes.Clone(b[:len(b)-1]), b[len(b)-1]^1) }
	sized := func(change func([]byte) []byte) func(*env, link, file) answer {
		return body(func(b []byte) io.Reader { return bytes.NewReader(change(b)) })
	}
	chunked := func(change func([]byte) []byte) func(*env, link, file) answer {
		return body(func(b []byte) io.Reader { return unsizedBody(change(b)) })
	}
	return []rejectedUpload{
		{"no secret", fixed(""), 401, "unauthorized", ""},
		{"a secret never made", fixed("Bearer " + apikey.New(apikey.Upload)), 401, "unauthorized", ""},
		{"an API key", with(func(w *env) string { return "Bearer " + full(w) }), 401, "unauthorized", ""},
		{"a session's scheme", func(w *env, to link, f file) answer {
			return w.put(link{to.url, strings.Replace(to.authorization, "Bearer", "Basic", 1)}, f)
		}, 401, "unauthorized", ""},
		{"another link's secret", func(w *env, to link, f file) answer {
			_, other := w.openUpload(aPNG("another.png"))
			return w.put(link{to.url, other.authorization}, f)
		}, 401, "unauthorized", ""},
		{"the secret in the address", func(w *env, to link, f file) answer {
			return w.put(link{to.url + "?authorization=" + strings.ReplaceAll(to.authorization, " ", "%20"), ""}, f)
		}, 401, "unauthorized", ""},
		{"a link that does not exist", func(w *env, to link, f file) answer {
			return w.put(link{w.root + "/uploads/" + noSuchID, to.authorization}, f)
		}, 404, "not_found", ""},
		{"a link of another form", func(w *env, to link, f file) answer {
			return w.put(link{w.root + "/uploads/one", to.authorization}, f)
		}, 404, "not_found", ""},
		{"a byte too many", sized(longer), 413, "upload_too_large", ""},
		{"a byte too many, of no told length", chunked(longer), 413, "upload_too_large", ""},
		{"a byte too few", sized(shorter), 422, "validation_failed", "size_differs"},
		{"a byte too few, of no told length", chunked(shorter), 422, "validation_failed", "size_differs"},
		{"nothing", body(func([]byte) io.Reader { return http.NoBody }), 422, "validation_failed", "size_differs"},
		{"other bytes", sized(otherwise), 422, "validation_failed", "digest_differs"},
		{"other bytes, of no told length", chunked(otherwise), 422, "validation_failed", "digest_differs"},
		{"as a page", as("text/html"), 422, "validation_failed", "type_differs"},
		{"as an image of another type", as("image/jpeg"), 422, "validation_failed", "type_differs"},
		{"as a form", as("multipart/form-data; boundary=x"), 422, "validation_failed", "type_differs"},
		{"as what is no type", as("picture"), 422, "validation_failed", "type_differs"},
	}
}

// A rejected upload stores nothing. The link then accepts the correct bytes once.
func TestUploadLinks(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for _, a := range rejectedUploads() {
			t.Run(a.name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				f := aPNG("the file.png")
				job, to := w.openUpload(f)
				got := a.send(w, to, f)
				got.mustReject(t, a.status, a.code, a.reason)
				w.mustBeEmpty(job)
				w.mustAcceptOnce(job, to, f)
			})
		}
	})
}

// mustBeEmpty checks that the file of a batch is missing and that the library is empty.
func (w *env) mustBeEmpty(job string) {
	w.t.Helper()
	w.mustHaveFileStates(job, "waiting")
	w.full("list_media", nil).mustHave(w.t, map[string]any{"data.media": "[]", "data.storage.used_bytes": 0})
	w.mustBeSound()
}

// mustAcceptOnce checks that a link accepts its file exactly once.
func (w *env) mustAcceptOnce(job string, to link, f file) {
	w.t.Helper()
	got := w.put(to, f)
	if got.mustBe(w.t, http.StatusCreated); got.number("data.media_id") < 1 {
		w.t.Errorf("no media_id: %s", got.raw)
	}
	w.awaitJob(job).mustHave(w.t, map[string]any{"data.state": "succeeded", "data.result.files.0.media_id": got.at("data.media_id")})
	w.put(to, f).mustReject(w.t, http.StatusConflict, "upload_link_used", "")
	w.put(link{to.url, ""}, f).mustReject(w.t, http.StatusUnauthorized, "unauthorized", "")
	w.full("list_media", nil).
		mustHave(w.t,
			map[string]any{"data.media.0.id": got.at("data.media_id"), "data.media.1": nil, "data.storage.used_bytes": len(f.bytes)})
	w.mustBeSound()
}

// A link accepts its file in every HTTP transfer encoding.
func TestUploadEncodings(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for name, send := range map[string]func(w *env, to link, f file) answer{
			"without a type": func(w *env, to link, f file) answer {
				return w.putAs(to, "application/octet-stream", bytes.NewReader(f.bytes))
			},
			"of no told length": func(w *env, to link, f file) answer { return w.putAs(to, f.mime, unsizedBody(f.bytes)) },
			"with a parameter": func(w *env, to link, f file) answer {
				return w.putAs(to, "IMAGE/PNG; charset=binary", bytes.NewReader(f.bytes))
			},
			"when it is asked for": func(w *env, to link, f file) answer {
				req := must.Get(http.NewRequestWithContext(w.t.Context(), http.MethodPut, to.url, bytes.NewReader(f.bytes)))(w.t)
				req.Header.Set("Content-Type", f.mime)
				req.Header.Set("Expect", "100-continue")
				got := must.Get(w.sendToLink(req, to.authorization))(w.t)
				return got
			},
			"with a scheme in small letters": func(w *env, to link, f file) answer {
				return w.put(link{to.url, strings.Replace(to.authorization, "Bearer", "bearer", 1)}, f)
			},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				_, to := w.openUpload(aPNG("a.png"))
				send(w, to, aPNG("a.png")).mustBe(t, http.StatusCreated)
				listsMedia("a")(w, w.full("list_media", nil))
			})
		}
	})
}

// A link accepts only PUT.
func TestLinkMethods(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		f := aPNG("a.png")
		job, to := w.openUpload(f)
		for _, method := range []string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodPatch, http.MethodOptions,
		} {
			for _, authorization := range []string{"", to.authorization} {
				req := must.Get(http.NewRequestWithContext(t.Context(), method, to.url, bytes.NewReader(f.bytes)))(t)
				got := must.Get(w.sendToLink(req, authorization))(t)
				if got.header.Get("Allow") != http.MethodPut {
					t.Errorf("%s: Allow %q", method, got.header.Get("Allow"))
				}
				if got.mustBe(t, http.StatusMethodNotAllowed); method != http.MethodHead {
					got.mustReject(t, http.StatusMethodNotAllowed, "method_not_allowed", "")
				}
			}
		}
		w.mustBeEmpty(job)
		w.mustAcceptOnce(job, to, f)
	})
}

// An interrupted upload stores nothing.
func TestInterruptedUpload(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		f := aPNG("a.png")
		job, to := w.openUpload(f)
		for _, length := range []int64{int64(len(f.bytes)), -1} {
			ctx, cut := context.WithCancel(t.Context())
			req := must.Get(http.NewRequestWithContext(ctx, http.MethodPut, to.url,
				io.MultiReader(bytes.NewReader(f.bytes[:len(f.bytes)/2]), cancelingReader{cut})))(t)
			req.ContentLength = length
			req.Header.Set("Content-Type", f.mime)
			req.Header.Set("Authorization", to.authorization)
			resp, err := client.Do(req)
			if err == nil {
				resp.Body.Close()
				t.Errorf("got response %d", resp.StatusCode)
			}
			cut()
		}
		w.mustBeEmpty(job)
		w.mustAcceptOnce(job, to, f)
	})
}

// cancelingReader is a request body that cancels the request when it is read.
type cancelingReader struct{ cut func() }

func (c cancelingReader) Read([]byte) (int, error) {
	c.cut()
	return 0, errors.New("client disconnected")
}

// A file with the announced hash that is not a valid image ends its link, because no other file can have the hash.
func TestRejectedFiles(t *testing.T) {
	t.Parallel()
	small := ampleCatalog()
	small.Limits.MaxImageBytes = 200
	damaged := aPNG("damaged.png")
	damaged.bytes = damaged.bytes[:70]
	anonymous := aPNG("an image larger than images may be.png")
	anonymous.mime = "application/octet-stream"
	withInstance(t, options{catalog: small}, func(t *testing.T, h *instance) {
		for name, c := range map[string]struct {
			f            file
			status       int
			code, reason string
			kept         string
		}{
			"a page as an image": {aPage("page.png"), 422, "validation_failed", "type_refused", "type_refused"},
			"a damaged image":    {damaged, 422, "validation_failed", "type_refused", "type_refused"},
			"too large an image": {anonymous, 413, "upload_too_large", "", "too_large"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				job, to := w.openUpload(c.f)
				w.put(to, c.f).mustReject(t, c.status, c.code, c.reason)
				w.awaitJob(job).mustHave(t, map[string]any{"data.state": "failed", "data.error.code": c.kept, "data.progress.done": 1})
				w.mustHaveFileStates(job, "refused "+c.kept)
				w.put(to, c.f).mustReject(t, http.StatusConflict, "upload_link_used", "")
				w.full("list_media", nil).mustHave(t, map[string]any{"data.media": "[]", "data.storage.used_bytes": 0})
				w.mustBeSound()
			})
		}
	})
}

// A link works as long as its key may write. Only requests with the link's secret get the reason for a rejection.
func TestLinksEndWithTheirKey(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for _, g := range gates() {
			t.Run(g.name, func(t *testing.T) {
				t.Parallel()
				h.newEnv(t, options{accounts: 1}).mustStopLinks(g)
			})
		}
		for name, c := range map[string]struct {
			ends   func(w *env, key int64)
			status int
			code   string
		}{
			"the key revoked": {func(w *env, key int64) {
				must.NoError(w.t, w.Teams.RevokeKey(w.t.Context(), key))
			}, http.StatusUnauthorized, "unauthorized"},
			"the key expired": {func(w *env, key int64) {
				w.exec("UPDATE api_keys SET expires_at = 1 WHERE id = ?", key)
			}, http.StatusUnauthorized, "unauthorized"},
			"the key lowered": {func(w *env, key int64) {
				must.NoError(w.t, w.Teams.SetKeyLevel(w.t.Context(), key, access.ReadOnly))
			}, http.StatusForbidden, "write_not_allowed"},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				w := h.newEnv(t, options{accounts: 1})
				_, to := w.openUpload(aPNG("a.png"))
				c.ends(w, w.keyIDs[access.Full])
				w.put(to, aPNG("a.png")).mustReject(t, c.status, c.code, "")
			})
		}
	})
	withEnv(t, options{accounts: 1}, func(_ *testing.T, w *env) {
		for _, g := range serviceGates() {
			w.mustStopLinks(g)
		}
	})
}

// mustStopLinks checks that a gate of a key also blocks the key's upload links until it opens. A gate that blocks
// only another capability does not.
func (w *env) mustStopLinks(g gate) {
	w.t.Helper()
	f := aPNG(g.name)
	_, to := w.openUpload(f)
	before := w.count("media WHERE team_id = ?", w.team)
	must.NoError(w.t, g.closes(w))
	w.put(link{to.url, ""}, f).mustReject(w.t, http.StatusUnauthorized, "unauthorized", "")
	if g.code != "" {
		w.put(to, f).mustReject(w.t, http.StatusForbidden, g.code, "")
		if n := w.count("media WHERE team_id = ?", w.team); n != before {
			w.t.Errorf("%s: the file was stored", g.name)
		}
	}
	if g.opens != nil {
		must.NoError(w.t, g.opens(w))
		w.until("the key to work again", func() bool { return w.rest(full(w), "get_identity", nil, "").status == http.StatusOK })
		w.put(to, f).mustBe(w.t, http.StatusCreated)
	}
}

// Of concurrent uploads to one link, one succeeds, and the file is stored once.
func TestConcurrentUploadsToOneLink(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		f := aPNG("a.png")
		job, to := w.openUpload(f)
		taken := 0
		for _, got := range w.callConcurrently(20, func(int) (answer, error) { return w.tryPut(to, f.mime, bytes.NewReader(f.bytes)) }) {
			switch got.status {
			case http.StatusCreated:
				taken++
			case http.StatusTooManyRequests: // too many concurrent uploads to the link
				got.mustReject(t, http.StatusTooManyRequests, "rate_limited", "")
			default:
				got.mustReject(t, http.StatusConflict, "upload_link_used", "")
			}
		}
		if taken != 1 {
			t.Errorf("%d uploads succeeded, want 1", taken)
		}
		w.awaitJob(job).mustHave(t, map[string]any{"data.state": "succeeded"})
		w.full("list_media", nil).mustHave(t, map[string]any{"data.media.1": nil, "data.storage.used_bytes": len(f.bytes)})
		w.mustBeSound()
	})
}
