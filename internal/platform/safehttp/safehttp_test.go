package safehttp

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// get downloads at most 1,000 bytes.
func (w env) get(t *testing.T, address string) (File, string, error) {
	t.Helper()
	var into bytes.Buffer
	got, err := w.client.Get(t.Context(), address, 1000, &into)
	return got, into.String(), err
}

// wantCode checks an error's code, and that the error's texts contain no secrets.
func wantCode(t *testing.T, err error, code string, secrets ...string) {
	t.Helper()
	failure, ok := errors.AsType[*Error](err)
	if !ok || failure.Code != code {
		t.Fatalf("got error %v, want %s", err, code)
	}
	if !strings.HasSuffix(failure.Detail, ".") {
		t.Errorf("the detail is not a sentence: %q", failure.Detail)
	}
	for _, secret := range slices.Concat(secrets, []string{host, otherHost, "127.0.0", "secret-7Qx", "9fK2", "::1", "10.0.0"}) {
		for text := err; text != nil; text = errors.Unwrap(text) {
			if strings.Contains(text.Error(), secret) {
				t.Errorf("the error contains %q: %v", secret, text)
			}
		}
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	var asked http.Header
	w := newEnv(t, func(w http.ResponseWriter, r *http.Request) {
		asked = r.Header
		io.WriteString(w, r.Host+" "+r.RequestURI)
	}, nil)
	for _, address := range []string{
		w.at(host, "/a/photo%20one.jpg?b=%2F"),
		w.at("FILES.Example.COM.", "/a/photo%20one.jpg?b=%2F#top"),
		w.at("ｆｉｌｅｓ.example。com", "/a/photo%20one.jpg?b=%2F"),
		"HTTPS" + strings.TrimPrefix(w.at(host, "/a/photo%20one.jpg?b=%2F"), "https"),
	} {
		got, body, err := w.get(t, address)
		if err != nil {
			t.Fatal(err)
		}
		want := host + ":" + w.port + " /a/photo%20one.jpg?b=%2F"
		if diff := cmp.Diff(want, body); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(File{Size: int64(len(want)), Name: "photo one.jpg"}, got); diff != "" {
			t.Error(diff)
		}
	}
	header := http.Header{"Accept": {"*/*"}, "Accept-Encoding": {"identity"}, "Connection": {"close"}, "User-Agent": {"pressroom-import/1"}}
	if diff := cmp.Diff(header, asked); diff != "" {
		t.Error(diff)
	}
	if w.client.transport.Proxy != nil {
		t.Error("a proxy of the environment would be asked")
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"": "", "/": "", "/a/": "", "/a/b.jpg": "b.jpg", "/Grüße.png": "Grüße.png", "/a b.jpg": "a b.jpg",
		"/../../etc/passwd": "passwd", "/a/..": "", "/.": "", "/..\\..\\a": "", "/a\x00b": "", "/a\nb": "", "/\xff": "", "/a\u202eb": "",
	} {
		if got := fileName(path); got != want {
			t.Errorf("%q: got %q, want %q", path, got, want)
		}
	}
}

func TestAllowed(t *testing.T) {
	w := newEnv(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "file") }, func(o *Options) {
		o.Allow = []string{standsIn, "10.1.0.0/16", "fd00::/8", "minio", ".files.internal", "own.example.org"}
		o.OwnHosts = []string{"own.example.org", "app.example.org", "127.0.0.1", "localhost"}
	})
	for _, address := range []string{
		"https://127.0.0.1/", "https://127.0.0.1:9000/", "https://10.1.2.3:1/", "https://[fd00::1]:65535/", "https://[FD00:0::1]/",
		"https://minio:9000/", "https://MINIO./", "https://a.files.internal:8443/", "https://a.b.files.internal/",
		"https://own.example.org/",
	} {
		if err := w.client.Check(address); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{
		"https://127.0.0.2/", "https://10.2.0.1/", "https://[fc00::1]/", "https://[::ffff:10.1.2.3]/", "https://[::ffff:127.0.0.1]/",
		"https://[10.1.2.3]/", "https://fd00::1/", "https://010.1.2.3/", "https://10.1.515/", "https://0x7f000001/", "https://１２７.0.0.1/",
		"https://[fd00::1%25eth0]/", "https://minio:0/", "https://minio:65536/", "https://minio:/",
		"https://minio:0443/", "https://minio:+443/",
		"https://files.internal/", "https://afiles.internal/", "https://minio.lan/", "https://app.example.org/",
		"https://APP.example.org./",
		"https://localhost/", "http://minio/", "https://user@minio/",
	} {
		t.Run(address, func(t *testing.T) { wantCode(t, w.client.Check(address), CodeRefused) })
	}
	if _, body, err := w.get(t, w.at(standsIn, "/")); err != nil || body != "file" {
		t.Errorf("got %q, %v", body, err)
	}
}

func TestAllowedNameMayBePrivate(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "file") }
	w := newEnv(t, handler, func(o *Options) { o.Allow = []string{host} })
	if _, body, err := w.get(t, w.at(host, "/")); err != nil || body != "file" {
		t.Errorf("got %q, %v", body, err)
	}
	_, _, err := w.get(t, w.at(otherHost, "/"))
	wantCode(t, err, CodeRefused)
}

func TestBadOptions(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		"", ".", "..a", "*.example.org", "https://example.org", "example.org:443", "a b", "10.0.0.1/8", "10.0.0.0/33",
		"10.0.0", "0x7f.1", "256.1.1.1",
		"[::1]", "fe80::1%eth0", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "a..b", "user@example.org", strings.Repeat("a", 64) + ".org",
	} {
		if _, err := New(Options{Allow: []string{entry}}); err == nil {
			t.Errorf("%q may be allowed", entry)
		}
		if _, err := New(Options{OwnHosts: []string{entry}}); err == nil {
			t.Errorf("%q may be our own", entry)
		}
	}
	if _, err := New(Options{RootCAs: x509.NewCertPool()}); err != nil {
		t.Error(err)
	}
}

func TestWriterFails(t *testing.T) {
	t.Parallel()
	w := newEnv(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "file") }, nil)
	reader, writer := io.Pipe()
	full := errors.New("the disk is full")
	reader.CloseWithError(full)
	_, err := w.client.Get(t.Context(), w.at(host, "/"), 1000, writer)
	if _, blamed := errors.AsType[*Error](err); blamed || !errors.Is(err, full) {
		t.Errorf("got %v, want the writer's own error", err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	w := newEnv(t, func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}, nil)
	_, err := w.client.Get(ctx, w.at(host, secretPath), 1000, io.Discard)
	wantCode(t, err, CodeUnavailable)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
