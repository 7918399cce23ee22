package instagram_test

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

func TestMedia(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"one image": func(t *testing.T, l *library) []network.Media { return []network.Media{l.jpeg(t, 40, 30)} },
		"a reel":    func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4()} },
		"images": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.jpeg(t, 50, 40), l.jpeg(t, 40, 50)}
		},
		"several": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.jpeg(t, 50, 40), l.mp4(), l.jpeg(t, 40, 30)}
		},
	} {
		for _, kind := range kinds {
			t.Run(name+" by "+kind, func(t *testing.T) {
				t.Parallel()
				w, l := newWorld(t, 10*time.Second), newLibrary(t)
				g := w.connect(kind, "harbour.coffee")
				media := shelf(t, l)
				text := "Grüße 👋 & more\n\nhttps://example.org/?a=b #tag"
				d, err := w.prepare(g, w.plan(text, media...), l)
				if err != nil {
					t.Fatal(err)
				}
				w.wantHeld(0)
				receipt, err := w.network().Commit(t.Context(), g, d, nil)
				if err != nil {
					t.Fatal(err)
				}
				w.wantShown(l, text, media)
				w.wantLink(g, receipt)
			})
		}
	}
}

// wantShown checks that the one post shows these files, byte for byte and in this order.
func (w *world) wantShown(l *library, text string, media []network.Media) {
	w.t.Helper()
	held := w.held()
	if len(held) != 1 || len(held[0].Media) != len(media) || held[0].Text != text || held[0].Account != "harbour.coffee" {
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

// wantLink checks that the post can be opened in a browser.
func (w *world) wantLink(g network.Grant, r network.Receipt) {
	w.t.Helper()
	permalink, err := w.network().Permalink(w.t.Context(), g, network.Receipt{ID: r.ID})
	if err != nil || !strings.HasSuffix(permalink, "/p/"+r.ID) {
		w.t.Errorf("permalink %q, %v", permalink, err)
	}
	response, err := http.Get(permalink)
	if err != nil || response.StatusCode != http.StatusOK {
		w.t.Errorf("following the permalink: %v, %v", response, err)
	}
	if err == nil {
		response.Body.Close()
	}
}

func TestAskedFits(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	if _, err := w.prepare(w.harbour(), w.plan("", l.jpeg(t, 9, 9), l.mp4()), l); err != nil {
		t.Fatal(err)
	}
	want := []network.Fit{
		{Types: []string{"image/jpeg"}, MaxBytes: 8 << 20},
		{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 300_000_000},
	}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Error(diff)
	}
}

// What each form of post sends, as the network names it.
func TestSent(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	picture, film := l.jpeg(t, 9, 9), l.mp4()
	film.Alt = "a film"
	for _, media := range [][]network.Media{{picture}, {film}, {picture, film}} {
		if _, err := w.prepare(g, w.plan("text", media...), l); err != nil {
			t.Fatal(err)
		}
	}
	var sent []map[string]string
	for _, s := range w.wire.sent {
		if s.method != http.MethodPost || !strings.HasSuffix(s.path, "/"+g.Account+"/media") {
			continue
		}
		flat := map[string]string{}
		for name := range s.params {
			flat[name] = s.params.Get(name)
		}
		delete(flat, "access_token")
		if _, several := flat["children"]; several {
			flat["children"] = "…"
		}
		sent = append(sent, flat)
	}
	image, video := l.url+l.path(picture.ID), l.url+l.path(film.ID)
	want := []map[string]string{
		{"image_url": image, "alt_text": "dots", "caption": "text"},
		{"media_type": "REELS", "video_url": video, "share_to_feed": "true", "caption": "text"},
		{"image_url": image, "alt_text": "dots", "is_carousel_item": "true"},
		{"media_type": "VIDEO", "video_url": video, "is_carousel_item": "true"},
		{"media_type": "CAROUSEL", "children": "…", "caption": "text"},
	}
	if diff := cmp.Diff(want, sent); diff != "" {
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

// A process that takes over may begin from any Draft that was kept: whichever it is, what it leads to can be published,
// and a Draft that is ready keeps its container.
func TestPrepareFromEachKeptDraft(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 10*time.Second), newLibrary(t)
	g := w.harbour()
	kept := []network.Draft{w.plan("kept", l.jpeg(t, 9, 9), l.jpeg(t, 8, 8))}
	for wait := time.Duration(1); wait > 0; {
		var err error
		var next network.Draft
		if next, wait, err = w.network().Prepare(t.Context(), g, kept[len(kept)-1], l); err != nil || len(kept) > 20 {
			t.Fatalf("%d drafts, %v", len(kept), err)
		}
		kept = append(kept, next)
		w.clock.Advance(wait)
	}
	for i, d := range kept {
		again, err := w.prepare(g, d, l)
		if err != nil {
			t.Fatalf("from draft %d: %v", i, err)
		}
		if last := kept[len(kept)-1]; string(d) == string(last) && string(again) != string(last) {
			t.Errorf("%s became %s", last, again)
		}
	}
	w.wantHeld(0)
	if _, err := w.network().Commit(t.Context(), g, kept[len(kept)-1], nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

// An answer that is lost while a post is made ready is asked for again and shows nothing.
func TestLostWhilePreparing(t *testing.T) {
	t.Parallel()
	for kept := range 3 {
		w, l := newWorld(t, 0), newLibrary(t)
		g := w.harbour()
		d := w.plan("lost", l.jpeg(t, 9, 9), l.jpeg(t, 8, 8))
		w.wire.lose, w.wire.kept = "POST/instagram/graph/v25.0/"+g.Account+"/media", kept
		_, err := w.prepare(g, d, l)
		networktest.WantClass(t, err, network.Transient, "")
		w.wire.lose = ""
		if d, err = w.prepare(g, d, l); err != nil {
			t.Fatal(err)
		}
		if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
			t.Error(err)
		}
		w.wantHeld(1)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	of := func(m ...network.Media) network.Content { return network.Content{Media: m} }
	for name, c := range map[string]struct {
		content func(*testing.T, *library) network.Content
		class   network.Class
		code    string
	}{
		"a text alone": {func(*testing.T, *library) network.Content {
			return network.Content{Text: "words"}
		}, network.RejectedMedia, "media_missing"},
		"too long": {func(t *testing.T, l *library) network.Content {
			return network.Content{Text: strings.Repeat("é", 2201), Media: []network.Media{l.jpeg(t, 9, 9)}}
		}, network.Rejected, "caption_too_long"},
		"too many": {func(*testing.T, *library) network.Content {
			return of(make([]network.Media, 11)...)
		}, network.RejectedMedia, ""},
		"too narrow": {func(t *testing.T, l *library) network.Content {
			return of(l.jpeg(t, 4, 44))
		}, network.RejectedMedia, "media_aspect"},
		"too narrow, as only the file says": {func(t *testing.T, l *library) network.Content {
			m := l.jpeg(t, 4, 44)
			m.Width, m.Height = 40, 40
			return of(m)
		}, network.RejectedMedia, "36003/2207009"},
		"no JPEG, as only the file says": {func(_ *testing.T, l *library) network.Content {
			return of(l.add(network.Media{Kind: network.Image, Type: "image/jpeg"}, []byte("\x89PNG\r\n\x1a\n...")))
		}, network.RejectedMedia, "36001/2207005"},
		"an image that is gone": {func(t *testing.T, l *library) network.Content {
			m := l.jpeg(t, 9, 9)
			l.remove(m)
			return of(m)
		}, network.Transient, "9004/2207052"},
		"a video that is gone": {func(_ *testing.T, l *library) network.Content {
			m := l.mp4()
			l.remove(m)
			return of(m)
		}, network.RejectedMedia, "2207052"},
		"a video that is none": {func(_ *testing.T, l *library) network.Content {
			return of(l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, []byte("no film")))
		}, network.RejectedMedia, "2207026"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			content := c.content(t, l)
			_, err := w.prepare(w.harbour(), w.plan(content.Text, content.Media...), l)
			networktest.WantClass(t, err, c.class, c.code)
			w.wantHeld(0)
		})
	}
}

// A video that could be fetched the second time is published: what failed is created anew.
func TestFailedDownloadIsRepeated(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	film := l.mp4()
	file := l.files[l.path(film.ID)]
	l.remove(film)
	d, wait, err := w.network().Prepare(t.Context(), g, w.plan("", film), l)
	if err != nil || wait == 0 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	l.files[l.path(film.ID)] = file
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
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	d := w.prepared(g, l, "late")
	w.clock.Advance(25 * time.Hour)
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Uncertain, "24/2207008")
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
	if networktest.WantClass(t, err, network.Transient, "EXPIRED"); verdict != network.Absent {
		t.Fatalf("verdict %v", verdict)
	}
	if d, err = w.prepare(g, d, l); err != nil {
		t.Fatal(err)
	}
	if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

// The network refuses a container that is published already, which is no refusal of the post.
func TestCommitTwice(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	d := w.prepared(g, l, "once")
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
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	d := w.prepared(g, l, "once")
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
	for _, kind := range kinds {
		w, l := newWorld(t, 0), newLibrary(t)
		g := w.connect(kind, "harbour.coffee")
		d := w.prepared(g, l, " lost\n\nand  found ")
		w.wire.lose = "/media_publish"
		_, err := w.network().Commit(t.Context(), g, d, nil)
		if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) {
			t.Error("the error holds the token")
		}
		w.wantStands(g, d)
	}
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

// Two posts of one text cannot be told apart: what stands, stands without its id. A post of the same text from before
// is not taken for it.
func TestLookBackDoesNotGuess(t *testing.T) {
	t.Parallel()
	for apart, found := range map[time.Duration]bool{0: false, time.Hour: true} {
		w, l := newWorld(t, 0), newLibrary(t)
		g := w.harbour()
		if _, err := w.network().Commit(t.Context(), g, w.prepared(g, l, "twin"), nil); err != nil {
			t.Fatal(err)
		}
		w.clock.Advance(apart)
		d := w.prepared(g, l, "twin")
		second, err := w.network().Commit(t.Context(), g, d, nil)
		if err != nil {
			t.Fatal(err)
		}
		verdict, receipt, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
		if err != nil || verdict != network.Stands || (receipt.ID == second.ID) != found || (receipt.ID == "") == found {
			t.Errorf("verdict %v, receipt %+v, %v", verdict, receipt, err)
		}
		w.wantHeld(2)
	}
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 10*time.Second), newLibrary(t)
	g := w.harbour()
	d, wait, err := w.network().Prepare(t.Context(), g, w.plan("soon", l.jpeg(t, 9, 9)), l)
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
		"[sandbox:reject]":           {[]network.Class{network.Rejected, network.Rejected}, 0},
		"[sandbox:rate-limit]":       {[]network.Class{network.Rate, network.Rate}, 0},
		"[sandbox:error]":            {[]network.Class{network.Uncertain, ""}, 1},
		"[sandbox:lost-answer]":      {[]network.Class{network.Uncertain, network.Uncertain}, 1},
		"[sandbox:expired-token]":    {[]network.Class{network.AuthDead, network.AuthDead}, 0},
		"[sandbox:slow=0]":           {[]network.Class{""}, 1},
		"[sandbox:reject@threads]":   {[]network.Class{""}, 1},
		"[sandbox:reject@instagram]": {[]network.Class{network.Rejected}, 0},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.harbour()
			d := w.prepared(g, l, text)
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
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	d := w.prepared(g, l, "[sandbox:lost-answer]")
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Uncertain, "")
	w.wantStands(g, d)
}

