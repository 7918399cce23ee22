package linkedin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
)

func TestText(t *testing.T) {
	t.Parallel()
	for name, organization := range map[string]bool{"harbour.coffee": false, "harbour.coffee.company": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			g := w.connect("harbour.coffee")
			if organization {
				g = w.connectOrganization("harbour.coffee")
			}
			text := "Grüße 👋 & more (really) @you\n\n*https://example.org/a_b?c=d#e* #tag_two <x> {y} | \\ ~ [z]"
			receipt, err := w.network().Commit(t.Context(), g, w.prepared(g, text), nil)
			if err != nil {
				t.Fatal(err)
			}
			held := w.held()
			if len(held) != 1 || held[0].Text != text || held[0].ID != receipt.ID || held[0].Account != name {
				t.Errorf("held %+v, receipt %+v", held, receipt)
			}
			permalink, err := w.network().Permalink(t.Context(), g, network.Receipt{ID: receipt.ID})
			if err != nil || permalink != receipt.Permalink || !strings.HasSuffix(permalink, "/feed/update/"+receipt.ID+"/") {
				t.Errorf("permalink %q, %v", permalink, err)
			}
			response, err := http.Get(permalink)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("following the permalink: %v, %v", response, err)
			}
		})
	}
}

// Whatever a post says, the network shows all of it.
func TestAnyTextArrives(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("studio.north")
	rapid.Check(t, func(t *rapid.T) {
		text := "x" + rapid.OneOf(rapid.String(), rapid.StringMatching(`([#\\|{}@\[\]()<>*_~ ax1é]|https://a/|hashtag){0,30}`)).Draw(t, "text")
		w.clock.Advance(25 * time.Hour) // the same may be drawn again
		g := w.fresh(g)
		receipt, err := w.network().Commit(w.t.Context(), g, w.prepared(g, text), nil)
		if err != nil {
			t.Fatal(err)
		}
		if held := w.held(); held[len(held)-1].ID != receipt.ID || held[len(held)-1].Text != text {
			t.Fatalf("%q became %q", text, held[len(held)-1].Text)
		}
	})
}

// fresh connects a grant's account again where its token is over.
func (w *world) fresh(g network.Grant) network.Grant {
	w.t.Helper()
	if w.clock.Now().Before(g.Expires.Add(-48 * time.Hour)) {
		return g
	}
	return w.connectOrganization("studio.north")
}

func TestMedia(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"one image":     func(t *testing.T, l *library) []network.Media { return []network.Media{l.image(t, "png", 40, 30)} },
		"a GIF":         func(t *testing.T, l *library) []network.Media { return []network.Media{l.image(t, "gif", 40, 30)} },
		"a short video": func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4(9000)} },
		"a video":       func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4(9 << 20)} },
		"several": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.image(t, "jpeg", 50, 40), l.image(t, "gif", 9, 9), l.image(t, "png", 40, 30)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 10*time.Second), newLibrary()
			g := w.connectOrganization("harbour.coffee")
			media := shelf(t, l)
			d, err := w.prepare(g, w.plan("with media", media...), l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantHeld(0)
			if _, err := w.commit(g, d); err != nil {
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
		if !bytes.Equal(shown.Bytes(), l.bytes[m.ID]) || response.Header.Get("Content-Type") != m.Type {
			w.t.Errorf("medium %d: %d bytes of %s", i, shown.Len(), response.Header.Get("Content-Type"))
		}
	}
}

func TestAskedFits(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary()
	g := w.connect("mira.keller")
	for _, m := range []network.Media{l.image(t, "png", 9, 9), l.mp4(9000)} {
		if _, err := w.prepare(g, w.plan("", m), l); err != nil {
			t.Fatal(err)
		}
	}
	want := []network.Fit{
		{Types: []string{"image/jpeg", "image/png", "image/gif"}, MaxBytes: 5_000_000, MaxSide: 6012},
		{Types: []string{"video/mp4"}, MaxBytes: 500_000_000},
	}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Error(diff)
	}
}

