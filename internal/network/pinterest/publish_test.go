package pinterest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

func TestMedia(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"one image": func(t *testing.T, l *library) []network.Media { return []network.Media{l.png(t, 5)} },
		"several": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.png(t, 5), l.png(t, 6), l.png(t, 7)}
		},
		"a video": func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 10*time.Second), newLibrary(t)
			g := w.connect()
			text := "Grüße 👋 & more\n\nhttps://example.org/?a=b #tag"
			d, err := w.prepare(g, w.plan(text, shelf(t, l)...), l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantHeld(0)
			receipt, err := w.network().Commit(t.Context(), g, d, l)
			if err != nil {
				t.Fatal(err)
			}
			if held := w.held(); len(held) != 1 || held[0].Text != text || held[0].ID != receipt.ID || held[0].Account != "harbour.coffee" {
				t.Errorf("held %+v, receipt %+v", held, receipt)
			}
			for _, until := range l.until { // a pin is believed to be none two minutes after it was asked for
				if left := until.Sub(w.clock.Now()); left < 45*time.Second || left > 70*time.Second {
					t.Errorf("an image can be fetched for %s", left)
				}
			}
			w.wantShown(l)
			w.wantStands(g, d)
			w.wantPermalink(g, receipt)
		})
	}
}

// wantShown checks that the one pin shows the library's files, byte for byte and in their order.
func (w *world) wantShown(l *library) {
	w.t.Helper()
	held := w.held()
	if len(held) != 1 || len(held[0].Media) != len(l.files) {
		w.t.Fatalf("held %+v", held)
	}
	for i, file := range l.files {
		response, err := http.Get(held[0].Media[i])
		if err != nil {
			w.t.Fatal(err)
		}
		shown, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !bytes.Equal(shown, file.bytes) || response.Header.Get("Content-Type") != file.media.Type {
			w.t.Errorf("medium %d: %d bytes of %s, %v", i, len(shown), response.Header.Get("Content-Type"), err)
		}
	}
}

func (w *world) wantPermalink(g network.Grant, r network.Receipt) {
	w.t.Helper()
	permalink, err := w.network().Permalink(w.t.Context(), g, network.Receipt{ID: r.ID})
	if err != nil || permalink != r.Permalink {
		w.t.Errorf("permalink %q, %v", permalink, err)
	}
	response, err := http.Get(permalink)
	if err != nil || response.StatusCode != http.StatusOK {
		w.t.Errorf("following the permalink: %v, %v", response, err)
	}
}

func TestAskedFits(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	for _, m := range []network.Media{l.png(t, 9), l.mp4()} {
		d, err := w.prepare(g, w.plan("", m), l)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.network().Commit(t.Context(), g, d, l); err != nil {
			t.Fatal(err)
		}
	}
	want := []network.Fit{
		{Types: []string{"image/jpeg", "image/png", "image/webp", "image/gif"}, MaxBytes: 20_000_000},
		{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 2_000_000_000},
	}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Error(diff)
	}
}

// What a text becomes: a title, a description and the address that the pin leads to.
func TestPin(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 30)
	for name, c := range map[string]struct{ text, title, link string }{
		"a line":        {" Hello \n\nworld", "Hello", ""},
		"two links":     {"See ftp://a.b or https://example.org/a, then http://b.test", "See ftp://a.b or https://example.org/a, then http://b.test", "https://example.org/a"},
		"a long line":   {long, strings.TrimSpace(long[:95]) + "…", ""},
		"one long word": {strings.Repeat("é", 101), strings.Repeat("é", 99) + "…", ""},
		"a long link":   {"x\nhttps://a.test/" + strings.Repeat("a", 2048), "x", ""},
		"nothing":       {"", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect()
			var sent map[string]any
			w.wire.look = func(r *http.Request, _ *http.Response) {
				if strings.HasSuffix(r.URL.Path, "/pins") {
					_ = json.NewDecoder(r.Body).Decode(&sent)
				}
			}
			d := network.Draft(`{"pinterest":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1,"kind":"image","alt":"seen"}],"text":` + quoted(c.text) + `}`)
			_, _ = w.network().Commit(t.Context(), g, d, l)
			want := map[string]any{"board_id": g.Extra["board"], "alt_text": "seen", "media_source": map[string]any{"source_type": "image_url", "url": l.url + "/1"}}
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

func quoted(text string) string {
	written, _ := json.Marshal(text) // a text can be written
	return string(written)
}

// Prepare may be called again with every Draft that was kept.
func TestPrepareAgain(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 10*time.Second), newLibrary(t)
	g := w.connect()
	kept := []network.Draft{w.plan("once", l.mp4())}
	for {
		next, wait, err := w.network().Prepare(t.Context(), g, kept[len(kept)-1], l)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, next)
		w.clock.Advance(wait)
		if wait == 0 {
			break
		}
	}
	last := kept[len(kept)-1]
	if again, err := w.prepare(g, last, l); err != nil || string(again) != string(last) {
		t.Errorf("%s, then %s, %v", last, again, err)
	}
	if sent := w.wire.count("/v5/media"); sent != 1 {
		t.Errorf("%d uploads", sent)
	}
	for i, d := range kept {
		if _, err := w.prepare(g, d, l); err != nil {
			t.Errorf("draft %d: %v", i, err)
		}
	}
	w.wantHeld(0)
}

