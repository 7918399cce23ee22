package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"pressroom.example/pressroom/internal/testkit/must"
)

const key = "12/ab/abcdef.x7k2"

// noise returns random bytes that depend only on the size.
func noise(size int) []byte {
	b := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{byte(size)}).Read(b) // it never fails
	return b
}

func TestStores(t *testing.T) {
	t.Parallel()
	eachKind(t, func(t *testing.T, r fixture) {
		for name, test := range map[string]func(t *testing.T, r fixture){
			"read":     testRead,
			"ranges":   testRanges,
			"missing":  testMissing,
			"exists":   testExists,
			"list":     testList,
			"bad keys": testBadKeys,
			"discard":  testDiscard,
		} {
			if !t.Run(name, func(t *testing.T) { test(t, r) }) {
				t.Fatal("the next test needs an empty store")
			}
		}
	})
}

func testRead(t *testing.T, r fixture) {
	for _, size := range []int{0, 1, bufferSize - 1, bufferSize, bufferSize + 1, 3*bufferSize + 7} {
		content := noise(size)
		put(t, r, key, content)
		if err := iotest.TestReader(reader(t, r, key), content); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		remove(t, r, key)
	}
	if err := r.Ping(t.Context()); err != nil {
		t.Errorf("pinging the store: %v", err)
	}
}

func testRanges(t *testing.T, r fixture) {
	content := noise(5 << 20)
	put(t, r, key, content)
	defer remove(t, r, key)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		blob, err := r.Open(request.Context(), key)
		if err != nil {
			t.Errorf("opening: %v", err)
			return
		}
		defer blob.Close()
		w.Header().Set("Content-Type", "video/mp4")
		http.ServeContent(w, request, "", time.Time{}, blob)
	}))
	defer server.Close()
	for requested, want := range map[string][]byte{
		"": content, "bytes=0-0": content[:1], "bytes=1000000-3999999": content[1_000_000:4_000_000],
		"bytes=-17": content[5<<20-17:], "bytes=5242879-": content[5<<20-1:],
		"bytes=5242880-": []byte("invalid range: failed to overlap\n"),
	} {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody))(t)
		request.Header.Set("Range", requested)
		response := must.Get(http.DefaultClient.Do(request))(t)
		got, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("range %q: %d bytes of %d, %v", requested, len(got), len(want), err)
		}
	}
	testSeekPastEnd(t, r, content)
}

func testSeekPastEnd(t *testing.T, r fixture, content []byte) {
	t.Helper()
	blob := reader(t, r, key)
	if at, err := blob.Seek(9, io.SeekEnd); at != int64(len(content))+9 || err != nil {
		t.Errorf("seeking past the end leads to %d, %v", at, err)
	}
	if n, err := blob.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("reading past the end: %d bytes, %v", n, err)
	}
	if _, err := blob.Seek(-1, io.SeekStart); err == nil {
		t.Error("seeking before the start succeeds")
	}
	if at, err := blob.Seek(-1, io.SeekEnd); at != int64(len(content))-1 || err != nil {
		t.Errorf("the last byte is at %d, %v", at, err)
	}
	last, err := io.ReadAll(blob)
	if err != nil || !bytes.Equal(last, content[len(content)-1:]) {
		t.Errorf("the last byte is %x, %v", last, err)
	}
	if err := blob.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if _, err := blob.Read(make([]byte, 1)); err == nil {
		t.Error("reading after Close succeeds")
	}
}

func testMissing(t *testing.T, r fixture) {
	put(t, r, key, []byte("Ada"))
	for _, missing := range []string{"12/ab/none", "none", "12/ab", "12/ab/abcdef.x7k2/below"} {
		if _, err := r.Open(t.Context(), missing); !errors.Is(err, ErrNotFound) {
			t.Errorf("opening %s: %v, want %v", missing, err, ErrNotFound)
		}
		if err := r.Delete(t.Context(), missing); err != nil {
			t.Errorf("deleting %s, which does not exist: %v", missing, err)
		}
	}
	remove(t, r, key)
	if err := r.Delete(t.Context(), key); err != nil {
		t.Errorf("deleting a second time: %v", err)
	}
	if _, err := r.Open(t.Context(), key); !errors.Is(err, ErrNotFound) {
		t.Errorf("opening a deleted blob: %v, want %v", err, ErrNotFound)
	}
}

