package tiktok_test

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
	"pressroom/internal/network/tiktok"
)

const (
	photosCall = "POST /tiktok/v2/post/publish/content/init/"
	videoCall  = "POST /tiktok/v2/post/publish/video/init/"
)

func TestPosts(t *testing.T) {
	t.Parallel()
	for name, shelf := range map[string]func(*testing.T, *library) []network.Media{
		"one image": func(t *testing.T, l *library) []network.Media { return []network.Media{l.jpeg(t, 40, 30)} },
		"several": func(t *testing.T, l *library) []network.Media {
			return []network.Media{l.jpeg(t, 50, 40), l.png(t, 40, 30)}
		},
		"a video":       func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4(small)} },
		"a large video": func(_ *testing.T, l *library) []network.Media { return []network.Media{l.mp4(large)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			media := shelf(t, l)
			text := "Grüße 👋 & more\n\n#tag"
			d := w.prepared(g, l, text, media...)
			w.wantHeld(0)
			receipt, err := w.network().Commit(t.Context(), g, d, l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantShown(l, text, receipt, media)
		})
	}
}

// wantShown checks that the one post shows these files, byte for byte and in this order, where its permalink leads.
func (w *world) wantShown(l *library, text string, r network.Receipt, media []network.Media) {
	w.t.Helper()
	held := w.held()
	if len(held) != 1 || held[0].Text != text || held[0].ID != r.ID || held[0].Account != "harbour.coffee" || len(held[0].Media) != len(media) {
		w.t.Fatalf("held %+v, receipt %+v", held, r)
	}
	for i, m := range media {
		shown, kind := w.get(held[0].Media[i])
		want := "image/jpeg"
		if m.Kind == network.Video {
			want = m.Type
		}
		if !bytes.Equal(shown, l.bytes(m)) || kind != want {
			w.t.Errorf("medium %d: %d bytes of %s", i, len(shown), kind)
		}
	}
	form := "photo"
	if media[0].Kind == network.Video {
		form = "video"
	}
	if r.Permalink != w.url+"/tiktok/web/@harbour.coffee/"+form+"/"+r.ID {
		w.t.Errorf("permalink %q", r.Permalink)
	}
	if page, _ := w.get(r.Permalink); !strings.Contains(string(page), `id="tiktok-`+r.ID+`"`) {
		w.t.Error("the permalink leads to no post")
	}
}

func (w *world) get(address string) ([]byte, string) {
	w.t.Helper()
	response, err := http.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	_, _ = body.ReadFrom(response.Body)
	if response.StatusCode != http.StatusOK {
		w.t.Errorf("%s: HTTP %d", address, response.StatusCode)
	}
	return body.Bytes(), response.Header.Get("Content-Type")
}

func TestAskedFits(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("mira.keller")
	w.prepared(g, l, "", l.png(t, 9, 9))
	w.prepared(g, l, "", l.mp4(small))
	want := []network.Fit{
		{Types: []string{"image/jpeg", "image/webp"}, MaxBytes: 20_000_000, MaxSide: 1920},
		{Types: []string{"video/mp4", "video/quicktime", "video/webm"}, MaxBytes: 4_000_000_000},
	}
	if diff := cmp.Diff(want, l.asked); diff != "" {
		t.Error(diff)
	}
}

// What the account's owner has switched off stays off, and a draft that is ready stays as it is.
func TestDraftKeeps(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("mira.keller")
	d := w.prepared(g, l, "kept", l.jpeg(t, 9, 9))
	var kept struct {
		Privacy string
		NoDuet  bool `json:"no_duet"`
		Links   []string
	}
	if err := json.Unmarshal(d, &kept); err != nil || kept.Privacy != "PUBLIC_TO_EVERYONE" || !kept.NoDuet || len(kept.Links) != 1 {
		t.Errorf("%s, %v", d, err)
	}
	again, err := w.prepare(g, d, l)
	if err != nil || !bytes.Equal(again[len(again)-1], d) {
		t.Errorf("%s, then %s, %v", d, again, err)
	}
	w.clock.Advance(3 * time.Hour)
	if g, err = w.network().Refresh(t.Context(), g); err != nil {
		t.Fatal(err)
	}
	if _, err = w.prepare(g, d, l); err != nil || l.made != 2 {
		t.Errorf("%d links after hours, %v", l.made, err)
	}
	if asked := w.wire.count("creator_info/query/"); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	w.wantHeld(0)
}

