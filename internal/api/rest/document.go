package rest

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

const documentPath = "/openapi.json"

// document is the OpenAPI document with its ETag. Requests for it do not need a key, and caches may store it.
type document struct {
	body []byte
	etag string
}

func newDocument(describe func() ([]byte, error)) (document, error) {
	body, err := describe()
	sum := sha256.Sum256(body)
	return document{body, `"` + hex.EncodeToString(sum[:16]) + `"`}, err
}

func (x *exchange) describe() {
	d, err := x.edge.description()
	if err != nil {
		x.writeProblem(err)
		return
	}
	x.status = d.serve(x.w, x.r)
}

func (d document) serve(w http.ResponseWriter, r *http.Request) int {
	h := w.Header()
	h.Set("Cache-Control", "public, max-age=300")
	h.Set("ETag", d.etag)
	for tag := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/"); tag == d.etag || tag == "*" {
			w.WriteHeader(http.StatusNotModified)
			return http.StatusNotModified
		}
	}
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(d.body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(d.body) // the client may have disconnected
	return http.StatusOK
}
