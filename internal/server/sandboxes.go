package server

import (
	"encoding/json"
	"strings"
)

// sandboxes are the settings by which the networks speak with the sandbox at SANDBOX, as an operator would write them.
const sandboxes = `{
  "bluesky": {"web_url": "SANDBOX/bluesky"},
  "threads": {"client_id": "sandbox", "authorize_host": "SANDBOX/threads", "graph_host": "SANDBOX/threads"}
}
`

// SandboxSettings is the text of settings by which the networks speak with the sandbox at an address.
func SandboxSettings(address string) string { return strings.ReplaceAll(sandboxes, "SANDBOX", address) }

// SandboxNetworks are the same settings. The sandbox takes any secret.
func SandboxNetworks(address string) NetworkSettings {
	out := NetworkSettings{Secret: func(string) string { return "sandbox" }}
	if err := json.Unmarshal([]byte(SandboxSettings(address)), &out.Of); err != nil {
		panic(err) // a mistake in the text above
	}
	return out
}
