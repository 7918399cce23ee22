package blob

import (
	"context"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/minio/minio-go/v7"

	"pressroom/internal/testkit/s3"
)

// rig is an empty store of one test.
type rig struct {
	Store
	left func(t *testing.T) int // how much there is: files on disk, objects, uploads begun
}

// eachKind runs a test on stores of every kind.
func eachKind(t *testing.T, do func(t *testing.T, r rig)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		do(t, newFolder(t))
	})
	t.Run("folder that cannot do without names", func(t *testing.T) {
		t.Parallel()
		r := newFolder(t)
		r.Store.(checked).Store.(*folder).unnamed = false
		do(t, r)
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		s := s3.Start(t)
		t.Run("conditional", func(t *testing.T) {
			t.Parallel()
			r := newBucket(t, s, s.Bucket(t))
			if !inner(r).conditional {
				t.Error("the server's If-None-Match was not found out")
			}
			do(t, r)
		})
		t.Run("asking first", func(t *testing.T) {
			t.Parallel()
			r := newBucket(t, s, s.Bucket(t))
			inner(r).conditional = false
			do(t, r)
		})
	})
}

func newFolder(t *testing.T) rig {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "files")
	return rig{open(t, "file:"+dir, Options{}), func(t *testing.T) int { return countFiles(t, dir) }}
}

func newBucket(t *testing.T, s *s3.Server, text string) rig {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/some/where/"
	scratch := t.TempDir()
	store := open(t, u.String(), Options{Scratch: scratch, Credentials: Credentials{ID: s.ID, Secret: s.Secret}})
	r := rig{Store: store}
	r.left = func(t *testing.T) int { return countFiles(t, scratch) + countObjects(t, inner(r)) }
	return r
}

func inner(r rig) *bucket { return r.Store.(checked).Store.(*bucket) }

func open(t *testing.T, url string, opts Options) Store {
	t.Helper()
	s, err := Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func countFiles(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func countObjects(t *testing.T, b *bucket) int {
	t.Helper()
	n := 0
	for o := range b.core.ListObjectsIter(t.Context(), b.name, minio.ListObjectsOptions{Recursive: true}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		n++
	}
	for u := range b.core.ListIncompleteUploads(t.Context(), b.name, "", true) {
		if u.Err != nil {
			t.Fatal(u.Err)
		}
		n++
	}
	return n
}

// between puts a proxy before a server, which shows each request to a test. Where the test says so, the request is
// carried out and its answer is lost.
func between(t *testing.T, s *s3.Server, seen func(*http.Request) (lose bool)) *s3.Server {
	t.Helper()
	to, err := url.Parse(s.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // it is signed
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen(r) {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	changed := *s
	changed.Endpoint = front.URL
	return &changed
}

func stage(t *testing.T, s Store, content []byte) *Staged {
	t.Helper()
	staged, err := s.Stage(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(staged.Discard)
	if n, err := staged.Write(content); n != len(content) || err != nil {
		t.Fatalf("%d of %d bytes were staged: %v", n, len(content), err)
	}
	return staged
}

func put(t *testing.T, s Store, key string, content []byte) {
	t.Helper()
	if err := s.Put(t.Context(), key, stage(t, s, content)); err != nil {
		t.Fatalf("putting %s: %v", key, err)
	}
}

func get(t *testing.T, s Store, key string) []byte {
	t.Helper()
	r := reader(t, s, key)
	content, err := io.ReadAll(r)
	if err != nil || int64(len(content)) != r.Size() {
		t.Fatalf("%d of %d bytes of %s: %v", len(content), r.Size(), key, err)
	}
	return content
}

func reader(t *testing.T, s Store, key string) Reader {
	t.Helper()
	r, err := s.Open(t.Context(), key)
	if err != nil {
		t.Fatalf("opening %s: %v", key, err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func list(t *testing.T, s Store, prefix string) map[string]int64 {
	t.Helper()
	sizes := map[string]int64{}
	err := s.Each(t.Context(), prefix, func(i Info) error {
		if _, twice := sizes[i.Key]; twice || i.At.IsZero() {
			t.Errorf("%+v was listed already, or has no time", i)
		}
		sizes[i.Key] = i.Size
		return nil
	})
	if err != nil {
		t.Fatalf("listing %q: %v", prefix, err)
	}
	return sizes
}

func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
