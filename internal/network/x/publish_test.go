package x_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
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
	g := w.connect()
	text := "Grüße 👋 & more\n\nhttps://example.org/?a=b #tag"
	receipt, err := w.network().Commit(t.Context(), g, w.prepared(g, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	held := w.held()
	if len(held) != 1 || held[0].Text != text || held[0].ID != receipt.ID || held[0].Account != "harbour.coffee" {
		t.Errorf("held %+v, receipt %+v", held, receipt)
	}
	permalink, err := w.network().Permalink(t.Context(), g, network.Receipt{ID: receipt.ID})
	if err != nil || permalink != receipt.Permalink {
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
		"one image": func(t *testing.T, l *library) []network.Media { return []network.Media{l.png(t, 5)} },
		"four images": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.png(t, 5), l.png(t, 6), l.png(t, 7), l.png(t, 8)}
		},
		"a GIF":   func(_ *testing.T, l *library) []network.Media { return []network.Media{l.gif()} },
		"a video": func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4()} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 10*time.Second), &library{}
			g := w.connect()
			media := shelf(t, l)
			d, err := w.prepare(g, w.plan("see https://example.org/a.", media...), l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantHeld(0)
			if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
				t.Fatal(err)
			}
			w.wantShown(l)
			w.wantStands(g, d)
		})
	}
}

// wantShown checks that the one post shows the library's files, byte for byte and in their order.
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

func TestAskedFits(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), &library{}
	g := w.connect()
	for _, m := range []network.Media{l.png(t, 9), l.gif(), l.mp4()} {
		if _, err := w.prepare(g, w.plan("", m), l); err != nil {
			t.Fatal(err)
		}
	}
	want := []network.Fit{
		{Types: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 5_000_000},
		{Types: []string{"image/gif"}, MaxBytes: 15_000_000, MaxSide: 1280},
		{Types: []string{"video/mp4", "video/quicktime"}, MaxBytes: 512_000_000},
	}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Error(diff)
	}
}

// Prepare may be called again with every Draft that was kept.
func TestPrepareAgain(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 10*time.Second), &library{}
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
	if sent := w.wire.count("/finalize"); sent != 1 {
		t.Errorf("%d uploads", sent)
	}
	for i, d := range kept {
		if _, err := w.prepare(g, d, l); err != nil {
			t.Errorf("draft %d: %v", i, err)
		}
	}
	w.wantHeld(0)
}

// A step whose answer is lost is repeated and leaves one post.
func TestLostWhilePreparing(t *testing.T) {
	t.Parallel()
	for _, step := range []string{"/initialize", "/append", "/finalize", "/media/metadata", "/media/upload"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 10*time.Second), &library{}
			g := w.connect()
			film := l.mp4()
			film.Alt = "a film"
			d := w.plan("lost", film)
			w.wire.lose = step
			_, _, err := w.network().Prepare(t.Context(), g, d, l)
			networktest.WantClass(t, err, network.Transient, "")
			w.wire.lose = ""
			if d, err = w.prepare(g, d, l); err != nil {
				t.Fatal(err)
			}
			if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
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
		"too long": {func(*testing.T, *library) network.Content {
			return network.Content{Text: strings.Repeat("é", 281)}
		}, network.Rejected, "caption_too_long"},
		"too many": {func(t *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.png(t, 1), l.png(t, 2), l.png(t, 3), l.png(t, 4), l.png(t, 5)}}
		}, network.RejectedMedia, "media_too_many"},
		"mixed": {func(t *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.png(t, 1), l.mp4()}}
		}, network.RejectedMedia, "media_mix"},
		"no image, as only the file says": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Image, Type: "image/png"}, []byte("GIF89a..."))}}
		}, network.RejectedMedia, "invalid-request"},
		"an empty file": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Image, Type: "image/png"}, nil)}}
		}, network.RejectedMedia, "media_too_large"},
		"an image that is gone": {func(*testing.T, *library) network.Content {
			return network.Content{Media: []network.Media{{ID: 9, Kind: network.Image, Type: "image/png"}}}
		}, network.RejectedMedia, "gone"},
		"a file that is shorter than it says": {func(t *testing.T, l *library) network.Content {
			m := l.png(t, 5)
			l.files[0].media.Size++
			return network.Content{Media: []network.Media{m}}
		}, network.Transient, ""},
		"a video that is none": {func(_ *testing.T, l *library) network.Content {
			return network.Content{Media: []network.Media{l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, []byte("no film"))}}
		}, network.RejectedMedia, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), &library{}
			content := c.content(t, l)
			_, err := w.prepare(w.connect(), w.plan(content.Text, content.Media...), l)
			networktest.WantClass(t, err, c.class, c.code)
			w.wantHeld(0)
		})
	}
}

