package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// conversation is a raw TCP connection to the server.
type conversation struct {
	t    *testing.T
	conn net.Conn
	from *bufio.Reader
}

func (w *env) converse(t *testing.T) *conversation {
	t.Helper()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(w.root, "http://")))(t)
	t.Cleanup(func() { conn.Close() })
	must.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	return &conversation{t, conn, bufio.NewReader(conn)}
}

// say sends bytes. The server may close the connection before it has read all of them.
func (c *conversation) say(text string) { _, _ = io.WriteString(c.conn, text) }

// statuses returns the statuses of all responses until the server closes the connection.
func (c *conversation) statuses() []int {
	c.t.Helper()
	out := []int{}
	for {
		resp, err := http.ReadResponse(c.from, nil)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				c.t.Error("the connection is still open")
			}
			return out
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		out = append(out, resp.StatusCode)
	}
}

// heads contains heads of requests whose length is ambiguous. A vulnerable parser reads the following bytes as a
// second request. {key} is an API key, {length} the length of the following bytes, {more} a line.
var heads = map[string]string{
	"a length and chunks":       "Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunks and a length":       "Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n\r\n0\r\n\r\n",
	"a short length and chunks": "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"only chunks":               "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunks by another name":    "Content-Length: {length}\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	"chunks within something":   "Content-Length: {length}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
	"chunks twice": "Content-Length: {length}\r\nTransfer-Encoding: " +
		"chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunks and something else": "Content-Length: {length}\r\nTransfer-Encoding: " +
		"chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
	"chunks with a space before":         "Content-Length: {length}\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
	"chunks with a tab":                  "Content-Length: {length}\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
	"chunks with a vertical tab":         "Content-Length: {length}\r\nTransfer-Encoding: \vchunked\r\n\r\n0\r\n\r\n",
	"chunks in capitals":                 "Content-Length: {length}\r\nTransfer-Encoding: CHUNKED\r\n\r\n0\r\n\r\n",
	"chunks in quotes":                   "Content-Length: {length}\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n",
	"chunks on the next line":            "Content-Length: {length}\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
	"chunks after a bare line feed":      "Content-Length: {length}\r\nX: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunks after a carriage return":     "Content-Length: {length}\r\nX: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunks of an odd size":              "Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
	"chunks of a negative size":          "Transfer-Encoding: chunked\r\n\r\n-0\r\n\r\n",
	"chunks of a size beyond all":        "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n\r\n",
	"chunks that end in a line feed":     "Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
	"chunks that go on too long":         "Transfer-Encoding: chunked\r\n\r\n2\r\n{}xx\r\n0\r\n\r\n",
	"a chunk's extension":                "Transfer-Encoding: chunked\r\n\r\n2;a=b\r\n{}\r\n0;c\r\n\r\n",
	"a chunk's extension with line feed": "Transfer-Encoding: chunked\r\n\r\n2;a\nb\r\n{}\r\n0\r\n\r\n",
	"chunks and a trailer":               "Transfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 5\r\n\r\n",
	"two lengths":                        "Content-Length: 0\r\nContent-Length: {length}\r\n\r\n",
	"two lengths in one":                 "Content-Length: 0, {length}\r\n\r\n",
	"a length with a sign":               "Content-Length: +{length}\r\n\r\n",
	"a length below nothing":             "Content-Length: -1\r\n\r\n",
	"a length in hexadecimal":            "Content-Length: 0x0\r\n\r\n",
	"invalid Content-Length":             "Content-Length: \r\n\r\n",
	"a length beyond all":                "Content-Length: 99999999999999999999\r\n\r\n",
	"a length with a space before":       "Content-Length : {length}\r\n\r\n",
	"a name with a space in it":          "Content Length: {length}\r\n\r\n",
	"a line without a name":              ": x\r\n\r\n",
	"a line without a colon":             "nothing\r\n\r\n",
	"a NUL in a value":                   "X: a\x00b\r\n\r\n",
	"a NUL in a name":                    "X\x00: a\r\n\r\n",
	"two hosts":                          "Host: elsewhere.example\r\n\r\n",
}

