package youtube_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/networktest"
	"pressroom/internal/network/youtube"
)

func TestVideo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		size, parts int
		seekable    bool
	}{
		"one part":           {1000, 1, false},
		"one whole part":     {chunk, 1, false},
		"a byte more":        {chunk + 1, 2, true},
		"three whole parts":  {3 * chunk, 3, false},
		"three and a little": {3*chunk + 5, 4, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t), newLibrary()
			l.seekable = c.seekable
			g := w.connect("harbour.coffee")
			text := "Grüße 👋 & more\n\nhttps://example.org/?a=b #tag"
			film := l.film(c.size)
			d, err := w.prepare(g, w.plan(text, film), l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantHeld(0)
			receipt := w.commit(g, d, l)
			w.wantShown(receipt, text, l.files[film.ID])
			// Each part once, and asked before those that follow a pause.
			asked := 1
			if c.parts > 1 {
				asked = 2
			}
			if puts := w.wire.count(http.MethodPut, session); puts != c.parts+asked {
				t.Errorf("%d requests to the session", puts)
			}
		})
	}
}

// wantShown checks the one post that is held.
func (w *world) wantShown(receipt network.Receipt, text string, film []byte) {
	w.t.Helper()
	held := w.held()
	if len(held) != 1 || held[0].Text != text || held[0].ID != receipt.ID || held[0].Account != "harbour.coffee" || len(held[0].Media) != 1 {
		w.t.Fatalf("held %+v, receipt %+v", held, receipt)
	}
	response, err := http.Get(held[0].Media[0])
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var shown bytes.Buffer
	_, _ = shown.ReadFrom(response.Body)
	if !bytes.Equal(shown.Bytes(), film) || response.Header.Get("Content-Type") != "video/mp4" {
		w.t.Errorf("%d bytes of %s", shown.Len(), response.Header.Get("Content-Type"))
	}
	permalink, err := w.network().Permalink(w.t.Context(), network.Grant{}, network.Receipt{ID: receipt.ID})
	if err != nil || permalink != receipt.Permalink {
		w.t.Errorf("permalink %q, %v", permalink, err)
	}
	page, err := http.Get(permalink)
	if err != nil || page.StatusCode != http.StatusOK || page.Request.URL.Fragment != "youtube-"+receipt.ID {
		w.t.Errorf("following the permalink: %v, %v", page, err)
	}
	page.Body.Close()
}