// The same text is refused a second time, and another post of ours is never taken for the one that is looked for.
func TestDuplicate(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	first, err := w.network().Commit(t.Context(), g, w.prepared(g, "twice"), nil)
	if err != nil {
		t.Fatal(err)
	}
	second := w.prepared(g, "twice")
	_, err = w.network().Commit(t.Context(), g, second, nil)
	networktest.WantClass(t, err, network.Duplicate, "")
	tried := network.Tried{First: w.clock.Now(), Last: w.clock.Now(), Others: []string{first.ID}}
	w.clock.Advance(time.Minute)
	if verdict, receipt, err := w.network().Resolve(t.Context(), g, second, tried); verdict != network.Absent || err != nil {
		t.Errorf("%v, %+v, %v", verdict, receipt, err)
	}
	w.wantHeld(1)
	w.clock.Advance(25 * time.Hour)
	if _, err := w.network().Commit(t.Context(), w.connect(), second, nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(2)
}

func TestLostAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	d := w.prepared(g, "lost  <b> \"it's\"\nexample.org, https://Example.org/A/ http://a.test.")
	w.wire.lose = "/tweets"
	_, err := w.network().Commit(t.Context(), g, d, nil)
	if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) {
		t.Error("the error holds the token")
	}
	w.wire.lose = ""
	w.wantStands(g, d)
}

// What the network does not have is believed some time after the last attempt, and then posted once.
func TestNeverArrived(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	d, tried := w.prepared(g, "late"), w.tried()
	verdict, _, err := w.network().Resolve(t.Context(), g, d, tried)
	if said := networktest.WantClass(t, err, network.Processing, ""); verdict != network.Unknown || !said.After.After(w.clock.Now()) {
		t.Errorf("verdict %v, after %v", verdict, said.After)
	}
	w.clock.Advance(time.Minute)
	if verdict, _, err = w.network().Resolve(t.Context(), g, d, tried); verdict != network.Absent || err != nil {
		t.Fatalf("verdict %v, %v", verdict, err)
	}
	if _, err := w.network().Commit(t.Context(), g, d, nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

// Media that the network has forgotten are uploaded again, once it is certain that nothing was posted.
func TestExpiredMedia(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), &library{}
	g := w.connect()
	d, err := w.prepare(g, w.plan("late", l.png(t, 5)), l)
	if err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(25 * time.Hour)
	if g, err = w.network().Refresh(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	_, err = w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.Uncertain, "media_expired")
	verdict, _, err := w.network().Resolve(t.Context(), g, d, network.Tried{})
	if networktest.WantClass(t, err, network.Transient, "media_expired"); verdict != network.Absent {
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
		"[sandbox:reject@bluesky]": {[]network.Class{""}, 1},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 0)
			g := w.connect()
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

// A marker of a dead token kills the refresh token too, acts once for a text, and connecting again mends it.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	d := w.prepared(g, "[sandbox:expired-token]")
	_, err := w.network().Commit(t.Context(), g, d, nil)
	networktest.WantClass(t, err, network.AuthRefresh, "")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_request")
	if _, err := w.network().Commit(t.Context(), w.connect(), d, nil); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestDraftsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	for _, d := range []string{
		"", "{}", "[]", `{"threads":true,"container":"181"}`, string(w.plan("not prepared")),
		`{"x":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1}]}`, `{"x":true,"ready":"2026-11-21T09:00:00Z","media":[{"id":1}],"uploads":[{"id":"../me"}]}`,
	} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), nil)
		networktest.WantClass(t, err, network.Rejected, "")
	}
	if sent := w.wire.count("/2/tweets"); sent != 0 {
		t.Errorf("%d calls", sent)
	}
}

// Posts at once of one draft make one.
func TestCommitAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	g := w.connect()
	d := w.prepared(g, "once")
	results := make(chan network.Class)
	for range 8 {
		go func() {
			_, err := w.network().Commit(t.Context(), g, d, nil)
			said, _ := errors.AsType[*network.Error](err)
			if said == nil {
				said = &network.Error{}
			}
			results <- said.Class
		}()
	}
	seen := map[network.Class]int{}
	for range 8 {
		seen[<-results]++
	}
	if seen[""] != 1 || seen[network.Duplicate] != 7 {
		t.Errorf("%v", seen)
	}
	w.wantStands(g, d)
}
