package facebook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	text := "Grüße 👋 & more\n\nhttps://example.org/?a=b #tag https://example.com"
	receipt := w.publish(g, w.prepared(g, nil, text))
	held := w.held()
	if len(held) != 1 || held[0].Text != text || held[0].ID != receipt.ID || held[0].Account != "harbour.coffee" {
		t.Errorf("held %+v, receipt %+v", held, receipt)
	}
	want := map[string][]string{"access_token": {g.Access}, "message": {text}, "link": {"https://example.org/?a=b"}}
	if diff := cmp.Diff(want, map[string][]string(w.wire.find("/feed")[0].params)); diff != "" {
		t.Error(diff)
	}
	w.wantPermalink(g, receipt)
}

// wantPermalink checks that a post can be looked at where the network says.
func (w *world) wantPermalink(g network.Grant, r network.Receipt) {
	w.t.Helper()
	permalink, err := w.network().Permalink(w.t.Context(), g, network.Receipt{ID: r.ID})
	if err != nil || !strings.Contains(permalink, r.ID) {
		w.t.Fatalf("permalink %q, %v", permalink, err)
	}
	response, err := http.Get(permalink)
	if err != nil {
		w.t.Fatal(err)
	}
	response.Body.Close()
	if fragment := response.Request.URL.Fragment; response.StatusCode != http.StatusOK || fragment != "facebook-"+r.ID {
		w.t.Errorf("following the permalink: HTTP %d, to %q", response.StatusCode, fragment)
	}
}

func TestMedia(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"one image": func(t *testing.T, l *library) []network.Media { return []network.Media{l.png(t, 40, 30)} },
		"several":   func(t *testing.T, l *library) []network.Media { return []network.Media{l.gif(t), l.png(t, 40, 30)} },
		"a video":   func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4()} },
	} {
		for _, text := range []string{"with media, https://example.org", ""} {
			t.Run(name+" "+text, func(t *testing.T) {
				t.Parallel()
				w, l := newWorld(t, 10*time.Second), newLibrary(t)
				g := w.connect("harbour.coffee")
				media := shelf(t, l)
				d := w.prepared(g, l, text, media...)
				w.wantHeld(0)
				receipt := w.publish(g, d)
				w.wantShown(l, media)
				w.wantPermalink(g, receipt)
				w.wantStands(g, d)
			})
		}
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
		if file, _ := l.file(path(m.ID)); !bytes.Equal(shown.Bytes(), file) || response.Header.Get("Content-Type") != m.Type {
			w.t.Errorf("medium %d: %d bytes of %s", i, shown.Len(), response.Header.Get("Content-Type"))
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("mira.keller")
	w.prepared(g, l, "", l.png(t, 9, 9))
	w.prepared(g, l, "", l.mp4())
	photo := w.wire.find("/photos")[0].params
	if photo.Get("published") != "false" || photo.Get("alt_text_custom") != "dots" || photo.Has("message") {
		t.Errorf("photo %v", photo)
	}
	var chunks []string
	for _, s := range w.wire.find("/videos") {
		chunks = append(chunks, s.params.Get("upload_phase")+" "+s.params.Get("start_offset")+" "+s.params.Get("video_file_chunk"))
	}
	if diff := cmp.Diff([]string{"start  ", "transfer 0 1048576", "transfer 1048576 1048576", "transfer 2097152 502872"}, chunks); diff != "" {
		t.Error(diff)
	}
	want := []network.Fit{
		{Types: []string{"image/jpeg", "image/png", "image/gif"}, MaxBytes: 4_000_000},
		{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 10_000_000_000},
	}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Error(diff)
	}
	w.wantHeld(0)
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

// A Draft that is prepared again keeps what was uploaded.
func TestPrepareTwice(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	for _, media := range [][]network.Media{nil, {l.png(t, 9, 9), l.png(t, 8, 8)}, {l.mp4()}} {
		d := w.prepared(g, l, "once", media...)
		w.clock.Advance(time.Minute)
		again, _, err := w.network().Prepare(t.Context(), g, d, l)
		if err != nil || string(again) != string(d) {
			t.Errorf("%s, then %s, %v", d, again, err)
		}
	}
	if photos, videos := len(w.wire.find("/photos")), len(w.wire.find("/videos")); photos != 2 || videos != 4 {
		t.Errorf("%d photos, %d calls about videos", photos, videos)
	}
	w.wantHeld(0)
}

// An answer that is lost on the way to a prepared Draft costs an upload, never a post.
func TestLostWhilePreparing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost  func(sent) bool
		shelf func(*testing.T, *library) []network.Media
	}{
		"a photo": {
			func(s sent) bool { return strings.HasSuffix(s.path, "/photos") },
			func(t *testing.T, l *library) []network.Media { return []network.Media{l.png(t, 9, 9), l.png(t, 8, 8)} },
		},
		"the start":  {inPhase("start"), film},
		"a transfer": {inPhase("transfer"), film},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			d, lost := w.plan("lost", c.shelf(t, l)...), 0
			w.wire.lose = func(s sent) bool {
				if c.lost(s) {
					lost++
				}
				return c.lost(s) && lost == 2 // of a start there is no second in one go
			}
			_, _, err := w.network().Prepare(t.Context(), g, d, l)
			if name == "the start" {
				_, _, err = w.network().Prepare(t.Context(), g, d, l)
			}
			networktest.WantClass(t, err, network.Transient, "")
			ready, _, err := w.network().Prepare(t.Context(), g, d, l)
			if err != nil {
				t.Fatal(err)
			}
			w.publish(g, ready)
			w.wantStands(g, ready)
		})
	}
}