func testExists(t *testing.T, r fixture) {
	put(t, r, key, []byte("first"))
	second := stage(t, r, []byte("second"))
	if err := r.Put(t.Context(), key, second); !errors.Is(err, ErrExists) {
		t.Errorf("putting another: %v, want %v", err, ErrExists)
	}
	if got := string(get(t, r, key)); got != "first" {
		t.Errorf("there is %q after the second", got)
	}
	if err := r.Put(t.Context(), "12/ab/other", second); err != nil {
		t.Errorf("putting the rejected file under another key: %v", err)
	}
	second.Discard()
	if err := r.Put(t.Context(), "12/ab/third", second); err == nil {
		t.Error("the same staged file was put twice")
	}
	if got := string(get(t, r, "12/ab/other")); got != "second" {
		t.Errorf("there is %q under the other key", got)
	}
	remove(t, r, key)
	remove(t, r, "12/ab/other")
}

func testList(t *testing.T, r fixture) {
	count := 1_200
	if _, isBucket := r.Store.(keyChecker).Store.(*bucket); isBucket {
		count = 60
	}
	want := map[string]int64{}
	var group errgroup.Group
	group.SetLimit(8)
	for i := range count {
		key := fmt.Sprintf("%d/%02x/blob.%04d", i%3, i%16, i)
		want[key] = int64(i % 5)
		staged := stage(t, r, make([]byte, i%5))
		group.Go(func() error { return r.Put(t.Context(), key, staged) })
	}
	if err := group.Wait(); err != nil {
		t.Fatalf("putting many blobs concurrently: %v", err)
	}
	if diff := cmp.Diff(want, list(t, r, "")); diff != "" {
		t.Errorf("all blobs (-want +got):\n%s", diff)
	}
	for prefix, some := range map[string]int{
		"1": count / 3, "1/": count / 3, "1/04/": count / 3 / 16, "2/0": count / 3 * 10 / 16, "3": 0, "1/04/blob.0004": 1,
	} {
		got := list(t, r, prefix)
		if len(got) < some || some == 0 && len(got) > 0 {
			t.Errorf("%d blobs begin with %q, want about %d", len(got), prefix, some)
		}
	}
	enough := errors.New("enough")
	if err := r.Each(t.Context(), "", func(Info) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("ending early: %v, want %v", err, enough)
	}
	if err := r.Each(canceledContext(t), "", func(Info) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: %v", err)
	}
	err := r.Each(t.Context(), "", func(i Info) error { return r.Delete(t.Context(), i.Key) })
	if err != nil || len(list(t, r, "")) > 0 {
		t.Errorf("deleting them one after another: %v, %d are left", err, len(list(t, r, "")))
	}
}

func testBadKeys(t *testing.T, r fixture) {
	staged := stage(t, r, []byte("Ada"))
	for _, bad := range badKeys {
		if err := r.Put(t.Context(), bad, staged); !errors.Is(err, ErrKey) {
			t.Errorf("putting %.30q: %v", bad, err)
		}
		if _, err := r.Open(t.Context(), bad); !errors.Is(err, ErrKey) {
			t.Errorf("opening %.30q: %v", bad, err)
		}
		if err := r.Delete(t.Context(), bad); !errors.Is(err, ErrKey) {
			t.Errorf("deleting %.30q: %v", bad, err)
		}
	}
	if err := r.Each(t.Context(), "../", func(Info) error { return nil }); !errors.Is(err, ErrKey) {
		t.Errorf("listing outside the store: %v", err)
	}
	staged.Discard()
}

func testDiscard(t *testing.T, r fixture) {
	stage(t, r, noise(3*bufferSize)).Discard()
	if n := r.count(t); n > 0 {
		t.Errorf("%d files are left after Discard", n)
	}
	staged := stage(t, r, noise(partSize+1))
	if err := r.Put(canceledContext(t), key, staged); !errors.Is(err, context.Canceled) {
		t.Errorf("putting with a canceled context: %v", err)
	}
	staged.Discard()
	staged.Discard()
	if n := r.count(t); n > 0 {
		t.Errorf("%d files are left after a canceled put", n)
	}
}

func remove(t *testing.T, r fixture, key string) {
	t.Helper()
	if err := r.Delete(t.Context(), key); err != nil {
		t.Fatalf("deleting %s: %v", key, err)
	}
}