// A marker of a dead token kills the whole session, and acts once for a text, or connecting again would mend nothing.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		w, l := newWorld(t, 0), newLibrary(t)
		g := w.connect(kind, "harbour.coffee")
		w.clock.Advance(25 * time.Hour)
		_, err := w.network().Commit(t.Context(), g, w.prepared(g, l, "[sandbox:expired-token]"), nil)
		networktest.WantClass(t, err, network.AuthDead, "190/463")
		_, err = w.network().Refresh(t.Context(), g)
		networktest.WantClass(t, err, network.AuthDead, "190/463")
		g = w.connect(kind, "harbour.coffee")
		if _, err := w.network().Commit(t.Context(), g, w.prepared(g, l, "[sandbox:expired-token]"), nil); err != nil {
			t.Error(err)
		}
		w.wantHeld(1)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.harbour()
	d := w.prepared(g, l, "never")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := w.network()
	for name, call := range map[string]func() error{
		"prepare": func() error { _, _, err := n.Prepare(ctx, g, d, l); return err },
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
	g := w.harbour()
	for _, d := range []string{
		"", "{}", "[]", `{"rkey":"3l2345672abcd","prepared":true}`, string(w.plan("not prepared")), `{"network":"instagram","container":"../me"}`,
		`{"network":"threads","container":"18000000000000001"}`,
	} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), nil)
		networktest.WantClass(t, err, network.Rejected, "")
	}
	if sent := w.wire.count("/media_publish"); sent != 0 {
		t.Errorf("%d calls", sent)
	}
}
