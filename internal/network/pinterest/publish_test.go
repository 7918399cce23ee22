package pinterest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/networktest"
)

// A pin gets its title, description and link from the text.
func TestPin(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30)
	for name, c := range map[string]struct{ text, title, link string }{
		"a line": {" Hello \n\nworld", "Hello", ""},
		"two links": {
			"See ftp://a.b or https://example.org/a, then http://b.test",
			"See ftp://a.b or https://example.org/a, then http://b.test", "https://example.org/a",
		},
		"a long line":   {long, strings.TrimSpace(long[:95]) + "…", ""},
		"one long word": {strings.Repeat("é", 101), strings.Repeat("é", 99) + "…", ""},
		"a long link":   {"x\nhttps://a.test/" + strings.Repeat("a", 2048), "x", ""},
		"nothing":       {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := networktest.New(t, adapter, 0)
			f.Transport.OnResponse = nil // some texts are longer than the network accepts
			g := f.Grant()
			text, _ := json.Marshal(c.text)
			_, _ = f.Commit(g,
				network.Draft(
					`{"pinterest":true,"ready":"2026-11-21T09:00:00Z",`+
						`"media":[{"id":1,"kind":"image","alt":"seen"}],"text":`+string(text)+`}`))
			var sent map[string]any
			_ = json.Unmarshal(f.Transport.Requests("POST /pinterest/v5/pins")[0].Body, &sent)
			want := map[string]any{
				"board_id": g.Extra["board"], "alt_text": "seen",
				"media_source": map[string]any{"source_type": "image_url", "url": f.Library.URL + "/1"},
			}
			for name, text := range map[string]string{"title": c.title, "link": c.link, "description": c.text} {
				if text != "" {
					want[name] = text
				}
			}
			if diff := cmp.Diff(want, sent); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A video is only uploaded to an http or https URL.
func TestUploadAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "file:///etc/passwd", "ftp://a.test/", "no address"} {
		s := networktest.NewStub(t, adapter, network.App{},
			networktest.StubResponse{Status: http.StatusCreated,
				Body: `{"media_id":"5","upload_url":"` + address + `"}`})
		_, _, err := s.Network.Prepare(t.Context(), s.Grant, network.Draft(planned), s.Library)
		networktest.WantClass(t, err, network.Transient, "")
	}
}

// A missing pin counts as absent two minutes after the commit, so its images can be fetched for one minute.
func TestImageLinksExpire(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	f.Publish(g, f.PrepareUsual(g, "x"))
	for _, until := range f.Library.LinkExpiries() {
		if left := until.Sub(f.Clock.Now()); left < 45*time.Second || left > 70*time.Second {
			t.Errorf("an image can be fetched for %s", left)
		}
	}
}

// Two publications may have the same content. Resolve returns neither an older pin nor one of two matching pins.
func TestDuplicatePins(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	older := f.PrepareUsual(g, "twin")
	f.Publish(g, older)
	f.Clock.Advance(10 * time.Second)
	newer := f.PrepareUsual(g, "twin")
	f.Publish(g, newer)
	verdict, receipt, err := f.Resolve(g, newer)
	if err != nil || verdict != network.Published || receipt.ID != f.Posts()[1].ID {
		t.Errorf("the newer: verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
	verdict, _, err = f.Resolve(g, older)
	if networktest.WantClass(t, err, network.OutcomeUnknown, ""); verdict != network.Unknown {
		t.Errorf("the older: verdict %v", verdict)
	}
	f.WantPosts(2)
}

// A pin can be published once its missing image exists again.
func TestMissingImageReturns(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	missing := f.Library.Remove(f.Library.Image("png", 9, 9), true)
	d := f.MustPrepare(g, "x", missing)
	_, err := f.Commit(g, d)
	networktest.WantClass(t, err, network.Transient, "1")
	f.Library.Remove(missing, false)
	f.Publish(g, d)
	f.WantPosts(1)
}

// A grant without a board cannot publish or collect.
func TestNoBoard(t *testing.T) {
	t.Parallel()
	f := networktest.New(t, adapter, 0)
	g := f.Grant()
	g.Extra = nil
	_, err := f.Prepare(g, f.Plan("no board", f.Media()...))
	networktest.WantClass(t, err, network.Rejected, "")
	_, err = f.CollectThrough(f.Transport, g, networktest.Start, 10)
	networktest.WantClass(t, err, network.Rejected, "")
}
