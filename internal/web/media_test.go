package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// TestMediaFiles checks that files are served only to members of their team, and never displayed as pages.
func TestMediaFiles(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		raw := picture(t, 1)
		b := w.browser(t).in("ada@example.com")
		item := b.sendOK(w.batch(t).page, `größe "x".png`, raw)
		p := b.get(item.file())
		if p.StatusCode != http.StatusOK || p.text != string(raw) {
			t.Errorf("%d, %d bytes", p.StatusCode, len(p.text))
		}
		for name, want := range map[string]string{
			"Content-Type": "image/png", "Content-Security-Policy": "sandbox; default-src 'none'",
			"Cache-Control": "private, max-age=31536000, immutable", "Accept-Ranges": "bytes",
		} {
			if p.Header.Get(name) != want {
				t.Errorf("%s is %q", name, p.Header.Get(name))
			}
		}
		if d := p.Header.Get("Content-Disposition"); !strings.HasPrefix(d, "inline; filename*=utf-8''gr%C3%B6%C3%9Fe") {
			t.Error(d)
		}
		if d := b.get(item.file() + "?download=1").Header.Get("Content-Disposition"); !strings.HasPrefix(d, "attachment; ") {
			t.Error(d)
		}
		if p := b.do(http.MethodGet, item.file(), nil, "Range",
			"bytes=2-5"); p.StatusCode != http.StatusPartialContent || p.text != string(raw[2:6]) {
			t.Errorf("range: %d %q", p.StatusCode, p.text)
		}
		b.do(http.MethodGet, item.file(), nil, "Range", "bytes=900000-").wants(t, 416)
		b.do(http.MethodGet, item.file(), nil, "If-None-Match", p.Header.Get("ETag")).wants(t, 304)
		if p := b.do(http.MethodHead, item.file(), nil); p.ContentLength != int64(len(raw)) || p.text != "" {
			t.Errorf("HEAD: %v", p.Header)
		}
		if p := b.get(item.thumbnail()); p.StatusCode != http.StatusOK || !strings.HasPrefix(p.Header.Get("Content-Type"), "image/") {
			t.Errorf("thumbnail: %d %v", p.StatusCode, p.Header)
		}
		bea := w.browser(t).in("bea@example.com")
		bea.get(item.file()).wants(t, 200)
		if err := w.teams.SetMember(t.Context(), w.roastery.ID, w.bea.ID, "editor"); err != nil {
			t.Fatal(err)
		}
		if err := w.teams.RemoveMember(t.Context(), w.harbour.ID, w.bea.ID); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{
			item.file(), item.thumbnail(), "/media/99/file", "/media/-1/file", "/media/x/thumbnail", "/media/99999999999999999999/file",
		} {
			bea.get(path).wants(t, 404)
			w.browser(t).get(path).wants(t, 303)
		}
	})
}

// TestPublicFiles checks signed links, which need no session.
func TestPublicFiles(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		raw := picture(t, 1)
		item := w.browser(t).in("ada@example.com").sendOK(w.batch(t).page, "a b.png", raw)
		link, err := w.media.Files(w.harbour.ID).Link(t.Context(), item.MediaID, network.FileLimits{}, w.clock.Now().Add(time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(link, "http://press.example")
		b := w.browser(t)
		p := b.get(path)
		if p.StatusCode != http.StatusOK || p.text != string(raw) || len(p.Cookies()) > 0 ||
			p.Header.Get("Vary") != "" || p.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
			t.Errorf("%d %v", p.StatusCode, p.Header)
		}
		if p := b.do(http.MethodHead, path, nil); p.StatusCode != http.StatusOK || p.ContentLength != int64(len(raw)) {
			t.Errorf("HEAD: %d %v", p.StatusCode, p.Header)
		}
		b.do(http.MethodGet, path, nil, "Range", "bytes=-4").wants(t, 206)
		for _, other := range []string{
			"/files/x/a.png", "/files/" + strings.Repeat("A", 44) + "/a.png", strings.Replace(path, "/files/A", "/files/B", 1),
		} {
			p := b.get(other)
			p.wants(t, 404)
			if !strings.Contains(p.text, `"not_found"`) {
				t.Error(p.text)
			}
		}
		w.clock.Advance(time.Hour)
		b.get(path).wants(t, 404)
	})
}
