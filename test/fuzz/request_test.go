package fuzz

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// request is an HTTP request as it is sent.
type request struct {
	op             *described
	tool           bool // a tool call
	theirs         bool // sent with the other team's key
	method, target string
	header         [][2]string
	body           string
}

// The ways in which a request is sent.
const (
	atREST  = "REST"
	atTools = "tools"
	atPages = "pages"
)

// edge returns the kind of endpoint that receives the request. It may differ from the endpoint of the call.
func (r *request) edge() string {
	path, _, _ := strings.Cut(r.target, "?")
	switch {
	case path == "/mcp":
		return atTools
	case strings.HasPrefix(path, "/api/v1/"):
		return atREST
	}
	return atPages
}

func (r *request) set(name, value string) { r.header = append(r.header, [2]string{name, value}) }

// String returns the request as text, to send it manually.
func (r *request) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", r.method, r.target)
	for _, h := range r.header {
		fmt.Fprintf(&out, "%s: %s\r\n", h[0], h[1])
	}
	if r.body != "" || r.method != http.MethodGet {
		fmt.Fprintf(&out, "Content-Length: %d\r\n", len(r.body))
	}
	return out.String() + "\r\n" + r.body
}

// parse parses the request as an HTTP server does. It returns false if a server would reject the request.
func (r *request) parse() (*http.Request, bool) {
	req, err := http.ReadRequest(bufio.NewReader(strings.NewReader(r.String())))
	if err != nil {
		return nil, false
	}
	req.RemoteAddr = "127.0.0.1:1"
	return req, true
}

// text formats a value for a path or a query string.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return fmt.Sprintf("%.0f", v)
	case []any: // spec, Endpoints: a list in a query string is comma-separated
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = text(v[i])
		}
		return strings.Join(parts, ",")
	case map[string]any:
		return jsonOf(v)
	}
	return fmt.Sprint(value)
}

// overREST returns the REST request of a call.
func (k call) overREST(key string) *request {
	r := &request{op: k.op, method: k.op.method, target: "/api/v1" + k.op.path}
	r.set("Authorization", "Bearer "+key)
	var query []string
	body := map[string]any{}
	for _, a := range k.op.arguments {
		value, given := k.args[a.name]
		if a.place == "path" {
			segment := url.PathEscape(text(value))
			if segment == "" {
				segment = marker
			}
			r.target = strings.ReplaceAll(r.target, "{"+a.name+"}", segment)
		} else if given && k.op.method == http.MethodGet {
			query = append(query, url.QueryEscape(a.name)+"="+url.QueryEscape(text(value)))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.args)) {
		value := k.args[name]
		if !slices.ContainsFunc(k.op.arguments, func(a argument) bool { return a.name == name && a.place == "path" }) {
			body[name] = value
			if k.op.method == http.MethodGet && !slices.ContainsFunc(k.op.arguments, func(a argument) bool { return a.name == name }) {
				query = append(query, url.QueryEscape(name)+"="+url.QueryEscape(text(value)))
			}
		}
	}
	if len(query) > 0 {
		r.target += "?" + strings.Join(query, "&")
	}
	if k.op.method != http.MethodGet && (len(body) > 0 || k.op.keyRequired) {
		r.set("Content-Type", "application/json")
		r.body = jsonOf(body)
	}
	if k.key != nil {
		r.set("Idempotency-Key", *k.key)
	}
	return r
}

// overTools returns the MCP request of a call.
func (k call) overTools(key string) *request {
	r := &request{op: k.op, tool: true, method: http.MethodPost, target: "/mcp"}
	r.set("Authorization", "Bearer "+key)
	r.set("Content-Type", "application/json")
	r.set("Accept", "application/json, text/event-stream")
	r.set("Mcp-Protocol-Version", "2025-06-18")
	args := map[string]any{}
	maps.Copy(args, k.args)
	if k.key != nil {
		args["idempotency_key"] = *k.key
	}
	r.body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + k.op.tool + `","arguments":` + jsonOf(args) + `}}`
	return r
}

// corruptRequest makes one change to a request outside of its arguments.
func (c *generator) corruptRequest(r *request) {
	switch c.IntN(6) {
	case 0:
		c.twistHeader(r)
	case 1:
		r.method = pick(c,
			[]string{
				"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", strings.ToUpper(marker),
			})
	case 2:
		c.twistTarget(r)
	default:
		c.twistBody(r)
	}
}