// What is said of a video is sent as it was planned.
func TestInsert(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	if _, err := w.prepare(w.connect("mira.keller"), w.plan("Opening day\n#harbour #coffee", l.film(chunk)), l); err != nil {
		t.Fatal(err)
	}
	begun := w.wire.sent[len(w.wire.sent)-1]
	var got any
	_ = json.Unmarshal(begun.body, &got)
	want := map[string]any{
		"snippet": map[string]any{"title": "Opening day", "description": "Opening day\n#harbour #coffee", "tags": []any{"harbour", "coffee"}},
		"status":  map[string]any{"privacyStatus": "public"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if begun.header.Get("X-Upload-Content-Length") != strconv.Itoa(chunk) || begun.header.Get("X-Upload-Content-Type") != "video/mp4" || begun.query.Get("part") != "snippet,status" {
		t.Errorf("%v, %v", begun.header, begun.query)
	}
	if diff := cmp.Diff([]network.Fit{{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 256_000_000_000}}, l.asked); diff != "" {
		t.Error(diff)
	}
}

func TestPlanIsTheSame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.plan("same")
	w.clock.Advance(time.Hour)
	if second := w.plan("same"); string(first) != string(second) {
		t.Errorf("%s and %s", first, second)
	}
}

// A Draft that is prepared again keeps its session, and a Prepare from any Draft that was kept makes no second video.
func TestPrepareAgain(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	begun, wait, err := w.network().Prepare(t.Context(), g, w.plan("once", l.film(5*chunk/2)), l)
	if err != nil || wait <= 0 {
		t.Fatalf("wait %v, %v", wait, err)
	}
	d, err := w.prepare(g, begun, l)
	if err != nil {
		t.Fatal(err)
	}
	for _, kept := range []network.Draft{begun, d} {
		if again, err := w.prepare(g, kept, l); err != nil || string(again) != string(d) {
			t.Errorf("%s, then %s, %v", d, again, err)
		}
	}
	if made := w.wire.count(http.MethodPost, session); made != 1 {
		t.Errorf("%d sessions", made)
	}
	w.wantHeld(0)
	first := w.commit(g, d, l)
	if again, err := w.prepare(g, begun, l); err != nil || string(again) != string(d) {
		t.Errorf("after the commit: %s, %v", again, err)
	}
	if second := w.commit(g, d, l); second != first {
		t.Errorf("%+v, then %+v", first, second)
	}
	w.wantHeld(1)
}

// Whichever request or answer of a publication is lost, it is published once.
func TestLostAnywhere(t *testing.T) {
	t.Parallel()
	for _, dropped := range []bool{false, true} {
		for number := range 7 { // begin, ask, two parts, ask, the last part, and none
			t.Run(strconv.FormatBool(dropped)+" "+strconv.Itoa(number), func(t *testing.T) {
				t.Parallel()
				w, l := newWorld(t), newLibrary()
				g := w.connect("harbour.coffee")
				before := len(w.wire.sent)
				lose := func(n int, _ sent) bool { return n == before+number }
				if dropped {
					w.wire.drop = lose
				} else {
					w.wire.lose = lose
				}
				film := l.film(5 * chunk / 2)
				d := w.plan("lost somewhere", film)
				for ready := false; !ready; {
					next, wait, err := w.network().Prepare(t.Context(), g, d, l)
					if err != nil {
						networktest.WantClass(t, err, network.Transient, "")
						continue
					}
					d, ready = next, wait == 0
				}
				w.wantHeld(0)
				receipt := w.deliver(g, d, l)
				w.wantShown(receipt, "lost somewhere", l.files[film.ID])
			})
		}
	}
}

// deliver commits as a delivery does: after doubt it asks.
func (w *world) deliver(g network.Grant, d network.Draft, l *library) network.Receipt {
	w.t.Helper()
	for range 4 {
		receipt, err := w.network().Commit(w.t.Context(), g, d, l)
		if err == nil {
			return receipt
		}
		if networktest.Class(err) != network.Uncertain {
			networktest.WantClass(w.t, err, network.Transient, "")
			continue
		}
		verdict, receipt, err := w.network().Resolve(w.t.Context(), g, d, network.Tried{First: start, Last: start})
		if err != nil {
			w.t.Fatal(err)
		}
		if verdict == network.Stands {
			return receipt
		}
	}
	w.t.Fatal("never published")
	return network.Receipt{}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content func(*library) network.Content
		class   network.Class
		code    string
	}{
		"too long": {func(l *library) network.Content {
			return network.Content{Text: strings.Repeat("é", 2501), Media: []network.Media{l.film(9)}}
		}, network.Rejected, "caption_too_long"},
		"a sign": {func(l *library) network.Content {
			return network.Content{Text: "1 < 2", Media: []network.Media{l.film(9)}}
		}, network.Rejected, "caption_characters"},
		"no video": {func(*library) network.Content { return network.Content{Text: "x"} }, network.RejectedMedia, "media_missing"},
		"an image": {func(*library) network.Content {
			return network.Content{Media: []network.Media{{Kind: network.Image, Type: "image/jpeg"}}}
		}, network.RejectedMedia, "media_type"},
		"two videos": {func(l *library) network.Content {
			return network.Content{Media: []network.Media{l.film(9), l.film(9)}}
		}, network.RejectedMedia, "media_too_many"},
		"an empty file": {func(l *library) network.Content { return network.Content{Media: []network.Media{l.film(0)}} }, network.RejectedMedia, ""},
		"a file that is gone": {func(l *library) network.Content {
			m := l.film(9)
			delete(l.files, m.ID)
			return network.Content{Media: []network.Media{m}}
		}, network.RejectedMedia, "MediaGone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t), newLibrary()
			content := c.content(l)
			_, err := w.prepare(w.connect("harbour.coffee"), w.plan(content.Text, content.Media...), l)
			networktest.WantClass(t, err, c.class, c.code)
			if begun := w.wire.count(http.MethodPost, session); begun != 0 {
				t.Errorf("%d sessions", begun)
			}
			w.wantHeld(0)
		})
	}
}