// endIsClear reports whether the end of the request is unambiguous, in which case a second request is permitted.
func endIsClear(name string) bool { return slices.Contains([]string{"invalid Content-Length"}, name) }

// After a request with an ambiguous or invalid length, the server closes the connection and ignores the following
// bytes.
func TestSmuggling(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		hidden := fmt.Sprintf(`{"caption":"smuggled","account_ids":[%d]}`, w.accounts[0])
		inner := fmt.Sprintf("POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", full(w), len(hidden), hidden)
		for name, head := range heads {
			for _, line := range []string{
				"POST /api/v1/posts/" + noSuchID + "/cancel", "PUT /uploads/" + noSuchID, "POST /sign-in", "POST /mcp", "GET /livez",
			} {
				c := w.converse(t)
				c.say(line + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + strings.ReplaceAll(head,
					"{length}", fmt.Sprint(len(inner)+5)) + inner)
				got := c.statuses()
				if len(got) > 1 && !endIsClear(name) {
					t.Errorf("%s, %s: %v", name, line, got)
				}
				for _, status := range got {
					if status >= 500 && status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported {
						t.Errorf("%s, %s: %v", name, line, got)
					}
				}
			}
		}
		if n := w.count("posts WHERE team_id = ?", w.team); n != 0 {
			t.Errorf("%d posts were created by smuggled requests", n)
		}
	})
}

// Invalid HTTP requests get a problem document before any handler is called.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	withEnv(t, options{}, func(t *testing.T, w *env) {
		for name, tt := range map[string]struct {
			text   string
			status int
			code   string
		}{
			"two hosts": {"GET /livez HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400, "malformed_request"},
			"no path":   {"GET\r\n\r\n", 400, "malformed_request"},
			"a length that is no number": {"POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n", 400,
				"malformed_request"},
			"headers without end": {
				"GET /livez HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 2<<20) + "\r\n\r\n", 431, "headers_too_large",
			},
			"another coding": {
				"POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "transfer_coding_not_supported",
			},
			"another version": {"GET /livez HTTP/3.7\r\nHost: x\r\n\r\n", 505, "http_version_not_supported"},
		} {
			c := w.converse(t)
			go c.say(tt.text)
			resp, err := http.ReadResponse(c.from, nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			raw := must.Get(io.ReadAll(resp.Body))(t)
			newAnswer(resp, raw).mustReject(t, tt.status, tt.code, "")
		}
	})
}

// Pipelined requests are answered in order.
func TestPipelining(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		const many = 60
		c, want := w.converse(t), []int{}
		for i := range many {
			path, status := "/api/v1/me", http.StatusOK
			if i%3 == 1 {
				path, status = "/api/v1/nowhere", http.StatusNotFound
			}
			want = append(want, status)
			end := ""
			if i == many-1 {
				end = "Connection: close\r\n"
			}
			c.say("GET " + path + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + full(w) + "\r\n" + end + "\r\n")
		}
		if got := c.statuses(); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}