func inPhase(phase string) func(sent) bool {
	return func(s sent) bool { return s.params.Get("upload_phase") == phase }
}

func film(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4()} }

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content func(*testing.T, *library) network.Content
		class   network.Class
		code    string
	}{
		"too long": {func(*testing.T, *library) network.Content {
			return network.Content{Text: strings.Repeat("é", 63_207)}
		}, network.Rejected, "caption_too_long"},
		"nothing": {func(*testing.T, *library) network.Content { return network.Content{} }, network.Rejected, "caption_missing"},
		"too many": {func(*testing.T, *library) network.Content {
			return network.Content{Media: make([]network.Media, 11)}
		}, network.RejectedMedia, ""},
		"both": {func(t *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.png(t, 9, 9), l.mp4()}}
		}, network.RejectedMedia, "media_mix"},
		"no image, as only the file says": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Image, Type: "image/png"}, []byte("%PDF-1.7"))}}
		}, network.RejectedMedia, "100/1366046"},
		"an image that is gone": {func(t *testing.T, l *library) network.Content {
			m := l.png(t, 4, 4)
			l.remove(m)
			return network.Content{Media: []network.Media{m}}
		}, network.Transient, "9004/2207052"},
		"a video that is gone": {func(_ *testing.T, l *library) network.Content {
			m := l.mp4()
			l.remove(m)
			return network.Content{Media: []network.Media{m}}
		}, network.RejectedMedia, "MediaGone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			content := c.content(t, l)
			_, _, err := w.network().Prepare(t.Context(), w.connect("harbour.coffee"), w.plan(content.Text, content.Media...), l)
			networktest.WantClass(t, err, c.class, c.code)
			w.wantHeld(0)
		})
	}
}

func TestLostAnswer(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"a text":  func(*testing.T, *library) []network.Media { return nil },
		"photos":  func(t *testing.T, l *library) []network.Media { return []network.Media{l.png(t, 9, 9), l.png(t, 8, 8)} },
		"a video": film,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			d := w.prepared(g, l, "lost", shelf(t, l)...)
			w.clock.Advance(2 * time.Second)
			w.wire.lose = func(s sent) bool { return strings.HasSuffix(s.path, "/feed") || inPhase("finish")(s) }
			_, err := w.network().Commit(t.Context(), g, d, nil)
			if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) {
				t.Error("the error holds the token")
			}
			w.wire.lose = nil
			w.wantStands(g, d)
			w.wantStandsStill(g, d)
		})
	}
}

