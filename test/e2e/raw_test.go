package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"pressroom.example/pressroom/internal/testkit/must"
)

// rawCase is a REST request that has no equivalent in MCP, such as one with a malformed body, header or path.
type rawCase struct {
	name    string
	method  string
	path    string // below /api/v1; {post} is replaced by a draft's ID
	header  http.Header
	body    string // {account} is replaced by an account's ID
	chunked bool   // send without Content-Length
	want    want   // the expected error; success if its status is 0
	detail  string // expected part of the detail
	success int
	effects rows
}

// withDetail returns a case whose error detail must contain the words.
func withDetail(words string, c rawCase) rawCase {
	c.detail = words
	return c
}

// rawCases returns all raw cases.
func rawCases() []rawCase {
	return append(bodyCases(), append(queryCases(), keyCases()...)...)
}

func TestRawRequests(t *testing.T) {
	t.Parallel()
	withInstance(t, options{}, func(t *testing.T, h *instance) {
		for _, c := range rawCases() {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				c.play(t, h.newEnv(t, options{accounts: 1}))
			})
		}
	})
}

func (c rawCase) play(t *testing.T, w *env) {
	t.Helper()
	path := c.path
	if strings.Contains(path, "{post}") {
		path = strings.ReplaceAll(path, "{post}", w.draft("a draft"))
	}
	before := w.footprint()
	got := w.sendBytes(c.method, w.base+path, c.header, strings.ReplaceAll(c.body, "{account}", number(w.accounts[0])), c.chunked)
	if c.want.status == 0 {
		got.mustBe(t, c.success)
	} else {
		c.want.check(t, w, "", got)
	}
	if detail := got.text("detail"); !strings.Contains(detail, c.detail) {
		t.Errorf("the detail lacks %q: %s", c.detail, detail)
	}
	if effects := w.footprint().changesSince(before); effects != c.effects {
		t.Errorf("changed %+v, want %+v", effects, c.effects)
	}
}

// sendBytes sends a request with the full key, unless the headers contain a credential.
func (w *env) sendBytes(method, url string, header http.Header, body string, chunked bool) answer {
	w.t.Helper()
	var reader io.Reader = strings.NewReader(body)
	if chunked {
		reader = io.MultiReader(strings.NewReader(body)) // of unknown length
	}
	req := must.Get(http.NewRequestWithContext(w.t.Context(), method, url, reader))(w.t)
	req.Header = bearer(full(w))
	maps.Copy(req.Header, header)
	got := must.Get(w.send(req))(w.t)
	return got
}

// sendRaw sends raw bytes and returns the response.
func (w *env) sendRaw(text string) answer {
	w.t.Helper()
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(w.root, "http://")))(w.t)
	defer conn.Close()
	must.NoError(w.t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	must.Get(io.WriteString(conn, strings.ReplaceAll(text, "\n", "\r\n")))(w.t)
	resp := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(w.t)
	defer resp.Body.Close()
	raw := must.Get(io.ReadAll(resp.Body))(w.t)
	return answer{status: resp.StatusCode, header: resp.Header, raw: raw}
}

var jsonType = http.Header{"Content-Type": {"application/json"}}

// contentType returns a header with Content-Type values.
func contentType(values ...string) http.Header { return http.Header{"Content-Type": values} }