// Whatever draft a process that takes over finds, the post is made once.
func TestPrepareFromEachDraft(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"one part": small, "three parts": large} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			film := l.mp4(size)
			kept, err := w.prepare(g, w.plan("again", film), l)
			if err != nil {
				t.Fatal(err)
			}
			for i, d := range kept {
				again, err := w.prepare(g, d, l)
				if err != nil {
					t.Fatal(err)
				}
				if last := again[len(again)-1]; i > 0 && !bytes.Equal(last, kept[len(kept)-1]) {
					t.Errorf("draft %d: %s, then %s", i, d, last)
				}
			}
			if begun := w.wire.count(videoCall); begun != 2 { // anew only for the draft that knows of none
				t.Errorf("begun %d times", begun)
			}
			receipt, err := w.network().Commit(t.Context(), g, kept[len(kept)-1], l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantShown(l, "again", receipt, []network.Media{film})
		})
	}
}

func TestAnswersLostWhilePreparing(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"creator_info/query/", "video/init/", "bytes 0-4999999/16000000", "bytes 5000000-9999999/16000000", "status/fetch/"} {
		t.Run(lost, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			film := l.mp4(large)
			w.wire.lose = lost
			kept, err := w.prepare(g, w.plan("lost", film), l)
			networktest.WantClass(t, err, network.Transient, "")
			kept, err = w.prepare(g, kept[len(kept)-1], l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantHeld(0)
			receipt, err := w.network().Commit(t.Context(), g, kept[len(kept)-1], l)
			if err != nil {
				t.Fatal(err)
			}
			w.wantShown(l, "lost", receipt, []network.Media{film})
		})
	}
}

func TestAnswersLostAtCommit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		lost  string
		media func(*testing.T, *library) network.Media
		ready time.Duration
	}{
		"photo":             {"content/init/", func(t *testing.T, l *library) network.Media { return l.jpeg(t, 9, 9) }, 0},
		"a photo in review": {"content/init/", func(t *testing.T, l *library) network.Media { return l.jpeg(t, 9, 9) }, time.Minute},
		"video":             {"bytes 0-19999/20000", func(_ *testing.T, l *library) network.Media { return l.mp4(small) }, 0},
		"video's last part": {"bytes 10000000-15999999/16000000", func(_ *testing.T, l *library) network.Media { return l.mp4(large) }, 0},
		"video in review":   {"bytes 0-19999/20000", func(_ *testing.T, l *library) network.Media { return l.mp4(small) }, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, c.ready), newLibrary(t)
			g := w.connect("harbour.coffee")
			d := w.prepared(g, l, " lost\n words", c.media(t, l))
			w.wire.lose = c.lost
			_, err := w.network().Commit(t.Context(), g, d, l)
			if said := networktest.WantClass(t, err, network.Uncertain, ""); strings.Contains(said.Error(), g.Access) || strings.Contains(said.Error(), "token=") {
				t.Errorf("the error holds a secret: %v", said)
			}
			w.wantStands(g, d)
		})
	}
}

// A status that cannot be read after all has been sent is no failure of the post.
func TestStatusLostAtCommit(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "sent", l.mp4(small))
	w.wire.lose = "status/fetch/"
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Processing, "")
	w.wantStands(g, d)
}

// The second of two commits of a video is refused, and makes nothing.
func TestCommitTwice(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "once", l.mp4(small))
	if _, err := w.network().Commit(t.Context(), g, d, l); err != nil {
		t.Fatal(err)
	}
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Uncertain, "")
	w.wantStands(g, d)
}