// wantStandsStill commits a publication that stands once more.
func (w *world) wantStandsStill(g network.Grant, d network.Draft) {
	w.t.Helper()
	_, err := w.network().Commit(w.t.Context(), g, d, nil)
	if said, ok := errors.AsType[*network.Error](err); ok && said.Class != network.Uncertain && said.Class != network.Duplicate {
		w.t.Errorf("again: %v", err)
	}
	w.wantStands(g, d)
}

// A publication that certainly never arrived is absent, but not at once, and is then committed.
func TestNeverArrived(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	for _, media := range [][]network.Media{nil, {l.png(t, 9, 9)}, {l.mp4()}} {
		d := w.prepared(g, l, "late", media...)
		tried := network.Tried{First: w.clock.Now(), Last: w.clock.Now()}
		w.clock.Advance(59 * time.Second)
		verdict, _, err := w.network().Resolve(t.Context(), g, d, tried)
		if said := networktest.WantClass(t, err, network.Processing, ""); verdict != network.Unknown || !said.After.After(w.clock.Now()) {
			t.Errorf("verdict %v, not before %v", verdict, said.After)
		}
		w.clock.Advance(time.Second)
		if verdict, _, err := w.network().Resolve(t.Context(), g, d, tried); verdict != network.Absent || err != nil {
			t.Errorf("verdict %v, %v", verdict, err)
		}
		w.publish(g, d)
		w.clock.Advance(10 * time.Minute)
	}
	w.wantHeld(3)
}

// The same text again is refused, and another post of ours is never taken for the one that is looked for.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	standing := w.publish(g, w.prepared(g, nil, "twin"))
	second := w.prepared(g, nil, "twin")
	_, err := w.network().Commit(t.Context(), g, second, nil)
	networktest.WantClass(t, err, network.Duplicate, "506")
	tried := network.Tried{First: w.clock.Now(), Last: w.clock.Now(), Others: []string{standing.ID}}
	w.clock.Advance(time.Minute)
	if verdict, receipt, err := w.network().Resolve(t.Context(), g, second, tried); verdict != network.Absent || err != nil {
		t.Errorf("%v, %+v, %v", verdict, receipt, err)
	}
	w.wantHeld(1)
}

// Photos that were posted are not posted again.
func TestPostedPhotos(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "photos", l.png(t, 9, 9))
	w.publish(g, d)
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Duplicate, "100/1366051")
	w.wantHeld(1)
}

// A post of the same text from before the Draft is another's.
func TestOlderTwin(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	w.publish(g, w.prepared(g, l, "daily", l.png(t, 9, 9)))
	w.clock.Advance(2 * time.Minute)
	d := w.prepared(g, l, "daily", l.png(t, 8, 8))
	receipt := w.publish(g, d)
	verdict, found, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
	if err != nil || verdict != network.Stands || found.ID != receipt.ID {
		t.Errorf("verdict %v, %+v, %v", verdict, found, err)
	}
	w.publish(g, w.prepared(g, l, "daily", l.png(t, 7, 7)))
	verdict, _, err = w.network().Resolve(t.Context(), g, d, network.Tried{})
	if networktest.WantClass(t, err, network.Uncertain, ""); verdict != network.Unknown {
		t.Errorf("of two: verdict %v", verdict)
	}
	w.wantHeld(3)
}

// A video of which the network can make nothing is given up, and never stands.
func TestBadVideo(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 10*time.Second), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "no film", l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, []byte("no film")))
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Processing, "")
	w.clock.Advance(10 * time.Second)
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{First: start, Last: start})
	if said := networktest.WantClass(t, err, network.RejectedMedia, "error"); verdict != network.Absent || said.Message == "" {
		t.Errorf("verdict %v, %q", verdict, said.Message)
	}
	_, _, err = w.network().Prepare(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.RejectedMedia, "error")
	w.wantHeld(0)
}

