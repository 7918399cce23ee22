package voice

import (
	"context"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"pressroom.example/pressroom/internal/apierr"
	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/testkit/must"
)

const harbourPage = `<!DOCTYPE html><html lang="en"><head><title>Home | Harbour</title>
<meta property="og:site_name" content=" Harbour
Coffee "><meta name="Description" content="We roast coffee in Hamburg."><style>p{}</style><script>alert(1)</script></head>
<body><nav>Menu</nav><h1>Our <em>coffee</em></h1><p>Roasted<br>by hand &amp; with
care.<span hidden>secret</span></p><noscript>Enable</noscript><script>track()</script><footer>Imprint</footer></body></html>`

func TestLinkTexts(t *testing.T) {
	t.Parallel()
	for page, want := range map[string][2]string{
		harbourPage: {"Home | Harbour", "We roast coffee in Hamburg."},
		`<html><title>T</title><meta property="og:title" content=" Our
coffee "><meta property="og:description" content="Short"><meta name="description" content="Long">`: {"Our coffee", "Short"},
		"<html><p>Hi": {"", ""},
	} {
		if title, description, err := LinkTexts([]byte(page)); title != want[0] || description != want[1] || err != nil {
			t.Errorf("%q, %q, %v; want %q", title, description, err, want)
		}
	}
	if _, _, err := LinkTexts([]byte("%PDF-1.7")); err == nil {
		t.Error("a PDF has texts")
	}
}

func TestParsePage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		page string
		want Website
	}{
		"all": {harbourPage, Website{
			"Harbour Coffee", "We roast coffee in Hamburg.", "Our coffee\nRoasted\nby hand & with care.",
		}},
		"title": {
			`<html><title>Harbour</title><meta property="og:description" content="Coffee"><svg><title>Logo</title></svg><p>Hi`,
			Website{"Harbour", "Coffee", "Hi"},
		},
		"XHTML":   {`<?xml version="1.0"?><HTML><body>Hi</body></HTML>`, Website{Text: "Hi"}},
		"Latin-1": {"<html><meta charset=iso-8859-1><title>K\xf6ln</title><p>Caf\xe9", Website{Name: "Köln", Text: "Café"}},
		"long": {
			"<html><title>" + strings.Repeat("ä", MaxNameLength+1) + "</title><p>a",
			Website{Name: strings.Repeat("ä", MaxNameLength), Text: "a"},
		},
	} {
		got, err := parsePage([]byte(c.page))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// A website is read from a real server. Failures name the field and say what to do.
func TestReadWebsite(t *testing.T) {
	mux := http.NewServeMux()
	for path, page := range map[string]string{
		"/": harbourPage, "/picture": "\x89PNG\r\n\x1a\n", "/text": "Hello", "/script": "<html><script>start()</script>",
		"/large": "<html>" + strings.Repeat("a", maxPageBytes), "/long": "<html>" + strings.Repeat("ä ", MaxMaterialLength),
		"/deep": "<html>" + strings.Repeat("<div>", 10_000) + "deep",
	} {
		mux.HandleFunc("GET "+path+map[bool]string{true: "{$}"}[path == "/"], func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, page)
		})
	}
	server := httptest.NewTLSServer(mux)
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := must.Get(safehttp.New(safehttp.Options{Allow: []string{"127.0.0.1"}, RootCAs: roots}))(t)
	forEachDatabase(t, func(w env) {
		w.fetch = func(ctx context.Context, address string, maxBytes int64, into io.Writer) error {
			_, err := client.Get(ctx, address, maxBytes, into)
			return err
		}
		got, err := w.ReadWebsite(w.t.Context(), w.call, " "+server.URL+"/ ")
		w.must(err)
		if want := server.URL + "/\n\nOur coffee\nRoasted\nby hand & with care."; got.Text != want {
			t.Errorf("text = %q, want %q", got.Text, want)
		}
		got, err = w.ReadWebsite(w.t.Context(), w.call, server.URL+"/long")
		w.must(err)
		if n := utf8.RuneCountInString(got.Text); n > MaxMaterialLength || n < MaxMaterialLength-1 {
			t.Errorf("the text has %d characters", n)
		}
		_, err = w.AddMaterial(w.t.Context(), w.call, w.make("Plain"), NewMaterial{Text: got.Text})
		w.must(err)
		for address, part := range map[string]string{
			"": "begins with https://", "http://harbour.example.com/": "begins with https://",
			"https://localhost/": "begins with https://", "https://169.254.169.254/": "begins with https://",
			server.URL + "/gone": "could not be read", server.URL + "/large": "larger than 2 MB",
			server.URL + "/picture": "no web page with text", server.URL + "/text": "no web page with text",
			server.URL + "/script": "no web page with text", server.URL + "/deep": "no web page with text",
		} {
			_, err := w.ReadWebsite(w.t.Context(), w.call, address)
			w.mustReject(err, apierr.ValidationFailed, apierr.NotAllowedValue, "website")
			if !strings.Contains(apierr.FromError(err).Detail, part) {
				t.Errorf("%s: %v", address, err)
			}
		}
	})
}
