package server

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pressroom.example/pressroom/internal/platform/safehttp"
	"pressroom.example/pressroom/internal/testkit/must"
)

// Pictures are fetched from hosts in the operator's settings of the network, without redirects and up to a maximum
// size. All other hosts must be public.
func TestPictureFetcher(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.HandleFunc("/picture", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("12345")) })
	mux.Handle("/moved", http.RedirectHandler("/picture", http.StatusFound))
	box := httptest.NewServer(mux)
	t.Cleanup(box.Close)
	s := &Server{
		cfg: Config{Networks: SandboxNetworks(box.URL)}, transport: http.DefaultTransport.(*http.Transport).Clone(),
		fetcher: must.Get(safehttp.New(safehttp.Options{}))(t),
	}
	fetch := s.pictureFetcher()
	for _, c := range []struct {
		platform, url, want, rejection string
		most                           int64
	}{
		{"instagram", box.URL + "/picture", "12345", "", 5},
		{"instagram", box.URL + "/picture", "", "too large", 4},
		{"instagram", box.URL + "/moved", "", "status 302", 5},
		{"instagram", box.URL + "/none", "", "status 404", 5},
		{"unknown", box.URL + "/picture", "", "https://", 5},
		{"instagram", "https://localhost/picture", "", "public host", 5},
	} {
		var got bytes.Buffer
		err := fetch(t.Context(), c.platform, c.url, c.most, &got)
		if c.rejection == "" && (err != nil || got.String() != c.want) ||
			c.rejection != "" && (err == nil || !strings.Contains(err.Error(), c.rejection)) {
			t.Errorf("%s %s: %q, %v", c.platform, c.url, got.String(), err)
		}
	}
}
