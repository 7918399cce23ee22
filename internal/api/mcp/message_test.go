package mcp_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestMessages(t *testing.T) {
	e := newEnv(t)
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"broken JSON": {
			"{broken", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The body is not valid JSON in UTF-8."}}`,
		},
		"nothing":              {"", 400, `"code":-32700`},
		"two values":           {ping + ping, 400, `"code":-32700`},
		"not UTF-8":            {`{"jsonrpc":"2.0","id":"` + "\xff" + `","method":"ping"}`, 400, `"code":-32700`},
		"too deep":             {`{"params":` + strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19-100) + `}`, 400, `"code":-32700`},
		"a batch":              {"[" + ping + "]", 400, `Batches are not supported`},
		"not an object":        {"null", 400, `"code":-32600`},
		"an invalid method":    {`{"jsonrpc":"2.0","id":1,"method":1}`, 400, `"code":-32600`},
		"an invalid id":        {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, `"code":-32600`},
		"a call without an id": {`{"jsonrpc":"2.0","method":"tools/list"}`, 400, `"code":-32600`},
		"an unknown method": {
			`{"jsonrpc":"2.0","id":"a","method":"prk_x"}`, 200,
			`{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Unknown method."}}`,
		},
		"subscriptions": {
			`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`,
			200, `"code":-32601`,
		},
		"logging":        {`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, 200, `"code":-32601`},
		"a notification": {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, 202, ``},
		"an answer":      {`{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ``},
		"no params": {
			`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 400,
			`{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"This method requires params."}}`,
		},
		"another JSON-RPC": {
			`{"jsonrpc":"1.0","id":1,"method":"ping"}`, 400,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The body is not a JSON-RPC message."}}`,
		},
		"no tag": {`{"id":1,"method":"ping"}`, 400, `"code":-32600`},
		"a large body": {
			strings.Repeat(" ", 1<<20) + ping, 413,
			`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The body is larger than 1 MiB. Nothing was done."}}`,
		},
		"ping": {ping, 200, `"result":{}`},
	} {
		got := e.send(t, "POST", c.body)
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: HTTP %d %s, want %d %s", name, got.status, got.body, c.status, c.want)
		}
	}
}

// A call is made only if its ID can be returned exactly as it was sent.
func TestIDs(t *testing.T) {
	e := newEnv(t)
	creates := func(id string) reply {
		return e.send(t, "POST",
			`{"jsonrpc":"2.0","id":`+id+`,"method":"tools/call","params":{"name":"create_note","arguments":{"text":`+
				strconv.Quote("a note of "+id)+`}}}`)
	}
	for _, id := range []string{`1`, `0`, `-7`, `9007199254740991`, `-9007199254740991`, `"9007199254740993"`, `""`, `"1.5"`} {
		if got := creates(id); got.status != http.StatusOK || !strings.HasPrefix(got.body, `{"jsonrpc":"2.0","id":`+id+`,"result":`) {
			t.Errorf("the id %s: HTTP %d %s", id, got.status, got.body)
		}
	}
	made := len(e.done)
	for _, id := range []string{
		`1.5`, `1.0`, `9007199254740992`, `9007199254740993`, `-9007199254740993`, `1e30`, `1e2`, `123456789012345678901234567890`,
	} {
		for _, body := range []reply{
			creates(id), e.send(t, "POST", `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`),
			e.send(t, "POST", `{"jsonrpc":"2.0","id":`+id+`,"method":"no_such"}`),
		} {
			if body.status != http.StatusBadRequest || !strings.HasPrefix(body.body,
				`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"The id must be `) {
				t.Errorf("the id %s: HTTP %d %s", id, body.status, body.body)
			}
		}
	}
	if len(e.done) != made {
		t.Errorf("%d calls with an id that cannot be returned were performed", len(e.done)-made)
	}
}