func TestCommitAtOnce(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "once", l.mp4(small))
	results := make(chan error)
	for range 8 {
		go func() {
			_, err := w.network().Commit(t.Context(), g, d, l)
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

// A post is public only after a while, and asked about until then.
func TestReview(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, time.Minute), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "film", l.mp4(small))
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Processing, "PROCESSING_UPLOAD")
	verdict, receipt, err := w.resolve(g, d)
	if verdict != network.Stands || err != nil || !strings.HasPrefix(receipt.ID, "publish:v_pub_file~") || receipt.Permalink != "" {
		t.Fatalf("verdict %v, receipt %+v, %v", verdict, receipt, err)
	}
	w.wantLink(g, receipt, "/video/")

	_, err = w.network().Commit(t.Context(), g, w.prepared(g, l, "photo", l.jpeg(t, 9, 9)), l)
	said := networktest.WantClass(t, err, network.Processing, "PROCESSING_DOWNLOAD")
	w.clock.Advance(time.Minute)
	_, receipt, err = w.resolve(g, said.Draft)
	if err != nil || !strings.HasPrefix(receipt.ID, "publish:p_pub_url~") {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	w.wantLink(g, receipt, "/photo/")
	w.wantHeld(2)
}

// wantLink checks that a post has a permalink once it has been reviewed, and none before.
func (w *world) wantLink(g network.Grant, r network.Receipt, form string) {
	w.t.Helper()
	if link, err := w.network().Permalink(w.t.Context(), g, r); err != nil || link != "" {
		w.t.Errorf("permalink %q at once, %v", link, err)
	}
	w.clock.Advance(2 * time.Minute)
	link, err := w.network().Permalink(w.t.Context(), g, r)
	if err != nil || !strings.Contains(link, form) {
		w.t.Errorf("permalink %q, %v", link, err)
	}
	w.get(link)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text   string
		media  func(*testing.T, *library) network.Media
		commit bool // it shows then
		class  network.Class
		code   string
	}{
		"a long text of photos": {strings.Repeat("é", 4001), func(t *testing.T, l *library) network.Media { return l.jpeg(t, 9, 9) }, false, network.Rejected, "caption_too_long"},
		"a long text of videos": {strings.Repeat("é", 2201), func(_ *testing.T, l *library) network.Media { return l.mp4(small) }, false, network.Rejected, "caption_too_long"},
		"a long video": {"", func(_ *testing.T, l *library) network.Media {
			m := l.mp4(small)
			m.Duration = 10*time.Minute + 1
			return m
		}, false, network.RejectedMedia, "media_too_long"},
		"a video that is gone": {"", func(_ *testing.T, l *library) network.Media {
			m := l.mp4(small)
			l.remove(m)
			return m
		}, false, network.RejectedMedia, "MediaGone"},
		"an empty video": {"", func(_ *testing.T, l *library) network.Media { return l.mp4(0) }, false, network.RejectedMedia, ""},
		"no video, as only the file says": {"", func(_ *testing.T, l *library) network.Media {
			return l.add(network.Media{Kind: network.Video, Type: "video/mp4"}, []byte("no film"))
		}, true, network.RejectedMedia, "file_format_check_failed"},
		"no photo, as only the file says": {"", func(_ *testing.T, l *library) network.Media {
			return l.add(network.Media{Kind: network.Image, Type: "image/jpeg"}, []byte("GIF89a..."))
		}, true, network.RejectedMedia, "file_format_check_failed"},
		"a photo that is gone": {"", func(t *testing.T, l *library) network.Media {
			m := l.jpeg(t, 9, 9)
			l.remove(m)
			return m
		}, true, network.Transient, "photo_pull_failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			kept, err := w.prepare(g, w.plan(c.text, c.media(t, l)), l)
			if c.commit && err == nil {
				_, err = w.network().Commit(t.Context(), g, kept[len(kept)-1], l)
			}
			if said, ok := errors.AsType[*network.Error](err); ok && said.Draft != nil {
				_, _, err = w.resolve(g, said.Draft)
			}
			networktest.WantClass(t, err, c.class, c.code)
			w.wantHeld(0)
		})
	}
}

func TestTextAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 0)
	_, err := w.prepare(w.connect("harbour.coffee"), w.plan("words"), nil)
	networktest.WantClass(t, err, network.RejectedMedia, "media_missing")
}

// An upload that was left too long is begun anew.
func TestLateUpload(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	d := w.prepared(g, l, "late", l.mp4(small))
	w.clock.Advance(61 * time.Minute)
	_, err := w.network().Commit(t.Context(), g, d, l)
	networktest.WantClass(t, err, network.Uncertain, "")
	verdict, _, err := w.resolve(g, d)
	if networktest.WantClass(t, err, network.Transient, "upload_expired"); verdict != network.Absent {
		t.Fatalf("verdict %v", verdict)
	}
	kept, err := w.prepare(g, d, l)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.network().Commit(t.Context(), g, kept[len(kept)-1], l); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

// What the sandbox's markers ask for arrives as the class of error that people want to try out. Of those that act once,
// the second time is as without.
func TestMarkers(t *testing.T) {
	t.Parallel()
	photo := func(t *testing.T, l *library) network.Media { return l.jpeg(t, 9, 9) }
	video := func(_ *testing.T, l *library) network.Media { return l.mp4(small) }
	for name, c := range map[string]struct {
		text  string
		media func(*testing.T, *library) network.Media
		want  []network.Class // of the first and the second publication
		held  int
	}{
		"rejected video":       {"[sandbox:reject]", video, []network.Class{network.Rejected, network.Rejected}, 0},
		"rejected photo":       {"[sandbox:reject]", photo, []network.Class{network.Rejected, network.Rejected}, 0},
		"busy, a video":        {"[sandbox:rate-limit]", video, []network.Class{network.Rate, network.Rate}, 0},
		"busy, a photo":        {"[sandbox:rate-limit]", photo, []network.Class{network.Rate, network.Rate}, 0},
		"error, a video":       {"[sandbox:error]", video, []network.Class{network.Uncertain, ""}, 1},
		"error, a photo":       {"[sandbox:error]", photo, []network.Class{network.Uncertain, ""}, 1},
		"lost, a video":        {"[sandbox:lost-answer]", video, []network.Class{network.Uncertain, ""}, 2},
		"lost, a photo":        {"[sandbox:lost-answer]", photo, []network.Class{network.Uncertain, ""}, 2},
		"dead, a video":        {"[sandbox:expired-token]", video, []network.Class{network.AuthRefresh, network.AuthRefresh}, 0},
		"dead, a photo":        {"[sandbox:expired-token]", photo, []network.Class{network.AuthRefresh, network.AuthRefresh}, 0},
		"slow":                 {"[sandbox:slow=0]", video, []network.Class{""}, 1},
		"of another network":   {"[sandbox:reject@threads]", photo, []network.Class{""}, 1},
		"of this one, by name": {"[sandbox:reject@tiktok]", photo, []network.Class{network.Rejected}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			m := c.media(t, l)
			for i, want := range c.want {
				kept, err := w.prepare(g, w.plan(c.text, m), l)
				if err == nil {
					_, err = w.network().Commit(t.Context(), g, kept[len(kept)-1], l)
				}
				if err == nil && want == "" {
					continue
				}
				said := networktest.WantClass(t, err, want, "")
				if ahead := said.After.Sub(start); want == network.Rate && ahead != 2*time.Second {
					t.Errorf("publication %d: not before %v from now", i, ahead)
				}
			}
			w.wantHeld(c.held)
		})
	}
}

