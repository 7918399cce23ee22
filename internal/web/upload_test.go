package web_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/core/access"
)

// TestUploadPagePermissions checks that an inaccessible batch looks like a missing one.
func TestUploadPagePermissions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		at := w.batch(t).page
		w.browser(t).in("ada@example.com").get(at).
			wants(t, 200, "Harbour &amp; Sons", "open until 14:00 on Saturday 21 November (Europe/Berlin)",
				"JPEG, PNG, WebP, GIF, MP4, QuickTime. Images up to 1 MB, videos up to 2 MB.")
		bea := w.browser(t).in("bea@example.com")
		bea.get(at).wants(t, 200)
		const none = "/upload/0190a5b2-7c1e-7f00-8000-000000000001"
		bea.get(none).wants(t, 404)
		for _, other := range []string{
			"/upload/x", "/upload/" + strings.ToUpper(at[8:]), "/upload/{" + at[8:] + "}", "/upload/urn:uuid:" + at[8:], "/upload/%00",
		} {
			bea.get(other).wants(t, 404)
		}
		if err := w.teams.SetMember(t.Context(), w.harbour.ID, w.bea.ID, access.Viewer); err != nil {
			t.Fatal(err)
		}
		if p := bea.get(at); p.StatusCode != http.StatusNotFound || p.text != bea.get(none).text {
			t.Errorf("viewer: %d %s", p.StatusCode, p.text)
		}
		bea.send(at, "a.png", picture(t, 1)).wants(t, 404, `"not_found"`)
		bea.post(at+"/done", nil).wants(t, 404)
		out := w.browser(t)
		out.get(at).leads(t, "/sign-in?next="+url.QueryEscape(at))
		if p := out.signIn("ada@example.com", password, at); p.Header.Get("Location") != at {
			t.Errorf("signed in: %v", p.Header)
		}
		w.browser(t).send(at, "a.png", picture(t, 1)).wants(t, 401, "You are signed out.")
	})
}

func TestUploadOnPage(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b, described := w.browser(t).in("bea@example.com"), picture(t, 9)
		at := w.batch(t, described).page
		b.get(at).wants(t, 200, "described 0.png", "Waiting")
		first := b.sendOK(at, `Ü <b>"1".png`, picture(t, 1))
		if again := b.sendOK(at, "other.png", picture(t, 1)); again.MediaID != first.MediaID || !again.Already || first.Already {
			t.Errorf("%+v, then %+v", first, again)
		}
		b.get(at).wants(t, 200, "<bdi>Ü _b__1_.png</bdi>", "In the library", first.thumbnail(), "describe the image")
		b.sendOK(at, "nul\x00 \xff\u202e.png", picture(t, 8))
		for name, raw := range map[string][]byte{"notes.txt": []byte("Not a picture."), "empty.png": {}, "cut.png": picture(t, 3)[:40]} {
			p := b.send(at, name, raw)
			p.wants(t, 422, `"validation_failed"`)
			if p.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: %v", name, p.Header)
			}
		}
		b.send(at, "large.png", bytes.Repeat([]byte("x"), 2<<20+1)).wants(t, 413, `"upload_too_large"`)
		b.get(at).wants(t, 200, "notes.txt", "Rejected", "This file type is not supported")
		b.sendOK(at, "described 0.png", described) // the last pending file closes the page
		b.send(at, "late.png", picture(t, 4)).wants(t, 410, "is closed or has expired")
		b.get(at).wants(t, 200, "This upload is closed.")
	})
}

// TestUploadForm checks uploads without scripts.
func TestUploadForm(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		at := w.batch(t).page
		b := w.browser(t).in("ada@example.com")
		form := func(files map[string][]byte) page {
			var body bytes.Buffer
			m := multipart.NewWriter(&body)
			_ = m.WriteField("other", "x")
			for name, raw := range files {
				part, err := m.CreateFormFile("files", name)
				if err != nil {
					t.Fatal(err)
				}
				part.Write(raw)
			}
			m.Close()
			return b.do(http.MethodPost, at+"/files", &body, "Content-Type", m.FormDataContentType())
		}
		form(map[string][]byte{"a.png": picture(t, 1), "b.png": picture(t, 2)}).leads(t, at)
		form(map[string][]byte{"c.png": picture(t, 3), "<d>.txt": []byte("x")}).wants(t, 422, "a.png", "c.png", "&lt;d&gt;.txt: ")
		b.do(http.MethodPost, at+"/files", strings.NewReader("--x\r\nno form"), "Content-Type",
			"multipart/form-data; boundary=x").wants(t, 422, "could not be read")
		b.do(http.MethodPost, at+"/files", strings.NewReader(""), "Content-Type", "multipart/form-data").wants(t, 422, "could not be read")
		b.post(at+"/done", nil).wants(t, 303)
		b.get(at).wants(t, 200, "This upload is closed.")
	})
}

