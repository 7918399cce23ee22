package e2e

import (
	"net/http"
	"strconv"
	"strings"
)

// publicFiles serves files to import. The path determines the response.
func (h *instance) publicFiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /files/{name}", func(w http.ResponseWriter, r *http.Request) {
		serve(w, aPNG(r.PathValue("name")).bytes)
	})
	mux.HandleFunc("GET /slow/{name}", func(w http.ResponseWriter, r *http.Request) {
		<-h.gate
		serve(w, aPNG(r.PathValue("name")).bytes)
	})
	mux.HandleFunc("GET /page.png", func(w http.ResponseWriter, _ *http.Request) { serve(w, aPage("page").bytes) })
	mux.HandleFunc("GET /damaged.png", func(w http.ResponseWriter, _ *http.Request) { serve(w, aPNG("damaged").bytes[:60]) })
	mux.HandleFunc("GET /empty.png", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /broken.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		serve(w, aPNG("broken").bytes)
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /large.png", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(1<<40))
		w.WriteHeader(http.StatusOK)
	})
	mux.HandleFunc("GET /endless.png", func(w http.ResponseWriter, _ *http.Request) {
		for some := []byte(strings.Repeat("more ", 1000)); ; {
			if _, err := w.Write(some); err != nil {
				return
			}
		}
	})
	for from, to := range map[string]string{
		"/moved.png": "/files/moved-there.png", "/loop.png": "/loop.png", "/inside.png": "https://10.0.0.1/inside.png",
		"/cloud.png": "https://169.254.169.254/latest/meta-data/",
		"/named.png": "https://localhost/inside.png", "/plain.png": "http://127.0.0.1/plain.png", "/local.png": "file:///etc/passwd",
	} {
		mux.Handle("GET "+from, http.RedirectHandler(to, http.StatusFound))
	}
	return mux
}

// serve sends a file with a wrong Content-Type, which imports ignore.
func serve(w http.ResponseWriter, content []byte) {
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write(content) // the client may have disconnected
}