// A step whose answer is lost is repeated and leaves one pin.
func TestLostWhilePreparing(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"/v5/media", "/upload/600000000000000001", "/v5/media/600000000000000001"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 10*time.Second), newLibrary(t)
			g := w.connect()
			d := w.plan("lost", l.mp4())
			w.wire.lose = step
			_, _, err := w.network().Prepare(t.Context(), g, d, l)
			networktest.WantClass(t, err, network.Transient, "")
			w.wire.lose = ""
			if d, err = w.prepare(g, d, l); err != nil {
				t.Fatal(err)
			}
			if _, err := w.network().Commit(t.Context(), g, d, l); err != nil {
				t.Error(err)
			}
			w.wantHeld(1)
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content func(*testing.T, *library) network.Content
		class   network.Class
		code    string
	}{
		"too long": {func(t *testing.T, l *library) network.Content {
			return network.Content{Text: strings.Repeat("é", 801), Media: []network.Media{l.png(t, 1)}}
		}, network.Rejected, "caption_too_long"},
		"a text alone": {func(*testing.T, *library) network.Content { return network.Content{Text: "x"} }, network.RejectedMedia, "media_missing"},
		"too many": {func(t *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.png(t, 1), l.png(t, 2), l.png(t, 3), l.png(t, 4), l.png(t, 5), l.png(t, 6)}}
		}, network.RejectedMedia, "media_too_many"},
		"mixed": {func(t *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.png(t, 1), l.mp4()}}
		}, network.RejectedMedia, "media_mix"},
		"a video that is none": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, []byte("no film"))}}
		}, network.RejectedMedia, "failed"},
		"a video that is gone": {func(*testing.T, *library) network.Content {
			return network.Content{Media: []network.Media{{ID: 9, Kind: network.Video, Type: "video/mp4"}}}
		}, network.RejectedMedia, "gone"},
		"a video that is shorter than it says": {func(_ *testing.T, l *library) network.Content {
			m := l.mp4()
			l.files[0].media.Size++
			return network.Content{Media: []network.Media{m}}
		}, network.Transient, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			content := c.content(t, l)
			_, err := w.prepare(w.connect(), w.plan(content.Text, content.Media...), l)
			networktest.WantClass(t, err, c.class, c.code)
			w.wantHeld(0)
		})
	}
}

// What the network says of an image is said when the pin is made.
func TestRefusedImages(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	gone := w.prepared(g, l, "gone")
	l.files[0].gone = true
	_, err := w.network().Commit(t.Context(), g, gone, l)
	networktest.WantClass(t, err, network.Transient, "1")
	none := l.add(network.Media{Kind: network.Image, Type: "image/png"}, []byte("no image"))
	d, err := w.prepare(g, w.plan("none", none), l)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Rejected, "1")
	w.wantHeld(0)
	l.files[0].gone = false
	if _, err := w.network().Commit(t.Context(), g, gone, l); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	d := w.prepared(g, l, "lost  \n here")
	w.wire.lose = "/pins"
	_, err := w.network().Commit(t.Context(), g, d, l)
	if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) {
		t.Error("the error holds the token")
	}
	w.wire.lose = ""
	w.wantStands(g, d)
}

