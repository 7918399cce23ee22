package shell

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestWriteHTML(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<p>text</p>", 1000)
	for _, c := range []struct {
		accepts, site, text string
		gzip                bool
	}{
		{"", "", long, false}, {"br", "", long, false}, {"gzip;q=0", "", long, false}, {"gzip; q=0.0", "", long, false},
		{"gzip", "", long, true}, {"br, GZIP;q=0.5", "", long, true}, {"gzip", "", "short", false},
		{"gzip", "same-origin", long, true}, {"gzip", "none", long, true}, {"gzip", "cross-site", long, false},
	} {
		r, w := httptest.NewRequest(http.MethodGet, "/", nil), httptest.NewRecorder()
		r.Header.Set("Accept-Encoding", c.accepts)
		r.Header.Set("Sec-Fetch-Site", c.site)
		WriteHTML(w, r, 404, []byte(c.text))
		body := w.Body.Bytes()
		if got := w.Header().Get("Content-Length"); got != strconv.Itoa(len(body)) {
			t.Errorf("%q: the length is %s, not %d", c.accepts, got, len(body))
		}
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != c.gzip {
			t.Errorf("%q: gzip is %t", c.accepts, got)
		} else if got {
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if body, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if string(body) != c.text || w.Code != 404 || !slices.Contains(w.Header()["Vary"], "Accept-Encoding") {
			t.Errorf("%q: %d %v, %d bytes", c.accepts, w.Code, w.Header(), len(body))
		}
	}
}