// An operator's rules cannot make a video of nothing.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	n := youtube.New(youtube.Options{App: network.App{Rules: &network.Rules{}}})
	d, err := n.Plan(network.Intent{Content: network.Content{Text: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = n.Prepare(t.Context(), network.Grant{}, d, newLibrary())
	networktest.WantClass(t, err, network.RejectedMedia, "")
}

// A file that is not the one that the upload was begun with is not sent.
func TestChangedFile(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	film := l.film(3 * chunk)
	d, err := w.prepare(g, w.plan("x", film), l)
	if err != nil {
		t.Fatal(err)
	}
	l.files[film.ID] = l.files[film.ID][:2*chunk]
	_, err = w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Rejected, "")
	w.wantHeld(0)
}

func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "lost", l)
	w.wire.lose = last
	_, err := w.network().Commit(t.Context(), g, d, l)
	if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) || strings.Contains(said.Error(), "upload_id") {
		t.Error("the error holds a secret")
	}
	w.wantStands(g, d)
}

func TestCommitAtOnce(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "once", l)
	results := make(chan error)
	for range 8 {
		go func() {
			_, err := w.network().Commit(t.Context(), g, d, l)
			results <- err
		}()
	}
	for range 8 {
		if err := <-results; err != nil && networktest.Class(err) != network.Uncertain {
			t.Error(err)
		}
	}
	w.wantStands(g, d)
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
		"[sandbox:lost-answer]":    {[]network.Class{network.Uncertain, ""}, 1},
		"[sandbox:expired-token]":  {[]network.Class{network.AuthRefresh, network.AuthRefresh}, 0},
		"[sandbox:slow=0]":         {[]network.Class{""}, 1},
		"[sandbox:reject@bluesky]": {[]network.Class{""}, 1},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t), newLibrary()
			g := w.connect("harbour.coffee")
			d := w.prepared(g, text, l)
			for i, class := range c.want {
				_, err := w.network().Commit(t.Context(), g, d, l)
				if err == nil && class == "" {
					continue
				}
				said := networktest.WantClass(t, err, class, "")
				if ahead := said.After.Sub(w.clock.Now()); class == network.Rate && ahead != 2*time.Second {
					t.Errorf("commit %d: not before %v from now", i, ahead)
				}
			}
			w.wantHeld(c.held)
		})
	}
}

func TestMarkedLostAnswerIsFound(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "[sandbox:lost-answer]", l)
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Uncertain, "")
	w.wantStands(g, d)
}

// After an internal error the session lacks its last part, so the commit may be repeated.
func TestMarkedErrorIsAbsent(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "[sandbox:error]", l)
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Uncertain, "backendError")
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{First: start, Last: start})
	if verdict != network.Absent || err != nil {
		t.Errorf("verdict %v, %v", verdict, err)
	}
	w.commit(g, d, l)
	w.wantHeld(1)
}

// A marker of a dead token acts once for a text, or connecting again would mend nothing.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "[sandbox:expired-token]", l)
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.AuthRefresh, "authError")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
	w.commit(w.connect("harbour.coffee"), d, l)
	w.wantHeld(1)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	d := w.prepared(g, "never", l)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := w.network()
	for name, call := range map[string]func() error{
		"begin":   func() error { _, _, err := n.Prepare(ctx, g, w.plan("x", l.film(9)), l); return err },
		"prepare": func() error { _, _, err := n.Prepare(ctx, g, d, l); return err },
		"commit":  func() error { _, err := n.Commit(ctx, g, d, l); return err },
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
	w, l := newWorld(t), newLibrary()
	g := w.connect("harbour.coffee")
	for _, d := range []string{
		"", "{}", "[]", `{"threads":true,"container":"18"}`, string(w.plan("not prepared", l.film(9))),
		`{"youtube":true,"session":"https://elsewhere.test/upload","total":9,"media":[{"id":1}]}`,
		`{"youtube":true,"session":"` + g.Server + `.elsewhere.test/upload","total":9,"media":[{"id":1}]}`,
	} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), l)
		networktest.WantClass(t, err, network.Rejected, "")
	}
	if puts := w.wire.count(http.MethodPut, session); puts != 0 {
		t.Errorf("%d calls", puts)
	}
}
