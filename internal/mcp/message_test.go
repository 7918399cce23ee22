package mcp_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestMessages(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"broken JSON":           {"{broken", 400, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"The body is not JSON in UTF-8."}}`},
		"nothing":               {"", 400, `"code":-32700`},
		"two values":            {ping + ping, 400, `"code":-32700`},
		"not UTF-8":             {`{"jsonrpc":"2.0","id":"` + "\xff" + `","method":"ping"}`, 400, `"code":-32700`},
		"too deep":              {`{"params":` + strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19-100) + `}`, 400, `"code":-32700`},
		"a batch":               {"[" + ping + "]", 400, `batches are not taken`},
		"no object":             {"null", 400, `"code":-32600`},
		"a method that is none": {`{"jsonrpc":"2.0","id":1,"method":1}`, 400, `"code":-32600`},
		"an id that is none":    {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, 400, `"code":-32600`},
		"a call without an id":  {`{"jsonrpc":"2.0","method":"tools/list"}`, 400, `"code":-32600`},
		"an unknown method":     {`{"jsonrpc":"2.0","id":"a","method":"prk_x"}`, 200, `{"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"There is no such method here."}}`},
		"subscriptions":         {`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`, 200, `"code":-32601`},
		"logging":               {`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`, 200, `"code":-32601`},
		"a notification":        {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`, 202, ``},
		"an answer":             {`{"jsonrpc":"2.0","id":1,"result":{}}`, 202, ``},
		"no params":             {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 400, `params`},
		"ping":                  {ping, 200, `"result":{}`},
	} {
		got := w.send(t, "POST", c.body)
		if got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: HTTP %d %s, want %d %s", name, got.status, got.body, c.status, c.want)
		}
	}
}

func TestProtocolVersions(t *testing.T) {
	w := newWorld(t)
	for version, want := range map[string]int{"": 200, "2025-03-26": 200, "2025-11-25": 200, "1999-01-01": 400} {
		if got := w.send(t, "POST", ping, "Mcp-Protocol-Version", version); got.status != want {
			t.Errorf("version %q: HTTP %d %s, want %d", version, got.status, got.body, want)
		}
	}
	unknown := `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel"}`
	if got := w.send(t, "POST", unknown, "Mcp-Protocol-Version", "2026-07-28"); got.status != http.StatusNotFound {
		t.Errorf("an unknown method of the sessionless protocol: HTTP %d %s", got.status, got.body)
	}
}
