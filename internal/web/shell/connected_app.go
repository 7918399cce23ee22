package shell

import (
	"net"
	"slices"
	"strings"

	"pressroom.example/pressroom/internal/locale"
)

// AppKind is the kind of an OAuth client.
type AppKind locale.Key

// The kinds of OAuth clients. OtherApp is the kind of unknown clients.
const (
	CommandLine AppKind = "Command line"
	Assistant   AppKind = "Assistant"
	Automation  AppKind = "Automation"
	OtherApp    AppKind = "App"
)

// ConnectedApp describes an OAuth client for a page.
type ConnectedApp struct {
	Name string // name that the client chose or, for the command line, the computer's name
	Kind AppKind
	Logo string // name of an icon; empty if the page shows initials
}

// IsCommandLine reports whether the client is the command "pressroom login" on the person's computer.
func (a ConnectedApp) IsCommandLine() bool { return a.Kind == CommandLine }

// commandLineName is the prefix of the client name that the command "pressroom login" chooses.
const commandLineName = "pressroom command line"

// knownApps lists the known vendors of OAuth clients.
var knownApps = []struct {
	logo  string
	kind  AppKind
	names []string // prefixes of their clients' names, in lower case
	hosts []string // hosts and URL schemes of their clients' redirect URIs
}{
	{"app-claude", Assistant, []string{"claude"}, []string{"claude.ai", "claude.com", "claude"}},
	{"app-openai", Assistant, []string{"chatgpt", "codex"}, []string{"chatgpt.com", "openai.com"}},
	{"app-gemini", Assistant, []string{"gemini"}, []string{"gemini.google.com"}},
	{"app-windsurf", Assistant, []string{"windsurf"}, []string{"windsurf.com", "windsurf"}},
	{"cursor-line", Assistant, []string{"cursor"}, []string{"cursor.com", "cursor"}},
	{"code-line", Assistant, []string{"visual studio code", "vs code"}, []string{"vscode.dev", "vscode", "vscode-insiders"}},
	{"app-zapier", Automation, []string{"zapier"}, []string{"zapier.com"}},
	{"app-make", Automation, nil, []string{"make.com"}},
	{"app-n8n", Automation, []string{"n8n"}, []string{"n8n.io", "n8n.cloud"}},
}

// AppOf describes an OAuth client. name is the name that the client chose, and host is the host or scheme of its
// redirect URI. A name is enough for a vendor's logo only if the redirect URI is on the person's own computer, because
// anyone can register a client with the vendor's name.
func AppOf(name, host string) ConnectedApp {
	if hostname, _, err := net.SplitHostPort(host); err == nil {
		host = hostname
	}
	local := slices.Contains([]string{"127.0.0.1", "::1", "[::1]", "localhost"}, host)
	if device, ok := strings.CutPrefix(name, commandLineName); ok && local {
		return ConnectedApp{Name: strings.TrimPrefix(device, " on "), Kind: CommandLine}
	}
	lower := strings.ToLower(name)
	for _, app := range knownApps {
		hasKnownName := slices.ContainsFunc(app.names, func(n string) bool { return strings.HasPrefix(lower, n) })
		hasKnownHost := slices.ContainsFunc(app.hosts, func(h string) bool { return host == h || strings.HasSuffix(host, "."+h) })
		if hasKnownHost || local && hasKnownName {
			return ConnectedApp{name, app.kind, app.logo}
		}
	}
	return ConnectedApp{Name: name, Kind: OtherApp}
}
