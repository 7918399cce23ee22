package networktest

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/network"
)

// Library implements network.Files. It keeps the files in memory and serves them over HTTP.
type Library struct {
	URL      string
	Seekable bool // opened files are seekable

	t         *testing.T
	mu        sync.Mutex
	files     []file
	requested []network.FileLimits
	expiries  []time.Time // expiries of links
}

type file struct {
	media   network.Media
	bytes   []byte
	missing bool
}

// NewLibrary returns a library without files.
func NewLibrary(t *testing.T) *Library {
	t.Helper()
	l := &Library{t: t}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.ParseInt(strings.TrimPrefix(r.URL.Path, "/"), 10, 64)
		if f := l.file(id); !f.missing {
			_, _ = w.Write(f.bytes)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	l.URL = server.URL
	return l
}

func (l *Library) file(id int64) file {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id < 1 || id > int64(len(l.files)) {
		return file{missing: true}
	}
	return l.files[id-1]
}

// Bytes returns the content of a file.
func (l *Library) Bytes(m network.Media) []byte { return l.file(m.ID).bytes }

// Add adds a file and returns m with the file's ID and size.
func (l *Library) Add(m network.Media, content []byte) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.ID, m.Size = int64(len(l.files)+1), int64(len(content))
	l.files = append(l.files, file{media: m, bytes: content})
	return m
}

// Replace replaces the content of a file.
func (l *Library) Replace(m network.Media, content []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[m.ID-1].bytes, l.files[m.ID-1].media.Size = content, int64(len(content))
}

// Overstate adds one byte to a file's stated size.
func (l *Library) Overstate(m network.Media) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[m.ID-1].media.Size++
	return m
}

// Remove removes a file, or restores it if missing is false.
func (l *Library) Remove(m network.Media, missing bool) network.Media {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.files[m.ID-1].missing = missing
	return m
}

// RequestedLimits returns the limits with which files were opened or linked.
func (l *Library) RequestedLimits() []network.FileLimits {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.requested)
}

// LinkExpiries returns the expiry time of each link.
func (l *Library) LinkExpiries() []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.expiries)
}

// Link returns the URL of a file. It converts a PNG to JPEG if the network does not accept PNG.
func (l *Library) Link(_ context.Context, id int64, limits network.FileLimits, expires time.Time) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requested, l.expiries = append(l.requested, limits), append(l.expiries, expires)
	if at := id - 1; at < int64(len(l.files)) && !slices.Contains(limits.Types, "image/png") {
		if shown, err := png.Decode(bytes.NewReader(l.files[at].bytes)); err == nil {
			var converted bytes.Buffer
			_ = jpeg.Encode(&converted, shown, nil)
			l.files[at].bytes = converted.Bytes()
		}
	}
	return l.URL + "/" + strconv.FormatInt(id, 10), nil
}

// Open opens a file.
func (l *Library) Open(_ context.Context, id int64, limits network.FileLimits) (network.File, error) {
	f := l.file(id)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requested = append(l.requested, limits)
	if f.missing {
		return network.File{}, &network.Error{Class: network.RejectedMedia, Code: "missing"}
	}
	opened := network.File{Type: f.media.Type, Size: f.media.Size}
	opened.ReadCloser = io.NopCloser(struct{ io.Reader }{bytes.NewReader(f.bytes)})
	if l.Seekable {
		opened.ReadCloser = seekable{bytes.NewReader(f.bytes)}
	}
	return opened, nil
}

type seekable struct{ io.ReadSeeker }

func (seekable) Close() error { return nil }

// Image adds an image of a format: png, jpeg or gif.
func (l *Library) Image(format string, width, height int) network.Media {
	l.t.Helper()
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black, color.White})
	for x := range width {
		img.SetColorIndex(x, x%height, 1)
	}
	var content bytes.Buffer
	encode := map[string]func() error{
		"png":  func() error { return png.Encode(&content, img) },
		"jpeg": func() error { return jpeg.Encode(&content, img, nil) },
		"gif":  func() error { return gif.Encode(&content, img, nil) },
	}[format]
	if err := encode(); err != nil {
		l.t.Fatal(err)
	}
	return l.Add(network.Media{Kind: network.Image, Type: "image/" + format, Width: width, Height: height, Alt: "dots"},
		content.Bytes())
}

// Fake adds a file with content that does not match its stated type.
func (l *Library) Fake(kind, mime, content string) network.Media {
	return l.Add(network.Media{Kind: kind, Type: mime}, []byte(content))
}

// Video adds a video of a size in bytes. It is not playable: it has a header, which the sandbox checks, and filler. No
// two parts of the filler are equal.
func (l *Library) Video(size int) network.Media {
	return l.Add(network.Media{Name: "film.mp4", Kind: network.Video, Type: "video/mp4", Duration: time.Minute},
		videoBytes(size))
}

const videoHeader = "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"

var (
	longestVideo   = []byte(videoHeader)
	longestVideoMu sync.Mutex
)

// videoBytes returns the first size bytes of a video that all tests share.
func videoBytes(size int) []byte {
	longestVideoMu.Lock()
	defer longestVideoMu.Unlock()
	longestVideo = slices.Grow(longestVideo, max(0, size-len(longestVideo)))
	for i := (len(longestVideo) - len(videoHeader)) / 4; len(longestVideo) < size; i++ {
		longestVideo = append(longestVideo, byte(i), byte(i>>8), byte(i>>16), 'f') //nolint:gosec // the lowest bytes
	}
	return longestVideo[:size:size]
}

// WantVideoAltText checks that a network receives the alt text of a video.
func WantVideoAltText(t *testing.T, c Case) {
	t.Helper()
	f := New(t, c, 0)
	film := f.Library.Video(100)
	film.Alt = "harbor"
	g := f.Grant()
	f.Publish(g, f.MustPrepare(g, "a film", film))
	if !slices.ContainsFunc(f.Transport.Requests("POST "), func(r Request) bool {
		return strings.Contains(string(r.Body)+r.URL.RawQuery, film.Alt)
	}) {
		t.Errorf("%s does not receive the alt text of a video", c.Platform)
	}
}
