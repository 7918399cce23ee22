package web_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pressroom.example/pressroom/internal/platform/blob"
)

// gated is a store whose blobs open only once the gate is open. It counts openings by kind of file.
type gated struct {
	blob.Store

	gate   chan struct{}
	opened chan string // keys, as they are opened
}

func (g gated) Open(ctx context.Context, key string) (blob.Reader, error) {
	g.opened <- key
	<-g.gate
	return g.Store.Open(ctx, key)
}

// TestApprovalLinkServesFullSize checks that the page shows thumbnails that link to the full images.
func TestApprovalLinkServesFullSize(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		page := w.browser(t).in("ada@example.com").sendOK(w.batch(t).page, "menu.png", pictureOf(t, 1200, 1600))
		other := w.browser(t).in("ada@example.com").sendOK(w.batch(t).page, "other.png", pictureOf(t, 40, 40))
		a := w.approving(t, "The menu", page.MediaID)
		client, id := w.browser(t), itoa(page.MediaID)
		full := a.page + "/images/" + id
		client.get(a.page).wants(t, 200, `<img src="`+full+`"`)
		for path, want := range map[string]image.Point{full: {1200, 1600}, a.page + "/media/" + id: {384, 512}} {
			p := client.get(path)
			got, _, err := image.DecodeConfig(strings.NewReader(p.text))
			if err != nil || got.Width != want.X || got.Height != want.Y ||
				p.Header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" {
				t.Errorf("%s: %d, %d × %d (%v), %v", path, p.StatusCode, got.Width, got.Height, err, p.Header)
			}
		}
		client.get(a.page+"/images/"+itoa(other.MediaID)).wants(t, 404)
		client.get(a.page+"x/images/"+id).wants(t, 404)
	})
}

// TestApprovalLinkServesThreadImages checks that the page shows the images of all parts of a thread.
func TestApprovalLinkServesThreadImages(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		item := w.browser(t).in("ada@example.com").sendOK(w.batch(t).page, "menu.png", pictureOf(t, 600, 800))
		a := w.approving(t, "The menu")
		a.do(t, "update_post", map[string]any{"id": a.id, "thread": []map[string]any{{"caption": "The second part",
			"media_ids": []int64{item.MediaID}}}})
		link, err := a.approvals.Request(t.Context(), w.bea.ID, a.id)
		if err != nil {
			t.Fatal(err)
		}
		page, id := strings.TrimPrefix(link, "http://press.example"), itoa(item.MediaID)
		client := w.browser(t)
		client.get(page).wants(t, 200, "The second part", `<img src="`+page+"/images/"+id+`"`)
		client.get(page+"/media/"+id).wants(t, 200)
		client.get(page+"/images/"+id).wants(t, 200)
	})
}

// pictureOf returns a PNG of that many pixels.
func pictureOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestApprovalLinkLimits checks that images are not scaled for a link and that each link has its own limit of
// concurrent downloads.
func TestApprovalLinkLimits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const bound = 48
		item := w.browser(t).in("ada@example.com").sendOK(w.batch(t).page, "harbour.png", picture(t, 1))
		a := w.approving(t, "Open", item.MediaID)
		shot, film := a.page+"/media/"+itoa(item.MediaID), a.page+"/videos/"+itoa(item.MediaID)
		full := a.page + "/images/" + itoa(item.MediaID)
		store := gated{w.media.Blobs, make(chan struct{}), make(chan string, 2*bound)}
		w.media.Blobs = store
		var all sync.WaitGroup
		for range bound {
			all.Go(func() {
				if p := w.browser(t).get(shot); p.StatusCode != http.StatusOK || p.text == "" {
					t.Errorf("image: %d", p.StatusCode)
				}
			})
		}
		for range bound {
			if key := <-store.opened; !strings.HasSuffix(key, ".thumb") {
				t.Errorf("%s was read for an image of a link", key)
			}
		}
		w.browser(t).get(full).wants(t, 429, "approval_link") // shared limit
		rejected := w.browser(t).get(shot)
		rejected.wants(t, 429, "rate_limited", "approval_link")
		if rejected.Header.Get("Retry-After") == "" {
			t.Errorf("%v", rejected.Header)
		}
		w.browser(t).get(a.page+"x/media/1").wants(t, 404)
		close(store.gate)
		all.Wait()
		w.browser(t).get(shot).wants(t, 200)
		w.browser(t).get(film).wants(t, 404) // not a video
	})
}