// Each part of a video has its own address.
func TestVideoParts(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary()
	if _, err := w.prepare(w.connect("mira.keller"), w.plan("", l.mp4(9<<20)), l); err != nil {
		t.Fatal(err)
	}
	addresses := map[string]bool{}
	for _, s := range w.wire.sent {
		if strings.HasPrefix(s, "PUT ") {
			addresses[s] = true
		}
	}
	if len(addresses) != 3 || w.wire.count("PUT ") != 3 || w.wire.count("action=finalizeUpload") != 1 {
		t.Errorf("sent %q", w.wire.sent)
	}
}

// Who may not ask how far media are waits once, and goes on.
func TestMediaOfMembers(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 10*time.Second).asMembers(), newLibrary()
	g := w.connect("mira.keller")
	d, wait, err := w.network().Prepare(t.Context(), g, w.plan("", l.image(t, "png", 9, 9), l.image(t, "png", 8, 8)), l)
	if err != nil || wait != 30*time.Second {
		t.Fatalf("wait %v, %v", wait, err)
	}
	w.clock.Advance(wait)
	if d, wait, err = w.network().Prepare(t.Context(), g, d, l); err != nil || wait != 0 || w.wire.count("GET /linkedin/rest/images") != 1 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	if _, err := w.commit(g, d); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestPlanIsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	intent := network.Intent{Seed: "s", First: start, At: start, Content: network.Content{Text: "same"}}
	first, err := w.network().Plan(intent)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Hour)
	if second, err := w.network().Plan(intent); err != nil || string(first) != string(second) {
		t.Errorf("%s and %s, %v", first, second, err)
	}
}

// A process that takes over with any Draft that was kept comes to one post; where its call was answered to nobody, it
// begins from the Draft before.
func TestPrepareFromEachDraft(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 10*time.Second), newLibrary()
	g := w.connectOrganization("harbour.coffee")
	kept := []network.Draft{w.plan("each", l.image(t, "png", 9, 9), l.image(t, "jpeg", 9, 9))}
	for wait := time.Duration(1); wait > 0; w.clock.Advance(wait) {
		var d network.Draft
		var err error
		if d, wait, err = w.network().Prepare(t.Context(), g, kept[len(kept)-1], l); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, d)
	}
	if len(kept) < 3 {
		t.Fatalf("%d drafts", len(kept))
	}
	for i, d := range kept {
		ready, err := w.prepare(g, d, l)
		if err != nil {
			t.Fatalf("draft %d: %v", i, err)
		}
		if i > 0 && string(ready) != string(kept[len(kept)-1]) {
			t.Errorf("draft %d came to %s", i, ready)
		}
	}
	w.wantHeld(0)
	if _, err := w.commit(g, kept[len(kept)-1]); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestLostWhilePreparing(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"images?action=initializeUpload", "PUT ", "videos?action=initializeUpload", "videos?action=finalizeUpload", "GET /linkedin/rest/"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary()
			g := w.connectOrganization("harbour.coffee")
			d := w.plan("lost", l.image(t, "png", 9, 9))
			if strings.Contains(part, "video") {
				d = w.plan("lost", l.mp4(9000))
			}
			w.wire.losing(part)
			_, _, err := w.network().Prepare(t.Context(), g, d, l)
			networktest.WantClass(t, err, network.Transient, "")
			w.wire.losing("")
			if d, err = w.prepare(g, d, l); err != nil {
				t.Fatal(err)
			}
			if _, err := w.commit(g, d); err != nil {
				t.Fatal(err)
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
		"too long": {func(*testing.T, *library) network.Content {
			return network.Content{Text: strings.Repeat("é", 3001)}
		}, network.Rejected, "caption_too_long"},
		"too many": {func(*testing.T, *library) network.Content {
			return network.Content{Media: make([]network.Media, 21)}
		}, network.RejectedMedia, ""},
		"mixed": {func(t *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.image(t, "png", 9, 9), l.mp4(9000)}}
		}, network.RejectedMedia, "media_mix"},
		"no image, as only the file says": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Image, Type: "image/png"}, []byte("BM..."))}}
		}, network.RejectedMedia, "PROCESSING_FAILED"},
		"a video that is none": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, []byte("no film"))}}
		}, network.RejectedMedia, "PROCESSING_FAILED"},
		"an empty video": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, nil)}}
		}, network.RejectedMedia, "ILLEGAL_ARGUMENT"},
		"an image that is gone": {func(*testing.T, *library) network.Content {
			return network.Content{Media: []network.Media{{ID: 99, Kind: network.Image, Type: "image/png"}}}
		}, network.RejectedMedia, "media_gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary()
			content := c.content(t, l)
			_, err := w.prepare(w.connect("harbour.coffee"), w.plan(content.Text, content.Media...), l)
			networktest.WantClass(t, err, c.class, c.code)
			w.wantHeld(0)
		})
	}
}

