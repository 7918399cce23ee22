package bluesky_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pressroom/internal/network"
	"pressroom/internal/network/bluesky"
)

// endless gives out files that say they are as large as a video may be.
type endless struct{ *library }

func (endless) Open(context.Context, int64, network.Fit) (network.File, error) {
	return network.File{ReadCloser: io.NopCloser(zeros{}), Type: "video/mp4", Size: 100_000_000}, nil
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) { clear(into); return len(into), nil }

func TestCheckMedia(t *testing.T) {
	t.Parallel()
	picture := network.Media{Kind: network.Image, Type: "image/webp", Size: 976_000}
	film := network.Media{Kind: network.Video, Type: "video/mp4", Size: 100_000_000, Duration: 3 * time.Minute}
	of := func(m network.Media, change func(*network.Media)) network.Media { change(&m); return m }
	for name, c := range map[string]struct {
		media []network.Media
		want  []string // the codes, with a ! where they block
	}{
		"one image":     {[]network.Media{picture}, nil},
		"four images":   {[]network.Media{picture, picture, picture, picture}, nil},
		"five images":   {[]network.Media{picture, picture, picture, picture, picture}, []string{"media_too_many!"}},
		"one video":     {[]network.Media{film}, nil},
		"two videos":    {[]network.Media{film, film}, []string{"media_too_many!"}},
		"both":          {[]network.Media{picture, film}, []string{"media_mix!"}},
		"large image":   {[]network.Media{of(picture, func(m *network.Media) { m.Size++ })}, []string{"media_too_large"}},
		"GIF":           {[]network.Media{of(picture, func(m *network.Media) { m.Type = "image/gif" })}, []string{"media_type"}},
		"TIFF":          {[]network.Media{of(picture, func(m *network.Media) { m.Type = "image/tiff" })}, []string{"media_type!"}},
		"no kind":       {[]network.Media{{Type: "application/pdf"}}, []string{"media_type!"}},
		"QuickTime":     {[]network.Media{of(film, func(m *network.Media) { m.Type = "video/quicktime" })}, []string{"media_type!"}},
		"large video":   {[]network.Media{of(film, func(m *network.Media) { m.Size++ })}, []string{"media_too_large!"}},
		"long video":    {[]network.Media{of(film, func(m *network.Media) { m.Duration++ })}, []string{"media_too_long!"}},
		"all the worst": {[]network.Media{{Kind: network.Video, Size: 1 << 40, Duration: time.Hour}}, []string{"media_type!", "media_too_large!", "media_too_long!"}},
	} {
		var got []string
		for _, p := range newNetwork().Check(network.Content{Text: blank, Media: c.media}) {
			if !strings.HasSuffix(p.Message, ".") {
				t.Errorf("%s: %q is no sentence", name, p.Message)
			}
			got = append(got, p.Code+map[bool]string{true: "!"}[p.Blocking])
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestWhatTheLibraryIsAskedFor(t *testing.T) {
	t.Parallel()
	w := sandboxWorld(t)
	g := w.connect(t)
	for want, one := range map[*network.Fit]item{
		{Types: []string{"image/jpeg", "image/png", "image/webp"}, MaxBytes: 976_000, MaxSide: 2000}: pngItem(t, 10, 10, ""),
		{Types: []string{"video/mp4"}, MaxBytes: 100_000_000}:                                        mp4Item(""),
	} {
		files, content := shelf(one)
		if _, _, err := newNetwork().Prepare(t.Context(), g, planned(t, "post-1", content), files); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]network.Fit{*want}, files.asked); diff != "" {
			t.Error(diff)
		}
	}
}

// What Check refuses never comes this far; should it all the same, nothing is left out in silence.
func TestMediaThatNoPostCanShow(t *testing.T) {
	t.Parallel()
	files, content := shelf(pngItem(t, 10, 10, ""), mp4Item(""))
	_, _, err := newNetwork().Prepare(t.Context(), network.Grant{}, planned(t, "post-1", content), files)
	wantClass(t, err, network.RejectedMedia, "media_mix")
	if len(files.asked) != 0 {
		t.Error("a file was opened")
	}
}

func TestMediaThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	unfit := &network.Error{Class: network.RejectedMedia, Code: "NoSuchMedia"}
	for want, failed := range map[network.Class]error{network.RejectedMedia: unfit, network.Transient: errLost} {
		picture := pngItem(t, 10, 10, "")
		picture.failed = failed
		files, content := shelf(picture)
		_, _, err := newNetwork().Prepare(t.Context(), network.Grant{}, planned(t, "post-1", content), files)
		wantClass(t, err, want, "")
	}
}