func (c *generator) twistHeader(r *request) {
	var value string
	name := "Content-Type"
	switch c.IntN(4) {
	case 0:
		value = pick(c,
			[]string{
				"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=" + marker,
				"application/json; charset=utf-16", "application/json;" + marker, "application/" + marker + "+json",
				"application/json, application/json", ";;;",
			})
		r.header = slices.DeleteFunc(r.header, func(h [2]string) bool { return h[0] == name })
	case 1:
		name, value = "Idempotency-Key", pick(c,
			[]string{"", marker, strings.Repeat(marker, 40), marker + "\xff", "\"" + marker, `"a\"` + marker + `"`})
	case 2:
		name, value = "Authorization", pick(c,
			[]string{
				"", "Bearer", "Basic " + marker, "Bearer " + marker, "Bearer prk_" + marker,
				"Bearer " + strings.Repeat(marker, 4000), "Bearer \xff",
			})
		if c.in(2) {
			r.header = slices.DeleteFunc(r.header, func(h [2]string) bool { return h[0] == name })
		}
	default:
		name = pick(c,
			[]string{
				"Origin", "Accept", "Cookie", "X-Forwarded-For", "X-Forwarded-Host", "X-HTTP-Method-Override",
				"Content-Encoding", "Range", "If-None-Match", "If-Modified-Since", "Expect", "X-Request-Id",
				"Mcp-Protocol-Version", "Mcp-Session-Id", "Last-Event-Id", "Upgrade", "Prefer", "Traceparent",
			})
		value = pick(c,
			[]string{
				marker, "", "gzip", "*", "DELETE", "bytes=0-", "127.0.0.1", "null", "2025-06-18", "1999-01-01",
				"\xff" + marker, strings.Repeat(marker, 1000),
			})
	}
	r.set(name, value)
}

func (c *generator) twistTarget(r *request) {
	path, query, _ := strings.Cut(r.target, "?")
	switch c.IntN(4) {
	case 0:
		path += pick(c,
			[]string{"/", "//", "/" + marker, "/..", "%2f", ";" + marker, "%00", "%zz", "?", "/%2e%2e/me", "\\", "%ff", "." + marker})
	case 1:
		at := strings.LastIndex(path, "/")
		path = path[:at] + pick(c, []string{"//", "/./", "/../", "/%2F", "/;/"}) + path[at+1:]
	case 2:
		path = strings.ToUpper(path)
	default:
		query += pick(c,
			[]string{
				"&" + unknownName + "=" + marker, "&limit=%zz", "&limit", "&=" + marker, "&&&", ";" + marker,
				"&%ff=" + marker, "&limit=1&limit=2", "&limit[]=" + marker, "&cursor=" + marker, "&cursor=%00",
				"&" + strings.Repeat("a", 20_000) + "=" + marker,
			})
	}
	if r.target = path; query != "" {
		r.target += "?" + query
	}
}

func (c *generator) twistBody(r *request) {
	if r.body == "" {
		r.body = pick(c,
			[]string{"{}", " ", "null", "[]", `"` + marker + `"`, `{"` + marker + `":1}`, "\x00", strings.Repeat(" ", 1<<20+1)})
		return
	}
	body, at := []byte(r.body), c.IntN(len(r.body))
	switch c.IntN(9) {
	case 0:
		body = body[:at]
	case 1:
		body = slices.Insert(body, at, pick(c, []byte{0, 0xff, 0xc0, '{', '}', '[', '"', ',', ':', '\\', '\n'}))
	case 2:
		body[at] ^= 1 << c.IntN(8)
	case 3:
		body = append(body, pick(c, []string{"x", "{}", string(body), "\x00", "]", "}", strings.Repeat(" ", 1<<20)})...)
	case 4: // the first member again
		if first, _, ok := bytes.Cut(body[1:], []byte(",")); ok {
			body = slices.Concat([]byte("{"), first, []byte(","), body[1:])
		}
	case 5:
		body = slices.Concat([]byte("\xef\xbb\xbf"), body)
	case 6:
		body = slices.Concat([]byte("["), body, []byte("]"))
	case 7:
		body = bytes.ReplaceAll(body, []byte(`"`), []byte("'"))
	default:
		from := c.IntN(len(body))
		body = slices.Concat(body[:from], body[at:])
	}
	r.body = string(body)
}