// After one error the same draft is committed again, as soon as it is certain that nothing stands.
func TestErrorThenWell(t *testing.T) {
	t.Parallel()
	for name, media := range map[string]func(*testing.T, *library) network.Media{
		"photo": func(t *testing.T, l *library) network.Media { return l.jpeg(t, 9, 9) },
		"video": func(_ *testing.T, l *library) network.Media { return l.mp4(large) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, l := newWorld(t, 0), newLibrary(t)
			g := w.connect("harbour.coffee")
			d := w.prepared(g, l, "[sandbox:error]", media(t, l))
			_, err := w.network().Commit(t.Context(), g, d, l)
			networktest.WantClass(t, err, network.Uncertain, "")
			tried := network.Tried{First: w.clock.Now(), Last: w.clock.Now()}
			w.clock.Advance(settled)
			if verdict, _, err := w.network().Resolve(t.Context(), g, d, tried); verdict != network.Absent || err != nil {
				t.Fatalf("verdict %v, %v", verdict, err)
			}
			if _, err := w.network().Commit(t.Context(), g, d, l); err != nil {
				t.Error(err)
			}
			w.wantHeld(1)
		})
	}
}

// A marker of a dead token acts once for a text: connecting again mends it, and nothing less.
func TestConnectingAgainMends(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	film := l.mp4(small)
	_, err := w.prepare(g, w.plan("[sandbox:expired-token]", film), l)
	networktest.WantClass(t, err, network.AuthRefresh, "access_token_invalid")
	_, err = w.network().Refresh(t.Context(), g)
	networktest.WantClass(t, err, network.AuthDead, "invalid_grant")
	g = w.connect("harbour.coffee")
	if _, err := w.network().Commit(t.Context(), g, w.prepared(g, l, "[sandbox:expired-token]", film), l); err != nil {
		t.Error(err)
	}
	w.wantHeld(1)
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	w, l := newWorld(t, 0), newLibrary(t)
	g := w.connect("harbour.coffee")
	film, shot := w.prepared(g, l, "never", l.mp4(small)), w.prepared(g, l, "never", l.jpeg(t, 9, 9))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n := w.network()
	for name, call := range map[string]func() error{
		"prepare":         func() error { _, _, err := n.Prepare(ctx, g, w.plan("x", l.mp4(small)), l); return err },
		"commit a video":  func() error { _, err := n.Commit(ctx, g, film, l); return err },
		"commit a photo":  func() error { _, err := n.Commit(ctx, g, shot, l); return err },
		"resolve a video": func() error { _, _, err := n.Resolve(ctx, g, film, network.Tried{}); return err },
		"resolve a photo": func() error { _, _, err := n.Resolve(ctx, g, shot, network.Tried{}); return err },
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
	for _, d := range []string{"", "{}", "[]", `{"threads":true,"container":"18"}`, string(w.plan("not prepared", l.mp4(small))), string(w.plan("neither", l.jpeg(t, 9, 9))), string(w.plan("words"))} {
		_, err := w.network().Commit(t.Context(), g, json.RawMessage(d), l)
		networktest.WantClass(t, err, network.Rejected, "")
	}
	if sent := w.wire.count(photosCall) + w.wire.count(videoCall); sent != 0 {
		t.Errorf("%d calls", sent)
	}
}

// Where a post that is not found counts as none after a time, photos can be fetched for half of it at most; where it never does, for hours.
func TestPhotosComeInTime(t *testing.T) {
	t.Parallel()
	for settled, life := range map[time.Duration]time.Duration{0: 4 * time.Hour, 10 * time.Minute: 5 * time.Minute} {
		l := newLibrary(t)
		g := said(t, http.StatusOK, nil, well(`{"publish_id":"p_pub_url~1","status":"PROCESSING_DOWNLOAD"}`))
		n := tiktok.New(tiktok.Options{App: network.App{Now: func() time.Time { return start }, Settled: network.Span(settled)}})
		d, _, err := n.Prepare(t.Context(), g, network.Draft(`{"tiktok":true,"media":[{"id":1,"kind":"image"}],"privacy":"SELF_ONLY"}`), l)
		if err != nil {
			t.Fatal(err)
		}
		_, err = n.Commit(t.Context(), g, d, l)
		networktest.WantClass(t, err, network.Processing, "")
		if !l.until.Equal(start.Add(life)) {
			t.Errorf("settled after %v: links end %v after the call", settled, l.until.Sub(start))
		}
	}
}