// Protocol errors do not repeat input or mention the SDK.
func TestErrorsDoNotRepeatInput(t *testing.T) {
	e := newEnv(t)
	const secret = "prk_SECRET"
	current := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "get_note"}
	meta := func(version, more string) string {
		return `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version +
			`","io.modelcontextprotocol/clientCapabilities":{}` + more + `}`
	}
	for name, c := range map[string]struct {
		method, params string
		headers        []string
		status         int
		code           string
	}{
		"a tool's name as a list": {"tools/call", `{"name":["prk_SECRET"]}`, nil, 200, "-32602"},
		"params as a text":        {"tools/call", `"prk_SECRET"`, nil, 200, "-32602"},
		"params as a list":        {"tools/list", `["prk_SECRET"]`, nil, 200, "-32602"},
		"an unknown cursor":       {"tools/list", `{"cursor":"prk_SECRET"}`, nil, 200, "-32602"},
		"a malformed cursor":      {"tools/list", `{"cursor":["prk_SECRET"]}`, nil, 200, "-32602"},
		"a prompt's argument":     {"prompts/get", `{"name":"write_post","arguments":{"topic":["prk_SECRET"]}}`, nil, 200, "-32602"},
		"a prompt's name":         {"prompts/get", `{"name":"prk_SECRET"}`, nil, 200, "-32602"},
		"a reference of another kind": {
			"completion/complete",
			`{"ref":{"type":"ref/prk_SECRET","name":"x"},"argument":{"name":"prk_SECRET","value":""}}`, nil, 200, "-32602",
		},
		"a malformed reference": {"completion/complete", `{"ref":"prk_SECRET"}`, nil, 200, "-32602"},
		"a resource's address":  {"resources/read", `{"uri":["prk_SECRET"]}`, nil, 200, "-32602"},
		"an unknown resource":   {"resources/read", `{"uri":"prk_SECRET"}`, nil, 200, "-32002"},
		"initialize":            {"initialize", `{"protocolVersion":["prk_SECRET"]}`, nil, 200, "-32602"},
		"a stream with invalid _meta": {
			"tools/call", `{"name":"watch_note","arguments":{"id":"n1"},"_meta":["prk_SECRET"]}`, nil, 200, "-32602",
		},
		"a stream with another header": {
			"tools/call",
			`{"name":"watch_note","arguments":{"id":"n1"},` + meta("2026-07-28", `,"progressToken":1`) + `}`,
			append(current[:4:4], "Mcp-Name", secret), 400, "-32020",
		},
		"another method": {
			"tools/call", `{"name":"get_note",` + meta("2026-07-28", "") + `}`,
			[]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", secret, "Mcp-Name", "get_note"}, 400, "-32020",
		},
		"another name":    {"tools/call", `{"name":"prk_SECRET",` + meta("2026-07-28", "") + `}`, current, 400, "-32020"},
		"another version": {"tools/call", `{"name":"get_note",` + meta("prk_SECRET", "") + `}`, current, 400, "-32020"},
		"an unknown version": {
			"tools/call", `{"name":"get_note",` + meta("zprk_SECRET", "") + `}`,
			append([]string{"Mcp-Protocol-Version", "zprk_SECRET"}, current[2:]...), 400, "-32022",
		},
		"an unknown version's header": {"tools/list", `{}`, []string{"Mcp-Protocol-Version", secret}, 400, "-32022"},
		"a malformed old version":     {"tools/list", `{}`, []string{"Mcp-Protocol-Version", "1prk_SECRET"}, 400, "-32022"},
		"no version in the message":   {"tools/call", `{"name":"get_note","_meta":{"prk_SECRET":1}}`, current, 400, "-32602"},
		"the client's capabilities": {
			"tools/call",
			`{"name":"get_note","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
				`"io.modelcontextprotocol/clientCapabilities":["prk_SECRET"]}}`, current, 400, "-32602",
		},
		"the Accept header":        {"tools/list", `{}`, []string{"Accept", secret}, 400, "-32600"},
		"the Content-Type header":  {"tools/list", `{}`, []string{"Content-Type", secret}, 415, "-32600"},
		"the Last-Event-Id header": {"tools/list", `{}`, []string{"Last-Event-Id", secret}, 400, "-32600"},
	} {
		got := e.send(t, "POST", `{"jsonrpc":"2.0","id":"a \"result\":","method":"`+c.method+`","params":`+c.params+`}`, c.headers...)
		if got.status != c.status || !strings.HasPrefix(got.body,
			`{"jsonrpc":"2.0","id":"a \"result\":","error":{"code":`+c.code+`,"message":"`) ||
			got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: HTTP %d %s %s, want %d %s", name, got.status, got.header.Get("Content-Type"), got.body, c.status, c.code)
		}
		for _, never := range []string{secret, "mcp.", "unmarshal", "malformed", "handling"} {
			if strings.Contains(got.body, never) {
				t.Errorf("%s reveals %s: %s", name, never, got.body)
			}
		}
	}
}

// The error for an unsupported version lists the supported ones.
func TestUnsupportedVersions(t *testing.T) {
	e := newEnv(t)
	for _, version := range []string{"1999-01-01", "2025-12-01", "2030-01-01", "v999.0.0"} {
		for _, params := range []string{
			`{}`, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}}`,
		} {
			got := e.send(t, "POST", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":`+params+`}`,
				"Mcp-Protocol-Version", version, "Mcp-Method", "tools/list")
			want := `"data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"` + version + `"}`
			if got.status != http.StatusBadRequest || !strings.Contains(got.body, `"code":-32022`) || !strings.Contains(got.body, want) {
				t.Errorf("%s, %s: HTTP %d %s, want %s", version, params, got.status, got.body, want)
			}
		}
	}
}

// A key in a header is rejected. Ignoring it would perform a repeated call twice.
func TestKeyInHeader(t *testing.T) {
	e := newEnv(t)
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_note","arguments":{"text":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"create_note","arguments":{"text":"x","idempotency_key":"k"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_note","arguments":{"id":"n1"}}}`,
	} {
		got := e.send(t, "POST", body, "Idempotency-Key", "prk_SECRET")
		if !strings.Contains(got.body, `"isError":true`) || !strings.Contains(got.body, "key_not_accepted") ||
			!strings.Contains(got.body, "the argument idempotency_key") || strings.Contains(got.body, "SECRET") {
			t.Errorf("HTTP %d %s", got.status, got.body)
		}
	}
	if len(e.done) > 0 {
		t.Errorf("it was done: %v", e.done)
	}
}

func TestProtocolVersions(t *testing.T) {
	e := newEnv(t)
	for version, want := range map[string]int{"": 200, "2025-03-26": 200, "2025-11-25": 200, "1999-01-01": 400} {
		if got := e.send(t, "POST", ping, "Mcp-Protocol-Version", version); got.status != want {
			t.Errorf("version %q: HTTP %d %s, want %d", version, got.status, got.body, want)
		}
	}
	unknown := `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel"}`
	if got := e.send(t, "POST", unknown, "Mcp-Protocol-Version", "2026-07-28"); got.status != http.StatusNotFound {
		t.Errorf("an unknown method of the sessionless protocol: HTTP %d %s", got.status, got.body)
	}
}
