package shell

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strconv"
	"strings"
)

// leastCompressed is the size in bytes from which compression saves a packet.
const leastCompressed = 1400

// acceptsGzip reports whether a client accepts gzip (RFC 9110, section 12.5.3).
func acceptsGzip(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, weighted := strings.Cut(part, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
		return !weighted || err == nil && q > 0
	}
	return false
}

// compress returns data as gzip.
func compress(data []byte, level int) []byte {
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, level)
	if err == nil {
		_, err = z.Write(data)
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		panic(err) // only an invalid level: a buffer accepts everything
	}
	return out.Bytes()
}

// writeText answers with a text, compressed if that is worth it and the client accepts it.
func writeText(w http.ResponseWriter, r *http.Request, status int, data []byte) {
	w.Header().Add("Vary", "Accept-Encoding")
	if len(data) >= leastCompressed && acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		data = compress(data, gzip.DefaultCompression)
	}
	w.WriteHeader(status)
	_, _ = w.Write(data) // the client may have disconnected
}
