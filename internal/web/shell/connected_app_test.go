package shell

import "testing"

// Clients choose their names, so a vendor's logo needs the vendor's address or one on the person's computer.
func TestAppOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, host string
		want       ConnectedApp
	}{
		{"pressroom command line on mira-laptop", "127.0.0.1:50123", ConnectedApp{"mira-laptop", CommandLine, ""}},
		{"pressroom command line", "[::1]:50123", ConnectedApp{"", CommandLine, ""}},
		{"pressroom command line on mira-laptop", "evil.example", ConnectedApp{"pressroom command line on mira-laptop", OtherApp, ""}},
		{"Claude", "claude.ai", ConnectedApp{"Claude", Assistant, "app-claude"}},
		{"Claude Code", "localhost:33418", ConnectedApp{"Claude Code", Assistant, "app-claude"}},
		{"Claude", "claude.ai.evil.example", ConnectedApp{"Claude", OtherApp, ""}},
		{"Claude", "evilclaude.ai", ConnectedApp{"Claude", OtherApp, ""}},
		{"ChatGPT", "chatgpt.com", ConnectedApp{"ChatGPT", Assistant, "app-openai"}},
		{"Cursor", "cursor", ConnectedApp{"Cursor", Assistant, "cursor-line"}},
		{"n8n", "hooks.n8n.cloud", ConnectedApp{"n8n", Automation, "app-n8n"}},
		{"Acme", "agent.acme.example", ConnectedApp{"Acme", OtherApp, ""}},
	} {
		if got := AppOf(c.name, c.host); got != c.want {
			t.Errorf("%s at %s: %+v, want %+v", c.name, c.host, got, c.want)
		}
	}
}
