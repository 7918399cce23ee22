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

	"pressroom.example/pressroom/internal/testkit/must"
	"pressroom.example/pressroom/internal/testkit/s3"
)

// fixture is an empty store for a test.
type fixture struct {
	Store
	count func(t *testing.T) int // number of files, or of objects and incomplete uploads
}

// eachKind runs a test on stores of every kind.
func eachKind(t *testing.T, do func(t *testing.T, r fixture)) {
	t.Helper()
	t.Run("folder", func(t *testing.T) {
		t.Parallel()
		do(t, newFolder(t))
	})
	t.Run("folder without unnamed files", func(t *testing.T) {
		t.Parallel()
		r := newFolder(t)
		r.Store.(keyChecker).Store.(*folder).unnamed = false
		do(t, r)
	})
	t.Run("bucket", func(t *testing.T) {
		t.Parallel()
		s := s3.Start(t)
		t.Run("conditional", func(t *testing.T) {
			t.Parallel()
			r := newBucket(t, s, s.Bucket(t))
			if !inner(r).conditional {
				t.Error("the server's support of If-None-Match was not detected")
			}
			do(t, r)
		})
		t.Run("not conditional", func(t *testing.T) {
			t.Parallel()
			r := newBucket(t, s, s.Bucket(t))
			inner(r).conditional = false
			do(t, r)
		})
	})
}

func newFolder(t *testing.T) fixture {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "files")
	return fixture{open(t, "file:"+dir, Options{}), func(t *testing.T) int { return countFiles(t, dir) }}
}

func newBucket(t *testing.T, s *s3.Server, text string) fixture {
	t.Helper()
	u := must.Get(url.Parse(text))(t)
	u.Path = "/some/where/"
	scratch := t.TempDir()
	store := open(t, u.String(), Options{Scratch: scratch, Credentials: Credentials{ID: s.ID, Secret: s.Secret}})
	r := fixture{Store: store}
	r.count = func(t *testing.T) int { return countFiles(t, scratch) + countObjects(t, inner(r)) }
	return r
}

func inner(r fixture) *bucket { return r.Store.(keyChecker).Store.(*bucket) }

func open(t *testing.T, url string, opts Options) Store {
	t.Helper()
	s := must.Get(Open(t.Context(), url, opts))(t)
	return s
}

func countFiles(t *testing.T, dir string) int {
	t.Helper()
	n := 0
	must.NoError(t, filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			n++
		}
		return err
	}))
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

// proxy puts a proxy in front of a server and calls seen for each request. If seen returns true, the server handles the
// request but its response is dropped.
func proxy(t *testing.T, s *s3.Server, seen func(*http.Request) (lose bool)) *s3.Server {
	t.Helper()
	to := must.Get(url.Parse(s.Endpoint))(t)
	reverse := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = r.In.Host // the signature includes the host
	}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if seen(r) {
			reverse.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		reverse.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	changed := *s
	changed.Endpoint = front.URL
	return &changed
}

func stage(t *testing.T, s Store, content []byte) *Staged {
	t.Helper()
	staged := must.Get(s.Stage(t.Context()))(t)
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
			t.Errorf("%+v was listed twice or has no time", i)
		}
		sizes[i.Key] = i.Size
		return nil
	})
	if err != nil {
		t.Fatalf("listing %q: %v", prefix, err)
	}
	return sizes
}

func canceledContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func mustStat(t *testing.T, path string) os.FileInfo {
	t.Helper()
	info := must.Get(os.Stat(path))(t)
	return info
}
