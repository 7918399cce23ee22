package bluesky_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/network/bluesky"
	"pressroom.example/pressroom/internal/network/networktest"
	"pressroom.example/pressroom/internal/testkit/must"
)

// endless is a library whose files all have the maximum size of a video.
type endless struct{ *library }

func (endless) Open(context.Context, int64, network.FileLimits) (network.File, error) {
	return network.File{ReadCloser: io.NopCloser(zeros{}), Type: "video/mp4", Size: 300_000_000}, nil
}

type zeros struct{}

func (zeros) Read(into []byte) (int, error) { clear(into); return len(into), nil }

func TestUnopenableMedia(t *testing.T) {
	t.Parallel()
	unfit := &network.Error{Class: network.RejectedMedia, Code: "NoSuchMedia"}
	for want, failed := range map[network.ErrorClass]error{network.RejectedMedia: unfit, network.Transient: errLost} {
		picture := pngItem(t, 10, 10, "")
		picture.failed = failed
		files, content := newLibrary(picture)
		_, _, err := newNetwork().Prepare(t.Context(), network.Grant{}, plan(t, "post-1", content), files)
		networktest.WantClass(t, err, want, "")
	}
}

// An upload request has the file's length and type, and a longer timeout than other calls.
func TestUploadRequest(t *testing.T) {
	t.Parallel()
	var length int64
	var contentType string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		length, contentType = r.ContentLength, r.Header.Get("Content-Type")
		w.WriteHeader(http.StatusBadGateway)
	}))
	defer server.Close()
	deadlines := &deadlineRecorder{}
	n := bluesky.New(bluesky.Options{App: network.App{HTTP: &http.Client{Transport: deadlines, Timeout: 10 * time.Second}}})
	film := mp4Item("")
	film.bytes = append(film.bytes, make([]byte, 500_000)...)
	files, content := newLibrary(film)
	_, _, err := n.Prepare(t.Context(), network.Grant{Server: server.URL}, plan(t, "post-1", content), files)
	networktest.WantClass(t, err, network.Transient, "")
	if length != int64(len(film.bytes)) || contentType != "video/mp4" {
		t.Errorf("%d bytes of %s", length, contentType)
	}
	if deadlines.left < 34*time.Second || deadlines.left > 35*time.Second {
		t.Errorf("%v for the upload", deadlines.left)
	}
}

// deadlineRecorder records the timeout of a request.
type deadlineRecorder struct{ left time.Duration }

func (l *deadlineRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	if deadline, ok := r.Context().Deadline(); ok {
		l.left = time.Until(deadline)
	}
	return networktest.Transport.RoundTrip(r)
}

// A draft that was stored by a version without media support is still valid.
func TestDraftOfEarlierVersion(t *testing.T) {
	t.Parallel()
	d := network.Draft(
		`{"rkey":"3miatogtx2c22","prepared":false,"record":` +
			`{"$type":"app.bsky.feed.post","text":"#old","createdAt":"2026-11-21T09:30:00.000Z"}}`)
	prepared, _, err := newNetwork().Prepare(t.Context(), network.Grant{}, d, nil)
	must.NoError(t, err)
	var got struct {
		Prepared bool
		Record   struct{ Facets, Embed any }
	}
	if err := json.Unmarshal(prepared, &got); err != nil || !got.Prepared || got.Record.Facets == nil || got.Record.Embed != nil {
		t.Errorf("%s, %v", prepared, err)
	}
}

// A profile without an avatar has no picture.
func TestCollectWithoutPicture(t *testing.T) {
	t.Parallel()
	for body, none := range map[string]bool{
		`{"followersCount":1}`:            true,
		`{"avatar":"https://cdn.test/1"}`: false,
	} {
		s := networktest.NewStub(t, withVideoService, network.App{}, networktest.StubResponse{Body: body})
		got, err := s.Network.(network.Collector).Collect(t.Context(), s.Grant, networktest.Start, 10)
		if err != nil || got.NoPicture != none || none && got.Picture != "" {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}
