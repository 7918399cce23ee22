package media

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/network"
	"pressroom.example/pressroom/internal/platform/blob"
	"pressroom.example/pressroom/internal/platform/loadshed"
	"pressroom.example/pressroom/internal/testkit"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// drone returns a video with a number of location samples, each in its own span of bytes.
func drone(seed uint64, samples, span int) []byte {
	plain := film(seed, 0)
	head, moov := plain[:16], plain[16:len(plain)-8]
	data, offsets := bytes.Repeat([]byte{1}, samples*span), []uint32{0, uint32(samples)}
	for n := range samples {
		copy(data[n*span:], location)
		offsets = append(offsets, uint32(len(head)+8+n*span))
	}
	stbl := boxOf("stbl", boxOf("stco", u32(offsets...)), boxOf("stsc", u32(0, 1, 1, 1, 1)),
		boxOf("stsz", u32(0, uint32(len(location)), uint32(samples))))
	shown := []uint32{0, uint32(samples)}
	for _, at := range offsets[2:] {
		shown = append(shown, at+uint32(len(location)))
	}
	rest := uint32(span - len(location)) // audio between the samples
	sound := boxOf("stbl", boxOf("stco", u32(shown...)), boxOf("stsc", u32(0, 1, 1, 1, 1)), boxOf("stsz", u32(0, rest, uint32(samples))))
	trak := func(id uint32, handler string, stbl []byte) []byte {
		mdhd, hdlr := boxOf("mdhd", u32(0, 0, 0, 30_000, 90_000)), boxOf("hdlr", u32(0, 0), []byte(handler))
		return boxOf("trak", boxOf("tkhd", u32(1, 0, 0, id), make([]byte, 68)), boxOf("mdia", mdhd, hdlr, boxOf("minf", stbl)))
	}
	return slices.Concat(head, boxOf("mdat", data), boxOf("moov", moov[8:], trak(2, "meta", stbl), trak(3, "soun", sound)))
}

// countReads returns a proxy of an S3 server and a counter of its reads.
func countReads(t *testing.T, s *s3.Server) (*s3.Server, *atomic.Int64) {
	t.Helper()
	to, err := url.Parse(s.Endpoint)
	must(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // part of the signature
	}}
	var reads atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			reads.Add(1)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	counted := *s
	counted.Endpoint = front.URL
	return &counted, &reads
}

// TestVideoReadCount checks the number of requests for a video in S3 whose metadata is in many places.
func TestVideoReadCount(t *testing.T) {
	t.Parallel()
	server, reads := countReads(t, s3.Start(t))
	w := newFixture(t, testkit.SQLite(t), openBlobs(t, server.Bucket(t), blob.Credentials{ID: server.ID, Secret: server.Secret}), "")
	for n, c := range []struct {
		samples, span int
		most          int64
	}{{400, 100 << 10, 25}, {20, 3 << 20, 25}} {
		i := w.addUncleaned(t, drone(uint64(n), c.samples, c.span))
		reads.Store(0)
		shown, err := w.OpenForTeam(t.Context(), w.team, i.ID)
		must(t, err)
		if made := reads.Load(); made > c.most {
			t.Errorf("%d samples, one in %d bytes: %d requests, want at most %d", c.samples, c.span, made, c.most)
		}
		if raw := contentOf(t, shown); bytes.Contains(raw, location) || len(raw) < c.samples*c.span {
			t.Errorf("%d bytes", len(raw))
		}
	}
}

// TestConcurrentVideos checks that concurrent work on videos is limited, and that calls are rejected if too many are
// waiting.
func TestConcurrentVideos(t *testing.T) {
	forEachDatabase(t, func(t *testing.T, w fixture) {
		film, photo := w.addUncleaned(t, videoWithLocation(1)), w.addUncleaned(t, jpegWithLocation(2))
		store := newCountingStore(w.Blobs)
		w.Blobs = store
		for range maxVideos {
			must(t, w.videos.Acquire(t.Context(), w.team+1, 1))
		}
		soon, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := w.OpenForTeam(soon, w.team, film.ID); !errors.Is(err, context.DeadlineExceeded) || store.opens[film.Blob] != 0 {
			t.Errorf("while all slots are in use: %v, opened %d times", err, store.opens[film.Blob])
		}
		shown, err := w.OpenForTeam(t.Context(), w.team, photo.ID)
		must(t, err)
		contentOf(t, shown)
		leave := w.fillTurns(t)
		another := w.addUncleaned(t, videoWithLocation(3)).ID
		if _, err := w.OpenForTeam(t.Context(), w.team, another); apierr.FromError(err).Context["reason"] != apierr.Busy {
			t.Errorf("while too many wait: %v", err)
		}
		if _, err := w.OpenForExport(t.Context(), w.team, film.ID); apierr.FromError(err).Context["reason"] != apierr.Busy {
			t.Errorf("an export while too many wait: %v", err)
		}
		leave()
		for range maxVideos {
			w.videos.Release(w.team+1, 1)
		}
		file, err := w.Files(w.team).Open(t.Context(), film.ID, network.FileLimits{})
		must(t, err)
		if raw := contentOf(t, file); bytes.Contains(raw, location) || len(raw) == 0 {
			t.Errorf("%q", raw)
		}
	})
}

// fillTurns makes as many calls of the team wait as are allowed, and returns the function that releases them.
func (w fixture) fillTurns(t *testing.T) func() {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	var all sync.WaitGroup
	for !errors.Is(w.videos.Acquire(gone, w.team, 1), loadshed.ErrBusy) {
		all.Go(func() {
			if err := w.videos.Acquire(ctx, w.team, 1); err == nil {
				t.Error("a slot was free")
			}
		})
		runtime.Gosched()
	}
	return func() {
		cancel()
		all.Wait()
	}
}