// What the network does not have is believed some time after the last attempt, and then pinned once.
func TestNeverArrived(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	d, tried := w.prepared(g, l, "late"), w.tried()
	verdict, _, err := w.network().Resolve(t.Context(), g, d, tried)
	if said := networktest.WantClass(t, err, network.Processing, ""); verdict != network.Unknown || !said.After.After(w.clock.Now()) {
		t.Errorf("verdict %v, after %v", verdict, said.After)
	}
	w.clock.Advance(2 * time.Minute)
	if verdict, _, err = w.network().Resolve(t.Context(), g, d, tried); verdict != network.Absent || err != nil {
		t.Fatalf("verdict %v, %v", verdict, err)
	}
	if _, err := w.network().Commit(t.Context(), g, d, l); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

// The same pin may be made twice on purpose: an older one is another's, and of two that could be it none is.
func TestTwins(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	commit := func() network.Draft {
		d := w.prepared(g, l, "twin")
		if _, err := w.network().Commit(t.Context(), g, d, l); err != nil {
			t.Fatal(err)
		}
		return d
	}
	older := commit()
	w.clock.Advance(10 * time.Second)
	newer := commit()
	verdict, receipt, err := w.network().Resolve(t.Context(), g, newer, w.tried())
	if err != nil || verdict != network.Stands || receipt.ID != w.held()[1].ID {
		t.Errorf("the newer: verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
	verdict, _, err = w.network().Resolve(t.Context(), g, older, network.Tried{})
	if networktest.WantClass(t, err, network.Uncertain, ""); verdict != network.Unknown {
		t.Errorf("the older: verdict %v", verdict)
	}
	w.wantHeld(2)
}

// What the sandbox's markers ask for arrives as the class of error that people want to try out.
func TestMarkers(t *testing.T) {
	t.Parallel()
	for text, c := range map[string]struct {
		want []network.Class // of commits in a row
		held int
	}{
		"[sandbox:reject]":         {[]network.Class{network.Rejected, network.Rejected}, 0},
		"[sandbox:rate-limit]":     {[]network.Class{network.Rate, network.Rate}, 0},
		"[sandbox:error]":          {[]network.Class{network.Uncertain, ""}, 1},
		"[sandbox:lost-answer]":    {[]network.Class{network.Uncertain}, 1},
		"[sandbox:expired-token]":  {[]network.Class{network.AuthRefresh, network.AuthRefresh}, 0},
		"[sandbox:slow=0]":         {[]network.Class{""}, 1},
		"[sandbox:reject@bluesky]": {[]network.Class{""}, 1},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect()
			d := w.prepared(g, l, text)
			for i, class := range c.want {
				_, err := w.network().Commit(t.Context(), g, d, l)
				if err == nil && class == "" {
					continue
				}
				said := networktest.WantClass(t, err, class, "")
				if ahead := said.After.Sub(start); class == network.Rate && ahead != 2*time.Second {
					t.Errorf("commit %d: not before %v from now", i, ahead)
				}
			}
			w.wantHeld(c.held)
			if text == "[sandbox:lost-answer]" {
				w.wantStands(g, d)
			}
		})
	}
}

// A marker of a dead token kills the refresh token too, acts once for a text, and connecting again mends it.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect()
	d := w.prepared(g, l, "[sandbox:expired-token]")
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.AuthRefresh, "2")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "283")
	if _, err := w.network().Commit(t.Context(), w.connect(), d, l); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestDraftsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	for _, d := range []string{
		"", "{}", "[]", `{"threads":true,"container":"181"}`, string(w.plan("not prepared")), `{"pinterest":true,"ready":"2026-11-21T09:00:00Z"}`,
		`{"pinterest":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1,"kind":"video"}]}`, `{"pinterest":true,"video":"../me"}`,
	} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), nil)
		networktest.WantClass(t, err, network.Rejected, "")
	}
	g.Extra = nil
	_, _, err := w.network().Prepare(t.Context(), g, w.plan("no board"), nil)
	networktest.WantClass(t, err, network.Rejected, "")
	if sent := w.wire.count("/pins"); sent != 0 {
		t.Errorf("%d calls", sent)
	}
}
