package web_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pressroom/internal/blob"
)

// gated is a store whose blobs are opened once the gate is open. It counts how often each kind of file is asked for.
type gated struct {
	blob.Store

	gate   chan struct{}
	opened chan string // the keys, as they are asked for
}

func (g gated) Open(ctx context.Context, key string) (blob.Reader, error) {
	g.opened <- key
	<-g.gate
	return g.Store.Open(ctx, key)
}

// However often a link's pictures are asked for, nothing is scaled: the thumbnail is sent that was made when the file arrived.
// A link has so many files under way at once and no more; other links have their own.
func TestAnApprovalLinkCostsNoPictureWork(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const bound = 48
		item := w.browser(t).in("ada@example.com").sent(w.batch(t).page, "harbour.png", picture(t, 1))
		a := w.approving(t, "Open", item.MediaID)
		image, film := a.page+"/media/"+itoa(item.MediaID), a.page+"/videos/"+itoa(item.MediaID)
		store := gated{w.media.Blobs, make(chan struct{}), make(chan string, 2*bound)}
		w.media.Blobs = store
		var all sync.WaitGroup
		for range bound {
			all.Go(func() {
				if p := w.browser(t).get(image); p.StatusCode != http.StatusOK || p.text == "" {
					t.Errorf("a picture: %d", p.StatusCode)
				}
			})
		}
		for range bound {
			if key := <-store.opened; !strings.HasSuffix(key, ".thumb") {
				t.Errorf("%s was read for a picture of a link", key)
			}
		}
		refused := w.browser(t).get(image)
		refused.wants(t, 429, "rate_limited", "approval_link")
		if refused.Header.Get("Retry-After") == "" {
			t.Errorf("%v", refused.Header)
		}
		w.browser(t).get(a.page+"x/media/1").wants(t, 404)
		close(store.gate)
		all.Wait()
		w.browser(t).get(image).wants(t, 200)
		w.browser(t).get(film).wants(t, 404) // it is no video
	})
}