func TestAltTextForm(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		at := w.batch(t).page
		b := w.browser(t).in("ada@example.com")
		item := b.sendOK(at, "a.png", picture(t, 1))
		path := "/media/" + itoa(item.MediaID) + "/description"
		b.post(path, url.Values{"alt": {`A <red> "square"`}, "next": {at}}).leads(t, at)
		b.get(at).wants(t, 200, "A &lt;red&gt; &#34;square&#34;</textarea>")
		script := func(b *browser, path, alt string) page {
			return b.do(http.MethodPost, path, strings.NewReader(url.Values{"alt": {alt}}.Encode()), "Content-Type",
				"application/x-www-form-urlencoded", "Accept", "application/json")
		}
		script(b, path, strings.Repeat("ü", 1001)).wants(t, 422, "1000 characters")
		script(w.browser(t), path, "x").wants(t, 401)
		script(b, path, "a\x00b\xff").wants(t, 204)
		script(b, "/media/99/description", "x").wants(t, 404)
		script(b, "/media/0x1/description", "x").wants(t, 404)
		b.post("/media/99/description", nil).wants(t, 404)
		if err := w.teams.SetMember(t.Context(), w.harbour.ID, w.bea.ID, access.Viewer); err != nil {
			t.Fatal(err)
		}
		script(w.browser(t).in("bea@example.com"), path, "by a viewer").wants(t, 404)
		b.get(at).wants(t, 200, "</textarea>")
	})
}

// TestUploadLinks checks that an upload link accepts its file once, from anyone with the link and without cookies.
func TestUploadLinks(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		raw := picture(t, 1)
		batch := w.batch(t, raw, picture(t, 2))
		at, late := batch.links[0], batch.links[1]
		b := w.browser(t)
		put := func(at link, raw []byte) page {
			return b.do(http.MethodPut, at.path, bytes.NewReader(raw), "Authorization", at.authorization,
				"Content-Type", "image/png", "Origin", "https://elsewhere.example")
		}
		for _, method := range []string{"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PATCH"} {
			if p := b.do(method, at.path, nil); p.StatusCode != http.StatusMethodNotAllowed || p.Header.Get("Allow") != "PUT" {
				t.Errorf("%s: %d %v", method, p.StatusCode, p.Header)
			}
		}
		for name, c := range map[string]struct {
			at     link
			raw    []byte
			status int
		}{
			"no secret":      {link{at.path, ""}, raw, 401},
			"another secret": {link{at.path, late.authorization}, raw, 401},
			"no such link":   {link{"/uploads/0190a5b2-7c1e-7f00-8000-000000000001", at.authorization}, raw, 404},
			"too large":      {at, append(bytes.Clone(raw), 0), 413},
			"too small":      {at, raw[:10], 422},
			"other bytes":    {at, bytes.Repeat([]byte("x"), len(raw)), 422},
		} {
			p := put(c.at, c.raw)
			if p.StatusCode != c.status || p.Header.Get("Content-Type") != "application/problem+json" {
				t.Errorf("%s: %d %s", name, p.StatusCode, p.text)
			}
		}
		p := put(at, raw)
		var out struct {
			Data struct {
				MediaID int64 `json:"media_id"`
			} `json:"data"`
		}
		if err := json.Unmarshal([]byte(p.text), &out); err != nil || p.StatusCode != http.StatusCreated || out.Data.MediaID < 1 {
			t.Errorf("%d %s", p.StatusCode, p.text)
		}
		if len(p.Cookies()) > 0 || p.Header.Get("Vary") != "" || p.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%v", p.Header)
		}
		put(at, raw).wants(t, 409, "upload_link_used")
		w.clock.Advance(2 * time.Hour)
		put(late, picture(t, 2)).wants(t, 410, "upload_link_closed")
	})
}

func TestInterruptedUploads(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		raw := picture(t, 1)
		at := w.batch(t, raw).links[0]
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn,
			"PUT %s HTTP/1.1\r\nHost: press.example\r\nAuthorization: %s\r\nContent-Type: "+
				"image/png\r\nContent-Length: %d\r\n\r\n%s", at.path, at.authorization, len(raw), raw[:20])
		if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%+v (%v)", resp, err)
		}
		p := w.browser(t).do(http.MethodPut, at.path, bytes.NewReader(raw), "Authorization", at.authorization, "Content-Type", "image/png")
		p.wants(t, 201)
	})
}

// TestRejectedBeforeBody checks that a client that waits for 100 Continue gets the error instead.
func TestRejectedBeforeBody(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		at := w.batch(t, picture(t, 1)).links[0]
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn,
			"PUT %s HTTP/1.1\r\nHost: press.example\r\nAuthorization: Bearer wrong\r\nExpect: "+
				"100-continue\r\nContent-Length: 4000000000\r\n\r\n", at.path)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || resp.StatusCode != http.StatusUnauthorized {
			t.Errorf("%+v (%v)", resp, err)
		}
	})
}

// TestRejectionReachesSender checks that a client that keeps sending receives the error.
func TestRejectionReachesSender(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		b := w.browser(t).in("ada@example.com")
		page := w.batch(t).page
		for size, want := range map[int64]int{300 << 20: http.StatusRequestEntityTooLarge, -1: http.StatusUnprocessableEntity} {
			for range 10 {
				body := io.LimitReader(zeros{}, 300<<20)
				r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+page+"/files?name=x.mp4", body)
				if err != nil {
					t.Fatal(err)
				}
				r.ContentLength = size
				r.Header.Set("Content-Type", "video/mp4")
				resp, err := b.Do(r)
				if err != nil {
					t.Fatalf("%d bytes: %v", size, err)
				}
				told, err := io.ReadAll(resp.Body)
				if err := errors.Join(err, resp.Body.Close()); err != nil || resp.StatusCode != want ||
					!strings.Contains(string(told), `"code"`) {
					t.Fatalf("%d bytes: %d %s (%v)", size, resp.StatusCode, told, err)
				}
			}
		}
	})
}

// zeros is an endless file of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