// The longest text fits although escaping makes it longer.
func TestLongest(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	text := strings.Repeat("_", 3000)
	if _, err := w.commit(g, w.prepared(g, text)); err != nil {
		t.Fatal(err)
	}
	if held := w.held(); len(held) != 1 || held[0].Text != text {
		t.Errorf("held %d", len(held))
	}
}

func TestDuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	for _, want := range []network.Class{"", network.Duplicate} {
		if _, err := w.commit(g, w.prepared(g, "the same")); networktest.Class(err) != want {
			t.Errorf("class %q, want %q: %v", networktest.Class(err), want, err)
		}
	}
	w.wantHeld(1)
	w.clock.Advance(25 * time.Hour)
	if _, err := w.commit(g, w.prepared(g, "the same")); err != nil {
		t.Error(err)
	}
	w.wantHeld(2)
}

// Of calls at once one makes the post.
func TestCommitAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connectOrganization("harbour.coffee")
	d := w.prepared(g, "once")
	results := make(chan error)
	for range 8 {
		go func() {
			_, err := w.commit(g, d)
			results <- err
		}()
	}
	published := 0
	for range 8 {
		if err := <-results; err == nil {
			published++
		} else if networktest.Class(err) != network.Duplicate {
			t.Error(err)
		}
	}
	if published != 1 {
		t.Errorf("published %d times", published)
	}
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
		"[sandbox:lost-answer]":    {[]network.Class{network.Uncertain, network.Duplicate}, 1},
		"[sandbox:expired-token]":  {[]network.Class{network.AuthRefresh, network.AuthRefresh}, 0},
		"[sandbox:slow=0]":         {[]network.Class{""}, 1},
		"[sandbox:reject@threads]": {[]network.Class{""}, 1},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			g := w.connect("harbour.coffee")
			d := w.prepared(g, text)
			for i, want := range c.want {
				_, err := w.commit(g, d)
				if err == nil && want == "" {
					continue
				}
				said := networktest.WantClass(t, err, want, "")
				if ahead := said.After.Sub(start); want == network.Rate && ahead != 2*time.Second {
					t.Errorf("commit %d: not before %v from now", i, ahead)
				}
			}
			w.wantHeld(c.held)
		})
	}
}

// A marker of a dead token kills the consent, so that a refresh fails too, and acts once for a text.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	_, err := w.commit(g, w.prepared(g, "[sandbox:expired-token]"))
	networktest.WantClass(t, err, network.AuthRefresh, "REVOKED_ACCESS_TOKEN")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
	g = w.connect("harbour.coffee")
	if _, err := w.commit(g, w.prepared(g, "[sandbox:expired-token]")); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary()
	g := w.connectOrganization("harbour.coffee")
	d := w.prepared(g, "never")
	image := w.plan("", l.image(t, "png", 9, 9))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := w.network()
	for name, call := range map[string]func() error{
		"prepare": func() error { _, _, err := n.Prepare(ctx, g, image, l); return err },
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
	for _, d := range []string{
		"", "{}", "[]", `{"threads":true,"container":"18"}`, string(w.plan("not prepared")),
		`{"linkedin":true,"ready":true,"assets":["urn:li:image:1"]}`, `{"linkedin":true,"ready":true,"media":[{}],"assets":["../me"]}`,
	} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), nil)
		networktest.WantClass(t, err, network.Rejected, "")
	}
	if sent := w.wire.count("/rest/posts"); sent != 0 {
		t.Errorf("%d calls", sent)
	}
}

func TestOldVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "old")
	w.opts.Version = "202506"
	_, err := w.commit(g, d)
	networktest.WantClass(t, err, network.Unapproved, "NONEXISTENT_VERSION")
	w.wantHeld(0)
}