// Endless input is cut off at a limit. Invalid HTTP is rejected.
func TestEndlessRequests(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		long := strings.Repeat("a", 1<<20)
		var lines strings.Builder
		for i := range 50_000 {
			fmt.Fprintf(&lines, "X-%d: y\r\n", i)
		}
		for name, c := range map[string]struct {
			text   string
			status []int
		}{
			"a long address":     {"GET /api/v1/" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", []int{431}},
			"a long query":       {"GET /api/v1/me?" + long + " HTTP/1.1\r\nHost: x\r\n\r\n", []int{431}},
			"a long method":      {long + " / HTTP/1.1\r\nHost: x\r\n\r\n", []int{431}},
			"a long name":        {"GET /api/v1/me HTTP/1.1\r\nHost: x\r\n" + long + ": y\r\n\r\n", []int{431}},
			"a long value":       {"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX: " + long + "\r\n\r\n", []int{431}},
			"a long cookie":      {"GET / HTTP/1.1\r\nHost: x\r\nCookie: " + long + "\r\n\r\n", []int{431}},
			"a line without end": {long + long, []int{431, 400}},
			"many fields":        {"GET /api/v1/me HTTP/1.1\r\nHost: x\r\n" + lines.String() + "\r\n", []int{431}},
			"a fold without end": {
				"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nX: y\r\n" + strings.Repeat(" z\r\n", 1<<18) + "\r\n", []int{431},
			},
			"a chunk's long extension": {
				"POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + full(w) +
					"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2;" +
					long + "\r\n{}\r\n0\r\n\r\n", []int{422},
			},
			"chunks of one byte with extensions": {
				"POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + full(w) +
					"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" +
					strings.Repeat("1;"+long[:1000]+"\r\nx\r\n", 1000) + "0\r\n\r\n", []int{422},
			},
			"a trailer without end": {
				"POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + full(w) +
					"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: " +
					"close\r\n\r\n2\r\n{}\r\n0\r\nX: " + long + "\r\n\r\n", []int{422},
			},
			"a body of no end": {
				"POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + full(w) +
					"\r\nContent-Type: application/json\r\nContent-Length: 999999999999\r\nConnection: close\r\n\r\n" +
					long + long, []int{422},
			},
			"HTTP/2":          {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", []int{400, 505}},
			"HTTP/0.9":        {"GET /api/v1/me\r\n\r\n", []int{400}},
			"TLS":             {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + long[:500], []int{400}},
			"no host":         {"GET /api/v1/me HTTP/1.1\r\n\r\n", []int{400}},
			"an invalid host": {"GET /api/v1/me HTTP/1.1\r\nHost: a b/c\r\n\r\n", []int{400}},
			"a tunnel": {
				"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\nConnection: close\r\n\r\n", []int{400, 404, 405},
			},
			"another program's server": {
				"GET http://127.0.0.1:1/api/v1/me HTTP/1.1\r\nHost: 127.0.0.1:1\r\nConnection: close\r\n\r\n", []int{401},
			},
		} {
			conv := w.converse(t)
			go conv.say(c.text)
			resp, err := http.ReadResponse(conv.from, nil)
			if err != nil { // if the request was not read completely, the answer may be lost
				if !slices.Contains(c.status, 431) && !slices.Contains(c.status, 422) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			raw, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
			if !slices.Contains(c.status, resp.StatusCode) || bytes.Contains(raw, []byte("aaaa")) || bytes.Contains(raw,
				[]byte(full(w))) {
				t.Errorf("%s: %d %.300s", name, resp.StatusCode, raw)
			}
			conv.conn.Close()
		}
		w.full("get_identity", nil)
	})
}

// The server does not decompress request bodies.
func TestCompressedBodies(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		good := fmt.Sprintf(`{"caption":"packed","account_ids":[%d]}`, w.accounts[0])
		for _, text := range []string{good, strings.Repeat(" ", 64<<20) + good} {
			var packed bytes.Buffer
			to := gzip.NewWriter(&packed)
			must.Get(io.WriteString(to, text))(t)
			must.NoError(t, to.Close())
			for _, how := range []string{"gzip", "x-gzip", "deflate", "br", "gzip, gzip"} {
				header := http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {how}}
				w.sendBytes(http.MethodPost, w.base+"/posts", header, packed.String(), false).
					mustReject(t, http.StatusUnprocessableEntity, "validation_failed", "body_not_a_json_object")
			}
		}
		if n := w.count("posts WHERE team_id = ?", w.team); n != 0 {
			t.Errorf("%d posts were created", n)
		}
	})
}

// Idle connections do not delay requests.
func TestManyIdleConnections(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		const many = 800
		for i := range many {
			c := w.converse(t)
			if i%2 == 0 {
				c.say("POST /api/v1/posts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + full(w) +
					"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
			} else {
				c.say("GET /api/v1/me HTTP/1.1\r\nHost: ")
			}
		}
		began := time.Now()
		w.draft("in between")
		w.full("list_posts", nil)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("two requests took %v with %d idle connections", took, many)
		}
	})
}
