package threads_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

func TestText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	text := "Grüße 👋 & more\n\nhttps://example.org/?a=b #tag"
	d := w.prepared(g, text)
	receipt, err := w.network().Commit(t.Context(), g, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	held := w.held()
	if len(held) != 1 || held[0].Text != text || held[0].ID != receipt.ID || held[0].Account != "harbour.coffee" {
		t.Errorf("held %+v, receipt %+v", held, receipt)
	}
	permalink, err := w.network().Permalink(t.Context(), g, network.Receipt{ID: receipt.ID})
	if err != nil || !strings.HasSuffix(permalink, "/post/"+receipt.ID) {
		t.Errorf("permalink %q, %v", permalink, err)
	}
	response, err := http.Get(permalink)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("following the permalink: %v, %v", response, err)
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"one image": func(t *testing.T, l *library) []network.Media { return []network.Media{l.png(t, 40, 30)} },
		"a video":   func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4()} },
		"several": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.jpeg(t, 50, 40), l.mp4(), l.png(t, 40, 30)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 10*time.Second), newLibrary(t)
			g := w.connect("harbour.coffee")
			media := shelf(t, l)
			d, err := w.prepare(g, w.plan("with media", media...), l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantHeld(0)
			if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
				t.Fatal(err)
			}
			w.wantShown(l, media)
		})
	}
}

// wantShown checks that the one post shows these files, byte for byte and in this order.
func (w *world) wantShown(l *library, media []network.Media) {
	w.t.Helper()
	held := w.held()
	if len(held) != 1 || len(held[0].Media) != len(media) {
		w.t.Fatalf("held %+v", held)
	}
	for i, m := range media {
		response, err := http.Get(held[0].Media[i])
		if err != nil {
			w.t.Fatal(err)
		}
		var shown bytes.Buffer
		_, _ = shown.ReadFrom(response.Body)
		response.Body.Close()
		if !bytes.Equal(shown.Bytes(), l.files[l.path(m.ID)]) || response.Header.Get("Content-Type") != m.Type {
			w.t.Errorf("medium %d: %d bytes of %s", i, shown.Len(), response.Header.Get("Content-Type"))
		}
	}
}

func TestAskedFits(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	if _, err := w.prepare(w.connect("mira.keller"), w.plan("", l.png(t, 9, 9), l.mp4()), l); err != nil {
		t.Fatal(err)
	}
	want := []network.Fit{
		{Types: []string{"image/jpeg", "image/png"}, MaxBytes: 8_000_000, MaxSide: 1440},
		{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 1_000_000_000},
	}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Error(diff)
	}
}

func TestPlanIsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	first := w.plan("same")
	w.clock.Advance(time.Hour)
	if second := w.plan("same"); string(first) != string(second) {
		t.Errorf("%s and %s", first, second)
	}
}

// A Draft that is prepared again keeps its container, so a process that takes over makes no second one.
func TestPrepareTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10*time.Second)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "once")
	again, err := w.prepare(g, d, nil)
	if err != nil || string(again) != string(d) {
		t.Errorf("%s, then %s, %v", d, again, err)
	}
	if made := w.wire.count("/threads/v1.0/me/threads"); made != 1 {
		t.Errorf("%d containers", made)
	}
	w.wantHeld(0)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content func(*testing.T, *library) network.Content
		class   network.Class
		code    string
	}{
		"too long": {func(*testing.T, *library) network.Content {
			return network.Content{Text: strings.Repeat("é", 501)}
		}, network.Rejected, "caption_too_long"},
		"too many links": {func(*testing.T, *library) network.Content {
			return network.Content{Text: "http://a.b http://a.c http://a.d http://a.e http://a.f http://a.g"}
		}, network.Rejected, "links_too_many"},
		"too many": {func(*testing.T, *library) network.Content {
			return network.Content{Media: make([]network.Media, 21)}
		}, network.RejectedMedia, ""},
		"too narrow, as only the file says": {func(t *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.png(t, 4, 44)}}
		}, network.RejectedMedia, "36003/2207009"},
		"no image, as only the file says": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Image, Type: "image/png"}, []byte("GIF89a..."))}}
		}, network.RejectedMedia, "36001/2207005"},
		"an image that is gone": {func(t *testing.T, l *library) network.Content {
			m := l.png(t, 4, 4)
			l.remove(m)
			return network.Content{Media: []network.Media{m}}
		}, network.Transient, "9004/2207052"},
		"a video that is none": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, []byte("no film"))}}
		}, network.RejectedMedia, "FAILED_PROCESSING_VIDEO"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			content := c.content(t, l)
			_, err := w.prepare(w.connect("harbour.coffee"), w.plan(content.Text, content.Media...), l)
			networktest.WantClass(t, err, c.class, c.code)
			w.wantHeld(0)
		})
	}
}

// A video that could be fetched the second time is published: what failed is created anew.
func TestFailedDownloadIsRepeated(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	film := l.mp4()
	bytes := l.files[l.path(film.ID)]
	l.remove(film)
	d, wait, err := w.network().Prepare(t.Context(), g, w.plan("", film), l)
	if err != nil || wait == 0 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	l.files[l.path(film.ID)] = bytes
	if d, err = w.prepare(g, d, l); err != nil {
		t.Fatal(err)
	}
	if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestExpiredContainer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "late")
	w.clock.Advance(25 * time.Hour)
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Uncertain, "24/2207008")
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
	if networktest.WantClass(t, err, network.Transient, "EXPIRED"); verdict != network.Absent {
		t.Fatalf("verdict %v", verdict)
	}
	if d, err = w.prepare(g, d, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestCommitTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "once")
	first, err := w.network().Commit(t.Context(), g, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Uncertain, "")
	verdict, receipt, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
	if err != nil || verdict != network.Stands || receipt.ID != first.ID {
		t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
	w.wantHeld(1)
}

func TestCommitAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "once")
	results := make(chan error)
	for range 8 {
		go func() {
			_, err := w.network().Commit(t.Context(), g, d, nil)
			results <- err
		}()
	}
	published := 0
	for range 8 {
		if err := <-results; err == nil {
			published++
		} else if networktest.Class(err) != network.Uncertain {
			t.Error(err)
		}
	}
	if published != 1 {
		t.Errorf("published %d times", published)
	}
	w.wantStands(g, d)
}

func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "lost")
	w.wire.lose = "/threads_publish"
	_, err := w.network().Commit(t.Context(), g, d, nil)
	if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) {
		t.Error("the error holds the token")
	}
	w.wantStands(g, d)
}

// wantStands checks that a publication is found, whole, and published once.
func (w *world) wantStands(g network.Grant, d network.Draft) {
	w.t.Helper()
	verdict, receipt, err := w.network().Resolve(w.t.Context(), g, d, network.Tried{})
	if err != nil || verdict != network.Stands {
		w.t.Fatalf("verdict %v, %v", verdict, err)
	}
	held := w.held()
	if len(held) != 1 || receipt.ID != held[0].ID || receipt.Permalink == "" || !receipt.At.Equal(w.clock.Now()) {
		w.t.Errorf("held %+v, receipt %+v", held, receipt)
	}
}

// Two posts of one text cannot be told apart: what stands, stands without its id.
func TestLookBackDoesNotGuess(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	var d network.Draft
	for range 2 {
		d = w.prepared(g, "twin")
		if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
			t.Fatal(err)
		}
	}
	verdict, receipt, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
	if err != nil || verdict != network.Stands || receipt != (network.Receipt{}) {
		t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
	w.wantHeld(2)
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 10*time.Second)
	g := w.connect("harbour.coffee")
	d, wait, err := w.network().Prepare(t.Context(), g, w.plan("soon"), nil)
	if err != nil || wait <= 0 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	_, err = w.network().Commit(t.Context(), g, d, nil)
	if said := networktest.WantClass(t, err, network.Processing, "9007/2207027"); !said.After.After(start) {
		t.Errorf("after %v", said.After)
	}
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
	if networktest.WantClass(t, err, network.Processing, ""); verdict != network.Unknown {
		t.Errorf("verdict %v", verdict)
	}
	w.clock.Advance(10 * time.Second)
	if verdict, _, err = w.network().Resolve(t.Context(), g, d, network.Tried{}); verdict != network.Absent || err != nil {
		t.Errorf("verdict %v, %v", verdict, err)
	}
	w.wantHeld(0)
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
		"[sandbox:lost-answer]":    {[]network.Class{network.Uncertain, network.Uncertain}, 1},
		"[sandbox:expired-token]":  {[]network.Class{network.AuthDead, network.AuthDead}, 0},
		"[sandbox:slow=0]":         {[]network.Class{""}, 1},
		"[sandbox:reject@bluesky]": {[]network.Class{""}, 1},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			g := w.connect("harbour.coffee")
			d := w.prepared(g, text)
			for i, class := range c.want {
				_, err := w.network().Commit(t.Context(), g, d, nil)
				if err == nil && class == "" {
					continue
				}
				said := networktest.WantClass(t, err, class, "")
				if ahead := said.After.Sub(start); class == network.Rate && ahead != 2*time.Second {
					t.Errorf("commit %d: not before %v from now", i, ahead)
				}
			}
			w.wantHeld(c.held)
		})
	}
}

func TestMarkedLostAnswerIsFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "[sandbox:lost-answer]")
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Uncertain, "")
	w.wantStands(g, d)
}

// A marker of a dead token acts once for a text, or connecting again would mend nothing.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	_, err := w.network().Commit(t.Context(), g, w.prepared(g, "[sandbox:expired-token]"), nil)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	_, err = w.network().Permalink(t.Context(), g, network.Receipt{ID: "17"})
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	g = w.connect("harbour.coffee")
	if _, err := w.network().Commit(t.Context(), g, w.prepared(g, "[sandbox:expired-token]"), nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "never")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := w.network()
	for name, call := range map[string]func() error{
		"prepare": func() error { _, _, err := n.Prepare(ctx, g, w.plan("x"), nil); return err },
		"commit":  func() error { _, err := n.Commit(ctx, g, d, nil); return err },
		"resolve": func() error { _, _, err := n.Resolve(ctx, g, d, network.Tried{}); return err },
	} {
		if said := networktest.WantClass(t, call(), network.Transient, ""); strings.Contains(said.Error(), g.Access) {
			t.Errorf("%s: the error holds the token", name)
		}
	}
	w.wantHeld(0)
}

func TestDraftsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	for _, d := range []string{"", "{}", "[]", `{"rkey":"3l2345672abcd","prepared":true}`, string(w.plan("not prepared")), `{"network":"threads","container":"../me"}`} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), nil)
		networktest.WantClass(t, err, network.Rejected, "")
	}
	if sent := w.wire.count("/threads/v1.0/me/threads_publish"); sent != 0 {
		t.Errorf("%d calls", sent)
	}
}