func bodyCases() []rawCase {
	const good = `{"caption":"hello","account_ids":[{account}]}`
	notAnObject := invalid("body_not_a_json_object", "")
	create := func(name string, header http.Header, body string, expected want) rawCase {
		return rawCase{name: "body: " + name, method: http.MethodPost, path: "/posts", header: header, body: body, want: expected}
	}
	takes := func(name string, header http.Header, body string) rawCase {
		return rawCase{
			name: "body: " + name, method: http.MethodPost, path: "/posts", header: header, body: body,
			success: http.StatusCreated, effects: oneDraft,
		}
	}
	cancel := func(name string, header http.Header, body string, expected want) rawCase {
		return rawCase{
			name: "no members: " + name, method: http.MethodPost, path: "/posts/{post}/cancel", header: header,
			body: body, want: expected, success: http.StatusOK,
		}
	}
	change := func(name string, header http.Header, body string, expected want) rawCase {
		return rawCase{
			name: "all optional: " + name, method: http.MethodPatch, path: "/posts/{post}", header: header, body: body,
			want: expected, success: http.StatusOK,
		}
	}
	padded := good + strings.Repeat(" ", 1<<20-len(good)+len("{account}")-20)
	cases := []rawCase{
		takes("as it should be", jsonType, good),
		takes("just under 1 MiB", jsonType, padded),
		create("over 1 MiB", jsonType, good+strings.Repeat(" ", 1<<20), invalid("too_large", "")),
		create("over 1 MiB of one text", jsonType, `{"caption":"`+strings.Repeat("x", 1<<20)+`"}`, invalid("too_large", "")),
		create("nested 20,000 deep", jsonType,
			`{"caption":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+`}`, invalid("malformed", "")),
		create("objects nested 20,000 deep", jsonType, strings.Repeat(`{"a":`, 20_000)+"1"+strings.Repeat("}", 20_000),
			invalid("malformed", "")),
		create("invalid UTF-8", jsonType, "{\"caption\":\"a\xff\xfe\",\"account_ids\":[{account}]}", notAnObject),
		create("an overlong encoding", jsonType, "{\"caption\":\"\xc0\xaf\",\"account_ids\":[{account}]}", notAnObject),
		create("a lone high surrogate", jsonType, `{"caption":"\ud800","account_ids":[{account}]}`, notAnObject),
		create("a lone low surrogate", jsonType, `{"caption":"a\udc00b","account_ids":[{account}]}`, notAnObject),
		create("surrogates in the wrong order", jsonType, `{"caption":"\udc00\ud800","account_ids":[{account}]}`, notAnObject),
		takes("a pair of surrogates", jsonType, `{"caption":"\ud83c\udf0d","account_ids":[{account}]}`),
		create("a NUL byte", jsonType, "{\"caption\":\"a\x00b\",\"account_ids\":[{account}]}", notAnObject),
		withDetail("BOM", create("a byte order mark", jsonType, "\ufeff"+good, notAnObject)),
		withDetail("Content-Encoding",
			create("plain JSON that says it is packed",
				http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"br"}}, good, notAnObject)),
		withDetail("Content-Encoding",
			create("packed twice",
				http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity", "gzip"}}, good, notAnObject)),
		takes("said to be plain", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"identity"}}, good),
		withDetail("Content-Encoding",
			cancel("packed", http.Header{"Content-Type": {"application/json"}, "Content-Encoding": {"gzip"}}, "{}", notAnObject)),
		create("two objects", jsonType, good+good, notAnObject),
		create("rubbish after it", jsonType, good+"x", notAnObject),
		create("a list", jsonType, "["+good+"]", notAnObject),
		create("a text", jsonType, `"hello"`, notAnObject),
		create("a number", jsonType, "5", notAnObject),
		create("null", jsonType, "null", notAnObject),
		create("cut off", jsonType, good[:20], notAnObject),
		create("a comma too many", jsonType, `{"caption":"hello","account_ids":[{account}],}`, notAnObject),
		create("comments", jsonType, `{"caption":"hello"/*,*/,"account_ids":[{account}]}`, notAnObject),
		create("NaN", jsonType, `{"caption":"hello","account_ids":[NaN]}`, notAnObject),
		create("single quotes", jsonType, `{'caption':'hello'}`, notAnObject),
		create("nothing", jsonType, "", notAnObject),
		create("nothing of no type", nil, "", notAnObject),
		create("white space", jsonType, " \n", notAnObject),
		create("a form", contentType("application/x-www-form-urlencoded"), "caption=hello", notAnObject),
		create("JSON called a form", contentType("application/x-www-form-urlencoded"), good, notAnObject),
		create("JSON called text", contentType("text/json"), good, notAnObject),
		create("JSON of another kind", contentType("application/merge-patch+json"), good, notAnObject),
		create("JSON called nothing", nil, good, notAnObject),
		create("a Content-Type that is empty", contentType(""), good, notAnObject),
		create("an invalid Content-Type", contentType("application/json; charset"), good, notAnObject),
		create("two Content-Types", contentType("application/json", "application/json"), good, notAnObject),
		create("two Content-Types in one", contentType("application/json, text/plain"), good, notAnObject),
		create("another charset", contentType("application/json; charset=iso-8859-1"), good, notAnObject),
		create("UTF-16", contentType("application/json; charset=utf-16"), good, notAnObject),
		takes("the charset that it has anyway", contentType("application/json; charset=utf-8"), good),
		takes("the charset in capitals and quotes", contentType(`application/json;charset="UTF-8"`), good),
		takes("the type in capitals", contentType("Application/JSON"), good),
		takes("another parameter", contentType("application/json; profile=x"), good),
		takes("white space around it", jsonType, " \n\t"+good+"\r\n "),
		takes("escaped names", jsonType, `{"\u0063aption":"hello","account_ids":[{account}]}`),
		takes("a whole number written as a fraction", jsonType, `{"caption":"hello","account_ids":[{account}.0]}`),
		takes("a whole number with an exponent", jsonType, `{"caption":"hello","account_ids":[{account}e0]}`),
		cancel("nothing", nil, "", want{}),
		cancel("nothing, called JSON", jsonType, "", want{}),
		cancel("an empty object", jsonType, "{}", want{}),
		cancel("an empty object of no type", nil, "{}", want{}),
		cancel("a list", jsonType, "[]", notAnObject),
		cancel("null", jsonType, "null", notAnObject),
		cancel("a member of no type", nil, `{"a":1}`, notAnObject),
		cancel("a member", jsonType, `{"a":1}`, invalid("unknown_argument", "a")),
		cancel("the path's argument again", jsonType, `{"post_id":"x"}`, invalid("argument_given_twice", "post_id")),
		change("nothing", nil, "", want{}),
		change("an empty object", jsonType, "{}", want{}),
		change("an object of no type", nil, `{"caption":"new"}`, notAnObject),
		change("the path's argument again", jsonType, `{"id":"x","caption":"new"}`, invalid("argument_given_twice", "id")),
		change("the path's argument by its other name", jsonType, `{"post_id":"x"}`, invalid("unknown_argument", "post_id")),
	}
	chunked := takes("sent in pieces", jsonType, good)
	chunked.chunked = true
	large := create("over 1 MiB in pieces", jsonType, good+strings.Repeat(" ", 1<<20), invalid("too_large", ""))
	large.chunked = true
	return append(cases, chunked, large)
}

func queryCases() []rawCase {
	read := func(name, path string, expected want) rawCase {
		return rawCase{name: "query: " + name, method: http.MethodGet, path: path, want: expected, success: http.StatusOK}
	}
	write := func(name, method, path, body string) rawCase {
		return rawCase{
			name: "query of a write: " + name, method: method, path: path, header: jsonType, body: body,
			want: invalid("arguments_in_query", ""),
		}
	}
	body := func(name, path, text string, chunked bool) rawCase {
		return rawCase{
			name: "body of a read: " + name, method: http.MethodGet, path: path, header: jsonType, body: text,
			chunked: chunked, want: invalid("body_not_allowed", ""),
		}
	}
	return []rawCase{
		read("a name twice counts once, with its last value", "/posts?limit=abc&limit=1", want{}),
		read("a name twice, the last one wrong", "/posts?limit=1&limit=abc", invalid("not_an_integer", "limit")),
		read("a name twice, one value empty", "/posts?limit=&limit=2", want{}),
		read("an unescaped plus", "/posts?from=2026-04-01T00:00:00+02:00", want{}),
		read("an escaped plus", "/posts?from=2026-04-01T00:00:00%2B02:00", want{}),
		read("an escaped name", "/posts?%6cimit=2", want{}),
		read("empty pairs", "/posts?&&limit=2&", want{}),
		read("nothing after the question mark", "/posts?", want{}),
		read("a name without a value", "/posts?limit", invalid("not_an_integer", "limit")),
		read("a value without a name", "/posts?=5", invalid("unknown_argument", "")),
		read("a bad escape", "/posts?limit=%zz", invalid("malformed", "")),
		read("a bad escape in a name", "/posts?%zz=1", invalid("malformed", "")),
		read("invalid UTF-8", "/posts?status=%ff", invalid("malformed", "status")),
		read("a NUL", "/posts?cursor=%00", invalid("malformed", "cursor")),
		read("a number with a plus", "/posts?limit=%2B5", invalid("not_an_integer", "limit")),
		read("a number with a space", "/posts?limit=%205", invalid("not_an_integer", "limit")),
		read("a number with a leading zero", "/posts?limit=05", invalid("not_an_integer", "limit")),
		read("a hexadecimal number", "/posts?limit=0x5", invalid("not_an_integer", "limit")),
		read("a number beyond all", "/posts?limit=1e400", invalid("not_an_integer", "limit")),
		read("a number written with an exponent", "/posts?limit=2e0", want{}),
		read("the path's argument again", "/posts/{post}?id=x", invalid("argument_given_twice", "id")),
		read("an API key as an argument", "/me?api_key=x", invalid("unknown_argument", "api_key")),
		read("of what takes none", "/me?limit=5", invalid("unknown_argument", "limit")),
		read("the Idempotency-Key", "/posts?idempotency_key=x", invalid("unknown_argument", "idempotency_key")),
		write("arguments", http.MethodPost, "/posts?caption=x", `{"caption":"x","account_ids":[{account}]}`),
		write("of a change", http.MethodPatch, "/posts/{post}?x", `{"caption":"x"}`),
		write("of what has no members", http.MethodPost, "/posts/{post}/cancel?x=1", ""),
		body("an object", "/posts", `{"limit":1}`, false),
		body("an empty object", "/me", `{}`, false),
		body("in pieces", "/posts", `{"limit":1}`, true),
		body("one space", "/social-accounts", " ", false),
		body("more than 1 MiB", "/posts/{post}", strings.Repeat("x", 1<<20+1), false),
	}
}

// keyCases returns cases of the Idempotency-Key header that do not exist for the argument of a tool.
func keyCases() []rawCase {
	const good = `{"caption":"hello","account_ids":[{account}]}`
	sent := func(name, path, body string, expected want, keys ...string) rawCase {
		return rawCase{
			name: "key: " + name, method: http.MethodPost, path: path,
			header: http.Header{"Content-Type": {"application/json"}, "Idempotency-Key": keys}, body: body, want: expected,
		}
	}
	kept := func(name string, keys ...string) rawCase {
		c := sent(name, "/posts", good, want{}, keys...)
		c.success, c.effects = http.StatusCreated, rows{posts: 1, targets: 1, events: 1, keys: 1}
		return c
	}
	return []rawCase{
		kept("bare", "a-key"), kept("quoted", `"a-key"`), kept("quoted with escapes", `"a \"key\" \\ of mine"`),
		kept("one quote", `"`), kept("a quote at its end", `a-key"`), kept("of many scripts", "Schlüssel-鍵"),
		sent("empty", "/posts", good, invalid("idempotency_key_empty", ""), ""),
		sent("twice, in two headers", "/posts", good, invalid("idempotency_key_given_twice", ""), "a", "b"),
		sent("twice, the same", "/posts", good, invalid("idempotency_key_given_twice", ""), "a", "a"),
		sent("in header and body", "/posts", `{"caption":"hello","account_ids":[{account}],"idempotency_key":"a"}`,
			invalid("idempotency_key_given_twice", ""), "a"),
		sent("only in the body", "/posts", `{"caption":"hello","account_ids":[{account}],"idempotency_key":"a"}`,
			invalid("unknown_argument", "idempotency_key")),
		sent("not UTF-8", "/posts", good, invalid("malformed", ""), "a\xffb"),
		{name: "key: of a read, twice", method: http.MethodGet, path: "/me", header: http.Header{
			"Idempotency-Key": {"a", "b"},
		}, want: invalid("idempotency_key_not_accepted", "")},
		{name: "key: of a read, empty", method: http.MethodGet, path: "/posts", header: http.Header{
			"Idempotency-Key": {""},
		}, want: invalid("idempotency_key_not_accepted", "")},
	}
}

// Requests that HTTP clients do not send.
func TestWire(t *testing.T) {
	t.Parallel()
	withEnv(t, options{accounts: 1}, func(t *testing.T, w *env) {
		head := "Host: x\nConnection: close\nAuthorization: Bearer " + full(w) + "\n"
		if got := w.sendRaw("GET /api/v1/me HTTP/1.1\n" + head + "Transfer-Encoding: chunked\n\n0\n\n"); got.status != http.StatusOK {
			t.Errorf("a read with an empty chunked body: %d %s", got.status, got.raw)
		}
		if got := w.sendRaw("GET /api/v1/me HTTP/1.1\n" + head +
			"Transfer-Encoding: chunked\n\n1\nx\n0\n\n"); !bytes.Contains(got.raw, []byte("body_not_allowed")) {
			t.Errorf("a read with a chunked body: %d %s", got.status, got.raw)
		}
		if got := w.sendRaw("POST /api/v1/posts HTTP/1.1\n" + head +
			"Content-Type: application/json\nContent-Length: 50\nExpect: 100-continue\n\n"); got.status != http.StatusContinue {
			t.Errorf("a body after 100 Continue: %d", got.status)
		}
		for _, line := range []string{"GET /api/v1/posts/%zz HTTP/1.1", "GET /api/v1/me HTTP/9.9", "GET  HTTP/1.1"} {
			got := w.sendRaw(line + "\n" + head + "\n")
			if got.header.Get("Content-Type") != "application/problem+json" ||
				got.header.Get("Cache-Control") != "no-store" || got.header.Get("X-Request-Id") == "" ||
				!bytes.Contains(got.raw, fmt.Appendf(nil, `"status":%d`, got.status)) {
				t.Errorf("%.60q: %v, %s", line, got.header, got.raw)
			}
			if got.status < 400 || got.status > 505 || bytes.Contains(got.raw, []byte(full(w))) {
				t.Errorf("%s: %d %s", line, got.status, got.raw)
			}
		}
		if n := w.count("posts WHERE team_id = ?", w.team); n != 0 {
			t.Errorf("%d posts were created", n)
		}
	})
}
