package shell

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// minCompressSize is the minimum size of data to compress, in bytes. Smaller data fits in one packet anyway.
const minCompressSize = 1400

// acceptsGzip reports whether a client accepts gzip (RFC 9110, section 12.5.3).
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, hasWeight := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		return !hasWeight || err == nil && q > 0
	}
	return false
}

// gzipWriters reuses gzip writers, because each one allocates large tables.
var gzipWriters = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// compress returns data compressed with gzip.
func compress(data []byte) []byte {
	var out bytes.Buffer
	z := gzipWriters.Get().(*gzip.Writer) //nolint:forcetypeassert // the pool contains only gzip writers
	defer gzipWriters.Put(z)
	z.Reset(&out)
	_, err := z.Write(data)
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // unreachable: a buffer accepts everything
	}
	return out.Bytes()
}

// WriteHTML writes a page or a part of a page as the response. It compresses large data if the client accepts gzip.
func WriteHTML(w http.ResponseWriter, r *http.Request, status int, data []byte) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Add("Vary", "Accept-Language")
	// The size of a compressed page must not reveal its content to the site that caused the request (BREACH).
	crossSite := r.Header.Get("Sec-Fetch-Site") == "cross-site"
	if len(data) < minCompressSize || crossSite {
		writeBody(w, r, status, data, nil)
		return
	}
	writeBody(w, r, status, data, func() []byte { return compress(data) })
}

// writeBody writes data as the response. If compressed is not nil and the client accepts gzip, it writes the result of
// compressed instead.
func writeBody(w http.ResponseWriter, r *http.Request, status int, data []byte, compressed func() []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if compressed != nil && acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		data = compressed()
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may have disconnected
}
