package clients

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pressroom.example/pressroom/internal/testkit/must"
)

// An MCP client uses the tools through the standard input and output of `pressroom mcp`.
func TestMCPCommand(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	connect := func(args ...string) *sdk.ClientSession {
		cmd := exec.CommandContext(t.Context(), binary(t), append([]string{"mcp"}, args...)...)
		cmd.Env = g.environment()
		session := must.Get(sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&sdk.CommandTransport{Command: cmd}, nil))(t)
		t.Cleanup(func() { _ = session.Close() })
		return session
	}
	session := connect()
	created := must.Get(session.CallTool(t.Context(), &sdk.CallToolParams{Name: "create_post", Arguments: map[string]any{
		"caption": "By standard input.", "account_ids": []int{1},
	}}))(t)
	if created.IsError {
		t.Fatalf("create_post failed: %+v", created.Content)
	}
	if n := strings.Count(g.call(t, "list_posts", "--status", "draft").out, "By standard input."); n != 1 {
		t.Errorf("%d drafts", n)
	}
	if rejected := must.Get(session.CallTool(t.Context(), &sdk.CallToolParams{Name: "get_post", Arguments: map[string]any{
		"id": "00000000-0000-7000-8000-000000000000"}}))(t); !rejected.IsError {
		t.Errorf("an unknown post: %+v", rejected)
	}
	resources := must.Get(session.ListResourceTemplates(t.Context(), nil))(t)
	if len(resources.ResourceTemplates) == 0 {
		t.Error("no resource templates")
	}
	all := must.Get(session.ListTools(t.Context(), nil))(t)
	few := must.Get(connect("--toolsets", "media", "--read-only").ListTools(t.Context(), nil))(t)
	if len(few.Tools) == 0 || len(few.Tools) >= len(all.Tools)/2 {
		t.Errorf("%d tools of %d", len(few.Tools), len(all.Tools))
	}
}

// Errors are responses to the request, with the service's reason and without the key.
func TestMCPCommandErrors(t *testing.T) {
	t.Parallel()
	g := quickstart(t)
	run := func(in string, env ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binary(t), "mcp")
		cmd.Env, cmd.Stdin = g.environment(env...), strings.NewReader(in)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		return out.String(), err
	}
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}` + "\n"
	for _, tt := range []struct{ in, env, want string }{
		{ping, "PRESSROOM_KEY=prk_wrong", `"id":7`},
		{ping, "PRESSROOM_KEY=prk_wrong", "Check PRESSROOM_KEY"},
		{ping, "PRESSROOM_KEY=prk_wrong", "(unauthorized)"},
		{ping, "PRESSROOM_URL=http://127.0.0.1:1", "the service cannot be reached"},
		{"{\n", "A=b", `"code":-32700`},
		{ping, "PRESSROOM_KEY=", "no API key"},
		{ping, "PRESSROOM_URL=http://press.example.com", "plain HTTP"},
	} {
		if out, _ := run(tt.in, tt.env); !strings.Contains(out, tt.want) || strings.Contains(out, "prk_wrong") {
			t.Errorf("%s with %s: %s", tt.in, tt.env, out)
		}
	}
}
