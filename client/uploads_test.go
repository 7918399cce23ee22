package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Invalid files do not affect the others. The service's errors have the index among all files.
func TestUploadOfInvalidFiles(t *testing.T) {
	t.Parallel()
	links := respond(http.StatusCreated, "application/json",
		`{"data":{"job_id":"j","upload":{"uploads":[{"media_id":7,"state":"stored"},{"media_id":8,"state":"stored"}]}},`+
			`"meta":{"request_id":"r"}}`)
	files := []File{
		FileFromBytes("empty.png", nil), FileFromBytes("a.png", []byte("a")), FileFromBytes("sm\xf8r.png",
			[]byte("b")), FileFromBytes("c.png", []byte("c")),
	}
	_, c := newFakeService(t, links)
	results, err := c.Upload(t.Context(), files, UploadInput{})
	if len(results) != 4 || !errors.Is(results[0].Err, ErrEmptyFile) || results[1].MediaID != 7 ||
		results[2].Err == nil || results[3].MediaID != 8 || !errors.Is(err, ErrEmptyFile) {
		t.Errorf("%+v: %v", results, err)
	}
	s, c := newFakeService(t, links)
	if results, err := c.Upload(t.Context(), files[:1], UploadInput{}); len(results) != 1 || !errors.Is(err,
		ErrEmptyFile) || len(s.requests) != 0 {
		t.Errorf("%+v: %v after %d requests", results, err, len(s.requests))
	}
	_, c = newFakeService(t,
		respond(422, "application/problem+json",
			`{"code":"validation_failed","detail":"D.","context":{"argument":"files.size_bytes","reason":"out_of_range","item":1}}`))
	_, err = c.Upload(t.Context(), files, UploadInput{})
	if e, ok := asType[*Error](err); !ok || e.Context.Item == nil || *e.Context.Item != 3 ||
		!strings.Contains(err.Error(), "(item 3) out_of_range: c.png: D.") {
		t.Errorf("%v", err)
	}
}

// An error in a later batch has the upload's key, with which the upload can be continued.
func TestUploadKey(t *testing.T) {
	t.Parallel()
	links := make([]string, maxBatchFiles)
	for i := range links {
		links[i] = fmt.Sprintf(`{"media_id":%d,"state":"stored"}`, i+1)
	}
	first := respond(http.StatusCreated, "application/json",
		`{"data":{"job_id":"j","upload":{"uploads":[`+strings.Join(links, ",")+`]}},"meta":{"request_id":"r"}}`)
	files := slices.Repeat([]File{FileFromBytes("a.png", []byte("bytes"))}, maxBatchFiles+1)
	for name, fails := range map[string]http.HandlerFunc{"rejected": problem(422, CodeValidationFailed), "unanswered": cutOff} {
		s, c := newFakeService(t, first, fails)
		_, err := c.Upload(t.Context(), files, UploadInput{}, IdempotencyKey("k"))
		e, ok := asType[*Error](err)
		lost, was := asType[*UnansweredError](err)
		hasKey := ok && e.IdempotencyKey == "k" || was && lost.IdempotencyKey == "k"
		if !hasKey || s.requests[1].Header.Get("Idempotency-Key") != "k-2" {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// A stalled upload is retried.
func TestStalledUpload(t *testing.T) {
	t.Parallel()
	held := make(chan struct{})
	var links *fakeService
	links, c := newFakeService(t,
		func(w http.ResponseWriter, r *http.Request) {
			body := fmt.Sprintf(
				`{"data":{"job_id":"j","upload":{"uploads":[{"url":%q,"state":"waiting"}]}},"meta":{"request_id":"r"}}`,
				links.URL+"/uploads/1")
			respond(http.StatusCreated, "application/json", body)(w, r)
		},
		func(http.ResponseWriter, *http.Request) { <-held },
		respond(http.StatusCreated, "application/json", `{"data":{"media_id":7}}`),
	)
	defer close(held)
	c.retry.stallTimeout = 500 * time.Millisecond
	results, err := c.Upload(t.Context(), []File{FileFromBytes("a.png", []byte("bytes"))}, UploadInput{})
	if err != nil || results[0].MediaID != 7 || len(links.requests) != 3 {
		t.Errorf("%v: %v after %d requests", results, err, len(links.requests))
	}
	for _, r := range links.requests[1:] {
		if r.Header.Get("Authorization") != "" {
			t.Error("the API key was sent to an upload link")
		}
	}
}

// zeros is a reader of zeros that needs no memory.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	clear(p[:n])
	z.left -= n
	return int(n), nil
}

func (z *zeros) Close() error { return nil }

// Only a small part of a large file is in memory at a time. The test is not parallel, because it measures all memory.
func TestUploadMemory(t *testing.T) {
	const size = 512 << 20
	var links *fakeService
	var peak, received uint64
	links, c := newFakeService(t,
		func(w http.ResponseWriter, r *http.Request) {
			body := fmt.Sprintf(
				`{"data":{"job_id":"j","upload":{"uploads":[{"url":%q,"state":"waiting"}]}},"meta":{"request_id":"r"}}`,
				links.URL+"/uploads/1")
			respond(http.StatusCreated, "application/json", body)(w, r)
		},
		func(w http.ResponseWriter, r *http.Request) {
			piece := make([]byte, 1<<20)
			for n, err := r.Body.Read(piece); n > 0 || err == nil; n, err = r.Body.Read(piece) {
				before := received
				received += uint64(n)
				if received>>26 != before>>26 { // every 64 MiB
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					peak = max(peak, now.HeapAlloc)
				}
			}
			respond(http.StatusCreated, "application/json", `{"data":{"media_id":7}}`)(w, r)
		},
	)
	file := File{Name: "zeros.mp4", Size: size, SHA256: strings.Repeat("0", 64), Open: func() (io.ReadCloser, error) {
		return &zeros{size}, nil
	}}
	results, err := c.Upload(t.Context(), []File{file}, UploadInput{})
	if err != nil || results[0].MediaID != 7 || received != size {
		t.Fatalf("%v: %v after %d bytes", results, err, received)
	}
	if peak > 48<<20 {
		t.Errorf("%d MiB were in use", peak>>20)
	}
}