// An upload that was left alone for too long is given up and made anew.
func TestExpiredUpload(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "late", l.mp4())
	w.clock.Advance(25 * time.Hour)
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Uncertain, "100")
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{First: start, Last: start})
	if networktest.WantClass(t, err, network.Transient, "expired"); verdict != network.Absent {
		t.Fatalf("verdict %v", verdict)
	}
	if d, _, err = w.network().Prepare(t.Context(), g, d, l); err != nil {
		t.Fatal(err)
	}
	w.publish(g, d)
	w.wantHeld(1)
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
		"[sandbox:expired-token]":  {[]network.Class{network.AuthDead, network.AuthDead}, 0},
		"[sandbox:slow=0]":         {[]network.Class{""}, 1},
		"[sandbox:reject@bluesky]": {[]network.Class{""}, 1},
	} {
		for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
			"text": func(*testing.T, *library) []network.Media { return nil }, "video": film,
		} {
			t.Run(text+" "+name, func(t *testing.T) {
				t.Parallel()
				w, l := newWorld(t, 0), newLibrary(t)
				g := w.connect("harbour.coffee")
				d := w.prepared(g, l, text, shelf(t, l)...)
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
				if text == "[sandbox:lost-answer]" {
					w.wantStands(g, d)
					w.wantStandsStill(g, d)
				}
			})
		}
	}
}

// A marker of a dead token acts once for a text, or connecting again would mend nothing; renewing does not.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, nil, "[sandbox:expired-token]")
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "190/463")
	g = w.connect("harbour.coffee")
	w.publish(g, d)
	w.wantHeld(1)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	text, video := w.prepared(g, l, "never"), w.prepared(g, l, "never", l.mp4())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := w.network()
	for name, call := range map[string]func() error{
		"photo":         func() error { _, _, err := n.Prepare(ctx, g, w.plan("", l.png(t, 9, 9)), l); return err },
		"video":         func() error { _, _, err := n.Prepare(ctx, g, w.plan("", l.mp4()), l); return err },
		"commit":        func() error { _, err := n.Commit(ctx, g, text, nil); return err },
		"commit video":  func() error { _, err := n.Commit(ctx, g, video, nil); return err },
		"resolve":       func() error { _, _, err := n.Resolve(ctx, g, text, network.Tried{}); return err },
		"resolve video": func() error { _, _, err := n.Resolve(ctx, g, video, network.Tried{}); return err },
	} {
		if said := networktest.WantClass(t, call(), network.Transient, ""); strings.Contains(said.Error(), g.Access) {
			t.Errorf("%s: the error holds the token", name)
		}
	}
	w.wantHeld(0)
}

func TestDraftsOfOthers(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	for _, d := range []string{
		"", "{}", "[]", `{"threads":true,"container":"181"}`, string(w.plan("not prepared")), string(w.plan("", l.mp4())),
		`{"facebook":true,"made":"2026-11-21T09:00:00Z","media":[{"kind":"image"}]}`,
		`{"facebook":true,"made":"2026-11-21T09:00:00Z","media":[{"kind":"video"}],"video":"../me","session":"1"}`,
	} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), nil)
		networktest.WantClass(t, err, network.Rejected, "")
		_, _, err = w.network().Resolve(t.Context(), g, json.RawMessage(d), network.Tried{})
		networktest.WantClass(t, err, network.Rejected, "")
	}
	_, err := w.network().Permalink(t.Context(), g, network.Receipt{ID: "../me"})
	networktest.WantClass(t, err, network.Rejected, "")
	if sent := len(w.wire.find("/feed")) + len(w.wire.find("/videos")); sent != 0 {
		t.Errorf("%d calls", sent)
	}
}
