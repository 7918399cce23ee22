package blob

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// A multipart upload of 100 MB does not keep the file in memory. The test is not parallel because it measures the
// memory of the process.
func TestLargeBlobs(t *testing.T) {
	s := s3.Start(t)
	r := newBucket(t, s, s.Bucket(t))
	const size = 100 << 20
	staged := stage(t, r, nil)
	must.Get(io.Copy(staged, io.LimitReader(&repeat{block: noise(3<<20 + 1)}, size)))(t)
	want := staged.Sum()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must.NoError(t, r.Put(t.Context(), key, staged))
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("putting %d MiB took %d MiB of memory", size>>20, used>>20)
	}
	sum := sha256.New()
	if n, err := io.Copy(sum, reader(t, r, key)); n != size || err != nil || [sha256.Size]byte(sum.Sum(nil)) != want {
		t.Errorf("read %d bytes of %d, %v, unchanged: %t", n, size, err, [sha256.Size]byte(sum.Sum(nil)) == want)
	}
	if err := r.Put(t.Context(), key, stage(t, r, noise(partSize+1))); !errors.Is(err, ErrExists) {
		t.Errorf("putting another: %v, want %v", err, ErrExists)
	}
	if n := r.count(t); n != 1 {
		t.Errorf("%d objects and uploads, want only the blob", n)
	}
}

// A blob that is put during a multipart upload to the same key wins.
func TestPutDuringMultipartUpload(t *testing.T) {
	t.Parallel()
	s := s3.Start(t)
	first := newBucket(t, s, s.Bucket(t))
	var once sync.Once
	front := proxy(t, s, func(request *http.Request) bool {
		if request.URL.Query().Has("partNumber") {
			once.Do(func() { put(t, first, key, []byte("first")) })
		}
		return false
	})
	second := newBucket(t, front, front.URL(inner(first).name))
	if err := second.Put(t.Context(), key, stage(t, second, noise(partSize+1))); !errors.Is(err, ErrExists) {
		t.Errorf("putting: %v, want %v", err, ErrExists)
	}
	if got := string(get(t, first, key)); got != "first" || second.count(t) != 1 {
		t.Errorf("there is %.10q, and %d things", got, second.count(t))
	}
}

// A put that is canceled during its last request succeeds. A put that is canceled earlier stores nothing.
func TestCanceledPut(t *testing.T) {
	t.Parallel()
	s := s3.Start(t)
	for name, at := range map[string]func(*http.Request) bool{
		"whole":      func(r *http.Request) bool { return r.Method == http.MethodPut && !r.URL.Query().Has("uploadId") },
		"beginning":  func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploads") },
		"parts":      func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "2" },
		"completing": func(r *http.Request) bool { return r.Method == http.MethodPost && r.URL.Query().Has("uploadId") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			front := proxy(t, s, func(request *http.Request) bool {
				cut := strings.HasSuffix(request.URL.Path, key) && at(request)
				if cut {
					cancel()
				}
				return false
			})
			r := newBucket(t, front, front.Bucket(t))
			size := 100
			if name != "whole" {
				size = 40 << 20
			}
			staged := stage(t, r, noise(size))
			err := r.Put(ctx, key, staged)
			staged.Discard()
			want := 0
			if name == "whole" || name == "completing" {
				want = 1
			}
			if n := r.count(t); n != want || (want == 0) != errors.Is(err, context.Canceled) {
				t.Errorf("%d objects and uploads are left, want %d: %v", n, want, err)
			}
		})
	}
}

// If the response to a put is lost, the client repeats the request, and the server rejects it. The put still succeeds.
func TestLostResponse(t *testing.T) {
	t.Parallel()
	s := s3.Start(t)
	for name, size := range map[string]int{"whole": 100, "parts": partSize + 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var once sync.Once
			front := proxy(t, s, func(request *http.Request) bool {
				lose := false
				if strings.HasSuffix(request.URL.Path, key) && makesBlob(request) {
					once.Do(func() { lose = true })
				}
				return lose
			})
			r := newBucket(t, front, front.Bucket(t))
			put(t, r, key, noise(size))
			if !bytes.Equal(get(t, r, key), noise(size)) {
				t.Error("the content differs")
			}
		})
	}
}

func makesBlob(r *http.Request) bool {
	query := r.URL.Query()
	return r.Method == http.MethodPut && !query.Has("uploadId") || r.Method == http.MethodPost && query.Has("uploadId")
}

// Reading after a seek requests a small range. Reading further requests larger ranges.
func TestRanges(t *testing.T) {
	t.Parallel()
	s := s3.Start(t)
	var requested []string
	front := proxy(t, s, func(request *http.Request) bool {
		if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, key) {
			requested = append(requested, request.Header.Get("Range"))
		}
		return false
	})
	r := newBucket(t, front, front.Bucket(t))
	const size = 10 << 20
	put(t, r, key, noise(size))
	blob := reader(t, r, key)
	for _, at := range []int64{5_000_000, 0, size - 3} {
		must.Get(blob.Seek(at, io.SeekStart))(t)
		three := make([]byte, 3)
		if _, err := io.ReadFull(blob, three); err != nil || !bytes.Equal(three, noise(size)[at:at+3]) {
			t.Errorf("at %d there is %x, %v", at, three, err)
		}
	}
	want := []string{"bytes=5000000-6048575", "bytes=0-1048575", "bytes=10485757-10485759"}
	if diff := cmp.Diff(want, requested); diff != "" {
		t.Errorf("requested ranges (-want +got):\n%s", diff)
	}
	requested = nil
	get(t, r, key)
	if want := []string{
		"bytes=0-1048575", "bytes=1048576-3145727", "bytes=3145728-7340031", "bytes=7340032-10485759",
	}; !slices.Equal(requested, want) {
		t.Errorf("reading everything requested %q, want %q", requested, want)
	}
}