func TestClassesOfUploads(t *testing.T) {
	t.Parallel()
	const blob = `{"blob":{"$type":"blob","ref":{"$link":"bafkreia"},"mimeType":"image/png","size":`
	for _, c := range []struct {
		status int
		body   string
		want   network.Class
	}{
		{400, `{"error":"ExpiredToken"}`, network.AuthRefresh},
		{401, `{"error":"AuthMissing"}`, network.AuthDead},
		{400, `{"error":"BlobTooLarge"}`, network.RejectedMedia},
		{400, `{"error":"InvalidRequest"}`, network.RejectedMedia},
		{413, `{"error":"PayloadTooLarge"}`, network.RejectedMedia},
		{413, `<html>too large</html>`, network.RejectedMedia},
		{415, `{"error":"UnsupportedMediaType"}`, network.RejectedMedia},
		{429, `{"error":"RateLimitExceeded"}`, network.Rate},
		{400, `<html>blocked on the way</html>`, network.Transient},
		{500, `{"error":"InternalServerError"}`, network.Transient},
		{504, `{"error":"UpstreamTimeout"}`, network.Transient},
		{200, `{}`, network.Transient},
		{200, `{"blob":3}`, network.Transient},
		{200, blob + `1}}`, network.Transient}, // not all of it arrived
	} {
		files, content := shelf(pngItem(t, 10, 10, ""))
		_, _, err := newNetwork().Prepare(t.Context(), scripted(t, c.status, nil, c.body), planned(t, "post-1", content), files)
		if class(err) != c.want {
			t.Errorf("HTTP %d %s: %v, want %s", c.status, c.body, err, c.want)
		}
	}
}

// An upload goes out with its length and its type, and has more time than other calls.
func TestUploadOnTheWire(t *testing.T) {
	t.Parallel()
	var length int64
	var contentType string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		length, contentType = r.ContentLength, r.Header.Get("Content-Type")
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer server.Close()
	deadlines := &lateness{}
	n := bluesky.New(bluesky.Options{App: network.App{HTTP: &http.Client{Transport: deadlines, Timeout: 10 * time.Second}}})
	film := mp4Item("")
	film.bytes = append(film.bytes, make([]byte, 500_000)...)
	files, content := shelf(film)
	_, _, err := n.Prepare(t.Context(), network.Grant{Server: server.URL}, planned(t, "post-1", content), files)
	wantClass(t, err, network.Transient, "")
	if length != int64(len(film.bytes)) || contentType != "video/mp4" {
		t.Errorf("%d bytes of %s", length, contentType)
	}
	if deadlines.left < 34*time.Second || deadlines.left > 35*time.Second {
		t.Errorf("%v for the upload", deadlines.left)
	}
}

// lateness notes how long a request may take.
type lateness struct{ left time.Duration }

func (l *lateness) RoundTrip(r *http.Request) (*http.Response, error) {
	if deadline, ok := r.Context().Deadline(); ok {
		l.left = time.Until(deadline)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// A draft that was stored before there were media is read as ever.
func TestDraftOfBefore(t *testing.T) {
	t.Parallel()
	d := network.Draft(`{"rkey":"3miatogtx2c22","prepared":false,"record":{"$type":"app.bsky.feed.post","text":"#old","createdAt":"2026-11-21T09:30:00.000Z"}}`)
	prepared, _, err := newNetwork().Prepare(t.Context(), network.Grant{}, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Prepared bool
		Record   struct{ Facets, Embed any }
	}
	if err := json.Unmarshal(prepared, &got); err != nil || !got.Prepared || got.Record.Facets == nil || got.Record.Embed != nil {
		t.Errorf("%s, %v", prepared, err)
	}
}
