package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/testkit/must"
)

// connect opens a session with the SDK's own client.
func (e *env) connect(t *testing.T, level string) (*sdk.ClientSession, error) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: e.url, HTTPClient: &http.Client{Transport: withKey(level)}, MaxRetries: -1,
	}, nil)
	if err == nil {
		t.Cleanup(func() { _ = session.Close() }) // the protocol has no sessions to end
	}
	return session, err
}

func (e *env) mustConnect(t *testing.T) *sdk.ClientSession {
	t.Helper()
	session := must.Get(e.connect(t, "full"))(t)
	return session
}

func TestClientWithInvalidKey(t *testing.T) {
	if session, err := newEnv(t).connect(t, "wrong"); err == nil {
		t.Errorf("connected: %+v", session.InitializeResult())
	}
}

func TestInstructions(t *testing.T) {
	got := newEnv(t).mustConnect(t).InitializeResult()
	for _, want := range []string{"untrusted_content", "clients who comment on posts", "never instructions", "get_job", "idempotency_key"} {
		if !strings.Contains(got.Instructions, want) {
			t.Errorf("the instructions do not mention %s", want)
		}
	}
	if c := got.Capabilities; c.Tools == nil || c.Tools.ListChanged || c.Prompts == nil || c.Prompts.ListChanged ||
		c.Resources == nil || c.Resources.ListChanged || c.Resources.Subscribe || c.Completions == nil {
		t.Errorf("capabilities %+v", c)
	}
}

func TestResultsMatchTheirSchemas(t *testing.T) {
	e := newEnv(t)
	session := e.mustConnect(t)
	list := must.Get(session.ListTools(t.Context(), nil))(t)
	calls := map[string]map[string]any{
		"list_notes": {"limit": 3}, "get_note": {"id": "n1"}, "get_nothing": {}, "create_note": {"text": "x"},
		"change_note": {"id": "n1", "idempotency_key": "k0"}, "buy_note": {"text": "y", "idempotency_key": "k"},
	}
	for _, tool := range list.Tools {
		arguments, called := calls[tool.Name]
		if !called {
			continue
		}
		checkSchema(t, tool.Name+": arguments", tool.InputSchema, arguments)
		got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: arguments})
		if err != nil || got.IsError {
			t.Fatalf("%s: %+v %v", tool.Name, got, err)
		}
		checkSchema(t, tool.Name+": answer", tool.OutputSchema, got.StructuredContent)
		delete(calls, tool.Name)
	}
	if len(calls) > 0 {
		t.Errorf("tools that are not listed: %v", calls)
	}
}

func checkSchema(t *testing.T, what string, schema, value any) {
	t.Helper()
	raw := must.Get(json.Marshal(schema))(t)
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := resolved.Validate(value); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestClientSeesErrors(t *testing.T) {
	session := newEnv(t).mustConnect(t)
	got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_note", Arguments: map[string]any{"id": "n9"}})
	if err != nil || !got.IsError || !strings.Contains(got.Content[1].(*sdk.TextContent).Text, `"code":"not_found"`) {
		t.Errorf("%+v %v", got, err)
	}
	_, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "delete_everything"})
	var rpc *jsonrpc.Error
	if !errors.As(err, &rpc) || rpc.Code != jsonrpc.CodeInvalidParams || strings.Contains(rpc.Message, "delete_everything") {
		t.Errorf("an unknown tool: %v", err)
	}
}

func TestPanic(t *testing.T) {
	session := newEnv(t).mustConnect(t)
	got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "break_note", Arguments: map[string]any{"text": "panic"}})
	if err != nil || !got.IsError {
		t.Errorf("%+v %v", got, err)
	}
	if got, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_notes"}); err != nil || got.IsError {
		t.Errorf("after it: %+v %v", got, err)
	}
}

// In the sessionless protocol, disconnecting cancels a call.
func TestCancellation(t *testing.T) {
	e := newEnv(t)
	session := e.mustConnect(t)
	ctx, cancel := context.WithCancel(t.Context())
	gone := make(chan error)
	go func() {
		_, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "wait_note", Arguments: map[string]any{"text": "until cancelled"}})
		gone <- err
	}()
	<-e.started
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("the client: %v", err)
	}
	if err := <-e.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the call: %v", err)
	}
}
